"""How evenly a resource is shared.

Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and
Discrimination for Resource Allocation in Shared Computer Systems", DEC Research
Report TR-301, 1984.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.theory import _checks

if TYPE_CHECKING:
    from collections.abc import Iterable


def jain_index(shares: Iterable[float]) -> float:
    """Return Jain's fairness index of some shares.

    Source: Jain et al. 1984: (sum x)^2 / (n sum x^2). It is 1 where all shares are equal,
    and k / n where k of n have the same and the others nothing. Valid for shares of
    one kind, of any unit.

    Args:
        shares: what each has, 0 or more, and not all of them 0.

    Returns:
        The index, from 1 / n to 1.

    Raises:
        ValueError: there are no shares, one is negative, or all are 0.

    One of four who has all, and four of whom one has half of what the others have:

    >>> jain_index([10, 0, 0, 0])
    0.25
    >>> round(jain_index([2, 2, 2, 1]), 3)
    0.942
    """
    found = list(shares)
    _checks.not_negative(**{f"share {number}": share for number, share in enumerate(found, 1)})
    largest = max(found, default=0.0)
    if not largest:
        raise ValueError("shares must not all be 0")
    # Relative to the largest, so that no square is too large or too small for a float.
    parts = [share / largest for share in found]
    return sum(parts) ** 2 / (len(parts) * sum(part**2 for part in parts))
