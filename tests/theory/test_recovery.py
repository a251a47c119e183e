from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory import bdp, recovery

windows = st.floats(1, 1e8)
rtts = st.floats(1e-5, 2.0)


@settings(deadline=None)
@given(windows, rtts)
def test_reno_waits_half_a_window_of_round_trips(window: float, rtt_s: float) -> None:
    plain = recovery.reno_recovery_s(window_packets=window, rtt_s=rtt_s)
    assert plain / rtt_s == pytest.approx(window / 2)
    delayed = recovery.reno_recovery_s(window_packets=window, rtt_s=rtt_s, packets_per_ack=2)
    assert delayed == pytest.approx(2 * plain)
    longer = recovery.reno_recovery_s(window_packets=2 * window, rtt_s=rtt_s)
    assert longer == pytest.approx(2 * plain)


@settings(deadline=None)
@given(windows)
def test_cubic_is_back_at_k(window: float) -> None:
    k = recovery.cubic_recovery_s(window_packets=window)
    # RFC 9438, figure 1, at t = 0: C (0 - K)^3 + W_max = beta x W_max.
    assert 0.4 * (0 - k) ** 3 + window == pytest.approx(0.7 * window)
    assert recovery.cubic_recovery_s(window_packets=8 * window) == pytest.approx(2 * k)


@settings(deadline=None)
@given(st.floats(0, 5), st.floats(1e6, 1e12), rtts)
def test_the_throughput_after_a_loss(products: float, rate_bps: float, rtt_s: float) -> None:
    window = products * bdp.bdp_bytes(rate_bps, rtt_s)
    after = recovery.throughput_after_loss_bps(window_bytes=window, rate_bps=rate_bps, rtt_s=rtt_s)
    assert after == pytest.approx(rate_bps * min(1.0, products / 2))


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="window_packets must be more than 0"):
        recovery.reno_recovery_s(window_packets=0, rtt_s=0.1)
    with pytest.raises(ValueError, match="packets_per_ack must be 1 or more"):
        recovery.reno_recovery_s(window_packets=1, rtt_s=0.1, packets_per_ack=0)
    with pytest.raises(ValueError, match="beta must be more than 0 and less than 1"):
        recovery.cubic_recovery_s(window_packets=1, beta=1)
    with pytest.raises(ValueError, match="c must be more than 0"):
        recovery.cubic_recovery_s(window_packets=1, c=0)
    with pytest.raises(ValueError, match="window_bytes must be 0 or more"):
        recovery.throughput_after_loss_bps(window_bytes=-1, rate_bps=1, rtt_s=1)
