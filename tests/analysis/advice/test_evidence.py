"""The small parts that make readings of a run; whole runs are read in test_scaled_labs."""

import itertools
import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.advice.evidence import STEP_S, stream_readings
from longfat.analysis.advice.limits import Reading
from longfat.analysis.advice.link import Curve


def test_a_curve_stands_still_outside_of_what_is_known() -> None:
    curve = Curve((1.0, 2.0, 4.0), (0.0, 10.0, 20.0))
    assert [curve.at(t) for t in (0.0, 1.0, 1.5, 2.0, 3.0, 4.0, 9.0)] == [0, 0, 5, 10, 15, 20, 20]
    assert curve.between(0, 9) == 20
    assert Curve((), ()).at(3) == 0


@given(st.lists(st.tuples(st.floats(0.01, 10), st.floats(0, 1e9)), min_size=1), st.floats(0, 100))
def test_what_a_curve_grows_adds_up(steps: list[tuple[float, float]], middle_s: float) -> None:
    times, counts = [0.0], [0.0]
    for step_s, more in steps:
        times.append(times[-1] + step_s)
        counts.append(counts[-1] + more)
    curve = Curve(tuple(times), tuple(counts))
    two = curve.between(0, middle_s) + curve.between(middle_s, 1000)
    assert math.isclose(two, counts[-1], rel_tol=1e-9, abs_tol=1e-6)


def table(*rows: tuple[float, float, int], stream: int = 0) -> pa.Table:
    """Make a tcp probe's table of times, busy times and acknowledged bytes."""
    plain = {
        "rwnd_limited_s": 0.0,
        "sndbuf_limited_s": 0.0,
        "retransmits": 0,
        "cwnd_bytes": 14_480,
        "in_flight_bytes": 0,
        "in_flight_packets": 0,
        "rtt_s": 0.01,
        "unsent_bytes": 0,
        "write_queue_bytes": None,
        "send_buffer_bytes": None,
        "ca_state": "open",
        "stream": stream,
    }
    return pa.Table.from_pylist(
        [{"time_s": t, "busy_s": busy, "bytes_acked": acked, **plain} for t, busy, acked in rows]
    )


def times(readings: tuple[Reading, ...]) -> list[float]:
    return [round(one.time_s, 6) for one in readings]


def test_what_is_before_and_after_the_data_is_left_out() -> None:
    # iperf3's stream says its name in 37 bytes, waits, sends, and waits for the other end.
    found = table(
        *((0.1, 0.0, 0), (0.2, 0.0, 38), (0.3, 0.0, 38), (0.4, 0.1, 10_000)),
        *((0.5, 0.2, 20_000), (0.6, 0.25, 25_000), (0.7, 0.25, 25_000), (0.8, 0.25, 25_000)),
    )
    (readings,) = stream_readings(found)
    assert times(readings) == [0.3, 0.4, 0.5, 0.6]


def test_a_stream_that_was_busy_before_the_first_reading() -> None:
    (readings,) = stream_readings(table((0.2, 0.06, 9_000), (0.3, 0.16, 20_000)))
    assert times(readings) == [0.14, 0.2, 0.3]
    assert readings[0] == Reading(time_s=readings[0].time_s)


def test_readings_that_lie_close_are_thinned_out() -> None:
    rows = [(i / 100, i / 100, i * 10_000) for i in range(1, 101)]
    (readings,) = stream_readings(table(*rows))
    assert readings[-1].time_s == 1.0
    gaps = [after.time_s - before.time_s for before, after in itertools.pairwise(readings[1:-1])]
    assert gaps == pytest.approx([STEP_S] * len(gaps))


def test_streams_are_told_apart() -> None:
    rows = ((0.1, 0.1, 5_000), (0.2, 0.2, 9_000))
    both = pa.concat_tables([table(*rows, stream=1), table(*rows, stream=0)])
    assert [len(readings) for readings in stream_readings(both)] == [3, 3]


def test_a_silence_with_data_in_flight_is_a_wait_for_a_timeout() -> None:
    rows = table(*((0.1 + i / 100, 0.1 + i / 100, 10_000 if i < 20 else 20_000) for i in range(40)))
    rows = rows.set_column(
        rows.schema.get_field_index("in_flight_packets"),
        "in_flight_packets",
        pa.array([3] * 20 + [0] * 20),
    )
    (readings,) = stream_readings(rows)
    waits = [one.time_s for one in readings if one.timed_out]
    assert waits[0] == pytest.approx(0.1)
    assert waits[-1] == pytest.approx(0.29)
