"""Consistency check: several workers run one cheap case, which must have equal results.

Same case, same kernel, same tools give the same bytes (law 1), so workers that
give different ones are broken, or longfat is. Before a worker's results are accepted
it runs a case that others run too: of each kernel the case with the lowest expected
cost. All workers run it, as long as that costs no more than a share
of the whole; at least two do.

This module only decides; `job` runs the cases.
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
    """The result of a vote.

    Attributes:
        agreed: the vote of the majority; None if there is none.
        odd: the workers that voted otherwise.
    """

    agreed: str | None
    odd: tuple[str, ...] = ()


def decide(votes: Mapping[str, str]) -> Verdict:
    """Return the result of a vote.

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
    """Return the message for a disagreement.

    Args:
        name: the name of the case.
        votes: what each worker gave.
        verdict: the result of the vote.
    """
    lines = [
        f"\n    worker {worker}: {vote if vote == FAILS else 'digest ' + vote[:_SHOWN]}"
        for worker, vote in votes.items()
    ]
    if verdict.agreed is None:
        end = "no other worker is there to decide; stop the one that is wrong"
    else:
        end = f"most agree, so check {' and '.join(verdict.odd)}"
    return f"case {name!r}: workers disagree about one and the same case:{''.join(lines)}\n  {end}"


@dataclass(slots=True, kw_only=True)
class Check:
    """One case that several workers run.

    Attributes:
        case: its index.
        wanted: how many workers should run it, if there are as many.
        votes: the result of each worker.
        asked: the workers that are running it now.
        settled: its result is decided, or no longer needed.
    """

    case: int
    wanted: int
    votes: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    settled: bool = False

    def suspends(self, worker: str) -> bool:
        """Return whether a worker's results must wait for this check."""
        return worker in self.asked or (not self.settled and worker in self.votes)

    def ask(self, hosts: Mapping[str, str]) -> list[str]:
        """Return the workers that shall run the case now, and record them in `asked`.

        Args:
            hosts: the host of each available worker; workers of one host are
                alike, so other hosts are preferred.
        """
        if self.settled and not self.votes:
            return []
        chosen = []
        known = self.asked | self.votes.keys()
        for _ in range(self.wanted - len(known)):
            free = [worker for worker in hosts if worker not in known]
            if not free:
                break
            used = Counter(hosts[worker] for worker in hosts if worker in known)
            chosen.append(min(free, key=lambda worker: used[hosts[worker]]))
            known.add(chosen[-1])
        self.asked.update(chosen)
        return chosen

    def settle(self, *, others: bool) -> Verdict | None:
        """Decide the check, once all workers in `asked` have voted.

        Args:
            others: there are workers, now or soon, that could vote too.

        Returns:
            The verdict, once; None as long as more votes are needed.
        """
        if self.settled or self.asked or not self.votes:
            return None
        if others and len(self.votes) < self.wanted:
            return None
        verdict = decide(self.votes)
        if verdict.agreed is None and others:
            self.wanted = len(self.votes) + 1
            return None
        self.settled = True
        return verdict


def choose(costs_s: Sequence[float], kernels: Sequence[str], *, share: float) -> list[Check]:
    """Choose the cases to check workers with.

    Args:
        costs_s: the expected cost of each case, in seconds.
        kernels: the kernel of each case.
        share: the share of the total cost that the checks may take, 0 to 1; 0 for no checks.
    """
    if share <= 0:
        return []
    checks = []
    for kernel in dict.fromkeys(kernels):
        of_it = [index for index, other in enumerate(kernels) if other == kernel]
        cheapest = min(of_it, key=lambda index: costs_s[index])
        allowed_s = share * sum(costs_s[index] for index in of_it)
        more = int(allowed_s / costs_s[cheapest]) if costs_s[cheapest] > 0 else len(of_it)
        checks.append(Check(case=cheapest, wanted=1 + max(1, more)))
    return checks
