"""The test against scipy's, and by simulation: it is wrong as seldom as it says."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest

from longfat.analysis.compare.ranktest import (
    LEVEL,
    Floats,
    adjusted,
    least_p,
    seeds_needed,
    shift,
    superiority,
    two_sided_p,
)

# To load it takes more than a second, and one worker that does suffices.
SCIPY = pytest.mark.xdist_group("scipy")


@pytest.fixture(scope="module")
def stats() -> Any:
    return importlib.import_module("scipy.stats")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(7)


@SCIPY
@pytest.mark.parametrize(("a", "b"), [(2, 2), (3, 5), (6, 6), (5, 3), (8, 12), (30, 20), (1, 9)])
def test_without_ties_it_is_scipys_exact_test(
    random: np.random.Generator, stats: Any, a: int, b: int
) -> None:
    left, right = random.normal(size=(20, a)), random.normal(0.7, 1.5, size=(20, b))
    expected = stats.mannwhitneyu(left, right, method="exact", axis=1).pvalue
    assert two_sided_p(left, right) == pytest.approx(expected, rel=1e-9)


@SCIPY
@pytest.mark.parametrize(("a", "b"), [(3, 3), (4, 6), (6, 4), (5, 5)])
def test_with_ties_it_is_the_permutation_test(
    random: np.random.Generator, stats: Any, a: int, b: int
) -> None:
    left = random.integers(0, 4, size=(12, a)).astype(float)
    right = random.integers(1, 6, size=(12, b)).astype(float)
    expected = []
    for x, y in zip(left, right, strict=True):
        ranks = stats.rankdata([*x, *y])
        done = stats.permutation_test(
            (ranks[:a], ranks[a:]), lambda one, _: float(one.sum()), n_resamples=np.inf
        )
        expected.append(done.pvalue)
    assert two_sided_p(left, right) == pytest.approx(expected, rel=1e-9)


@SCIPY
@pytest.mark.parametrize("whole", [False, True])
def test_for_many_seeds_it_is_scipys_normal_approximation(
    random: np.random.Generator, stats: Any, whole: bool
) -> None:
    left, right = random.normal(0, 9, size=(5, 400)), random.normal(1, 9, size=(5, 300))
    if whole:
        left, right = left.round(), right.round()
    expected = stats.mannwhitneyu(left, right, method="asymptotic", axis=1).pvalue
    assert two_sided_p(left, right) == pytest.approx(expected, rel=1e-9)


def test_the_normal_approximation_is_near_the_count(
    random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = random.integers(0, 12, size=(60, 20)).astype(float)
    right = random.integers(0, 15, size=(60, 20)).astype(float)
    counted = two_sided_p(left, right)
    monkeypatch.setattr("longfat.analysis.compare.ranktest._MAX_STEPS_WITH_TIES", 0)
    assert np.abs(two_sided_p(left, right) - counted).max() < 0.01


def test_equal_numbers_differ_in_nothing() -> None:
    same = np.full((1, 6), 3.0)
    assert two_sided_p(same, same).tolist() == [1.0]
    assert two_sided_p(np.empty((0, 3)), np.empty((0, 2))).tolist() == []
    many = np.zeros((1, 3000))
    assert two_sided_p(many, many).tolist() == [1.0]


def test_the_least_p() -> None:
    low, high = np.arange(4.0)[None, :], np.arange(4.0, 8.0)[None, :]
    assert two_sided_p(low, high)[0] == pytest.approx(2 / 70) == least_p(4, 4)
    assert least_p(3, 3) == pytest.approx(0.1)
    assert least_p(1, 1) == 1
    assert [seeds_needed(level) for level in (0.05, 0.1, 0.01, 0.05 / 28)] == [4, 3, 5, 7]


def test_effects_are_those_of_their_definitions(random: np.random.Generator) -> None:
    a = random.integers(0, 9, size=(50, 5)).astype(float)
    b = random.integers(2, 11, size=(50, 7)).astype(float)
    for x, y, found, won in zip(a, b, shift(a, b), superiority(a, b), strict=True):
        pairs = [(u, v) for u in x for v in y]
        assert found == np.median([v - u for u, v in pairs])
        assert won == pytest.approx(np.mean([(v > u) + (v == u) / 2 for u, v in pairs]))


@SCIPY
def test_adjusted_is_scipys(stats: Any) -> None:
    p_values = np.array([0.001, 0.3, 0.02, 0.04, 0.02, 1.0, 0.0002])
    assert adjusted(p_values) == pytest.approx(stats.false_discovery_control(p_values))
    assert adjusted(np.empty(0)).tolist() == []


# What a null comparison may look like: numbers of a run, and how they are spread.
NULLS = {
    "normal": lambda random, shape: random.normal(size=shape),
    "heavy tails": lambda random, shape: random.standard_cauchy(size=shape),
    "two humps": lambda random, shape: (
        random.normal(size=shape) + 9 * random.integers(2, size=shape)
    ),
    "few counts": lambda random, shape: random.poisson(1.5, size=shape).astype(float),
    "mostly zero": lambda random, shape: (random.random(shape) < 0.1).astype(float),
}


@pytest.mark.parametrize("name", NULLS)
@pytest.mark.parametrize(("a", "b"), [(4, 4), (6, 6), (5, 9), (20, 20)])
def test_it_is_wrong_no_more_often_than_it_says(
    random: np.random.Generator, name: str, a: int, b: int
) -> None:
    count = 600 if a == b == 20 else 20_000
    p = two_sided_p(NULLS[name](random, (count, a)), NULLS[name](random, (count, b)))
    for level in (0.01, 0.05, 0.2):
        # Three standard errors of a share of `count` draws.
        assert (p <= level).mean() <= level + 3 * math.sqrt(level * (1 - level) / count)
    if name == "normal":  # and not so seldom that it would find nothing
        assert (p <= 0.2).mean() > 0.1


@pytest.mark.parametrize("common", [0.3, 0.9])
def test_runs_of_one_seed_that_have_something_in_common_make_it_more_careful(
    random: np.random.Generator, common: float
) -> None:
    shape = (20_000, 6)
    shared = common**0.5 * random.normal(size=shape)
    own = (1 - common) ** 0.5
    p = two_sided_p(
        shared + own * random.normal(size=shape), shared + own * random.normal(size=shape)
    )
    alone = two_sided_p(random.normal(size=shape), random.normal(size=shape))
    assert (p <= 0.05).mean() < (alone <= 0.05).mean() <= 0.05


def grids(random: np.random.Generator, *, count: int, moved: int, seeds: int) -> tuple[Floats, ...]:
    """Draw comparisons of 5 cases with 8 metrics, which hang together and against each other."""
    metrics = 8
    signs = np.where(np.arange(metrics) % 2, -1.0, 1.0)
    sides = []
    for _ in range(2):
        hidden = random.normal(size=(count, 5, 1, seeds))
        own = random.normal(size=(count, 5, metrics, seeds))
        sides.append(signs[:, None] * hidden * 0.8 + own * 0.6)
    sides[1][:, :moved] += 4.0
    return tuple(side.reshape(-1, seeds) for side in sides)


@pytest.mark.parametrize("seeds", [6, 8])
def test_where_nothing_differs_few_grids_have_anything_real(
    random: np.random.Generator, seeds: int
) -> None:
    count = 1500
    p = two_sided_p(*grids(random, count=count, moved=0, seeds=seeds)).reshape(count, -1)
    any_real = np.mean([bool((adjusted(row) <= LEVEL).any()) for row in p])
    assert any_real <= LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / count)


def test_of_what_is_called_real_few_are_false(random: np.random.Generator) -> None:
    count = 1000
    p = two_sided_p(*grids(random, count=count, moved=2, seeds=6)).reshape(count, 5, -1)
    shares, found = [], []
    for row in p:
        real = adjusted(row.reshape(-1)).reshape(row.shape) <= LEVEL
        shares.append(int(real[2:].sum()) / max(1, int(real.sum())))
        found.append(real[:2].mean())
    assert np.mean(shares) <= LEVEL
    assert np.mean(found) > 0.9  # and what differs is found
