"""Which case of A is compared with which case of B."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.analysis.compare.sides import Side
    from longfat.execution.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A case of A and the case of B that it is compared with.

    Attributes:
        a_name: its name in A.
        b_name: its name in B.
        a: the runs of A.
        b: the runs of B.
    """

    a_name: str
    b_name: str
    a: tuple[Run, ...]
    b: tuple[Run, ...]

    @property
    def name(self) -> str:
        """Return what tables call it."""
        return self.a_name if self.a_name == self.b_name else f"{self.a_name} | {self.b_name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Matching:
    """All cases of two sides.

    Attributes:
        pairs: those that are compared, in A's order.
        only_a: the names of those that have no other one, in A.
        only_b: likewise in B.
    """

    pairs: tuple[Pair, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]


def match_cases(a: Side, b: Side) -> Matching:
    """Find the cases that belong together: by name, else by parameters, else as the only ones.

    Two grids that name their cases differently still have parameters to go by;
    settings that two cases of one side share decide nothing.

    Args:
        a: one side.
        b: the other.
    """
    found: dict[str, str] = {name: name for name in a.runs if name in b.runs}
    ours = _by_parameters(a, without=found)
    theirs = _by_parameters(b, without=found)
    found |= {name: theirs[key] for key, name in ours.items() if key in theirs}
    if len(a.runs) == len(b.runs) == 1:
        found = {next(iter(a.runs)): next(iter(b.runs))}
    taken = set(found.values())
    return Matching(
        pairs=tuple(
            Pair(a_name=name, b_name=found[name], a=runs, b=b.runs[found[name]])
            for name, runs in a.runs.items()
            if name in found
        ),
        only_a=tuple(name for name in a.runs if name not in found),
        only_b=tuple(name for name in b.runs if name not in taken),
    )


def _by_parameters(side: Side, *, without: Collection[str]) -> dict[Hashable, str]:
    """Return the names of a side's cases by their parameters, where these are of one case only."""
    names: dict[Hashable, list[str]] = {}
    for name, runs in side.runs.items():
        if name not in without and runs[0].parameters:
            names.setdefault(_parameters(runs[0]), []).append(name)
    return {key: of[0] for key, of in names.items() if len(of) == 1}


def _parameters(run: Run) -> Hashable:
    return frozenset(
        (name, one.text if one.number is None else (one.number, one.unit))
        for name, one in run.parameters.items()
    )
