"""Thinning may drop points, but nothing that would be seen."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from longfat.model.metric import Unit
from longfat.output.plot import Floats, Line, Trace, thin_out
from longfat.output.plot.line import thin_line

VALUES = arrays.arrays(
    np.float64,
    st.integers(1, 400),
    elements=st.one_of(st.floats(-1e9, 1e9), st.just(float("nan"))),
)


def times(count: int, step_s: float) -> Floats:
    return np.arange(count, dtype=np.float64) * np.float64(step_s)


def trace(values: Floats) -> Trace:
    return Trace(times(len(values), 0.01), np.asarray(values))


@given(VALUES, st.integers(1, 60))
def test_extremes_ends_and_gaps_stay(values: Floats, columns: int) -> None:
    whole = trace(values)
    thin = thin_out(whole, columns=columns)
    assert len(thin.times_s) <= 5 * columns or thin is whole
    # Every point is one of the whole, in its order.
    assert np.all(np.diff(thin.times_s) > 0)
    places = np.searchsorted(whole.times_s, thin.times_s)
    np.testing.assert_array_equal(whole.values[places], thin.values)
    assert thin.times_s[0] == whole.times_s[0]
    assert thin.times_s[-1] == whole.times_s[-1]
    assert np.isnan(thin.values).any() == np.isnan(whole.values).any()
    if np.isfinite(values).any():
        assert np.nanmax(thin.values) == np.nanmax(values)
        assert np.nanmin(thin.values) == np.nanmin(values)


@given(VALUES, st.integers(1, 20))
def test_each_column_keeps_its_envelope(values: Floats, columns: int) -> None:
    whole = trace(values)
    thin = thin_out(whole, columns=columns)
    edges = np.linspace(whole.times_s[0], whole.times_s[-1], columns + 1)
    edges[0] -= 1  # columns are open to the left but for the first
    for start_s, end_s in pairwise(edges):
        inside = (whole.times_s > start_s) & (whole.times_s <= end_s) & np.isfinite(whole.values)
        kept = (thin.times_s > start_s) & (thin.times_s <= end_s) & np.isfinite(thin.values)
        if inside.any():
            assert thin.values[kept].max() == whole.values[inside].max()
            assert thin.values[kept].min() == whole.values[inside].min()


def test_short_traces_stay_as_they_are() -> None:
    short = trace(np.arange(100.0))
    assert thin_out(short, columns=20) is short


def test_a_single_spike_of_a_long_run_survives() -> None:
    values = np.zeros(90_000)
    values[43_210] = 7.0
    thin = thin_out(trace(values), columns=800)
    assert len(thin.times_s) <= 4000
    assert thin.values.max() == 7
    assert thin.times_s[thin.values.argmax()] == 432.10


def test_a_band_keeps_its_widest() -> None:
    count = 10_000
    low, high = np.zeros(count), np.full(count, 2.0)
    low[5_000], high[7_000] = -5.0, 9.0
    line = Line(
        label="",
        times_s=times(count, 0.001),
        values=np.ones(count),
        unit=Unit.BPS,
        low=low,
        high=high,
        parts=(Trace(times(count, 0.001), np.ones(count)),),
    )
    thin = thin_line(line, columns=100)
    assert thin.low is not None
    assert thin.high is not None
    assert thin.low.min() == -5
    assert thin.high.max() == 9
    assert abs(thin.times_s[thin.high.argmax()] - 7.0) < 0.11
    assert len(thin.times_s) == len(thin.low) == len(thin.high) <= 500
    assert len(thin.parts[0].times_s) <= 500


def test_of_many_missing_values_a_few_in_each_column_are_drawn() -> None:
    missing_s = np.sort(np.random.default_rng(1).uniform(0, 20, 300_000))
    line = Line(
        label="call",
        times_s=np.array([0.0, 20.0]),
        values=np.array([1.0, 1.0]),
        unit=Unit.SECONDS,
        missing_s=missing_s,
    )
    kept_s = thin_line(line, columns=800).missing_s
    assert kept_s is not None
    assert len(kept_s) <= 200
    # No part of the axis loses its crosses.
    assert np.diff(kept_s).max() < 3 * 20 / 200
    assert set(kept_s) <= set(missing_s)
    few = thin_line(replace(line, missing_s=missing_s[:7]), columns=800)
    assert few.missing_s is not None
    assert list(few.missing_s) == list(missing_s[:7])
