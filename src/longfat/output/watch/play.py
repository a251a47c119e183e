"""Run a case and watch it: on a terminal's whole screen, or in lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.live import Live

from longfat.engine.machine import Pace
from longfat.execution import run_case
from longfat.execution.compile import TRAFFIC_START_S
from longfat.output.watch.lines import SecondLines
from longfat.output.watch.live import LiveRun
from longfat.output.watch.plan import plan_watch
from longfat.output.watch.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console
    from rich.text import Text

    from longfat.execution import Progress
    from longfat.execution.runs import Run
    from longfat.output.watch.plan import Order, Plan

_REDRAWS_A_S = 10
_READ_EVERY_S = 0.1
_LAST_LEAST, _LAST_HIGH = 14, 40  # rows of the last picture


def watch_on_screen(
    order: Order, *, console: Console, ending: Callable[[Run], Sequence[Text]]
) -> None:
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
        screen = Screen(order, live, console=console)
        # The alternate screen of the terminal leaves no trace, however the run ends.
        with Live(
            get_renderable=lambda: screen,
            console=console,
            screen=True,
            refresh_per_second=_REDRAWS_A_S,
            redirect_stdout=False,
            redirect_stderr=False,
        ):
            run = _run(order, plan, live, on_progress=screen.progress)
        screen.end(run)
        lines = ending(run)
        # Picture, lines and the next prompt must fit on the screen together.
        height = min(console.height - len(lines) - 2, _LAST_HIGH)
        console.print(screen, height=max(_LAST_LEAST, height))
        for line in lines:
            console.print(line, soft_wrap=True)


def watch_in_lines(order: Order, *, write: Callable[[str], None]) -> Run:
    """Run a case and write a line for each virtual second as soon as it has passed.

    Args:
        order: the case.
        write: called with each line of `longfat.output.watch.lines`.

    Raises:
        LongfatError: as of `longfat.execution.run_case`.
    """
    plan = plan_watch(order.planned.case)
    with LiveRun(plan) as live:
        lines = SecondLines(live)
        next_s = 0.0

        def progress(_: Progress) -> None:
            nonlocal next_s
            if (now_s := time.monotonic()) < next_s:
                return
            next_s = now_s + _READ_EVERY_S
            live.poll()
            for line in lines.new():
                write(line)

        run = _run(order, plan, live, on_progress=progress)
        for line in lines.new(ended=True):
            write(line)
        return run


def _run(
    order: Order, plan: Plan, live: LiveRun, *, on_progress: Callable[[Progress], None]
) -> Run:
    """Run a case, with its pace from the traffic's start on, and read all that it left."""
    run = run_case(
        plan.case,
        name=order.name,
        out=order.out,
        study=order.study,
        parameters=order.planned.parameters,
        places=order.planned.places,
        on_start=live.set_folder,
        on_progress=on_progress,
        pace=None if order.pace is None else Pace(factor=order.pace, from_s=TRAFFIC_START_S),
    )
    live.set_folder(run.folder)
    live.poll()
    return run
