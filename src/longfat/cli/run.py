"""`longfat run`: run a study's cases, print what came of them, write the report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.cli.console import stderr, stdout
from longfat.cli.progress import CaseProgress
from longfat.errors import ExitCode, InputError
from longfat.report import print_verdict, write_report
from longfat.runner import run_cases
from longfat.study import read_study
from longfat.verdict import judge

if TYPE_CHECKING:
    from longfat.study import Planned, Study


@click.command()
@click.argument("study", type=click.Path(path_type=Path))
@click.option(
    "--case", "names", multiple=True, metavar="NAME", help="Run this case only; repeatable."
)
@click.option("--seed", type=click.IntRange(min=0), help="Use this seed in place of the study's.")
@click.option("--kernel", metavar="VERSION", help="Use this kernel in place of the study's.")
@click.option("--jobs", type=click.IntRange(min=1), help="Machines at once; default: one a CPU.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs, plots and report go; default: runs/STUDY.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, and write no report.")
def run(
    study: Path,
    *,
    names: tuple[str, ...],
    seed: int | None,
    kernel: str | None,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run the cases of STUDY, a study file or a folder that holds a study.yaml."""
    plan = read_study(study)
    cases = _choose(plan, names=names, seed=seed, kernel=kernel)
    folder = out if out is not None else Path("runs") / plan.name
    with CaseProgress(cases, console=stderr()) as progress:
        runs = run_cases(
            cases, out=folder, jobs=jobs, on_progress=progress.update, on_done=progress.done
        )
    verdict = judge(plan, runs)
    if as_json:
        click.echo(json.dumps(verdict.to_json(), indent=2))
    else:
        with stderr().status("drawing plots and report"):
            files = write_report(verdict, folder)
        print_verdict(verdict, console=stdout(), files=files)
    if not verdict.good:
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _choose(
    study: Study, *, names: tuple[str, ...], seed: int | None, kernel: str | None
) -> dict[str, Planned]:
    """Return the cases to run, with what the command line puts in place of the study's."""
    for name in names:
        if name not in study.cases:
            known = ", ".join(study.cases)
            raise InputError(f"{study.file}: no case {name!r} in it; its cases: {known}")
    chosen = {}
    for name, planned in study.cases.items():
        if names and name not in names:
            continue
        case = planned.case
        if seed is not None:
            case = dataclasses.replace(case, seed=seed)
        if kernel is not None:
            case = dataclasses.replace(case, kernel=kernel)
        chosen[name] = dataclasses.replace(planned, case=case)
    return chosen
