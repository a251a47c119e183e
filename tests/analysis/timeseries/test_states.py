"""Flows and queues sample by sample."""

from __future__ import annotations

import math
from typing import Any

import pytest

from longfat.analysis.timeseries.states import FlowSample, FlowState, QueueState

EVERY_S = 0.02


def row(acked: float, *, rtt_s: float = 0.02, retransmits: int = 0, **other: Any) -> Any:
    return {
        "bytes_acked": int(acked),
        "delivered_packets": None,
        "mss_bytes": 1448,
        "ca_state": "open",
        "state": "established",
        "rtt_s": rtt_s,
        "cwnd_bytes": 14_480,
        "retransmits": retransmits,
        **other,
    }


def add(state: FlowState, time_s: float, *rows: Any) -> FlowSample:
    return state.add(time_s, dict(enumerate(rows)), every_s=EVERY_S)


def test_bursts_once_a_round_trip_are_a_steady_rate() -> None:
    state = FlowState()
    means, raw = [], []
    for number in range(400):
        # 100 kB arrive at once every 200 ms.
        arrived = 100_000 * math.floor(number / 10)
        sample = add(state, number * EVERY_S, row(arrived, rtt_s=0.2))
        if sample.throughput_bps is not None and sample.raw_bps is not None:
            means.append(sample.throughput_bps)
            raw.append(sample.raw_bps)
    assert min(raw) == 0
    assert max(raw) == pytest.approx(100_000 * 8 / EVERY_S)
    assert means == [pytest.approx(100_000 * 8 / 0.2)] * len(means)
    assert len(means) > 380


def test_a_throughput_is_in_the_middle_of_its_window() -> None:
    state = FlowState()
    samples = [add(state, number * EVERY_S, row(number * 1000)) for number in range(7)]
    assert [sample.throughput_bps for sample in samples[:5]] == [None] * 5
    assert samples[5].middle_s == pytest.approx(0.05)
    assert samples[6].middle_s == pytest.approx(0.07)


def test_a_window_that_grows_does_not_take_its_middle_back() -> None:
    state = FlowState()
    for number in range(30):
        add(state, number * EVERY_S, row(number * 1000, rtt_s=0.02))
    state.restart()  # now the path is longer
    middles_s = []
    for number in range(30, 60):
        sample = add(state, number * EVERY_S, row(number * 1000, rtt_s=0.4))
        if sample.throughput_bps is not None:
            middles_s.append(sample.middle_s)
    assert middles_s == sorted(set(middles_s))
    assert middles_s[0] > 29 * EVERY_S - 0.05


def test_streams_are_added_and_those_that_ended_keep_their_counts() -> None:
    state = FlowState()
    add(state, 0.0, row(0), row(0, rtt_s=0.04))
    sample = add(state, 0.02, row(1000, retransmits=1), row(3000, rtt_s=0.04))
    assert (sample.streams, sample.cwnd_bytes) == (2, 28_960)
    assert sample.raw_bps == pytest.approx(4000 * 8 / 0.02)
    assert sample.rtt_s == pytest.approx(0.03)
    sample = add(state, 0.04, row(1500, retransmits=2, state="close"), row(4000))
    assert (sample.streams, sample.arrived_bytes, sample.retransmits) == (1, 5500, 2)
    # A rate is of the streams that exist at both ends of its interval.
    assert sample.raw_bps == pytest.approx(1000 * 8 / 0.02)
    sample = add(state, 0.06)
    assert (sample.streams, sample.raw_bps, sample.rtt_s) == (0, None, None)
    assert (sample.arrived_bytes, sample.retransmits) == (5500, 2)


def test_a_port_that_is_used_again_counts_anew() -> None:
    state = FlowState()
    add(state, 0.0, row(5000, retransmits=7))
    add(state, 0.02, row(6000, retransmits=9, state="close"))
    sample = add(state, 0.04, row(100, retransmits=1))
    assert (sample.arrived_bytes, sample.retransmits) == (6100, 10)
    state.restart()
    assert add(state, 0.06, row(200, retransmits=3)).retransmits == 2


def qdisc(handle: str, parent: str, kind: str, **counts: int | None) -> dict[str, Any]:
    return {
        "qdisc": kind,
        "handle": handle,
        "parent": parent,
        "backlog_bytes": 0,
        "drops": 0,
        "marks": None,
        **counts,
    }


def test_a_queue_is_below_a_netem_and_has_the_marks_of_what_is_below_it() -> None:
    state = QueueState()
    netem = qdisc("1:", "root", "netem", backlog_bytes=9_000)
    shaper = qdisc("2:", "1:1", "tbf", backlog_bytes=5_000, drops=3)
    state.add([netem, shaper, qdisc("3:", "2:1", "fq_codel", marks=4)])
    shaper |= {"drops": 5}
    sample = state.add([netem, shaper, qdisc("3:", "2:1", "fq_codel", marks=6)])
    assert (sample.qdisc, sample.backlog_bytes) == ("tbf", 5_000)
    assert (sample.drops, sample.marks) == (2, 2)


def test_a_queue_that_is_replaced_goes_on_counting() -> None:
    state = QueueState()
    state.add([qdisc("1:", "root", "pfifo", drops=10)])
    state.add([qdisc("1:", "root", "pfifo", drops=14)])
    assert state.add([qdisc("2:", "root", "bfifo", drops=1)]).drops == 5
    state.restart()
    assert state.add([qdisc("2:", "root", "bfifo", drops=4)]).drops == 3
