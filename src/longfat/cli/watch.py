"""`longfat watch`: run cases of a study one after the other, and look on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.analysis.verdict import judge
from longfat.cli.completion import complete_case, complete_study
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import (
    json_option,
    pace_factor,
    pace_option,
    seed_option,
    study_kernel_option,
)
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.units import parse_time_s
from longfat.output.watch import Order, watch_in_lines, watch_on_screen
from longfat.output.watch.ending import case_lines
from longfat.output.watch.lines import row_text
from longfat.study import read_study
from longfat.study.choose import choose_cases
from longfat.study.labs import find_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from longfat.execution.runs import Run


class _Window(click.ParamType[float]):
    """A time such as `30s`."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        try:
            window_s = parse_time_s(value, bare_seconds=True)
        except InputError as error:
            self.fail(str(error), param, ctx)
        if not 1 <= window_s <= 86_400:
            self.fail(f"{value!r} is outside of what is allowed: 1s to 86400s", param, ctx)
        return window_s


@click.command()
@click.argument("study", shell_complete=complete_study)
@click.option(
    "--case",
    "names",
    shell_complete=complete_case,
    multiple=True,
    metavar="NAME",
    help="Watch this case only; repeatable. Without it: all, one after the other.",
)
@pace_option("No faster than FACTOR times real time: 1 is real time, 0.1 ten times slower.")
@click.option(
    "--window",
    "window_s",
    type=_Window(),
    default="30s",
    show_default=True,
    help="Charts show so many of the last virtual seconds.",
)
@seed_option("Use this seed in place of the study's (of several seeds, the first is watched).")
@study_kernel_option()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs go; default: runs/STUDY.",
)
@json_option("Print one JSON object a virtual second.")
def watch(
    study: str,
    *,
    names: tuple[str, ...],
    pace: float | str | None,
    window_s: float,
    seed: int | None,
    kernel: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run STUDY's cases with a live view: queues, throughput, RTT and cwnd as virtual time passes.

    STUDY is a study file, a folder with a study.yaml, or a lab's name. The runs
    are kept, and are the same as those of `longfat run`. Where no terminal is,
    it prints one line a virtual second.
    """
    plan = read_study(find_study(study))
    console = stdout()
    runs: dict[str, tuple[Run, ...]] = {}
    for name in names:
        if name not in plan.cases:
            raise InputError(
                f"{plan.file}: no case {name!r} in it{nearest(name, plan.cases)}; "
                f"its cases: {listed(plan.cases)}"
            )
    cases = choose_cases(plan, names=names, seed=seed, seeds=1, kernel=kernel)
    for name, planned in cases.items():
        order = Order(
            study=plan.name,
            name=name,
            planned=planned,
            out=out if out is not None else Path("runs") / plan.name,
            pace=pace_factor(pace),
            window_s=window_s,
        )
        runs[name] = ()

        def ending(run: Run, name: str = name) -> list[Text]:
            runs[name] = (run,)
            return list(case_lines(judge(plan, runs), name))

        _watch(order, console=console, as_json=as_json, ending=ending)


def _watch(
    order: Order, *, console: Console, as_json: bool, ending: Callable[[Run], list[Text]]
) -> None:
    if as_json:
        run = watch_in_lines(order, write=lambda row: echo(json.dumps(row)))
        stderr().print(Text(f"{run.name}: {run.folder}"), soft_wrap=True)
    elif _can_draw(console):
        watch_on_screen(order, console=console, ending=ending)
    else:
        echo(f"{order.study} / {order.name}")
        run = watch_in_lines(order, write=lambda row: echo(row_text(row)))
        for line in ending(run):
            echo(line.plain)


def _can_draw(console: Console) -> bool:
    utf = console.encoding.lower().startswith("utf")
    return console.is_terminal and not console.is_dumb_terminal and utf
