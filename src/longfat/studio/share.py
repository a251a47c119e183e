"""Runs as one self-contained file to share: the report of their study.

A folder of runs contains their study, if a job of the studio made them; then its claims,
published values and text are in the report. Runs of several studies, or of an unknown one,
get a report without these.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.verdict import evaluate
from longfat.errors import InputError
from longfat.model.host_root import HostRoot
from longfat.output.report.files import report_page
from longfat.studio.study_reader import STUDIO_LIMITS
from longfat.study import STUDY_FILE, Planned, Study
from longfat.study.document import MAX_FILE_BYTES
from longfat.study.file_reader import empty_files
from longfat.study.read import parse_study
from longfat.study.text import ANY, LANGUAGES, LanguageChoice, StudyText, text_file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.studio.workspace import Workspace


def shared_page(
    runs: Sequence[Run], *, workspace: Workspace, language: LanguageChoice = ANY
) -> str:
    """Return the page.

    Args:
        runs: the runs; at least one, all of the workspace.
        workspace: the workspace.
        language: the language of the study's text, if it has one.

    Raises:
        InputError: a file of a run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    cases = _by_case(runs)
    study = _their_study(cases, workspace=workspace, language=language) or _bare_study(cases)
    in_order = {name: cases[name] for name in study.cases if name in cases}
    return report_page(evaluate(study, in_order))


def study_of(runs: Sequence[Run], *, workspace: Workspace) -> Study | None:
    """Return the study that runs are of, as stored with them; None if it is unknown.

    Args:
        runs: the runs; at least one, all of the workspace.
        workspace: where they are.
    """
    return _their_study(_by_case(runs), workspace=workspace, language=ANY)


def case_order(runs: Sequence[Run], *, workspace: Workspace) -> tuple[str, ...]:
    """Return the names of all cases of the study that runs are of, in its order.

    Args:
        runs: the runs; at least one.
        workspace: where they are.

    Returns:
        The names; empty if the study is unknown or has changed.
    """
    study = study_of(runs, workspace=workspace)
    return tuple(study.cases) if study is not None else ()


def _by_case(runs: Sequence[Run]) -> dict[str, tuple[Run, ...]]:
    """Group runs by case, under distinct names."""
    groups: dict[tuple[Path, str, Case], dict[int, Run]] = {}
    for run in runs:
        groups.setdefault((run.folder.parent, run.name, _unseeded(run.case)), {})[run.seed] = run
    found: dict[str, tuple[Run, ...]] = {}
    names = [name for _, name, _ in groups]
    for (folder, name, _), of in groups.items():
        label = name if names.count(name) == 1 else f"{folder.name}-{name}"
        while label in found:
            label += "-too"
        found[label] = tuple(of[seed] for seed in sorted(of))
    return found


def _their_study(
    cases: Mapping[str, tuple[Run, ...]], *, workspace: Workspace, language: LanguageChoice
) -> Study | None:
    """Return the common study of these runs; None if it is unknown or has changed."""
    folders = {run.folder.parent for runs in cases.values() for run in runs}
    if len(folders) != 1:
        return None
    place = folders.pop().relative_to(workspace.root).as_posix()
    with contextlib.suppress(InputError, UnicodeDecodeError):
        kept = _kept_text(workspace, f"{place}/{STUDY_FILE}") or ""
        # The files beside the study are not stored; the cases of the runs have their contents.
        study = parse_study(kept, name=STUDY_FILE, beside=empty_files, limits=STUDIO_LIMITS)
        if all(_fits(study.cases.get(name), runs) for name, runs in cases.items()):
            name = Path(place).name
            text = _kept_study_text(workspace, place, language)
            return replace(study, name=name, file=Path(name), text=text)
    return None


def _kept_study_text(
    workspace: Workspace, place: str, language: LanguageChoice
) -> StudyText | None:
    kept = {code: _kept_text(workspace, f"{place}/{text_file_name(code)}") for code in LANGUAGES}
    there = {code: text for code, text in kept.items() if text is not None}
    code = language.choose(there, of=place)
    return None if code is None else StudyText(markdown=there[code], language=code)


def _kept_text(workspace: Workspace, path: str) -> str | None:
    content = workspace.read_or_none(path, most_bytes=MAX_FILE_BYTES)
    return None if content is None else content.decode("utf-8-sig")


def _fits(planned: Planned | None, runs: Sequence[Run]) -> bool:
    """Return whether runs are of a case, with any seeds."""
    if planned is None:
        return False
    return all(_comparable(run.case) == _comparable(planned.case) for run in runs)


def _comparable(case: Case) -> Case:
    hosts = tuple(
        replace(host, root=host.root and HostRoot(image=host.root.image))
        for host in case.network.hosts
    )
    return replace(
        _unseeded(case),
        files=tuple(replace(one, content=b"") for one in case.files),
        packages=(),  # a lock file is one of these files, and not read here
        network=replace(case.network, hosts=hosts),
    )


def _unseeded(case: Case) -> Case:
    return replace(case, seed=0)


def _bare_study(cases: Mapping[str, tuple[Run, ...]]) -> Study:
    """Return a minimal study, built from the runs only."""
    folders = dict.fromkeys(run.folder.parent.name for runs in cases.values() for run in runs)
    name = ", ".join(folders)
    return Study(
        name=name,
        file=Path(name),
        title=f"Runs of {name}",
        cases={
            label: Planned(case=runs[0].case, title=label, seeds=len(runs))
            for label, runs in cases.items()
        },
        common=None,
        claims=(),
        published=None,
    )
