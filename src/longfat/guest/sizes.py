"""Sizes of responses: fixed, or drawn from a distribution by its cumulative distribution function.

Between two points of a distribution a size is as likely as any other. The two that have a name
are those of measured data centres, with the points by which they are commonly simulated:

* `web-search`: the flows of a cluster that answers search queries. M. Alizadeh and others, "Data
  Center TCP (DCTCP)", SIGCOMM 2010, section 2.2 and figure 4.
* `data-mining`: those of a cluster for data mining. A. Greenberg and others, "VL2: A Scalable and
  Flexible Data Center Network", SIGCOMM 2009, section 3.1 and figure 2.

Neither paper prints numbers. The points are those of the simulations of M. Alizadeh and others,
"pFabric: Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, figure 4, as later work took
them over (the traffic generator of W. Bai and others, "Information-Agnostic Flow Scheduling for
Commodity Data Centers", NSDI 2015); data mining is in packets of 1500 bytes there.
"""

from __future__ import annotations

# `random` brings others in.
import _random
import math

POINTS: dict[str, tuple[tuple[float, float], ...]] = {
    "web-search": (
        (1, 0),
        (10_000, 0.15),
        (20_000, 0.2),
        (30_000, 0.3),
        (50_000, 0.4),
        (80_000, 0.53),
        (200_000, 0.6),
        (1_000_000, 0.7),
        (2_000_000, 0.8),
        (5_000_000, 0.9),
        (10_000_000, 0.97),
        (30_000_000, 1),
    ),
    "data-mining": (
        (1_500, 0.5),
        (3_000, 0.6),
        (4_500, 0.7),
        (10_500, 0.8),
        (400_000, 0.9),
        (3_160_000, 0.95),
        (100_000_000, 0.99),
        (1_000_000_000, 1),
    ),
}
"""Distributions: sizes in bytes, and the share of responses that are no larger."""

MAX_BYTES = 10**12
_MAX_POINTS = 10_000


class SizesError(Exception):
    """Why there is no such distribution, in words."""


class Sizes:
    """A distribution of sizes.

    Args:
        points: sizes in bytes with the share of those that are no larger, both growing.
    """

    def __init__(self, points: tuple[tuple[float, float], ...]) -> None:
        self._points = points

    @property
    def mean_bytes(self) -> float:
        """The mean size, in bytes."""
        size, share = self._points[0]
        total = size * share
        for (a, below), (b, above) in zip(self._points, self._points[1:], strict=False):
            total += (above - below) * (a + b) / 2
        return total

    def at(self, share: float) -> int:
        """Return the size that this share of sizes, 0 to 1, does not exceed, in bytes."""
        before = self._points[0]
        if share <= before[1]:
            return max(1, round(before[0]))
        for point in self._points[1:]:
            if share <= point[1]:
                part = (share - before[1]) / (point[1] - before[1])
                return max(1, round(before[0] + (point[0] - before[0]) * part))
            before = point
        return max(1, round(before[0]))


def named(name: str) -> Sizes:
    """Return a distribution by its name, or that of one size, which is a number of bytes."""
    return Sizes(POINTS[name]) if name in POINTS else Sizes(((int(name), 1.0),))


def parse(text: str) -> Sizes:
    """Read a distribution: a size in bytes and a share on each line, 0 to 1 or 0 to 100.

    Empty lines and those that begin with # are left out. The last share is 1 or 100.

    Raises:
        SizesError: it is none.
    """
    points: list[tuple[float, float]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.replace(",", " ").split()
        if not words or words[0].startswith("#"):
            continue
        try:
            size, share = map(float, words)
        except ValueError:
            raise SizesError(f"line {number}: write a size in bytes and a share") from None
        if not (0 <= size <= MAX_BYTES and 0 <= share <= 100):
            raise SizesError(f"line {number}: {line.strip()!r} is no size with a share")
        if points and (size < points[-1][0] or share < points[-1][1]):
            raise SizesError(f"line {number}: sizes and shares have to grow")
        points.append((size, share))
        if len(points) > _MAX_POINTS:
            raise SizesError(f"more than {_MAX_POINTS} points")
    if not points or points[-1][1] not in (1, 100) or points[-1][0] < 1:
        raise SizesError("the last line has to have the largest size and the share 1, or 100")
    whole = points[-1][1]
    return Sizes(tuple((size, share / whole) for size, share in points))


class Draws:
    """Random numbers that depend on a text only.

    Args:
        seed: the text.
    """

    def __init__(self, seed: str) -> None:
        self._random = _random.Random(int.from_bytes(seed.encode(), "big"))

    def share(self) -> float:
        """Return a number between 0 and 1, evenly distributed."""
        return self._random.random()

    def exponential(self, mean: float) -> float:
        """Return an exponentially distributed number."""
        return -mean * math.log(1.0 - self._random.random())
