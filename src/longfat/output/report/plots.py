"""The figures of runs over time, one file for each quantity."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from longfat.analysis.timeseries.curves import METRICS
from longfat.analysis.timeseries.groups import Group, group_runs, seeds_note
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.output.plot import (
    MAX_PHASE_PANELS,
    VIRTUAL_TIME,
    Chart,
    draw_chart,
    draw_phase,
)
from longfat.output.report.completion import CHARTS, completion_charts
from longfat.output.report.figure_files import (
    NamedFigure,
    PlotFiles,
    PlotRequest,
    chosen_metrics,
    figures_over_time,
    joined_names,
    write_figures,
)
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.execution.runs import Run

PHASE = "phase"


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
    metrics = chosen_metrics(request.metrics, (*METRICS, PHASE, *CHARTS))
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
    title = joined_names(group.label for group in groups) or _run_title(groups[0])
    title = title if request.title is None else request.title
    panels = [panel for panel in found.values() if panel is not None]
    figures, span_s = figures_over_time(
        panels, request, title, VIRTUAL_TIME, note=seeds_note(groups)
    )
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
            NamedFigure(
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
    return PlotFiles(write_figures(figures, out, request), tuple(notes))


def _chart(chart: Chart, title: str) -> NamedFigure:
    return NamedFigure(chart.name, lambda: draw_chart(chart, title=f"{chart.title}: {title}"))


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
