"""The command that reproduces the runs."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from longfat.study import STUDY_FILE

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict

_MOST_NAMED = 40  # cases; of more, all of the study are run again


def rerun_line(verdict: Verdict) -> str:
    """Return the command that reproduces the runs."""
    study = verdict.study
    file = study.file.parent if study.file.name == STUDY_FILE else study.file
    words = ["longfat", "run", str(file)]
    if len(verdict.runs) < len(study.cases) and len(verdict.runs) <= _MOST_NAMED:
        words += [word for name in verdict.runs for word in ("--case", name)]
    # Options of the command line that override those of the study.
    seeds = {
        run.seed
        for name, run in verdict.first_runs.items()
        if run.seed != study.cases[name].case.seed
    }
    if len(seeds) == 1:
        words += ["--seed", str(*seeds)]
    counts = {
        len(runs) for name, runs in verdict.runs.items() if len(runs) != study.cases[name].seeds
    }
    if len(counts) == 1:
        words += ["--seeds", str(*counts)]
    versions = {
        run.case.kernel
        for name, run in verdict.first_runs.items()
        if run.case.kernel != study.cases[name].case.kernel
    }
    if len(versions) == 1:
        words += ["--kernel", *versions]
    return shlex.join(words)
