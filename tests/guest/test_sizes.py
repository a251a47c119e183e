"""Distributions of sizes, and random numbers that depend on a text only."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.guest.sizes import POINTS, Draws, SizesError, named, parse


def test_means_are_those_of_the_literature() -> None:
    # pFabric (SIGCOMM 2013), section 5.1: 1.6 MB and 7.41 MB.
    assert named("web-search").mean_bytes == pytest.approx(1.6e6, rel=0.1)
    assert named("data-mining").mean_bytes == pytest.approx(7.41e6, rel=0.1)
    assert named("1000").mean_bytes == 1000


@pytest.mark.parametrize("name", [*POINTS, "4321"])
def test_drawn_sizes_have_that_mean(name: str) -> None:
    sizes, draws = named(name), Draws("1 x sizes")
    count = 200_000
    found = sum(sizes.at(draws.share()) for _ in range(count)) / count
    assert found == pytest.approx(sizes.mean_bytes, rel=0.05)


def test_points_are_reached() -> None:
    sizes = named("web-search")
    for size, share in POINTS["web-search"]:
        assert sizes.at(share) == size
    assert named("data-mining").at(0.3) == 1500


def test_draws() -> None:
    one, two, other = Draws("1 x times"), Draws("1 x times"), Draws("2 x times")
    values = [one.share() for _ in range(5)]
    assert values == [two.share() for _ in range(5)] != [other.share() for _ in range(5)]
    count = 100_000
    gaps = [one.exponential(2.0) for _ in range(count)]
    assert sum(gaps) / count == pytest.approx(2.0, rel=0.02)
    # Of an exponential distribution, this many are longer than the mean.
    assert sum(gap > 2.0 for gap in gaps) / count == pytest.approx(math.exp(-1), rel=0.02)


def test_a_file() -> None:
    sizes = parse("# sizes\n100 0\n\n200, 50\n1000 100\n")
    assert sizes.mean_bytes == 0.5 * 150 + 0.5 * 600
    assert [sizes.at(share) for share in (0, 0.25, 0.5, 1)] == [100, 150, 200, 1000]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the last line has to have the largest size and the share 1, or 100"),
        ("100 0.5\n", "the last line"),
        ("100\n", "line 1: write a size in bytes and a share"),
        ("x 1\n", "line 1: write a size"),
        ("100 0.5\n50 1\n", "line 2: sizes and shares have to grow"),
        ("100 0.5\n200 0.2\n300 1\n", "line 2: sizes and shares have to grow"),
        ("100 101\n", "line 1: '100 101' is no size with a share"),
        ("nan 1\n", "line 1: 'nan 1' is no size with a share"),
        ("0 1\n", "the last line"),
    ],
)
def test_broken_files(text: str, reason: str) -> None:
    with pytest.raises(SizesError, match=reason):
        parse(text)


POINT = st.tuples(st.integers(1, 10**9), st.floats(0, 1))


@given(st.lists(POINT, min_size=1, max_size=20), st.lists(st.floats(0, 1), max_size=20))
def test_any_distribution_is_monotonic(
    points: list[tuple[int, float]], shares: list[float]
) -> None:
    sizes_bytes = sorted(size for size, _ in points)
    parts = [*sorted(share for _, share in points)[1:], 1.0]
    text = "\n".join(f"{size} {part!r}" for size, part in zip(sizes_bytes, parts, strict=True))
    sizes = parse(text)
    drawn = [sizes.at(share) for share in sorted(shares)]
    assert drawn == sorted(drawn)
    assert all(sizes_bytes[0] <= size <= sizes_bytes[-1] for size in drawn)
    assert sizes_bytes[0] - 1 <= sizes.mean_bytes <= sizes_bytes[-1] + 1


@given(st.text(max_size=100))
def test_any_text_is_a_distribution_or_told(text: str) -> None:
    with contextlib.suppress(SizesError):
        assert parse(text).at(1.0) >= 1
