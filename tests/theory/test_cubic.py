"""CUBIC's throughput at a loss rate."""

from __future__ import annotations

import math

import pytest

from longfat.theory.cubic import cubic_bps
from longfat.theory.loss import EVERY_PACKET_ACKED, cubic_window_packets, mathis_bps


@pytest.mark.parametrize("power", [4, 5, 6, 7, 8])
def test_the_tables_of_the_rfc(power: int) -> None:
    rate_bps = cubic_bps(mss_bytes=1460, rtt_s=0.1, loss=10**-power)
    window = rate_bps * 0.1 / 8 / 1460
    assert window == pytest.approx(cubic_window_packets(loss=10**-power, rtt_s=0.1))


@pytest.mark.parametrize("loss", [1e-5, 1e-4, 1e-3, 1e-2])
def test_it_is_reno_on_short_paths(loss: float) -> None:
    reno_bps = mathis_bps(mss_bytes=1460, rtt_s=0.002, loss=loss, constant=EVERY_PACKET_ACKED)
    assert cubic_bps(mss_bytes=1460, rtt_s=0.002, loss=loss) == pytest.approx(reno_bps)


def test_the_two_regions_meet() -> None:
    # Where 1.054 (RTT / p)^(3/4) = sqrt(3/2) / sqrt(p).
    factor = (0.4 * 3.7 / 1.2) ** 0.25
    loss = (factor * 0.1**0.75 / math.sqrt(1.5)) ** 4
    for near in (loss * 0.999, loss * 1.001):
        window = cubic_bps(mss_bytes=1, rtt_s=0.1, loss=near) * 0.1 / 8
        assert window == pytest.approx(math.sqrt(1.5 / loss), rel=2e-3)


@pytest.mark.parametrize(
    "wrong", [{"loss": 0.0}, {"loss": 1.0}, {"rtt_s": 0.0}, {"mss_bytes": -1.0}]
)
def test_what_makes_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        cubic_bps(**({"mss_bytes": 1460.0, "rtt_s": 0.1, "loss": 0.01} | wrong))
