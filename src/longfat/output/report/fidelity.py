"""Fidelity: how close runs are to the figures that the labs' sources published.

Figures have two classes. Throughput and times, and everything from ping, are what a
reader compares first. Retransmissions, windows and queues depend more on how the
source's machine worked, and are listed separately as other figures. The rule is the same
for both. Where the source published several runs, two distributions are compared: they agree if
each median is in the other's 5-95 % band. Otherwise a figure agrees if it is within 15 % of the
published one, or if one of the two is in the other's band; if not, the study must explain it.

A test of ranks (Mann and Whitney, 1947) would not do: a simulation has nearly the same result with
each seed, so that a test finds any difference, and here the question is whether it is large.
The percentiles are those of `longfat.model.spread`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.analysis.verdict import Comparison, Verdict, evaluate, source_band_json
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.model.network import HostTiming
from longfat.model.units import format_quantity
from longfat.study.choose import on_testbed, with_shared_kernel

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.study import Study

TOLERANCE = 0.15
"""The maximum relative deviation from the published figure."""

NOT_KNOWN = "Not known"
"""The prefix of an explanation that gives no reason, because none was found."""

FEWEST_SEEDS = 8
"""With fewer seeds, a band is not meaningful; figures that rely on one are counted."""

_RUN_FOLDER = re.compile(r"[A-Za-z].*-seed[0-9]+")


class Agreement(Enum):
    """How a figure compares; the text is its name in the summary."""

    BANDS = "bands agree"
    WITHIN = "within 15 %"
    INSIDE = "inside the band"
    EXPLAINED = "explained"
    OFF = "off"
    MISSING = "not measured"

    @property
    def good(self) -> bool:
        """Return whether no action is needed."""
        return self not in (Agreement.OFF, Agreement.MISSING)


@dataclass(frozen=True, slots=True)
class FigureFidelity:
    """A published figure and the measured one.

    Attributes:
        comparison: the figure and the measured spread.
        agreement: how they compare.
        other: it belongs to the second class.
    """

    comparison: Comparison
    agreement: Agreement
    other: bool

    @property
    def reason_is_unknown(self) -> bool:
        """Return whether its explanation states that the reason is not known."""
        text = self.comparison.figure.explanation
        explained = self.agreement is Agreement.EXPLAINED and text is not None
        return explained and str(text).startswith(NOT_KNOWN)

    @property
    def too_few_seeds(self) -> bool:
        """Return whether it is beyond 15 %, and the seeds are too few for a band."""
        spread = self.comparison.spread
        return not self.is_close and spread is not None and spread.count < FEWEST_SEEDS

    @property
    def is_close(self) -> bool:
        """Return whether it is within 15 % of the published figure."""
        return _is_close(self.comparison)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The options of the command line that override those of a study.

    Attributes:
        kernel: the kernel's version; None for the study's.
        testbed: the timing of the computer that runs all hosts; None for the study's.
        shared_kernel: whether all hosts share a kernel; None for the study's.
    """

    kernel: str | None = None
    testbed: HostTiming | None = None
    shared_kernel: bool | None = None

    @property
    def name(self) -> str:
        """All of them as a short text; empty for the study's own."""
        kernel = "" if self.kernel is None else f"Linux {self.kernel}"
        hosts = {None: "", True: "one kernel", False: "separate computers"}[self.shared_kernel]
        return ", ".join(filter(None, (kernel, self.testbed.name if self.testbed else "", hosts)))


@dataclass(frozen=True, slots=True)
class StudyFidelity:
    """The published figures of a study and the measured ones."""

    verdict: Verdict
    figures: tuple[FigureFidelity, ...]

    @property
    def setting(self) -> Setting:
        """The options of the command line that override those of the study."""
        runs = self.verdict.first_runs.values()
        return next((_setting(run, self.verdict.study) for run in runs), Setting())

    @property
    def good(self) -> bool:
        """Return whether every figure agrees or is explained."""
        return all(figure.agreement.good for figure in self.figures)

    @property
    def counts(self) -> dict[Agreement, int]:
        """Return the number of figures by agreement."""
        return {
            agreement: sum(figure.agreement is agreement for figure in self.figures)
            for agreement in Agreement
        }

    @property
    def summary(self) -> str:
        """Return the number of figures by agreement, in one line."""
        parts = [f"{count} {agreement.value}" for agreement, count in self.counts.items() if count]
        if few := sum(figure.too_few_seeds for figure in self.figures):
            parts.append(f"beyond 15 % with fewer than {FEWEST_SEEDS} seeds: {few}")
        return f"{len(self.figures)} figures: {', '.join(parts)}"

    def to_json(self) -> dict[str, Any]:
        """Return the object that `longfat fidelity --json` prints for a study."""
        return {
            "study": self.verdict.study.name,
            "kernel": self.setting.kernel,
            "testbed": None if self.setting.testbed is None else self.setting.testbed.name,
            "shared_kernel": self.setting.shared_kernel,
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
        **source_band_json(published),
        "median": figure.comparison.measured,
        "low": None if spread is None else spread.low,
        "high": None if spread is None else spread.high,
        "seeds": 0 if spread is None else spread.count,
        "ratio": figure.comparison.ratio,
        "agreement": figure.agreement.value,
        "explanation": published.explanation,
    }


def study_fidelity(study: Study, folder: Path) -> StudyFidelity:
    """Compare the runs in a folder with the figures that their study's source published.

    Args:
        study: the study.
        folder: the folder that `longfat run` filled for it.

    Raises:
        InputError: the study has no published figures, there are no runs, a run cannot be
            read, or it is not one of this study.
    """
    if study.published is None:
        raise InputError(f"{study.file}: it has no published figures: there is no field published")
    return verdict_fidelity(evaluate(study, load_runs(study, folder)))


def verdict_fidelity(verdict: Verdict) -> StudyFidelity:
    """Compare the measurements of a study's runs with the figures of its source.

    Args:
        verdict: the study with its runs; figures of cases that were not run are not measured.
    """
    figures = tuple(
        FigureFidelity(
            comparison=comparison,
            agreement=_agreement(comparison),
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
    testbed, shared = case.network.testbed, case.network.shared_kernel
    return Setting(
        kernel=None if case.kernel == planned.kernel else case.kernel,
        testbed=None if testbed == planned.network.testbed else testbed or HostTiming(),
        shared_kernel=None if shared == planned.network.shared_kernel else shared,
    )


def _check_run(run: Run, study: Study) -> None:
    if run.name not in study.cases:
        raise InputError(
            f"{run.folder}: it is not a run of {study.file}, which has no case {run.name!r} "
            f"(there are: {listed(study.cases)})"
        )
    planned = study.cases[run.name].case
    # A case that the command line modified does not make it another study.
    same = dataclasses.replace(planned, seed=run.case.seed, kernel=run.case.kernel)
    same = with_shared_kernel(same, run.case.network.shared_kernel)
    if on_testbed(same, run.case.network.testbed) != run.case:
        raise InputError(
            f"{run.folder}: its case {run.name!r} is not that of {study.file}: it is of another "
            "study, or the study was changed since; remove it or run it again"
        )


def _agreement(comparison: Comparison) -> Agreement:
    if comparison.measured is None:
        return Agreement.MISSING
    inside = (comparison.inside_band, comparison.inside_source)
    if all(inside):
        return Agreement.BANDS
    if _is_close(comparison):
        return Agreement.WITHIN
    if any(inside):
        return Agreement.INSIDE
    return Agreement.OFF if comparison.figure.explanation is None else Agreement.EXPLAINED


def _is_close(comparison: Comparison) -> bool:
    measured, published = comparison.measured, comparison.figure.value
    return measured is not None and abs(measured - published) <= TOLERANCE * published


def _is_other(comparison: Comparison, study: Study) -> bool:
    figure = comparison.figure
    flow = figure.metric.partition(".")[0]
    pings = {ping.name for ping in study.cases[figure.case].case.pings}
    return figure.unit not in (Unit.BPS, Unit.SECONDS) and flow not in pings


def side_by_side(studies: Iterable[StudyFidelity]) -> list[tuple[StudyFidelity, ...]]:
    """Return the fidelities of each study: that of its own setting first, if there is one."""
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
            if figure.agreement.good:
                continue
            if published.case not in one.verdict.runs:
                line = f"not run: {one.verdict.study.name} {published.case}"
            else:
                shown = "nothing" if ours is None else format_quantity(ours, published.unit)
                line = (
                    f"{figure.agreement.value}: {one.verdict.study.name} {published.case} "
                    f"{published.title}: published "
                    f"{format_quantity(published.value, published.unit)}, measured {shown}"
                )
            if line not in lines:
                lines.append(line)
    return lines
