"""The plan of a job: a study, the cases to run, and those with existing runs.

A page may run the cases of a study one by one. Claims and report need all of them, so runs of
an earlier job count as long as they are of exactly the same case and kernel: running them
again would give the same bytes.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.engine import kernel as kernels
from longfat.errors import InputError, LongfatError
from longfat.studio.attachments import document_beside
from longfat.studio.formats import SUFFIXES
from longfat.studio.saved_runs import load_kept
from longfat.studio.study_reader import STUDIO_LIMITS
from longfat.studio.urls import RUNS
from longfat.study.expand import MAX_SEED
from longfat.study.read import STUDY_FILE, parse_study
from longfat.study.text import ANY, LanguageChoice, StudyText, read_text, text_file_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.execution.runs import Run
    from longfat.studio.workspace import Workspace
    from longfat.study import Planned, Study

_ODD = re.compile(r"[^\w.-]+", re.ASCII)
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """The request of a page: `JobRequest` of its `api/types.ts`.

    Attributes:
        name: the study's name.
        text: its text.
        lab: its lab, or None.
        path: its file below the workspace, or None.
        cases: the names of the cases to run; all, if empty.
        seeds: how many seeds each is run with; None for the study's own number.
        language: the language of the lab's text in the report.
    """

    name: str
    text: str
    lab: str | None = None
    path: str | None = None
    cases: tuple[str, ...] = ()
    seeds: int | None = None
    language: LanguageChoice = ANY


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of a job.

    Attributes:
        study: the study.
        lab: its lab, or None.
        chosen: the cases to run, by name.
        known: the existing runs of other cases, by the cases' names.
        place: the folder of the runs, below the workspace.
        folder: the same as a whole path.
        texts: the files to write beside the runs, to identify their study later: the study,
            its text and the translations, by the files' names.
    """

    study: Study
    lab: str | None
    chosen: Mapping[str, Planned]
    known: Mapping[str, tuple[Run, ...]]
    place: str
    folder: Path
    texts: Mapping[str, str]

    def keep_texts(self, workspace: Workspace) -> None:
        """Write the texts; no other job may run in that folder at the same time.

        Raises:
            InputError: they cannot be written.
        """
        for name, text in self.texts.items():
            workspace.write(f"{self.place}/{name}", text.encode())


def make_plan(requested: JobRequest, *, workspace: Workspace) -> Plan:
    """Return the plan of a job; its folder is created.

    Args:
        requested: the request.
        workspace: the folder whose `runs` takes the runs.

    Raises:
        InputError: the study is invalid, there is no such case or lab, or
            the folder cannot be created.
    """
    beside = document_beside(workspace, path=requested.path, lab=requested.lab)
    study = parse_study(requested.text, name=requested.name, beside=beside, limits=STUDIO_LIMITS)
    files = {} if requested.lab is None else workspace.labs.find(requested.lab).text_files
    code = requested.language.choose(files, of=requested.lab or requested.name)
    texts = {code: read_text(file) for code, file in files.items()}
    text = None if code is None else StudyText(markdown=texts[code], language=code)
    name = folder_name(requested.lab or requested.name)
    study = replace(study, name=name, file=Path(requested.lab or requested.name), text=text)
    chosen = _chosen(study, names=requested.cases, seeds=requested.seeds)
    place = f"{RUNS}/{name}"
    folder = workspace.folder(place, make=True)
    every = _chosen(study, names=(), seeds=requested.seeds)
    others = {name: planned for name, planned in every.items() if name not in chosen}
    return Plan(
        study=study,
        lab=requested.lab,
        chosen=chosen,
        known=_known(others, workspace=workspace, place=place),
        place=place,
        folder=folder,
        texts={STUDY_FILE: requested.text} | {text_file_name(one): texts[one] for one in texts},
    )


def folder_name(name: str) -> str:
    """Return the folder name of a study's runs: its name without suffix and special characters.

    Args:
        name: the study's name, such as `two paths.yaml`.
    """
    path = Path(name)
    stem = path.stem if path.suffix in SUFFIXES else path.name
    return _ODD.sub("-", stem).strip("-.")[:_LONGEST_NAME] or "drawing"


def _chosen(study: Study, *, names: Sequence[str], seeds: int | None) -> dict[str, Planned]:
    for name in names:
        if name not in study.cases:
            raise InputError(
                f"there is no case {name!r}{nearest(name, study.cases)} "
                f"(there are: {listed(study.cases)})"
            )
    found = {}
    for name, planned in study.cases.items():
        if names and name not in names:
            continue
        count = planned.seeds if seeds is None else seeds
        if planned.case.seed + count - 1 > MAX_SEED:
            raise InputError(
                f"{count} seeds from {planned.case.seed} on pass the largest seed, {MAX_SEED}"
            )
        found[name] = replace(planned, seeds=count)
    return found


def _known(
    cases: Mapping[str, Planned], *, workspace: Workspace, place: str
) -> dict[str, tuple[Run, ...]]:
    found = {}
    for name, planned in cases.items():
        with contextlib.suppress(LongfatError):
            kernel = kernels.find(planned.case.kernel)
            runs = [
                load_kept(workspace, f"{place}/{name}-seed{case.seed}") for case in planned.seeded()
            ]
            wanted = [case.digest for case in planned.seeded()]
            same_kernel = all(run.kernel.get("digest") == kernel.digest for run in runs)
            if same_kernel and [run.case_digest for run in runs] == wanted:
                found[name] = tuple(runs)
    return found
