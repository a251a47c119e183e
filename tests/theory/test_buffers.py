from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory import bdp, buffers

rates = st.floats(1e3, 1e13)
rtts = st.floats(1e-6, 10.0)


@settings(deadline=None)
@given(rates, rtts, st.integers(1, 10**6))
def test_more_flows_need_less(rate_bps: float, rtt_s: float, flows: int) -> None:
    one = buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s)
    assert one == pytest.approx(bdp.bdp_bytes(rate_bps, rtt_s))
    some = buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s, flows=flows)
    four_times = buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s, flows=4 * flows)
    assert four_times == pytest.approx(some / 2)
    assert some <= one


@settings(deadline=None)
@given(rates, rtts)
def test_a_buffer_of_one_product_delays_by_one_rtt(rate_bps: float, rtt_s: float) -> None:
    size = buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s)
    assert buffers.queueing_delay_s(queue_bytes=size, rate_bps=rate_bps) == pytest.approx(rtt_s)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="rate_bps must be more than 0"):
        buffers.router_buffer_bits(rate_bps=0, rtt_s=1)
    with pytest.raises(ValueError, match="flows must be 1 or more, not 0"):
        buffers.router_buffer_bytes(rate_bps=1, rtt_s=1, flows=0)
    with pytest.raises(ValueError, match="queue_bytes must be 0 or more"):
        buffers.queueing_delay_s(queue_bytes=-1, rate_bps=1)
