from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory.loss import EVERY_PACKET_ACKED, mathis_bps
from longfat.theory.pftk import pftk_bps, tfrc_bps

rtts = st.floats(1e-3, 1.0)
PATH: dict[str, Any] = {"mss_bytes": 1460.0, "rtt_s": 0.05, "loss": 0.01, "rto_s": 0.2}


@settings(deadline=None)
@given(st.floats(1e-9, 0.4), rtts, st.sampled_from([1, 2]))
def test_more_loss_or_a_longer_timeout_is_less_throughput(
    rate: float, rtt_s: float, acked: int
) -> None:
    def full(loss: float, rto_s: float) -> float:
        return pftk_bps(mss_bytes=1460, rtt_s=rtt_s, loss=loss, rto_s=rto_s, packets_per_ack=acked)

    assert full(rate * 2, 0.2) < full(rate, 0.2)
    assert full(rate, 0.4) < full(rate, 0.2)
    assert tfrc_bps(packet_bytes=1460, rtt_s=rtt_s, loss=rate * 2) < tfrc_bps(
        packet_bytes=1460, rtt_s=rtt_s, loss=rate
    )


@settings(deadline=None)
@given(st.floats(1e-9, 0.01), rtts, st.sampled_from([1, 2]))
def test_the_short_form_is_near_the_full_model(rate: float, rtt_s: float, acked: int) -> None:
    rto_s = 4 * rtt_s
    full = pftk_bps(mss_bytes=1460, rtt_s=rtt_s, loss=rate, rto_s=rto_s, packets_per_ack=acked)
    short = tfrc_bps(packet_bytes=1460, rtt_s=rtt_s, loss=rate, packets_per_ack=acked)
    assert full == pytest.approx(short, rel=0.15)


@settings(deadline=None)
@given(st.floats(1e-9, 1e-6), rtts)
def test_both_become_mathis_where_losses_are_rare(rate: float, rtt_s: float) -> None:
    mathis = mathis_bps(mss_bytes=1460, rtt_s=rtt_s, loss=rate, constant=EVERY_PACKET_ACKED)
    full = pftk_bps(mss_bytes=1460, rtt_s=rtt_s, loss=rate, rto_s=rtt_s, packets_per_ack=1)
    assert full == pytest.approx(mathis, rel=0.01)
    assert tfrc_bps(packet_bytes=1460, rtt_s=rtt_s, loss=rate) == pytest.approx(mathis, rel=0.01)


@settings(deadline=None)
@given(st.floats(1e-9, 0.4), st.floats(4, 1000))
def test_a_receiver_s_window_bounds_the_rate(rate: float, window: float) -> None:
    path = {**PATH, "loss": rate}
    bounded = pftk_bps(**path, largest_window_packets=window)
    assert bounded <= window * 1460 * 8 / 0.05
    assert bounded <= pftk_bps(**path, largest_window_packets=window * 2) * 1.05


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": 0.0}, "loss must be"),
        ({"loss": 1.0}, "loss must be"),
        ({"rto_s": 0.0}, "rto_s must be more than 0"),
        ({"rtt_s": -1.0}, "rtt_s must be more than 0"),
        ({"packets_per_ack": 0}, "packets_per_ack must be 1 or more"),
        ({"largest_window_packets": 0.5}, "largest_window_packets must be 1 or more"),
        ({"largest_window_packets": float("nan")}, "largest_window_packets must be 1 or more"),
    ],
)
def test_wrong_arguments(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pftk_bps(**{**PATH, **change})


def test_wrong_arguments_of_the_short_form() -> None:
    with pytest.raises(ValueError, match="rto_s must be"):
        tfrc_bps(packet_bytes=1460, rtt_s=0.1, loss=0.1, rto_s=0)
    with pytest.raises(ValueError, match="loss must be"):
        tfrc_bps(packet_bytes=1460, rtt_s=0.1, loss=1)
