"""The live view: a header and four panels, drawn anew for each frame at the terminal's size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.layout import Layout
from rich.panel import Panel
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from longfat.execution.compile import TRAFFIC_START_S, expected_virtual_s
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.braille_chart import BrailleChart, Curve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from longfat.analysis.timeseries.live import FlowSeen, LiveRun, QueueSeen, Series
    from longfat.execution import Progress
    from longfat.execution.runs import Run
    from longfat.study import Planned

# They differ in lightness too, and none is the colour of a warning.
_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "white")
_FLASH_S = 0.5  # of virtual time: a new drop is highlighted this long
_STALE = 3.5  # sampling intervals: a flow without a sample for longer has no current value
_SPEED_OVER_S = 3.0  # of wall time
_HEADER_ROWS = 2
_FRAME_ROWS = 2
_LEGEND_SHARE = 2  # of a panel's rows, at most one in so many is its legend's


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A case to watch.

    Attributes:
        study: the study's name.
        name: the case's name.
        planned: the case as the study plans it.
        out: the folder that will contain the run's folder.
        pace: at most so many virtual seconds in a second of wall time; None for no limit.
        window_s: charts show so many of the last virtual seconds.
    """

    study: str
    name: str
    planned: Planned
    out: Path
    pace: float | None
    window_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A curve of a panel, with its row of the legend."""

    name: str
    series: Series
    notes: tuple[Text, ...]
    limit: float | None = None
    lag_s: float = 0.0


class Screen:
    """Draws a run, and reads what is new of it for each frame.

    Args:
        order: what is run.
        live: the state of the run.
        console: the terminal.
    """

    def __init__(self, order: Order, live: LiveRun, *, console: Console) -> None:
        self._order, self._live = order, live
        self._ended = False
        self._error: Exception | None = None
        self._bars = Bars(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(None, complete_style="cyan", finished_style="cyan"),
            TextColumn("{task.fields[speed]}", style="bold", markup=False),
            TextColumn("{task.fields[state]}", style="dim", markup=False),
            speed_estimate_period=_SPEED_OVER_S,
            expand=True,
            console=console,
        )
        self._expected_s = expected_virtual_s(order.planned.case) - TRAFFIC_START_S
        pace = "no pace set" if order.pace is None else f"pace {_factor(order.pace)}"
        total_s = self._expected_s or None  # 0 has no share that is done
        self._bar = self._bars.add_task("booting", total=total_s, speed="", state=pace)

    def progress(self, progress: Progress) -> None:
        """Show the progress of the machine.

        Raises:
            MachineError: what was to be drawn could not be read.
        """
        self._check()
        virtual_s = progress.virtual_s - TRAFFIC_START_S
        if virtual_s < 0:
            return
        # The clock is read less often than the samples.
        at_s = max(virtual_s, self._live.time_s)
        text = f"{at_s:.1f} s of about {self._expected_s:.0f} s"
        speed = self._bars.tasks[0].speed
        factor = "" if speed is None else f"{_factor(speed)} real time"
        self._bars.update(self._bar, completed=at_s, description=text, speed=factor)

    def end(self, run: Run) -> None:
        """Show the whole run from now on.

        Raises:
            MachineError: as `progress`.
        """
        self._check()
        self._ended = True
        factor = f"{_factor(run.virtual_s / run.wall_s)} real time" if run.wall_s > 0 else ""
        text = f"{self._live.time_s:.1f} s"
        done_s = self._expected_s
        self._bars.update(self._bar, completed=done_s, description=text, speed=factor, state="done")

    def _check(self) -> None:
        """Raise an error of the drawing thread, which would be lost otherwise."""
        if self._error is not None:
            raise self._error

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it at the size of the options."""
        if self._error is None:
            try:
                self._live.poll()
            except Exception as error:  # `_check` raises it
                self._error = error
        plain = bool(console.no_color)
        rows = ((options.height or console.height) - _HEADER_ROWS) // 2 - _FRAME_ROWS
        max_lines = max(1, rows // _LEGEND_SHARE)
        panels = [
            self._panel(title, lines, unit, absent=absent, max_lines=max_lines, plain=plain)
            for title, lines, unit, absent in self._views()
        ]
        layout, upper, lower = Layout(), Layout(), Layout()
        upper.split_row(*panels[:2])
        lower.split_row(*panels[2:])
        layout.split_column(Layout(self._header(), size=_HEADER_ROWS), upper, lower)
        # Yielded as it is, it would not get the height.
        yield from layout.__rich_console__(console, options)

    def _header(self) -> Group:
        order, case = self._order, self._order.planned.case
        name = Text(f"{order.study} / {order.name}", style="bold")
        if order.planned.title != order.name:
            name.append(f"  {order.planned.title}", style="not bold")
        grid = Table.grid(expand=True)
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        grid.add_column(no_wrap=True, justify="right", style="dim")
        grid.add_row(name, Text(f" kernel {case.kernel}, seed {case.seed}"))
        return Group(grid, self._bars)

    def _views(self) -> Iterator[tuple[str, list[_Line], Unit, str]]:
        """Yield title, curves and unit of each panel, and what it says without any curve."""
        flows, no_flow = self._live.flows.items(), "no flow of bulk TCP in this case"
        queues = [self._queue(name, seen) for name, seen in self._live.queues.items()]
        yield "queue", queues, Unit.BYTES, "no set-up line makes a queue in this case"
        rates = [
            _Line(
                name=name,
                series=flow.throughput,
                notes=self._count(flow.retransmits, "resent"),
                lag_s=flow.lag_s,
            )
            for name, flow in flows
        ]
        yield "throughput", rates, Unit.BPS, no_flow
        rtts = [_Line(name=n, series=f.rtt, notes=_of_streams(f, "mean")) for n, f in flows]
        yield "smoothed RTT", rtts, Unit.SECONDS, no_flow
        cwnds = [_Line(name=n, series=f.cwnd, notes=_of_streams(f, "sum")) for n, f in flows]
        yield "cwnd", cwnds, Unit.BYTES, no_flow

    def _queue(self, name: str, seen: QueueSeen) -> _Line:
        notes = [*self._count(seen.drops, "drops"), *self._count(seen.marks, "marks")]
        backlog = seen.backlog.at(self._live.time_s)
        if seen.limit_bytes and backlog is not None:
            notes.append(Text(f"{backlog / seen.limit_bytes:.0%} full", style="dim"))
        notes.append(Text(seen.qdisc, style="dim"))
        return _Line(name=name, series=seen.backlog, notes=tuple(notes), limit=seen.limit_bytes)

    def _count(self, series: Series, what: str) -> tuple[Text, ...]:
        """Return how often a loss event has happened; highlighted, if it has just happened."""
        now_s = self._live.time_s
        total = series.at(now_s) or 0
        if fresh := total - (series.at(now_s - _FLASH_S) or 0):
            return (Text(f"{total:.0f} {what} (+{fresh:.0f})", style="bold reverse red"),)
        return (Text(f"{total:.0f} {what}", style="red"),) if total else ()

    def _panel(
        self,
        title: str,
        lines: Sequence[_Line],
        unit: Unit,
        *,
        absent: str,
        max_lines: int,
        plain: bool,
    ) -> Layout:
        """Return a panel with a legend and a chart.

        Args:
            title: its title.
            lines: the curves.
            unit: their unit.
            absent: what it says without any.
            max_lines: the curves that its legend may list.
            plain: there are no colours: curves differ by their gaps.
        """
        body: RenderableType = Text(absent, style="dim")
        if lines:
            curves = [
                Curve(
                    times_s=line.series.times_s,
                    values=line.series.values,
                    style="" if plain else _COLOURS[index % len(_COLOURS)],
                    gap=index + 1 if plain else 1,
                    limit=line.limit,
                )
                for index, line in enumerate(lines)
            ]
            now_s, window_s = self._live.time_s, self._order.window_s
            start_s, end_s = max(0.0, now_s - window_s), max(now_s, window_s)
            if self._ended:
                start_s, end_s = 0.0, max(now_s, 0.1)
            legend = self._legend(lines[:max_lines], curves, unit)
            chart = BrailleChart(curves=curves, unit=unit, start_s=start_s, end_s=end_s)
            body = Layout()
            body.split_column(Layout(legend, size=legend.row_count), Layout(chart))
        unlisted = f"and {len(lines) - max_lines} more" if len(lines) > max_lines else ""
        panel = Panel(
            body,
            title=Text(title, style="bold not dim"),
            title_align="left",
            subtitle=Text(unlisted) if unlisted else None,
            subtitle_align="left",
            border_style="dim",
        )
        return Layout(panel)

    def _legend(self, lines: Sequence[_Line], curves: Sequence[Curve], unit: Unit) -> Table:
        """Return the names and current values of the first curves."""
        grid = Table.grid(padding=(0, 1, 0, 0), expand=True)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_column(no_wrap=True, justify="right", style="bold")
        grid.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        now_s = self._live.time_s
        for line, curve in zip(lines, curves, strict=False):
            since_s = now_s - line.lag_s - _STALE * self._live.every_s
            value = line.series.at(now_s, since_s=since_s)
            grid.add_row(
                Text(("━" + " " * (curve.gap - 1)) * 2, style=curve.style),
                Text(line.name),
                Text("-" if value is None else format_quantity(value, unit)),
                Text(" ").join(line.notes),
            )
        return grid


def _factor(value: float) -> str:
    return f"{float(f'{value:.3g}'):g}x"


def _of_streams(flow: FlowSeen, how: str) -> tuple[Text, ...]:
    return (Text(f"{how} of {flow.streams} streams", style="dim"),) if flow.streams > 1 else ()
