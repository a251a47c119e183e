"""`longfat watch`: run cases of a study one after the other, and look on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.analysis.verdict import evaluate
from longfat.cli.completion import complete_study
from longfat.cli.console import stderr, stdout
from longfat.cli.options import (
    cases_option,
    json_option,
    pace_factor,
    pace_option,
    seed_option,
    study_kernel_option,
)
from longfat.errors import InputError
from longfat.execution.hints import unexpected_end
from longfat.model.units import parse_time_s
from longfat.output.watch import Order, case_lines, watch_case
from longfat.study import read_study
from longfat.study.choose import check_names, choose_cases
from longfat.study.labs import find_study_file

if TYPE_CHECKING:
    from rich.text import Text

    from longfat.execution.runs import Run

_MIN_WINDOW_S, _MAX_WINDOW_S = 1, 86_400


@click.command()
@click.argument("study", shell_complete=complete_study)
@cases_option("Watch")
@pace_option("No faster than FACTOR times real time: 1 is real time, 0.1 ten times slower.")
@click.option(
    "--window",
    default="30s",
    show_default=True,
    metavar="TIME",
    help="Charts show so many of the last virtual seconds.",
)
@seed_option("Use this seed in place of the study's (of several seeds, the first is watched).")
@study_kernel_option()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs go; default: runs/STUDY.",
)
@json_option("Print a JSON object a virtual second, in place of the view.")
def watch(
    study: str,
    *,
    names: tuple[str, ...],
    pace: float | str | None,
    window: str,
    seed: int | None,
    kernel: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run STUDY with a live view of queues, throughput, RTT and cwnd.

    STUDY is a study file, a folder with a study.yaml, or a lab's name. The runs
    are kept, and are the same as those of `longfat run`. Where no terminal is,
    it prints one line a virtual second.
    """
    plan = read_study(find_study_file(study))
    check_names([plan], names)
    runs: dict[str, tuple[Run, ...]] = {}
    cases = choose_cases(plan, names=names, seed=seed, seeds=1, kernel=kernel)
    for name, planned in cases.items():
        order = Order(
            study=plan.name,
            name=name,
            planned=planned,
            out=out if out is not None else Path("runs") / plan.name,
            pace=pace_factor(pace),
            window_s=_window_s(window),
        )

        def summary(run: Run, name: str = name) -> list[Text]:
            runs[name] = (run,)
            return list(case_lines(evaluate(plan, runs), name))

        console = stderr() if as_json else stdout()
        run = watch_case(order, console=console, summary=summary, as_json=as_json)
        if unexpected := unexpected_end(run, planned.places):
            raise unexpected


def _window_s(text: str) -> float:
    try:
        window_s = parse_time_s(text, bare_seconds=True)
    except InputError as error:
        raise InputError(f"--window: {error}") from None
    if not _MIN_WINDOW_S <= window_s <= _MAX_WINDOW_S:
        allowed = f"{_MIN_WINDOW_S}s to {_MAX_WINDOW_S}s"
        raise InputError(f"--window: {text!r} is outside of what is allowed: {allowed}")
    return window_s
