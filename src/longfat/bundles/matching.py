"""Whether runs are those of a study: case by case, apart from kernel and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.study import Study

# What options of `longfat run` put in place of the study's values.
_CHOSEN = ("kernel", "seed")


def case_difference(written: Case, ran: Case) -> str:
    """Return in which fields two cases differ, apart from kernel and seed; empty if in none.

    Args:
        written: the study's case.
        ran: that of a run.
    """
    ours, theirs = written.to_json(), ran.to_json()
    different = []
    for name in sorted(ours.keys() | theirs.keys()):
        if name in _CHOSEN or ours.get(name) == theirs.get(name):
            continue
        if name == "files":
            different += _different_files(ours.get(name, ()), theirs.get(name, ()))
        else:
            different.append(name)
    return ", ".join(different)


def _different_files(
    ours: Iterable[Mapping[str, Any]], theirs: Iterable[Mapping[str, Any]]
) -> list[str]:
    before, after = ({file["path"]: file for file in files} for files in (ours, theirs))
    paths = sorted(before.keys() | after.keys())
    return [f"files.{path}" for path in paths if before.get(path) != after.get(path)]


def mismatch(study: Study, run: Run) -> str:
    """Return why a run is not one of a study; empty if it is."""
    planned = study.cases.get(run.name)
    if planned is None:
        return f"the study has no case {run.name!r}"
    if different := case_difference(planned.case, run.case):
        return f"its case is another one than {run.name!r} of the study: {different}"
    return ""


def by_case(study: Study, runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Return runs by their cases, in the study's order; those of a case by their seeds.

    Raises:
        InputError: the seeds of a case do not follow each other.
    """
    groups: dict[str, tuple[Run, ...]] = {}
    for name in study.cases:
        of_case = tuple(sorted((run for run in runs if run.name == name), key=lambda run: run.seed))
        if not of_case:
            continue
        first = of_case[0].seed
        if [run.seed for run in of_case] != list(range(first, first + len(of_case))):
            seeds = ", ".join(str(run.seed) for run in of_case)
            raise InputError(
                f"the runs of case {name!r} have the seeds {seeds}, of which some are missing"
            )
        groups[name] = of_case
    return groups
