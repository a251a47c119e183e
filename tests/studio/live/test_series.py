"""Series of a recording: gaps, limits, and what is left of many points."""

from __future__ import annotations

import math

from longfat.studio.live.series import Series, SeriesInfo, SeriesSet


def info(key: str = "tcp:bulk:rtt_s", limit: float | None = None) -> SeriesInfo:
    return SeriesInfo(
        key=key, kind="tcp", of="bulk", quantity="rtt_s", unit="s", label="bulk", limit=limit
    )


def test_thinning_keeps_the_gaps() -> None:
    series = Series(info())
    for number in range(1000):
        series.add(float(number), math.nan if number == 500 else float(number % 7), maximum=100)
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
