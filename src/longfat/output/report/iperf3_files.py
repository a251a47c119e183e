"""Figures of any reports of iperf3: a panel, and a file, for each quantity that the rows contain.

Of a report whose ends both send (`--bidir`) the two directions are lines of
their own. Rows that iperf3 omits from its totals are left out.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.timeseries.curves import middle_bps, row_traces
from longfat.analysis.timeseries.quantities import combine_traces, running_total
from longfat.analysis.timeseries.sources import whole_rows
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.traffic.iperf3_any import AnyReport, read_any_report
from longfat.output.plot import Line, Panel, Trace
from longfat.output.report.figure_files import (
    PlotFiles,
    PlotRequest,
    chosen_metrics,
    figures_over_time,
    joined_names,
    write_figures,
)

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.traffic.bulk import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quantity:
    title: str
    unit: Unit
    read: Callable[[Interval], tuple[float, float | None]]
    mean: bool = False
    running: bool = False
    is_mostly_constant: bool = False  # drawn only where it varies, unless constants are wanted
    zeros: bool = True  # zeros alone are drawn too
    counted: str = ""


def _at_end(read: Callable[[Interval], float | None]) -> Callable[..., tuple[float, float | None]]:
    return lambda row: (row.end_s, read(row))


_QUANTITIES: dict[str, _Quantity] = {
    "throughput": _Quantity(title="Throughput", unit=Unit.BPS, read=middle_bps),
    "rtt": _Quantity(
        title="Smoothed RTT",
        unit=Unit.SECONDS,
        read=_at_end(lambda row: row.rtt_s),
        mean=True,
        zeros=False,
    ),
    "rttvar": _Quantity(
        title="RTT variation",
        unit=Unit.SECONDS,
        read=_at_end(lambda row: row.rttvar_s),
        mean=True,
        zeros=False,
    ),
    "cwnd": _Quantity(
        title="Congestion window",
        unit=Unit.BYTES,
        read=_at_end(lambda row: row.cwnd_bytes),
        zeros=False,
    ),
    "retransmits": _Quantity(
        title="Retransmitted segments in each interval",
        unit=Unit.COUNT,
        read=_at_end(lambda row: row.retransmits),
        counted="segments",
    ),
    "bytes": _Quantity(
        title="Data transferred since the start",
        unit=Unit.BYTES,
        read=_at_end(lambda row: row.bytes),
        running=True,
    ),
    "mtu": _Quantity(
        title="Path MTU",
        unit=Unit.COUNT,  # nobody writes 1500 bytes as 1.46 KB
        read=_at_end(lambda row: row.pmtu_bytes),
        mean=True,
        counted="bytes",
        is_mostly_constant=True,
    ),
    "jitter": _Quantity(
        title="Jitter",
        unit=Unit.SECONDS,
        read=_at_end(lambda row: row.jitter_s),
        mean=True,
        zeros=False,
    ),
    "lost": _Quantity(
        title="Lost packets in each interval",
        unit=Unit.COUNT,
        read=_at_end(lambda row: row.lost_packets),
        counted="packets",
    ),
}

REPORT_METRICS = tuple(_QUANTITIES)
"""The quantities, by the names that `longfat plot --iperf --metric` takes."""


@dataclass(frozen=True, slots=True)
class _Test:
    """The streams of one direction of a report."""

    label: str
    rows: list[list[Interval]]


def read_reports(paths: Sequence[Path]) -> list[AnyReport]:
    """Read reports of iperf3, each once.

    Raises:
        InputError: some of them cannot be read, each with a line; nothing is drawn of the
            others then.
    """
    reports, problems = [], []
    for path in dict.fromkeys(paths):
        try:
            reports.append(read_any_report(path))
        except InputError as error:
            problems.append(str(error))
    if problems:
        raise InputError("\n".join(problems))
    return reports


def report_panels(
    reports: Sequence[AnyReport], metrics: Sequence[str] = (), *, constants: bool = False
) -> list[Panel]:
    """Return a panel for each quantity that any of the reports contains.

    Args:
        reports: the reports; at least one.
        metrics: the requested quantities, of `REPORT_METRICS`; all where none are given.
        constants: include the path's MTU even where it does not vary.
    """
    tests = [test for one in _labelled(reports) for test in one]
    if len(tests) == 1:
        tests = [dataclasses.replace(tests[0], label="")]
    panels = [
        _panel(name, _QUANTITIES[name], tests, constants=constants)
        for name in metrics or REPORT_METRICS
    ]
    return [panel for panel in panels if panel is not None]


def _labelled(reports: Sequence[AnyReport]) -> list[list[_Test]]:
    if len(reports) == 1:
        return [_tests(reports[0], "")]
    names = [report.path.stem for report in reports]
    if max(Counter(names).values()) > 1:
        names = [str(report.path.with_suffix("")) for report in reports]
    return [_tests(report, name) for report, name in zip(reports, names, strict=True)]


def _tests(report: AnyReport, name: str) -> list[_Test]:
    found = {}
    for sender, words in ((True, "sent"), (False, "received")):
        rows = [
            whole_rows(stream)
            for stream in report.streams
            if any(r.sender is sender for r in stream)
        ]
        if rows := [stream for stream in rows if stream]:
            found[words] = rows
    if len(found) == 1:
        return [_Test(name, rows) for rows in found.values()]
    return [_Test(f"{name} {words}".strip(), rows) for words, rows in found.items()]


def _panel(
    name: str, quantity: _Quantity, tests: Sequence[_Test], *, constants: bool
) -> Panel | None:
    lines = [_line(quantity, test, style_index) for style_index, test in enumerate(tests)]
    values = np.concatenate([line.values for line in lines])
    parts = [part.values for line in lines for part in line.parts] or [values]
    if not len(values) or (not quantity.zeros and not values.any()):
        return None
    is_constant = all(len(np.unique(part)) <= 1 for part in parts)
    if quantity.is_mostly_constant and is_constant and not constants:
        return None
    title = quantity.title
    if any(line.parts for line in lines):
        title += f" ({'mean' if quantity.mean else 'sum'}; thin: each stream)"
    return Panel(name=name, title=title, lines=tuple(lines), counted=quantity.counted)


def _line(quantity: _Quantity, test: _Test, style_index: int) -> Line:
    traces: list[Trace] = row_traces(test.rows, quantity.read)
    if quantity.running:
        traces = [running_total(trace) for trace in traces]
    combined, parts = combine_traces(traces, mean=quantity.mean)
    streams = f" ({len(traces)} streams)" if test.label and len(traces) > 1 else ""
    return Line(
        label=test.label + streams,
        times_s=combined.times_s,
        values=combined.values,
        unit=quantity.unit,
        style_index=style_index,
        parts=parts,
    )


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
    chosen_metrics(request.metrics, REPORT_METRICS)  # before anything is read
    return draw_reports(read_reports(paths), request, out=out)


def draw_reports(reports: Sequence[AnyReport], request: PlotRequest, *, out: Path) -> PlotFiles:
    """Draw figures of reports that have been read; see `plot_reports`."""
    metrics = chosen_metrics(request.metrics, REPORT_METRICS)
    panels = report_panels(reports, metrics, constants=request.constants)
    present = [panel.name for panel in panels]
    if request.metrics and (missing := [name for name in metrics if name not in present]):
        available = [panel.name for panel in report_panels(reports)]
        raise InputError(
            f"no {', '.join(missing)} in these reports; they have {', '.join(available)}"
        )
    title = (
        joined_names(report.path.name for report in reports)
        if request.title is None
        else request.title
    )
    figures, _ = figures_over_time(panels, request, title, "time since the test's start (s)")
    notes = tuple(f"{one.path}: the test broke off: {one.broken}" for one in reports if one.broken)
    return PlotFiles(write_figures(figures, out, request), notes)
