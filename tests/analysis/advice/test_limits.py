"""What the classification promises for any readings, and what it says of plain ones."""

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.advice.limits import (
    Limit,
    Link,
    Reading,
    Slice,
    classify,
    merge_streams,
    spans,
    total,
)

GREEDY = {"cwnd_bytes": 1e6, "in_flight_bytes": 1e6, "unsent_bytes": 1e6}


def second(
    *links: Link, model_based: bool = False, **changes: Any
) -> tuple[dict[Limit, float], ...]:
    """Classify seconds that are all alike: busy, and with something to send."""
    readings = [
        Reading(
            time_s=float(index),
            **{
                **GREEDY,
                "acked_bytes": index * 1e6,
                "busy_s": float(index),
                **{
                    name: value * index if name.endswith("_s") else value
                    for name, value in changes.items()
                },
            },
        )
        for index in range(len(links) + 1)
    ]
    return tuple(dict(one.seconds) for one in classify(readings, links, model_based=model_based))


@pytest.mark.parametrize(
    ("link", "limit"),
    [
        (Link.FULL_ALONE, Limit.BOTTLENECK),
        (Link.FULL_SHARED, Limit.BOTTLENECK),
        (Link.NOT_FULL, Limit.START_UP),
        (Link.UNKNOWN, Limit.UNKNOWN),
    ],
)
def test_the_link_decides_where_no_clock_does(link: Link, limit: Limit) -> None:
    assert second(link) == ({limit: 1.0},)


def test_a_full_link_counts_more_than_a_window_if_the_flow_is_alone_on_it() -> None:
    (found,) = second(Link.FULL_ALONE, rwnd_limited_s=1.0)
    assert found == {Limit.BOTTLENECK: 1.0}
    (found,) = second(Link.FULL_SHARED, rwnd_limited_s=0.75)
    assert found == {Limit.RECEIVE_WINDOW: 0.75, Limit.BOTTLENECK: 0.25}


def test_the_clocks_of_the_kernel() -> None:
    (found,) = second(Link.NOT_FULL, rwnd_limited_s=0.5, sndbuf_limited_s=0.25)
    assert found == {Limit.RECEIVE_WINDOW: 0.5, Limit.SEND_BUFFER: 0.25, Limit.START_UP: 0.25}


def test_a_loss_counts_for_what_comes_after_it() -> None:
    readings = [
        Reading(time_s=t, busy_s=t, retransmits=retransmits, acked_bytes=t * 1e6)
        for t, retransmits in ((0.0, 0), (1.0, 0), (2.0, 3), (3.0, 3))
    ]
    found = [dict(one.seconds) for one in classify(readings, [Link.NOT_FULL] * 3)]
    assert found == [{Limit.START_UP: 1.0}, {Limit.START_UP: 1.0}, {Limit.LOSS: 1.0}]


def test_a_mark_is_as_good_as_a_loss() -> None:
    assert second(Link.NOT_FULL, Link.NOT_FULL, cutting=True)[1] == {Limit.LOSS: 1.0}


def test_a_model_is_no_victim_of_losses() -> None:
    first, then = second(Link.NOT_FULL, Link.NOT_FULL, model_based=True, retransmits=5)
    assert first == {Limit.START_UP: 1.0}
    assert then == {Limit.MODEL: 1.0}


def test_nothing_to_send() -> None:
    (found,) = second(Link.NOT_FULL, unsent_bytes=0, in_flight_bytes=1e5)
    assert found == {Limit.APPLICATION: 1.0}
    # A send buffer that is too small looks alike, but its clock runs.
    (found,) = second(Link.NOT_FULL, unsent_bytes=0, in_flight_bytes=1e5, sndbuf_limited_s=0.75)
    assert found == {Limit.SEND_BUFFER: 0.75, Limit.UNKNOWN: 0.25}
    (found,) = second(Link.NOT_FULL, busy_s=0.25)
    assert found == {Limit.APPLICATION: 0.75, Limit.START_UP: 0.25}


def test_a_full_send_buffer_whose_clock_stands() -> None:
    # As measured on 6.12: 280 bytes wait for more to come, so the clock does not run.
    full: dict[str, Any] = {"unsent_bytes": 280, "in_flight_bytes": 3.9e6, "cwnd_bytes": 8.4e6}
    buffer: dict[str, Any] = {"queued_bytes": 4.0e6, "send_buffer_bytes": 4_194_304}
    (found,) = second(Link.NOT_FULL, sndbuf_limited_s=0.125, **full, **buffer)
    assert found == {Limit.SEND_BUFFER: 1.0}
    (found,) = second(Link.NOT_FULL, **{**full, "unsent_bytes": 0}, **buffer)
    assert found == {Limit.SEND_BUFFER: 1.0}
    # Where the congestion window is full as well, it is what limits.
    (found,) = second(Link.NOT_FULL, **{**full, "cwnd_bytes": 4e6}, **buffer)
    assert found == {Limit.START_UP: 1.0}


def test_an_open_window_that_does_not_grow_is_no_start_up() -> None:
    (found,) = second(Link.NOT_FULL, in_flight_bytes=1e5)
    assert found == {Limit.UNKNOWN: 1.0}


def test_as_many_links_as_stretches_of_time() -> None:
    with pytest.raises(ValueError, match="2 readings have 2 links"):
        classify([Reading(time_s=0), Reading(time_s=1)], [Link.NOT_FULL] * 2)
    assert classify([], []) == ()


# Not even sensible clocks: a kernel's may jump by a tick, and a file may be broken.
numbers = st.floats(min_value=0, max_value=1e9)
steps = st.floats(min_value=1e-3, max_value=100)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Reading], list[Link], bool]:
    time_s, readings = draw(st.floats(min_value=0, max_value=100)), []
    for _ in range(draw(st.integers(min_value=2, max_value=20))):
        time_s += draw(steps)
        readings.append(
            Reading(
                time_s=time_s,
                busy_s=draw(numbers),
                rwnd_limited_s=draw(numbers),
                sndbuf_limited_s=draw(numbers),
                acked_bytes=draw(numbers),
                retransmits=draw(st.integers(min_value=0, max_value=10)),
                cwnd_bytes=draw(numbers),
                in_flight_bytes=draw(numbers),
                unsent_bytes=draw(st.sampled_from((0.0, 1.0))),
                queued_bytes=draw(numbers),
                send_buffer_bytes=draw(numbers),
                cutting=draw(st.booleans()),
            )
        )
    links = [draw(st.sampled_from(Link)) for _ in readings[1:]]
    return readings, links, draw(st.booleans())


@given(streams())
def test_seconds_sum_to_the_time(stream: tuple[list[Reading], list[Link], bool]) -> None:
    readings, links, model_based = stream
    slices = classify(readings, links, model_based=model_based)
    for one in slices:
        assert all(value > 0 for value in one.seconds.values())
        assert math.isclose(sum(one.seconds.values()), one.end_s - one.start_s, rel_tol=1e-9)
    duration_s = readings[-1].time_s - readings[0].time_s
    assert math.isclose(sum(total(slices).values()), duration_s, rel_tol=1e-9)
    assert not any(
        Limit.BOTTLENECK in one.seconds
        for one, link in zip(slices, links, strict=True)
        if link in {Link.NOT_FULL, Link.UNKNOWN}
    )


@given(streams(), st.floats(min_value=0.01, max_value=300))
def test_spans_cover_the_time_without_gaps(
    stream: tuple[list[Reading], list[Link], bool], rows: float
) -> None:
    readings, links, model_based = stream
    # Not by its length: of a long stream in short steps there would be 40,000.
    step_s = (readings[-1].time_s - readings[0].time_s) / rows
    found = spans(classify(readings, links, model_based=model_based), step_s=step_s)
    assert found[0].start_s == readings[0].time_s
    assert found[-1].end_s == readings[-1].time_s
    for one, two in itertools.pairwise(found):
        assert one.end_s == two.start_s
        assert one.limit is not two.limit
    for one in found:
        assert 0 < one.share <= 1 + 1e-9


@given(st.lists(streams(), min_size=1, max_size=4))
def test_streams_together_last_as_long_as_any_of_them(
    many: list[tuple[list[Reading], list[Link], bool]],
) -> None:
    found = merge_streams([classify(r, links, model_based=m) for r, links, m in many])
    for one in found:
        assert math.isclose(sum(one.seconds.values()), one.end_s - one.start_s, rel_tol=1e-6)
    edges = sorted((r[0].time_s, r[-1].time_s) for r, _, _ in many)
    covered_s, reached_s = 0.0, -math.inf
    for start_s, end_s in edges:
        covered_s += max(0.0, end_s - max(start_s, reached_s))
        reached_s = max(reached_s, end_s)
    assert math.isclose(sum(total(found).values()), covered_s, rel_tol=1e-6)


def test_two_streams_that_differ() -> None:
    one = (Slice(start_s=0, end_s=2, seconds={Limit.BOTTLENECK: 2.0}),)
    two = (
        Slice(start_s=0, end_s=1, seconds={Limit.LOSS: 1.0}),
        Slice(start_s=1, end_s=2, seconds={Limit.BOTTLENECK: 1.0}),
    )
    assert total(merge_streams([one, two])) == {Limit.BOTTLENECK: 1.5, Limit.LOSS: 0.5}


def test_seconds_are_merged_while_the_same_rules() -> None:
    slices = [
        Slice(start_s=0, end_s=0.5, seconds={Limit.START_UP: 0.5}),
        Slice(start_s=0.5, end_s=1, seconds={Limit.START_UP: 0.1, Limit.RECEIVE_WINDOW: 0.4}),
        Slice(start_s=1, end_s=3.2, seconds={Limit.RECEIVE_WINDOW: 2.2}),
    ]
    first, rest = spans(slices)
    assert (first.start_s, first.end_s, first.limit) == (0, 1, Limit.START_UP)
    assert first.share == pytest.approx(0.6)
    assert (rest.start_s, rest.end_s, rest.limit) == (1, 3.2, Limit.RECEIVE_WINDOW)
    assert rest.share == pytest.approx(1)
