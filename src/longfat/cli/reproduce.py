"""`longfat reproduce`: published experiments, run again and compared with what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.analysis.verdict import evaluate
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.fidelity import read_page, write_page
from longfat.cli.options import jobs_option, json_option
from longfat.cli.render.failures import failures_json, print_failures
from longfat.cli.render.progress import CaseProgress
from longfat.cli.render.tables import plain_table, print_table
from longfat.cli.selection import label_of, make_parts
from longfat.errors import ExitCode
from longfat.execution import run_batches
from longfat.execution.cache import ResultCache
from longfat.execution.compile import expected_virtual_s
from longfat.model.units import format_quantity
from longfat.output.report.fidelity import NOT_KNOWN, StudyFidelity, verdict_fidelity
from longfat.output.report.fidelity_pages import reproduced_markdown
from longfat.output.report.values import BAND, MISSING, band_text, published_text
from longfat.study import read_study
from longfat.study.expand import MAX_SEEDS
from longfat.study.labs import all_experiments, find_experiments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.cli.selection import Part
    from longfat.execution import Outcome
    from longfat.output.report.fidelity import FigureFidelity
    from longfat.study import Study


@click.command()
@click.argument("names", nargs=-1, metavar="[EXPERIMENT]...")
@click.option("--all", "runs_all", is_flag=True, help="Run all experiments.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=MAX_SEEDS),
    metavar="N",
    help="Run each case with N seeds in place of the study's number.",
)
@jobs_option()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page of all figures with their explanations, in Markdown, to this file. Sections "
    "in it of experiments that are not run are kept.",
)
@json_option("Print a JSON list in place of tables.")
def reproduce(
    names: tuple[str, ...],
    *,
    runs_all: bool,
    seeds: int | None,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run published experiments and compare their figures.

    Without arguments, list them. The runs go to runs/EXPERIMENT; what was run before
    is taken from the result cache.

    Ends with 1 if a figure is off by more than 15 %, outside of the seeds' band and that of
    the source's runs, and not explained in the study, or if a claim fails.
    """
    if names and runs_all:
        raise click.UsageError("--all runs all experiments: give it without names")
    if not names and not runs_all:
        if seeds is not None or jobs is not None or out is not None:
            raise click.UsageError("name the experiments to run, or add --all")
        _list(as_json=as_json)
        return
    known = all_experiments()
    chosen = tuple(known.values()) if runs_all else find_experiments(names)
    studies = [(str(one.folder), read_study(one.study_file)) for one in chosen]
    parts = make_parts(
        studies, names=(), seed=None, seeds=seeds, kernels=(), testbed=None, out=None
    )
    outcome = _run(parts, jobs=jobs)
    compared = [
        verdict_fidelity(evaluate(part.study, runs))
        for part, runs in zip(parts, outcome.runs, strict=True)
    ]
    if as_json:
        echo(json.dumps(_document(compared, parts, outcome), indent=2))
    else:
        for one in compared:
            _show(one)
    print_failures(outcome.failures, parts, console=stderr())
    if out is not None and any(one.verdict.runs for one in compared):
        present = [one for one in compared if one.verdict.runs]
        write_page(out, reproduced_markdown(present, known=list(known), older=read_page(out)))
    good = all(one.good and one.verdict.good for one in compared)
    if code := outcome.exit_code or (0 if good else ExitCode.CLAIM_FAILED):
        raise click.exceptions.Exit(code)


def _run(parts: Sequence[Part], *, jobs: int | None) -> Outcome:
    batches = [part.batch for part in parts]
    labels = [label_of(part, parts) for part in parts]
    cache = ResultCache(report=_print_message)
    with CaseProgress(batches, labels=labels, console=stderr()) as progress:
        outcome = run_batches(batches, jobs=jobs, cache=cache, keep_going=True, observer=progress)
    _print_message(outcome.summary())
    return outcome


def _print_message(text: str) -> None:
    stderr().print(Text(text), soft_wrap=True)


def _list(*, as_json: bool) -> None:
    studies = [read_study(one.study_file) for one in all_experiments().values()]
    if as_json:
        echo(json.dumps([_listed(study) for study in studies], indent=2))
        return
    table = plain_table("experiment", "title", "published", "figures", "virtual s")
    table.columns[-2].justify = table.columns[-1].justify = "right"
    table.columns[1].no_wrap = False
    for study in studies:
        entry = _listed(study)
        table.add_row(
            Text(study.name, style="bold"),
            Text(study.title),
            Text("" if study.published is None else study.published.short_citation),
            str(entry["figures"]),
            f"{entry['virtual_s']:,.0f}",
        )
    print_table(table, console=stdout())


def _listed(study: Study) -> dict[str, Any]:
    """Return what the list shows of an experiment; its virtual time is that of all its runs."""
    published = study.published
    seeded = (case for planned in study.cases.values() for case in planned.seeded())
    return {
        "name": study.name,
        "title": study.title,
        "published": "" if published is None else published.citation,
        "address": "" if published is None else published.address,
        "figures": 0 if published is None else len(published.figures),
        "cases": len(study.cases),
        "virtual_s": sum(expected_virtual_s(case) for case in seeded),
        "folder": str(study.file.parent),
    }


def _document(
    compared: Sequence[StudyFidelity], parts: Sequence[Part], outcome: Outcome
) -> list[dict[str, Any]]:
    documents = []
    for index, one in enumerate(compared):
        failures = [failure for failure in outcome.failures if failure.run_id.batch == index]
        documents.append(
            _listed(one.verdict.study)
            | one.to_json()
            | {"claims": one.verdict.to_json()["claims"]}
            | {"failures": failures_json(failures, parts)}
        )
    return documents


def _show(one: StudyFidelity) -> None:
    """Print an experiment's figures, published and ours, and the claims that fail."""
    console, study = stdout(), one.verdict.study
    console.rule(Text(study.name, style="bold"), align="left")
    console.print(Text(study.title))
    if study.published is not None:
        console.print(Text(f"published: {study.published.citation}"))
    table = plain_table("case", "metric", "published", "ours", BAND, "verdict")
    for figure in one.figures:
        table.add_row(*(Text(cell) for cell in _cells(figure)))
    print_table(table, console=console)
    console.print(Text(one.summary))
    for judged in one.verdict.claims:
        if judged.passed is not True:
            word = "FAILS" if judged.passed is False else "not judged"
            console.print(Text(f"claim {word}: {judged.claim.text}"))


def _cells(figure: FigureFidelity) -> tuple[str, ...]:
    published, spread = figure.comparison.figure, figure.comparison.spread
    return (
        published.case,
        published.title,
        published_text(published),
        MISSING if spread is None else format_quantity(spread.median, published.unit),
        band_text(spread, published.unit),
        NOT_KNOWN.lower() if figure.reason_is_unknown else figure.agreement.value,
    )
