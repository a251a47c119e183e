"""A side of a comparison, from an argument: a study, a folder of runs, a run."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.compare.sides import Side, make_side
from longfat.analysis.verdict import judge
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST
from longfat.study import STUDY_FILE, read_study
from longfat.study.labs import find_study

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.study import Study

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
    verdict = judge(study, ordered)
    claims = {one.claim.text: one.holds for one in verdict.claims}
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
