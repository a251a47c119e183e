import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.model.metric import Unit
from longfat.model.spread import spread_of
from longfat.output.plot import Line, band_line


def line(values: list[float], *, start_s: float = 0.0, step_s: float = 1.0) -> Line:
    return Line(
        label="bulk",
        times_s=np.linspace(start_s, start_s + step_s * (len(values) - 1), len(values)),
        values=np.array(values, dtype=float),
        unit=Unit.BPS,
        style_index=3,
    )


@given(st.lists(st.lists(st.floats(0, 1e10), min_size=4, max_size=4), min_size=2, max_size=12))
def test_it_is_the_spread_of_each_time(table: list[list[float]]) -> None:
    band = band_line([line(values) for values in table])
    assert band.low is not None
    assert band.high is not None
    for place in range(4):
        spread = spread_of(values[place] for values in table)
        assert band.values[place] == pytest.approx(spread.median)
        assert band.low[place] == pytest.approx(spread.low)
        assert band.high[place] == pytest.approx(spread.high)
    assert (band.label, band.style_index, band.unit) == ("bulk", 3, Unit.BPS)


def test_a_single_line_stays_as_it_is() -> None:
    one = line([1, 2, 3])
    assert band_line([one]) is one


def test_rows_some_microseconds_apart_are_the_same_time() -> None:
    band = band_line([line([5, 5, 5], start_s=0.5), line([7, 7, 7], start_s=0.500034)])
    assert band.values.tolist() == [6, 6, 6]


def test_times_that_most_runs_do_not_reach_are_left_out() -> None:
    band = band_line([line([1] * 5), line([2] * 5), line([3] * 9)])
    assert band.times_s[-1] == 4
    # Shifted starts: what lies between the samples is interpolated.
    moved = band_line([line([0, 10, 20, 30]), line([0, 10, 20, 30], start_s=0.4)])
    assert moved.values[2] == pytest.approx((20 + 16) / 2)


def test_a_counter_is_not_interpolated() -> None:
    runs = [
        dataclasses.replace(line([0, 0, 8, 8], start_s=start_s), steps=True)
        for start_s in (0.0, 0.4)
    ]
    assert set(band_line(runs).values.tolist()) <= {0, 4, 8}


def test_gaps_missing_and_nothing() -> None:
    gap = line([1, float("nan"), 3])
    assert np.isfinite(band_line([gap, line([1, 2, 3])]).values).all()
    lost = dataclasses.replace(line([1, 2]), missing_s=np.array([7.0]))
    late = dataclasses.replace(line([1, 2]), missing_s=np.array([3.0]))
    missing = band_line([lost, late]).missing_s
    assert missing is not None
    assert missing.tolist() == [3, 7]
    assert band_line([line([]), line([])]).empty
    assert band_line([line([]), line([1, 2]), line([])]).empty
    assert band_line([line([4]), line([6])]).values.tolist() == [5]
