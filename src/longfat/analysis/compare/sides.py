"""A side of a comparison: the runs of some cases, whatever they were found by."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.execution.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side.

    Attributes:
        label: what tables call it.
        runs: the runs by the cases' names: of each case at least one, in the seeds' order.
        claims: of a study whose claims are known, whether each holds, by its text.
    """

    label: str
    runs: Mapping[str, tuple[Run, ...]]
    claims: Mapping[str, bool | None] = field(default_factory=dict)

    @property
    def all_runs(self) -> list[Run]:
        """Return the runs of all cases."""
        return [run for runs in self.runs.values() for run in runs]

    @property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds of any case, sorted."""
        return tuple(sorted({run.seed for run in self.all_runs}))


def make_side(
    label: str,
    runs: Mapping[str, Sequence[Run]],
    *,
    claims: Mapping[str, bool | None] | None = None,
) -> Side:
    """Make a side of runs, each case's sorted by their seeds.

    Args:
        label: what tables call it.
        runs: the runs by the cases' names.
        claims: whether each claim of their study holds, by its text.

    Raises:
        InputError: there are no runs, a seed is there twice, or the runs of one case
            differ in more than their seeds and so are no draws of one thing.
    """
    there = {
        name: tuple(sorted(of_case, key=lambda run: run.seed))
        for name, of_case in runs.items()
        if of_case
    }
    if not there:
        raise InputError(f"{label}: there are no runs to compare")
    for of_case in there.values():
        _check(of_case)
    return Side(label=label, runs=there, claims=claims or {})


def _check(runs: Sequence[Run]) -> None:
    first = runs[0]
    for before, run in pairwise(runs):
        if run.seed == before.seed:
            raise InputError(
                f"{before.folder} and {run.folder} are runs of one case with one seed: "
                "give one of them"
            )
        if dataclasses.replace(run.case, seed=first.seed) != first.case:
            raise InputError(
                f"{run.folder}: its case {run.name!r} is not that of {first.folder}: the study was "
                "changed between the two; remove the older runs, or run them again"
            )
        if run.kernel["digest"] != first.kernel["digest"]:
            raise InputError(
                f"{run.folder}: its kernel is {_kernel(run)} and that of {first.folder} is "
                f"{_kernel(first)}: run all seeds of a case with one kernel"
            )


def _kernel(run: Run) -> str:
    return f"{run.kernel['release']} ({run.kernel['digest'][:12]})"
