"""The figures of `longfat plot`: of runs, or of any iperf3 reports, one file for each quantity."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.output.plot import (
    FORMS,
    MAX_PHASE_PANELS,
    VIRTUAL_TIME,
    Chart,
    Panel,
    draw_chart,
    draw_panels,
    draw_phase,
    figure_style,
    saved,
)
from longfat.output.report.completion import CHARTS, completion_charts
from longfat.output.report.curves import METRICS
from longfat.output.report.foreign import FOREIGN_METRICS, foreign_panels, read_reports
from longfat.output.report.groups import Group, group_runs, seeds_note
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from longfat.execution.runs import Run

PHASE = "phase"

# The name that the labs' own script uses.
_FILES = {"rtt": "RTT", "rttvar": "RTT_Var", "mtu": "MTU"}
_LONGEST_TITLE = 60


@dataclass(frozen=True, slots=True)
class PlotFiles:
    """The files that were written.

    Attributes:
        files: the files, figure by figure.
        notes: notes for the user, such as what was omitted.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRequest:
    """What to draw.

    Attributes:
        metrics: the quantities; empty for all.
        flows: the names of the flows; empty for all.
        start_s: where the time axis starts; None for the start of the data.
        end_s: where it ends; None for the end of the data.
        title: the text above each figure; None for names of what is drawn.
        forms: the file formats, of `longfat.output.plot.FORMS`.
    """

    metrics: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None
    title: str | None = None
    forms: tuple[str, ...] = FORMS

    def __post_init__(self) -> None:
        if self.start_s is not None and self.end_s is not None and self.start_s >= self.end_s:
            raise InputError(
                f"--from {self.start_s:g}s --to {self.end_s:g}s: the end must come after the start"
            )


@dataclass(frozen=True, slots=True)
class _Named:
    name: str
    draw: Callable[[], Figure]


def plot_runs(
    folders: Sequence[Path], request: PlotRequest, *, out: Path | None = None
) -> PlotFiles:
    """Draw figures of runs.

    Args:
        folders: the run directories; at least one.
        request: what to draw.
        out: the folder that takes the files; None for `plots` in the run
            directory of a single run, and for `plots` here of several.

    Raises:
        InputError: a directory is not a run or is incomplete, there is no such flow or
            metric, a requested metric is not in the runs, or the files cannot
            be written. Nothing is written then.
    """
    metrics = _chosen(request.metrics, (*METRICS, PHASE, *CHARTS))
    runs = [_load(folder) for folder in folders]
    _check_flows(request.flows, runs)
    groups = group_runs(runs)
    series = Series(groups, flows=request.flows)
    found = {name: series.panel(name) for name in metrics if name in METRICS}
    phases = series.phase_traces() if PHASE in metrics else []
    missing = [name for name, panel in found.items() if panel is None]
    missing += [PHASE] if PHASE in metrics and not phases else []
    charts = {
        name: completion_charts(groups, request.flows, metrics=(name,))
        for name in metrics
        if name in CHARTS
    }
    missing += [name for name, drawn in charts.items() if not drawn]
    if missing and (request.metrics or len(missing) == len(metrics)):
        raise InputError(_nothing_of(missing, runs))
    title = _names(group.label for group in groups) or _run_title(groups[0])
    title = title if request.title is None else request.title
    panels = [panel for panel in found.values() if panel is not None]
    figures, span_s = _over_time(panels, request, title, VIRTUAL_TIME, note=seeds_note(groups))
    notes = []
    phases = [one for one in (one.cut(*span_s) for one in phases) if len(one.times_s) > 1]
    if len(phases) > MAX_PHASE_PANELS:
        notes.append(
            f"phase: the first {MAX_PHASE_PANELS} of {len(phases)} are drawn; --flow chooses"
        )
    if phases and seeds_note(groups):
        notes.append("phase: the run with the first seed of each case is drawn")
    if phases:
        interfaces = {n for group in groups for kind, n in group.things() if kind == "queue"}
        queue = f"queue of {interfaces.pop()}" if len(interfaces) == 1 else "queue"
        figures.append(
            _Named(
                PHASE,
                lambda: draw_phase(
                    phases[:MAX_PHASE_PANELS],
                    across=("congestion window", Unit.BYTES),
                    up=(queue, Unit.BYTES),
                    mark_names=("BDP", "the queue's limit"),
                    title=title,
                ),
            )
        )
    for chart in (one for drawn in charts.values() for one in drawn):
        figures.append(_chart(chart, title))
    if out is None:
        out = (folders[0] if len({run.folder.resolve() for run in runs}) == 1 else Path()) / "plots"
    return PlotFiles(_written(figures, out, request), tuple(notes))


def _chart(chart: Chart, title: str) -> _Named:
    return _Named(chart.name, lambda: draw_chart(chart, title=f"{chart.title}: {title}"))


def plot_reports(paths: Sequence[Path], request: PlotRequest, *, out: Path) -> PlotFiles:
    """Draw figures of any iperf3 reports.

    Args:
        paths: the files that `iperf3 -J` wrote; at least one.
        request: what to draw; there are no flows.
        out: the folder that takes the files.

    Raises:
        InputError: a file is no such report, there is no such metric, a
            requested metric is in none of them, or the files cannot be written. Nothing is
            written then.
    """
    metrics = _chosen(request.metrics, FOREIGN_METRICS)
    reports = read_reports(paths)
    panels = foreign_panels(reports, metrics)
    there = [panel.name for panel in panels]
    if request.metrics and (missing := [name for name in metrics if name not in there]):
        available = [panel.name for panel in foreign_panels(reports)]
        raise InputError(
            f"no {', '.join(missing)} in these reports; they have {', '.join(available)}"
        )
    title = (
        _names(report.path.name for report in reports) if request.title is None else request.title
    )
    figures, _ = _over_time(panels, request, title, "time since the test's start (s)")
    notes = tuple(f"{one.path}: the test broke off: {one.broken}" for one in reports if one.broken)
    return PlotFiles(_written(figures, out, request), notes)


def _over_time(
    panels: Sequence[Panel], request: PlotRequest, title: str, time_label: str, *, note: str = ""
) -> tuple[list[_Named], tuple[float, float]]:
    """Return a figure for each panel, and the span of time that all of them show."""
    first_s = min((panel.span_s[0] for panel in panels), default=-math.inf)
    last_s = max((panel.span_s[1] for panel in panels), default=math.inf)
    start_s = min(first_s, 0.0) if request.start_s is None else request.start_s
    end_s = last_s if request.end_s is None else request.end_s
    if panels and (start_s >= end_s or all(one.cut(start_s, end_s).empty for one in panels)):
        until = "on" if request.end_s is None else f"to {end_s:g} s"
        raise InputError(
            f"nothing to draw from {start_s:g} s {until}: "
            f"the data goes from {first_s:.4g} s to {last_s:.4g} s"
        )

    def figure_of(panel: Panel) -> _Named:
        return _Named(
            panel.name,
            lambda: draw_panels(
                [panel], title=title, time_label=time_label, note=note, span_s=(start_s, end_s)
            ),
        )

    shown = [panel for panel in panels if not panel.cut(start_s, end_s).empty]
    return [figure_of(panel) for panel in shown], (start_s, end_s)


def _written(figures: Sequence[_Named], out: Path, request: PlotRequest) -> tuple[Path, ...]:
    files = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for one in figures:
            name = _FILES.get(one.name, one.name)
            with figure_style(salt=name):
                figure = one.draw()
                for form in dict.fromkeys(request.forms):
                    path = out / f"{name}.{form}"
                    write_whole(path, saved(figure, form))
                    files.append(path)
    except OSError as error:
        raise InputError(f"{out}: the figures cannot be written: {error.strerror}") from None
    return tuple(files)


def _chosen(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the requested metrics, in the order of all; all where none were requested."""
    wanted = {name.lower() for name in names}
    for name in names:
        if name.lower() not in known:
            near = difflib.get_close_matches(name.lower(), known, n=1)
            hint = f" (is it {near[0]}?)" if near else ""
            raise InputError(f"no metric {name!r}{hint}; there are {', '.join(known)}")
    return tuple(name for name in known if not wanted or name in wanted)


def _load(folder: Path) -> Run:
    if not folder.exists():
        raise InputError(f"{folder}: no such directory; a run directory holds a manifest.json")
    if not folder.is_dir():
        hint = "; for a report of iperf3 there is --iperf" if folder.suffix == ".json" else ""
        raise InputError(f"{folder}: a file, not a run directory{hint}")
    inside = sorted(path.parent.name for path in folder.glob("*/manifest.json"))
    if inside and not (folder / "manifest.json").exists():
        raise InputError(
            f"{folder}: not a run directory, but runs are in it: name one or more of "
            + ", ".join(str(folder / name) for name in inside)
        )
    return load_run(folder)


def _check_flows(names: Sequence[str], runs: Sequence[Run]) -> None:
    known = list(dict.fromkeys(flow.name for run in runs for flow in run.case.flows))
    for name in names:
        if name not in known:
            where = ", ".join(str(run.folder) for run in runs[:3])
            there = f"its flows: {', '.join(known)}" if known else "it has none"
            raise InputError(f"{where}: no flow {name!r} in it; {there}")


def _nothing_of(missing: Sequence[str], runs: Sequence[Run]) -> str:
    needs = {
        "queue": "a queue probe",
        PHASE: "a queue probe and a tcp probe",
        "rtt": "a TCP flow of iperf3 or a ping",
        "throughput": "a flow of iperf3",
        "delay": "a flow of cbr",
        "jitter": "a flow of cbr",
        "buffer": "a flow of video",
        "bitrate": "a flow of video",
        "completion": "a flow of requests",
        "slowdown": "a flow of requests whose path's rate is known",
    }
    where = ", ".join(str(run.folder) for run in runs[:3])
    flows = list(dict.fromkeys(f"{f.name} ({f.tool})" for run in runs for f in run.case.flows))
    probes = list(dict.fromkeys(f"{p.name} ({p.kind})" for run in runs for p in run.case.probes))
    return (
        f"{where}: no {missing[0]} to draw: that takes {needs.get(missing[0], 'a TCP flow')}; "
        f"its flows: {', '.join(flows) or 'none'}; its probes: {', '.join(probes) or 'none'}"
    )


def _run_title(group: Group) -> str:
    run = group.first
    seed = f"seed {run.seed}" if len(group.runs) == 1 else f"{len(group.runs)} seeds"
    return f"{run.name}, Linux {run.kernel['release']}, {seed}"


def _names(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(filter(None, names)))
    text = ", ".join(found)
    return text if len(text) <= _LONGEST_TITLE else f"{found[0]} and {len(found) - 1} others"
