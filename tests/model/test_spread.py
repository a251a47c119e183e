"""Spreads: against NumPy, which interpolates likewise, and against what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.model.spread import Spread, spread_of

NUMBERS = st.floats(-1e12, 1e12)


def test_by_hand() -> None:
    # Ranks 1 + 20 * 0.05 = 2 and 20 of the numbers 0 to 20.
    assert spread_of(range(20, -1, -1)) == Spread(median=10, low=1, high=19, count=21)
    assert spread_of([1.0, 3.0]) == Spread(median=2, low=1.1, high=2.9, count=2)
    assert spread_of([7.0]) == Spread(median=7, low=7, high=7, count=1)


def test_none() -> None:
    with pytest.raises(ValueError, match="no values"):
        spread_of([])


@given(st.lists(NUMBERS, min_size=1, max_size=50))
def test_as_numpy(values: list[float]) -> None:
    spread = spread_of(values)
    low, median, high = np.percentile(values, [5, 50, 95])
    scale = max(map(abs, values))
    assert spread.low == pytest.approx(low, abs=1e-12 * scale)
    assert spread.median == pytest.approx(median, abs=1e-12 * scale)
    assert spread.high == pytest.approx(high, abs=1e-12 * scale)
    assert spread.count == len(values)
    assert spread_of(reversed(values)) == spread


@given(NUMBERS, st.integers(1, 1000))
def test_equal_values_have_no_band(value: float, count: int) -> None:
    spread = spread_of([value] * count)
    assert (spread.low, spread.median, spread.high) == (value, value, value)
    assert spread.contains(value)


def test_the_edges_are_inside() -> None:
    spread = Spread(median=2, low=1, high=3, count=5)
    assert [spread.contains(value) for value in (0.9, 1, 2, 3, 3.1)] == [
        False,
        True,
        True,
        True,
        False,
    ]
