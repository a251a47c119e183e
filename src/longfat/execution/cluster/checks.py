"""The check of workers against each other: one cheap piece, run by several, must be one result.

Same case, same kernel, same tools give the same bytes (law 1), so workers that
give different ones are broken, or longfat is. Before a worker's results count
it runs a piece that others run too: of each kernel the piece that is expected
to cost least. All of the workers do, as long as that costs no more than a share
of the whole; at least two do.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FAILS = "it fails"
"""The vote of a worker on which the case fails."""

_SHOWN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What votes amount to.

    Attributes:
        agreed: what most say; None if nothing was said by two, or by more than anything else.
        odd: the workers that say something else than what is agreed.
    """

    agreed: str | None
    odd: tuple[str, ...] = ()


def decide(votes: Mapping[str, str]) -> Verdict:
    """Return what the votes of workers amount to.

    Args:
        votes: a digest, or `FAILS`, by the workers' addresses.
    """
    counts = Counter(votes.values()).most_common(2)
    if not counts or (len(votes) > 1 and counts[0][1] < 2):
        return Verdict(agreed=None)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return Verdict(agreed=None)
    agreed = counts[0][0]
    return Verdict(agreed=agreed, odd=tuple(w for w, vote in votes.items() if vote != agreed))


def disagreement(name: str, votes: Mapping[str, str], verdict: Verdict) -> str:
    """Return a disagreement in words.

    Args:
        name: the case that was run.
        votes: what each worker gave.
        verdict: what that amounts to.
    """
    told = [
        f"\n    worker {worker}: {vote if vote == FAILS else 'digest ' + vote[:_SHOWN]}"
        for worker, vote in votes.items()
    ]
    if verdict.agreed is None:
        end = "no other worker is there to decide; stop the one that is wrong"
    else:
        end = f"most agree, so look at {' and '.join(verdict.odd)}"
    return f"case {name!r}: workers disagree about one and the same case:{''.join(told)}\n  {end}"


@dataclass(slots=True, kw_only=True)
class Check:
    """One piece that several workers run.

    Attributes:
        piece: which.
        wanted: how many workers run it, if there are as many.
        votes: what each gave.
        asked: the workers that run it now, by their attempts' names.
        settled: its result is decided, one way or other.
    """

    piece: int
    wanted: int
    votes: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    settled: bool = False

    def suspends(self, worker: str) -> bool:
        """Tell whether a worker's results must wait for this check."""
        return worker in self.asked or (not self.settled and worker in self.votes)

    def knows(self, worker: str) -> bool:
        """Tell whether a worker has run it or does so now."""
        return worker in self.asked or worker in self.votes


def choose(costs_s: Sequence[float], kernels: Sequence[str], *, share: float) -> list[Check]:
    """Choose the pieces to check workers with.

    Args:
        costs_s: what each piece is expected to cost, in seconds.
        kernels: the kernel of each piece.
        share: how much of the whole the checks may cost, 0 to 1; 0 for no checks.
    """
    if share <= 0:
        return []
    checks = []
    for kernel in dict.fromkeys(kernels):
        of_it = [index for index, one in enumerate(kernels) if one == kernel]
        cheapest = min(of_it, key=lambda index: costs_s[index])
        allowed_s = share * sum(costs_s[index] for index in of_it)
        more = int(allowed_s / costs_s[cheapest]) if costs_s[cheapest] > 0 else len(of_it)
        checks.append(Check(piece=cheapest, wanted=1 + max(1, more)))
    return checks
