"""Run a case and watch it: on a terminal's whole screen, or in lines."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from rich.live import Live
from rich.text import Text

from longfat.analysis.timeseries.live import LiveRun, plan_watch
from longfat.engine.machine import Pace
from longfat.execution import run_case
from longfat.execution.compile import TRAFFIC_START_S
from longfat.output.watch.lines import SecondRows, row_text
from longfat.output.watch.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from longfat.analysis.timeseries.live import Plan
    from longfat.execution import Progress
    from longfat.execution.runs import Run
    from longfat.output.watch.screen import Order

_REDRAWS_A_S = 10
_READ_EVERY_S = 0.1
_MIN_LAST_ROWS, _MAX_LAST_ROWS = 14, 40  # rows of the last picture


def watch_case(
    order: Order,
    *,
    console: Console,
    summary: Callable[[Run], Sequence[Text]],
    as_json: bool = False,
) -> Run:
    """Run a case with a live view; where that cannot be drawn, with a line a virtual second.

    The view's last picture, of the whole run, stays on the terminal.

    Args:
        order: the case.
        console: a terminal, or where the lines go.
        summary: returns the lines below the last picture or line.
        as_json: print a JSON object a virtual second to standard output in place of either.

    Returns:
        The run.

    Raises:
        LongfatError: as of `longfat.execution.run_case`.
    """
    plan = plan_watch(order.planned.case)
    live = LiveRun(plan)
    if as_json:
        run = _run_in_rows(order, plan, live, show=lambda row: print(json.dumps(row), flush=True))
        last = summary(run)
    elif _can_draw(console):
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
        live.poll()  # what came last; until here the drawing thread has read
        screen.end(run)
        last = summary(run)
        # Picture, lines and the next prompt must fit on the screen together.
        height = min(console.height - len(last) - 2, _MAX_LAST_ROWS)
        console.print(screen, height=max(_MIN_LAST_ROWS, height))
    else:
        console.print(Text(f"{order.study} / {order.name}"), soft_wrap=True)
        run = _run_in_rows(
            order,
            plan,
            live,
            show=lambda row: console.print(Text(row_text(row)), soft_wrap=True),
        )
        last = summary(run)
    for line in last:
        console.print(line, soft_wrap=True)
    return run


def _can_draw(console: Console) -> bool:
    utf = console.encoding.lower().startswith("utf")
    return console.is_terminal and not console.is_dumb_terminal and utf


def _run_in_rows(
    order: Order, plan: Plan, live: LiveRun, *, show: Callable[[dict[str, Any]], None]
) -> Run:
    """Run a case and show a row of each virtual second as soon as it has passed."""
    rows = SecondRows(live, case=order.name)
    next_s = 0.0

    def progress(_: Progress) -> None:
        nonlocal next_s
        if (now_s := time.monotonic()) < next_s:
            return
        next_s = now_s + _READ_EVERY_S
        live.poll()
        for row in rows.new():
            show(row)

    run = _run(order, plan, live, on_progress=progress)
    live.poll()
    for row in rows.new(ended=True):
        show(row)
    return run


def _run(
    order: Order, plan: Plan, live: LiveRun, *, on_progress: Callable[[Progress], None]
) -> Run:
    """Run a case, with its pace from the traffic's start on."""

    def start(folder: Path) -> None:
        live.folder = folder

    run = run_case(
        plan.case,
        name=order.name,
        out=order.out,
        study=order.study,
        parameters=order.planned.parameters,
        places=order.planned.places,
        on_start=start,
        on_progress=on_progress,
        pace=None if order.pace is None else Pace(factor=order.pace, from_s=TRAFFIC_START_S),
    )
    live.folder = run.folder
    return run
