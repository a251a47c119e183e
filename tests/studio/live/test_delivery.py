"""What a socket delivers: over a round trip, and with what arrived around a hole."""

from __future__ import annotations

import math

import pytest

from longfat.studio.live.delivery import Delivery, delivered_bytes
from longfat.studio.live.series import Series, SeriesInfo, SeriesSet

EVERY_S = 0.02


def test_bursts_once_a_round_trip_are_a_steady_rate() -> None:
    delivery = Delivery(every_s=EVERY_S)
    means, raw = [], []
    for number in range(400):
        time_s = number * EVERY_S
        # 100 kB arrive together every 84 ms.
        arrived = 100_000 * math.floor(time_s / 0.084)
        if got := delivery.add(time_s, arrived, 0.084):
            means.append(got.mean_bps)
            raw.append(got.raw_bps)
    steady = means[20:]
    assert max(raw) > 4 * 100_000 * 8 / 0.084
    assert min(raw) == 0
    assert steady == [pytest.approx(100_000 * 8 / 0.084, rel=0.2)] * len(steady)


def test_a_repaired_hole_is_no_burst() -> None:
    delivery = Delivery(every_s=EVERY_S)
    found = []
    for number in range(100):
        # 10 segments arrive in each interval; from 20 on one is missing, at 24 it is there.
        segments = 10 * number
        is_missing = 20 <= number < 24
        acked, sacked = (200, segments - 201) if is_missing else (segments, 0)
        row = {"bytes_acked": acked * 1448, "sacked_packets": max(0, sacked), "mss_bytes": 1448}
        if got := delivery.add(number * EVERY_S, delivered_bytes(row), 0.04):
            found.append(got.raw_bps)
    assert max(found) < 1.3 * 10 * 1448 * 8 / EVERY_S


def test_the_last_sample_of_a_socket_that_ended_has_no_round_trip() -> None:
    delivery = Delivery(every_s=EVERY_S)
    for number in range(20):
        delivery.add(number * EVERY_S, number * 1000, 0.2)
    end = delivery.add(0.39, 19_500, 0.0)
    assert end is not None
    assert end.mean_bps == pytest.approx(1000 * 8 / EVERY_S, rel=0.2)
    assert delivery.add(0.39, 19_500, 0.0) is None


def info(key: str = "tcp:bulk:rtt_s", limit: float | None = None) -> SeriesInfo:
    return SeriesInfo(
        key=key, kind="tcp", of="bulk", quantity="rtt_s", unit="s", label="bulk", limit=limit
    )


def test_thinning_keeps_the_gaps() -> None:
    series = Series(info())
    for number in range(1000):
        series.add(float(number), math.nan if number == 500 else float(number % 7), most=100)
    assert sum(map(math.isnan, series.values)) == 1
    assert max(value for value in series.values if not math.isnan(value)) == 6


def test_a_series_does_not_begin_with_a_gap_and_may_come_to_have_another_limit() -> None:
    found = SeriesSet()
    found.add(info(), 0.0, math.nan)
    assert found.infos == []
    found.add(info(limit=1e6), 0.0, 1.0)
    found.is_new = False
    found.add(info(limit=2e6), 1.0, 1.0)
    assert found.is_new
    assert [one.limit for one in found.infos] == [2e6]
