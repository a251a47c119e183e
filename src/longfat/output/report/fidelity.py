"""Fidelity: how near runs come to what the labs' sources published.

Two ranks of figures. Throughput and times, and all that ping tells, are what a
reader compares first. Retransmissions, windows and queues say more of how the
source's machine worked, and stand apart as other figures. The rule is the same
for both: a figure is near enough within 15 % of the published one, or where the
published one lies in the 5-95 % band of our seeds; else the study must explain it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.analysis.verdict import Comparison, Verdict, judge
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.model.network import HostTiming
from longfat.model.units import format_quantity
from longfat.study.choose import on_testbed

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.study import Study

TOLERANCE = 0.15
"""How far from the published figure is near enough, as a part of it."""

NOT_KNOWN = "Not known"
"""How the explanation of a figure begins of which nothing that was tried shows why it differs."""

FEWEST_SEEDS = 8
"""With fewer, a band tells little; a figure that leans on one is counted as such."""

_RUN_FOLDER = re.compile(r"[A-Za-z].*-seed[0-9]+")


class Agreement(Enum):
    """How a figure stands; the text is what the summary calls it."""

    WITHIN = "within 15 %"
    INSIDE = "inside the band"
    EXPLAINED = "explained"
    OFF = "off"
    MISSING = "not measured"

    @property
    def good(self) -> bool:
        """Return whether nothing is left to do."""
        return self not in (Agreement.OFF, Agreement.MISSING)


@dataclass(frozen=True, slots=True)
class FigureFidelity:
    """A published figure beside ours.

    Attributes:
        comparison: the figure and our spread.
        standing: how they compare.
        other: it is of the second rank.
    """

    comparison: Comparison
    standing: Agreement
    other: bool

    @property
    def reason_is_unknown(self) -> bool:
        """Return whether its explanation says that the reason is not known."""
        text = self.comparison.figure.explanation
        explained = self.standing is Agreement.EXPLAINED and text is not None
        return explained and str(text).startswith(NOT_KNOWN)

    @property
    def too_few_seeds(self) -> bool:
        """Return whether it is beyond 15 %, and the seeds are too few to tell a spread."""
        spread = self.comparison.spread
        beyond = self.standing is not Agreement.WITHIN
        return beyond and spread is not None and spread.count < FEWEST_SEEDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What the command line put in place of a study's own.

    Attributes:
        kernel: the kernel's version; None for the study's.
        testbed: the timing of the computer that runs all hosts; None for the study's.
    """

    kernel: str | None = None
    testbed: HostTiming | None = None

    @property
    def name(self) -> str:
        """Both in a few words; empty for the study's own."""
        kernel = "" if self.kernel is None else f"Linux {self.kernel}"
        return ", ".join(filter(None, (kernel, self.testbed.name if self.testbed else "")))


@dataclass(frozen=True, slots=True)
class StudyFidelity:
    """The published figures of a study beside ours."""

    verdict: Verdict
    figures: tuple[FigureFidelity, ...]

    @property
    def setting(self) -> Setting:
        """What the command line put in place of the study's own."""
        runs = self.verdict.first_runs.values()
        return next((_setting(run, self.verdict.study) for run in runs), Setting())

    @property
    def good(self) -> bool:
        """Return whether every figure is near enough or explained."""
        return all(figure.standing.good for figure in self.figures)

    @property
    def counts(self) -> dict[Agreement, int]:
        """Return how many figures stand how."""
        return {
            standing: sum(figure.standing is standing for figure in self.figures)
            for standing in Agreement
        }

    @property
    def summary(self) -> str:
        """Return how many figures stand how, in one line."""
        parts = [f"{count} {standing.value}" for standing, count in self.counts.items() if count]
        if few := sum(figure.too_few_seeds for figure in self.figures):
            parts.append(f"beyond 15 % with fewer than {FEWEST_SEEDS} seeds: {few}")
        return f"{len(self.figures)} figures: {', '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that `longfat fidelity --json` prints for a study."""
        return {
            "study": self.verdict.study.name,
            "kernel": self.setting.kernel,
            "testbed": None if self.setting.testbed is None else self.setting.testbed.name,
            "good": self.good,
            "figures": [_figure_to_json(figure) for figure in self.figures],
        }


def _figure_to_json(figure: FigureFidelity) -> dict[str, Any]:
    published, spread = figure.comparison.figure, figure.comparison.spread
    return {
        "case": published.case,
        "metric": published.metric,
        "rank": "other" if figure.other else "main",
        "published": published.value,
        "median": figure.comparison.measured,
        "low": None if spread is None else spread.low,
        "high": None if spread is None else spread.high,
        "seeds": 0 if spread is None else spread.count,
        "ratio": figure.comparison.ratio,
        "standing": figure.standing.value,
        "explanation": published.explanation,
    }


def study_fidelity(study: Study, folder: Path) -> StudyFidelity:
    """Compare the runs in a folder with what their study's source published.

    Args:
        study: the study.
        folder: the folder that `longfat run` filled for it.

    Raises:
        InputError: nothing was published, there are no runs, a run cannot be
            read, or it is not one of this study.
    """
    if study.published is None:
        raise InputError(f"{study.file}: nothing was published of it: there is no field published")
    return verdict_fidelity(judge(study, load_runs(study, folder)))


def verdict_fidelity(verdict: Verdict) -> StudyFidelity:
    """Compare what a study's runs measured with what its source published.

    Args:
        verdict: the study with its runs; figures of cases that were not run are not measured.
    """
    figures = tuple(
        FigureFidelity(
            comparison=comparison,
            standing=_standing(comparison),
            other=_is_other(comparison, verdict.study),
        )
        for comparison in verdict.published
    )
    return StudyFidelity(verdict, figures)


def load_runs(study: Study, folder: Path) -> dict[str, tuple[Run, ...]]:
    """Read all runs of a study in a folder.

    Args:
        study: the study.
        folder: the folder with the run directories, `CASE-seedN`.

    Returns:
        The runs by case, in the study's order, and of a case in the seeds' order.

    Raises:
        InputError: there are none, one cannot be read, or one is of another study.
    """
    try:
        folders = sorted(path for path in folder.iterdir() if _RUN_FOLDER.fullmatch(path.name))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from None
    if not folders:
        raise InputError(f"{folder}: there are no runs in it (folders such as default-seed1)")
    found: dict[str, list[Run]] = {name: [] for name in study.cases}
    for path in folders:
        run = load_run(path)
        _check_run(run, study)
        found[run.name].append(run)
    for name, runs in found.items():
        runs.sort(key=lambda run: run.seed)
        releases = sorted({run.kernel["release"] for run in runs})
        if len(releases) > 1:
            raise InputError(
                f"{folder}: the runs of the case {name!r} are of several kernels: "
                f"{listed(releases)}; run all of them with one"
            )
    settings = {_setting(run, study) for runs in found.values() for run in runs}
    if len(settings) > 1:
        names = sorted(one.name or "the study's own" for one in settings)
        raise InputError(
            f"{folder}: the runs are of several kernels or testbeds: {listed(names)}; give each "
            "a folder of its own"
        )
    return {name: tuple(runs) for name, runs in found.items() if runs}


def _setting(run: Run, study: Study) -> Setting:
    planned, case = study.cases[run.name].case, run.case
    testbed = case.network.testbed
    return Setting(
        kernel=None if case.kernel == planned.kernel else case.kernel,
        testbed=None if testbed == planned.network.testbed else testbed or HostTiming(),
    )


def _check_run(run: Run, study: Study) -> None:
    if run.name not in study.cases:
        raise InputError(
            f"{run.folder}: it is not a run of {study.file}, which has no case {run.name!r} "
            f"(there are: {listed(study.cases)})"
        )
    planned = study.cases[run.name].case
    # What the command line may have put in its place is no other study.
    same = dataclasses.replace(planned, seed=run.case.seed, kernel=run.case.kernel)
    if on_testbed(same, run.case.network.testbed) != run.case:
        raise InputError(
            f"{run.folder}: its case {run.name!r} is not what {study.file} says: it is of another "
            "study, or the study was changed since; remove it or run it again"
        )


def _standing(comparison: Comparison) -> Agreement:
    if comparison.measured is None:
        return Agreement.MISSING
    published = comparison.figure.value
    if abs(comparison.measured - published) <= TOLERANCE * published:
        return Agreement.WITHIN
    if comparison.inside_band:
        return Agreement.INSIDE
    return Agreement.OFF if comparison.figure.explanation is None else Agreement.EXPLAINED


def _is_other(comparison: Comparison, study: Study) -> bool:
    figure = comparison.figure
    flow = figure.metric.partition(".")[0]
    pings = {ping.name for ping in study.cases[figure.case].case.pings}
    return figure.unit not in (Unit.BPS, Unit.SECONDS) and flow not in pings


def side_by_side(studies: Iterable[StudyFidelity]) -> list[tuple[StudyFidelity, ...]]:
    """Return the fidelities of each study: that of its own setting first, or else the first."""
    groups: dict[str, list[StudyFidelity]] = {}
    for one in studies:
        groups.setdefault(one.verdict.study.name, []).append(one)
    return [
        tuple(sorted(group, key=lambda one: one.setting.name != "")) for group in groups.values()
    ]


def fidelity_complaints(studies: Sequence[StudyFidelity]) -> list[str]:
    """Return a line for each figure that is off or not measured, and each case that was not run.

    Args:
        studies: the studies with their runs.
    """
    lines = []
    for one in studies:
        for figure in one.figures:
            published, ours = figure.comparison.figure, figure.comparison.measured
            if figure.standing.good:
                continue
            if published.case not in one.verdict.runs:
                line = f"not run: {one.verdict.study.name} {published.case}"
            else:
                shown = "nothing" if ours is None else format_quantity(ours, published.unit)
                line = (
                    f"{figure.standing.value}: {one.verdict.study.name} {published.case} "
                    f"{published.title}: published "
                    f"{format_quantity(published.value, published.unit)}, ours {shown}"
                )
            if line not in lines:
                lines.append(line)
    return lines
