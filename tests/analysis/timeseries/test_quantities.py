"""Rates, counts, and what has arrived: the same sample by sample and of all samples at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.timeseries.quantities import (
    ArrivedBytes,
    CounterGrowth,
    Trace,
    arrived_bytes,
    combine_traces,
    rate_bps,
    window_s,
    window_samples,
)

MSS_BYTES = 1448


def row(acked: int, delivered: int | None, *, ca_state: str = "open", **other: Any) -> Any:
    return {
        "bytes_acked": acked,
        "delivered_packets": delivered,
        "mss_bytes": MSS_BYTES,
        "ca_state": ca_state,
        "state": "established",
        **other,
    }


def test_data_beyond_a_hole_has_arrived() -> None:
    arrived = ArrivedBytes()
    totals = []
    for number in range(100):
        # 10 segments arrive in each interval; from 20 on one is missing, at 24 it is there.
        segments = 10 * number
        is_missing = 20 <= number < 24
        acked = 200 if is_missing else segments
        delivered = segments - 1 if is_missing else segments
        state = "recovery" if is_missing else "open"
        totals.append(arrived.add(row(acked * MSS_BYTES, delivered + 1, ca_state=state)))
    steps = np.diff(totals) / MSS_BYTES
    assert set(steps.tolist()) == {9.0, 10.0, 11.0}
    assert totals[-1] == 990 * MSS_BYTES


def test_small_packets_do_not_add_up_to_more_than_was_acknowledged() -> None:
    arrived = ArrivedBytes()
    for number in range(100):
        arrived.add(row(100 * number, 2 * number))
    assert arrived.total == 9_900


def test_a_kernel_that_counts_no_packets_gives_what_was_acknowledged() -> None:
    arrived = ArrivedBytes()
    rows = [row(0, None), row(5_000, None, ca_state="recovery"), row(9_000, None)]
    assert [arrived.add(each) for each in rows] == [0, 5_000, 9_000]


def test_what_was_sacked_may_be_discarded_and_still_is_counted_once() -> None:
    arrived = ArrivedBytes()
    arrived.add(row(0, 0))
    beyond = arrived.add(row(0, 5, ca_state="recovery"))
    assert beyond == 5 * MSS_BYTES
    assert arrived.add(row(0, 0, ca_state="loss")) == beyond
    assert arrived.add(row(2 * MSS_BYTES, 2)) == beyond


def test_the_last_count_of_a_socket_that_ended_is_what_was_acknowledged() -> None:
    arrived = ArrivedBytes()
    arrived.add(row(0, 0))
    assert arrived.add(row(3_000, 90, ca_state="recovery", state="close")) == 3_000


_SAMPLES = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.integers(0, 50),
        st.sampled_from(["open", "disorder", "recovery", "loss"]),
        st.sampled_from([536, MSS_BYTES]),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


@given(_SAMPLES)
def test_samples_one_by_one_and_all_at_once_give_the_same(samples: list[Any]) -> None:
    acked = np.cumsum([1_000 * sample[0] for sample in samples]).tolist()
    packets = np.cumsum([sample[1] for sample in samples]).tolist()
    delivered = [
        count if sample[4] else None for count, sample in zip(packets, samples, strict=True)
    ]
    states = [sample[2] for sample in samples]
    mss_bytes = [sample[3] for sample in samples]
    stream = ArrivedBytes()
    one_by_one = [
        stream.add({**row(*counts, ca_state=state), "mss_bytes": mss})
        for *counts, state, mss in zip(acked, delivered, states, mss_bytes, strict=True)
    ]
    at_once = arrived_bytes(
        np.array(acked, dtype=float),
        np.array([math.nan if count is None else count for count in delivered], dtype=float),
        np.array(mss_bytes, dtype=float),
        states,
    )
    assert at_once.tolist() == one_by_one


def test_a_window_has_a_round_trip_and_a_long_curve_few_values() -> None:
    assert window_s() == window_s(rtt_s=0.02, span_s=10) == 0.1
    assert window_s(rtt_s=0.3) == 0.3
    assert window_s(span_s=600) == 1.0
    assert [window_samples(0.1, every_s=every_s) for every_s in (0.02, 0.1, 1.0)] == [5, 1, 1]


def test_a_counter_that_decreases_was_restarted() -> None:
    growth = CounterGrowth()
    counts = (5, 9, 9, 2, 4)
    assert [growth.add("1:", count, from_start=True) for count in counts] == [0, 4, 4, 6, 8]
    assert growth.add("2:", 3) == 11  # a qdisc that was added has counted from 0
    growth.restart()
    assert growth.add("1:", 5) == 1


def test_no_rate_without_time() -> None:
    assert rate_bps((1.0, 0), (1.0, 500)) is None
    assert rate_bps((1.0, 0), (1.5, 500)) == 8_000
    assert rate_bps((1.0, 500), (1.5, 0)) == 0


def test_streams_are_combined_row_by_row() -> None:
    times_s = np.array([1.0, 2.0])
    traces = [
        Trace(times_s, np.array([1.0, 2.0])),
        Trace(np.empty(0), np.empty(0)),
        Trace(np.array([1.0]), np.array([3.0])),
    ]
    total, parts = combine_traces(traces)
    assert (total.times_s.tolist(), total.values.tolist(), len(parts)) == ([1.0], [4.0], 2)
    mean, _ = combine_traces(traces, mean=True)
    assert mean.values.tolist() == [2.0]
    assert combine_traces(traces[:1])[1] == ()
    assert combine_traces([])[0].values.tolist() == []


def test_a_trace_has_as_many_values_as_times() -> None:
    with pytest.raises(ValueError, match="times for"):
        Trace(np.empty(1), np.empty(2))
