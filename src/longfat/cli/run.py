"""`longfat run`: run the cases of studies, print what came of them, write the reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.cli.choose import check_names, choose_cases
from longfat.cli.console import stderr, stdout
from longfat.cli.progress import CaseProgress
from longfat.errors import ExitCode, InputError
from longfat.labs import find_study
from longfat.report import print_verdict, write_report
from longfat.runner import Batch, run_batches
from longfat.study import read_study
from longfat.study.expand import LARGEST_SEED, MOST_SEEDS
from longfat.verdict import judge

if TYPE_CHECKING:
    from longfat.study import Study

# A page with the figures of more cases would take minutes to draw, and nobody could read it.
_MOST_REPORTED = 40
_TOO_MANY = (
    "no plots and no report are made of {} cases at once: `longfat plot RUN...` draws "
    f"some of them, and --case leaves at most {_MOST_REPORTED}"
)


@click.command()
@click.argument("studies", nargs=-1, required=True, metavar="STUDY...")
@click.option(
    "--case",
    "names",
    multiple=True,
    metavar="NAME",
    help="Run this case only, or those that a pattern such as 'cubic-*' fits; repeatable.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=LARGEST_SEED),
    help="Use this seed in place of the study's; of several seeds, as the first.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=MOST_SEEDS),
    metavar="N",
    help="Run each case with N seeds in place of the study's number.",
)
@click.option("--kernel", metavar="VERSION", help="Use this kernel in place of the study's.")
@click.option("--jobs", type=click.IntRange(min=1), help="Machines at once; default: one a CPU.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs, plots and report go; default: runs/STUDY. For several studies: OUT/STUDY.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON object, for several studies a list of them, and write no report.",
)
def run(
    studies: tuple[str, ...],
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernel: str | None,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run the cases of each STUDY: a study file, a folder with a study.yaml, or a lab's name."""
    plans = [read_study(find_study(argument)) for argument in studies]
    check_names(plans, names)
    plans, batches = _batches(plans, names=names, seed=seed, seeds=seeds, kernel=kernel, out=out)
    several = len(studies) > 1
    labels = [f"{plan.name}/" if several else "" for plan in plans]
    with CaseProgress(batches, labels=labels, console=stderr()) as progress:
        results = run_batches(
            batches, jobs=jobs, on_progress=progress.update, on_done=progress.done
        )
    verdicts = [judge(plan, runs) for plan, runs in zip(plans, results, strict=True)]
    if as_json:
        documents = [verdict.to_json() for verdict in verdicts]
        click.echo(json.dumps(documents if several else documents[0], indent=2))
    for index, verdict in enumerate(() if as_json else verdicts):
        files = None
        if len(verdict.runs) <= _MOST_REPORTED:
            with stderr().status("drawing plots and report"):
                files = write_report(verdict, batches[index].out)
        if several:
            _heading(verdict.study.name, first=index == 0)
        print_verdict(verdict, console=stdout(), files=files)
        for note in files.notes if files else (_TOO_MANY.format(len(verdict.runs)),):
            stderr().print(Text(note), soft_wrap=True)
    if not all(verdict.good for verdict in verdicts):
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _heading(name: str, *, first: bool) -> None:
    console = stdout()
    if not first:
        console.print("\n")
    console.rule(Text(name, style="bold"), align="left")


def _batches(
    plans: Sequence[Study],
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernel: str | None,
    out: Path | None,
) -> tuple[list[Study], list[Batch]]:
    """Return the studies that have cases to run, and these cases with their folders."""
    chosen: list[Study] = []
    batches: list[Batch] = []
    for plan in plans:
        cases = choose_cases(plan, names=names, seed=seed, seeds=seeds, kernel=kernel)
        if not cases:
            continue
        base = out if out is not None else Path("runs")
        folder = base if out is not None and len(plans) == 1 else base / plan.name
        for other, batch in zip(chosen, batches, strict=True):
            if batch.out == folder:
                raise InputError(
                    f"{other.file} and {plan.file} are both called {plan.name!r}, so their runs "
                    "would go to one folder: run them one by one, with --out"
                )
        chosen.append(plan)
        batches.append(Batch(cases=cases, out=folder))
    return chosen, batches
