"""The sides of a comparison, each the runs of some cases, and which cases are compared.

`find_side` finds the runs of a side from an argument: a study, a folder of runs, a run.
`match_cases` pairs the cases of two sides.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.verdict import evaluate
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST
from longfat.study import STUDY_FILE, read_study
from longfat.study.labs import find_study

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.study import Study


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


_RUN_FOLDER = re.compile(r"(?P<case>[A-Za-z].*)-seed(?P<seed>[0-9]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSelection:
    """Which of the runs that are found to take.

    Attributes:
        runs: the folder where the runs of studies are.
        kernel: those with this kernel's version; all, if None.
        seeds: those with these seeds; all, if None.
        cases: those of cases whose names fit one of these patterns; all, if there are none.
    """

    runs: Path = Path("runs")
    kernel: str | None = None
    seeds: range | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A side, and notes on how it was found."""

    side: Side
    notes: tuple[str, ...] = ()


def find_side(
    argument: str,
    selection: RunSelection,
    *,
    label: str,
    on_run: Callable[[], None] = lambda: None,
) -> Found:
    """Find the runs that an argument names.

    Args:
        argument: a run directory; a folder of them; such a folder and a case's name
            (`runs/lab08/tuned`: all seeds of the case); or a study: a file, a folder or a
            lab's name. What is a folder of runs is taken as such before it is taken as a study.
        selection: which of the runs to take.
        label: what tables call the side.
        on_run: called for each run that was read.

    Raises:
        InputError: there is no such thing, there are no such runs, or one cannot be read.
    """
    study, places = _places(argument, selection)
    by_case: dict[str, list[Run]] = {}
    names: dict[str, None] = {}
    for folder in places:
        found = _RUN_FOLDER.fullmatch(folder.name)
        if found and selection.seeds is not None and int(found["seed"]) not in selection.seeds:
            continue
        if found and not _fits(found["case"], selection.cases):
            names[found["case"]] = None
            continue
        run = load_run(folder)
        on_run()
        names[run.name] = None
        if _wanted(run, selection):
            by_case.setdefault(run.name, []).append(run)
    if not by_case:
        raise InputError(f"{argument}: {_none(places, selection, tuple(names))}")
    if study is None:
        return Found(make_side(label, by_case))
    ordered = {name: by_case[name] for name in study.cases if name in by_case}
    verdict = evaluate(study, ordered)
    claims = {one.claim.text: one.passed for one in verdict.claims}
    return Found(
        make_side(label, ordered | by_case, claims=claims), _notes(study, by_case, argument)
    )


def _wanted(run: Run, selection: RunSelection) -> bool:
    return (
        (selection.kernel is None or run.case.kernel == selection.kernel)
        and (selection.seeds is None or run.seed in selection.seeds)
        and _fits(run.name, selection.cases)
    )


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def _none(places: Sequence[Path], selection: RunSelection, names: Sequence[str]) -> str:
    """Return why no runs are left, although there are some."""
    if selection.cases and not any(_fits(name, selection.cases) for name in names):
        (first, *_) = selection.cases
        return f"no runs of a case {first!r}{nearest(first, names)}; its cases: {listed(names)}"
    conditions = []
    if selection.kernel is not None:
        conditions.append(f"with the kernel {selection.kernel}")
    if selection.seeds is not None:
        conditions.append(f"with the seeds {selection.seeds.start}-{selection.seeds.stop - 1}")
    return f"of its {len(places)} runs none is {' and '.join(conditions) or 'there'}"


def _places(argument: str, selection: RunSelection) -> tuple[Study | None, list[Path]]:
    """Return the study that an argument names, if it names one, and the run directories."""
    path = Path(argument)
    if (path / MANIFEST).is_file():
        return None, [path]
    if places := _in_folder(path, selection.kernel):
        return None, places
    if not path.exists() and (places := _of_case(path, selection.kernel)):
        return None, places
    if path.is_dir() and (kernels := _kernels(path)):
        raise InputError(_choose_kernel(path, kernels, selection.kernel))
    if path.is_dir() and not (path / STUDY_FILE).exists():
        raise InputError(
            f"{path}: there are no runs in it (folders such as default-seed1), and no {STUDY_FILE}"
        )
    study = read_study(find_study(argument))
    folder = selection.runs / study.name
    if places := _in_folder(folder, selection.kernel):
        return study, places
    if kernels := _kernels(folder):
        raise InputError(_choose_kernel(folder, kernels, selection.kernel))
    raise InputError(
        f"{argument}: there are no runs of it in {folder}: `longfat run {argument}` makes them, "
        "and --runs names another folder than runs"
    )


def _in_folder(folder: Path, kernel: str | None) -> list[Path]:
    """Return the run directories in a folder, or in its subfolder for a kernel."""
    if kernel is not None and (places := _run_folders(folder / kernel)):
        return places
    return _run_folders(folder)


def _run_folders(folder: Path) -> list[Path]:
    try:
        found = [one for one in folder.iterdir() if _RUN_FOLDER.fullmatch(one.name)]
    except OSError:
        return []
    return sorted(found)


def _of_case(path: Path, kernel: str | None) -> list[Path]:
    """Return the run directories `CASE-seedN` of a path that ends in a case's name."""
    places = _in_folder(path.parent, kernel)
    return [one for one in places if one.name.rpartition("-seed")[0] == path.name]


def _kernels(folder: Path) -> list[str]:
    """Return the kernels by whose versions the runs in a folder lie in subfolders."""
    try:
        folders = sorted(one for one in folder.iterdir() if one.name[:1].isdigit())
    except OSError:
        return []
    return [one.name for one in folders if _run_folders(one)]


def _choose_kernel(folder: Path, kernels: Sequence[str], kernel: str | None) -> str:
    if kernel is not None:
        return f"{folder}: there are no runs with the kernel {kernel}, but with {listed(kernels)}"
    return (
        f"{folder}: its runs are of several kernels: name one with --kernel, or two or more "
        f"to compare them (there are: {listed(kernels)})"
    )


def _notes(study: Study, by_case: dict[str, list[Run]], argument: str) -> tuple[str, ...]:
    """Return where the runs differ from the current study."""
    changed = []
    for name, runs in by_case.items():
        case = runs[0].case
        planned = study.cases.get(name)
        if planned is None or case != dataclasses.replace(
            planned.case, seed=case.seed, kernel=case.kernel
        ):
            changed.append(name)
    if not changed:
        return ()
    return (
        f"{argument}: the study was changed since these cases were run, and what is compared is "
        f"what was run: {listed(changed)}",
    )


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
