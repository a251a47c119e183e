"""Run a case and watch it: on a terminal's whole screen, or in lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.live import Live

from longfat.engine.machine import Pace
from longfat.execution import run_case
from longfat.execution.compile import TRAFFIC_START_S
from longfat.output.watch.lines import SecondRows
from longfat.output.watch.live import LiveRun
from longfat.output.watch.plan import plan_watch
from longfat.output.watch.screen import Screen
from longfat.output.watch.state import Watched

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

    from longfat.execution import Progress
    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.study import Planned

_REDRAWS_A_S = 10
_LOOK_EVERY_S = 0.1
_LAST_LEAST, _LAST_HIGH = 14, 40  # rows of the last picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A case to watch.

    Attributes:
        study: the study's name.
        name: the case's name.
        planned: the case as the study plans it.
        out: the folder that will contain the run's folder.
        pace: at most so many virtual seconds in a second of wall time; None for
            no limit.
        window_s: charts show so many of the last virtual seconds.
    """

    study: str
    name: str
    planned: Planned
    out: Path
    pace: float | None
    window_s: float

    def run(
        self, watched: Watched, live: LiveRun, *, on_progress: Callable[[Progress], None]
    ) -> Run:
        """Run it, with its pace from the traffic's start on."""
        return run_case(
            watched.case,
            name=self.name,
            out=self.out,
            study=self.study,
            parameters=self.planned.parameters,
            places=self.planned.places,
            on_start=live.begin,
            on_progress=on_progress,
            pace=None if self.pace is None else Pace(factor=self.pace, from_s=TRAFFIC_START_S),
        )

    def watched(self, live: LiveRun, case: Case) -> Watched:
        """Return its initial progress."""
        return Watched(
            study=self.study,
            name=self.name,
            title=self.planned.title,
            case=case,
            live=live,
            pace=self.pace,
        )


def watch_on_screen(
    order: Order, *, console: Console, ending: Callable[[Run], Sequence[Text]]
) -> Run:
    """Run a case with a live view; its last picture, of the whole run, stays on the terminal.

    Args:
        order: the case.
        console: the terminal.
        ending: returns the lines below the last picture.

    Raises:
        LongfatError: as of `longfat.execution.run_case`.
    """
    plan = plan_watch(order.planned.case)
    with LiveRun(plan) as live:
        watched = order.watched(live, plan.case)
        screen = Screen(watched, window_s=order.window_s)
        view = _LiveView(live, screen)
        # The alternate screen of the terminal leaves no trace, however the run ends.
        with Live(
            get_renderable=lambda: view,
            console=console,
            screen=True,
            refresh_per_second=_REDRAWS_A_S,
            redirect_stdout=False,
            redirect_stderr=False,
        ):

            def progress(state: Progress) -> None:
                watched.progress(state)
                view.check()

            run = order.run(watched, live, on_progress=progress)
        live.finish(run.folder)
        watched.run = run
        lines = ending(run)
        # Picture, lines and the next prompt must fit on the screen together.
        height = min(console.height - len(lines) - 2, _LAST_HIGH)
        console.print(screen, height=max(_LAST_LEAST, height))
        for line in lines:
            console.print(line, soft_wrap=True)
        return run


class _LiveView:
    """Updates the run when it is drawn, which the drawing thread does at its own rate."""

    def __init__(self, live: LiveRun, screen: Screen) -> None:
        self._live = live
        self._screen = screen
        self._lock = threading.Lock()
        self._error: Exception | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with self._lock:
            if self._error is None:
                try:
                    self._live.poll()
                except Exception as error:  # `check` raises it
                    self._error = error
        yield from self._screen.__rich_console__(console, options)

    def check(self) -> None:
        """Raise an exception of the drawing thread, which would be lost otherwise."""
        if self._error is not None:
            raise self._error


def watch_in_lines(order: Order, *, write: Callable[[dict[str, Any]], None]) -> Run:
    """Run a case and write a row for each virtual second as soon as it has passed.

    Args:
        order: the case.
        write: called with each row of `longfat.output.watch.lines`.

    Raises:
        LongfatError: as of `longfat.execution.run_case`.
    """
    plan = plan_watch(order.planned.case)
    with LiveRun(plan) as live:
        watched = order.watched(live, plan.case)
        rows = SecondRows(live, case=order.name)
        next_s = 0.0

        def progress(_: Progress) -> None:
            nonlocal next_s
            if (now_s := time.monotonic()) < next_s:
                return
            next_s = now_s + _LOOK_EVERY_S
            live.poll()
            for row in rows.new():
                write(row)

        run = order.run(watched, live, on_progress=progress)
        live.finish(run.folder)
        for row in rows.new(ended=True):
            write(row)
        return run
