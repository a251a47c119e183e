from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory import tbf

rates = st.floats(1e3, 1e12)
sizes = st.floats(1, 1e9)


@settings(deadline=None)
@given(rates, st.sampled_from([100, 250, 300, 1000]))
def test_a_burst_is_a_tick_s_worth(rate_bps: float, hz: int) -> None:
    assert tbf.burst_bytes(rate_bps=rate_bps, hz=hz) * 8 * hz == pytest.approx(rate_bps)


@settings(deadline=None)
@given(rates, st.floats(0, 10), sizes)
def test_limit_and_latency(rate_bps: float, latency_s: float, burst: float) -> None:
    limit = tbf.limit_bytes(rate_bps=rate_bps, latency_s=latency_s, burst_bytes=burst)
    assert limit >= burst
    back = tbf.latency_s(rate_bps=rate_bps, limit_bytes=limit, burst_bytes=burst)
    assert back == pytest.approx(latency_s, abs=1e-6 * limit * 8 / rate_bps)


@settings(deadline=None)
@given(rates, st.floats(0, 10), sizes, rates)
def test_a_peak_rate_never_raises_the_limit(
    rate_bps: float, latency_s: float, burst: float, peak_bps: float
) -> None:
    plain = tbf.limit_bytes(rate_bps=rate_bps, latency_s=latency_s, burst_bytes=burst)
    peaked = tbf.limit_bytes(
        rate_bps=rate_bps,
        latency_s=latency_s,
        burst_bytes=burst,
        peakrate_bps=peak_bps,
        minburst_bytes=1540,
    )
    assert peaked <= plain


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="hz must be more than 0"):
        tbf.burst_bytes(rate_bps=1e6, hz=0)
    with pytest.raises(ValueError, match="latency_s must be 0 or more"):
        tbf.limit_bytes(rate_bps=1e6, latency_s=-1, burst_bytes=1)
    with pytest.raises(ValueError, match="peakrate_bps must be more than 0"):
        tbf.limit_bytes(rate_bps=1e6, latency_s=1, burst_bytes=1, peakrate_bps=0)
    with pytest.raises(ValueError, match="burst_bytes must be more than 0"):
        tbf.latency_s(rate_bps=1e6, limit_bytes=1, burst_bytes=0)
