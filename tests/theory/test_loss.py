from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory import loss

losses = st.floats(1e-12, 0.01)
rtts = st.floats(1e-5, 2.0)

# RFC 8312, tables 1 and 2: RTT, loss rate, CUBIC's window with C = 0.04, 0.4 and 4.
RFC_8312 = [
    (0.1, 1e-2, (12, 12, 12)),
    (0.1, 1e-3, (38, 38, 59)),
    (0.1, 1e-4, (120, 187, 333)),
    (0.1, 1e-5, (593, 1054, 1874)),
    (0.1, 1e-8, (105383, 187400, 333250)),
    (0.01, 1e-6, (1200, 1200, 1874)),
    (0.01, 1e-8, (18740, 33325, 59261)),
]


@pytest.mark.parametrize(("rtt_s", "rate", "expected"), RFC_8312)
def test_cubic_is_the_rfc_s(rtt_s: float, rate: float, expected: tuple[int, ...]) -> None:
    for c, window in zip((0.04, 0.4, 4.0), expected, strict=True):
        found = loss.cubic_window_packets(loss=rate, rtt_s=rtt_s, c=c)
        assert found == pytest.approx(window, abs=1)


@settings(deadline=None)
@given(losses, rtts)
def test_more_loss_is_less_throughput(rate: float, rtt_s: float) -> None:
    less, more = (
        loss.mathis_bps(mss_bytes=1460, rtt_s=rtt_s, loss=p) for p in (rate, min(rate * 2, 0.9))
    )
    assert more < less
    assert loss.reno_window_packets(rate * 2) < loss.reno_window_packets(rate)
    assert loss.cubic_window_packets(loss=rate * 2, rtt_s=rtt_s) < loss.cubic_window_packets(
        loss=rate, rtt_s=rtt_s
    )


@settings(deadline=None)
@given(losses, rtts, st.integers(1, 64))
def test_mathis_and_its_inverse(rate: float, rtt_s: float, streams: int) -> None:
    one = loss.mathis_bps(mss_bytes=1460, rtt_s=rtt_s, loss=rate, constant=1.22)
    back = loss.mathis_loss(rate_bps=one, mss_bytes=1460, rtt_s=rtt_s, constant=1.22)
    assert back == pytest.approx(rate)
    many = loss.mathis_bps(mss_bytes=1460, rtt_s=rtt_s, loss=rate, constant=1.22, streams=streams)
    assert many == pytest.approx(streams * one)


@settings(deadline=None)
@given(losses, rtts)
def test_cubic_is_never_behind_reno(rate: float, rtt_s: float) -> None:
    assert loss.cubic_window_packets(loss=rate, rtt_s=rtt_s) >= loss.reno_window_packets(rate)


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.0, 2.0, float("nan")])
def test_a_loss_is_a_fraction(wrong: float) -> None:
    with pytest.raises(ValueError, match="loss must be more than 0 and less than 1"):
        loss.mathis_bps(mss_bytes=1460, rtt_s=0.1, loss=wrong)
    with pytest.raises(ValueError, match="loss must be"):
        loss.reno_window_packets(wrong)
    with pytest.raises(ValueError, match="loss must be"):
        loss.cubic_window_packets(loss=wrong, rtt_s=0.1)


def test_other_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="rtt_s must be more than 0"):
        loss.mathis_bps(mss_bytes=1460, rtt_s=0, loss=0.01)
    with pytest.raises(ValueError, match="streams must be 1 or more"):
        loss.mathis_bps(mss_bytes=1460, rtt_s=1, loss=0.01, streams=0)
    with pytest.raises(ValueError, match="beta must be"):
        loss.cubic_window_packets(loss=0.1, rtt_s=1, beta=1.0)
