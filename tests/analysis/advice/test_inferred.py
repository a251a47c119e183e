"""What can be inferred from rows of iperf3, most of them of Lab 8's published kind."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.analysis.advice.evidence import Known, Second, infer
from longfat.analysis.advice.limits import Limit, Link

LAB08 = Known(receive_window_bytes=8_388_608, send_window_bytes=12_750_000)


def row(
    start_s: float, bps: float, *, cwnd: float, rtt_s: float = 0.02, retransmits: int = 0
) -> Second:
    return Second(
        start_s=start_s,
        end_s=start_s + 1,
        bps=bps,
        cwnd_bytes=cwnd,
        rtt_s=rtt_s,
        retransmits=retransmits,
    )


def limits(rows: list[Second], known: Known, link: Link = Link.NOT_FULL) -> list[Limit]:
    return [next(iter(one.seconds)) for one in infer(rows, [link] * len(rows), known)]


def test_a_window_that_the_receive_buffer_tells() -> None:
    rows = [row(0, 2.8e9, cwnd=16e6), row(1, 3.3e9, cwnd=16e6)]
    assert limits(rows, LAB08) == [Limit.RECEIVE_WINDOW] * 2


def test_the_smaller_of_two_buffers() -> None:
    known = Known(receive_window_bytes=8_388_608, send_window_bytes=3e6)
    assert limits([row(0, 1.2e9, cwnd=4e6)], known) == [Limit.SEND_BUFFER]


def test_a_full_link() -> None:
    rows = [row(0, 9.5e9, cwnd=40e6)]
    assert limits(rows, LAB08, Link.FULL_ALONE) == [Limit.BOTTLENECK]
    # Beside others the window may be what keeps this flow small.
    small = [row(0, 3.3e9, cwnd=40e6)]
    assert limits(small, LAB08, Link.FULL_SHARED) == [Limit.RECEIVE_WINDOW]
    assert limits(small, Known(), Link.FULL_SHARED) == [Limit.BOTTLENECK]


def test_losses() -> None:
    rows = [row(0, 80e6, cwnd=2e5), row(1, 60e6, cwnd=1e5, retransmits=9), row(2, 60e6, cwnd=1e5)]
    assert limits(rows, Known()) == [Limit.START_UP, Limit.LOSS, Limit.LOSS]


def test_the_application_keeps_to_its_rate() -> None:
    assert limits([row(0, 99e6, cwnd=1e6)], Known(rate_bps=100e6)) == [Limit.APPLICATION]


def test_a_model() -> None:
    rows = [row(0, 50e6, cwnd=1e6), row(1, 90e6, cwnd=1e6), row(2, 90e6, cwnd=1e6)]
    known = Known(model_based=True)
    assert limits(rows, known) == [Limit.START_UP, Limit.START_UP, Limit.MODEL]


def test_an_open_window_for_which_nothing_is_known() -> None:
    rows = [row(0, 3e9, cwnd=16e6), row(1, 3e9, cwnd=16e6)]
    assert limits(rows, Known()) == [Limit.START_UP, Limit.UNKNOWN]


def test_as_many_links_as_rows() -> None:
    with pytest.raises(ValueError, match="zip"):
        infer([row(0, 1, cwnd=1)], [], Known())


positive = st.floats(min_value=0, max_value=1e12)
maybe = st.none() | positive


@given(
    st.lists(st.tuples(positive, positive, positive, st.integers(0, 9)), max_size=20),
    st.builds(
        Known,
        receive_window_bytes=maybe,
        send_window_bytes=maybe,
        rate_bps=maybe,
        model_based=st.booleans(),
    ),
    st.sampled_from(Link),
)
def test_each_row_has_one_limit(
    rows: list[tuple[float, float, float, int]], known: Known, link: Link
) -> None:
    seconds = [
        row(float(i), bps, cwnd=cwnd, rtt_s=rtt_s, retransmits=again)
        for i, (bps, cwnd, rtt_s, again) in enumerate(rows)
    ]
    found = infer(seconds, [link] * len(seconds), known)
    assert len(found) == len(rows)
    assert all(len(one.seconds) == 1 for one in found)
    assert math.isclose(sum(sum(one.seconds.values()) for one in found), len(rows))
