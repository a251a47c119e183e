"""`longfat run`: run the cases of studies, print what came of them, write the reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from longfat.analysis.verdict import evaluate
from longfat.cli.completion import complete_study
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.executors import ExecutorChoice, executor_options
from longfat.cli.language import language_option
from longfat.cli.options import cases_option, jobs_option, json_option, seed_option
from longfat.cli.render.failures import failures_json, print_failures
from longfat.cli.render.progress import CaseProgress
from longfat.cli.render.verdict import print_files, print_verdict
from longfat.cli.selection import label_of, make_parts
from longfat.common.atomic import write_whole
from longfat.errors import ExitCode
from longfat.execution import run_batches
from longfat.execution.cache import ResultCache
from longfat.execution.runs.space import write_error
from longfat.output.report.files import write_report
from longfat.study import read_study
from longfat.study.check import setting_warnings_of
from longfat.study.choose import check_names
from longfat.study.expand import MAX_SEEDS
from longfat.study.labs import find_study_file
from longfat.study.timing import parse_testbed

if TYPE_CHECKING:
    from longfat.analysis.compare import Compared
    from longfat.analysis.verdict import Verdict
    from longfat.cli.selection import Part
    from longfat.execution import Executor, Outcome
    from longfat.output.report.files import ReportFiles
    from longfat.study.text import LanguageChoice

VERDICT = "verdict.json"
"""The file with the verdict of a study, in the folder of its runs."""


@click.command()
@click.argument(
    "studies", nargs=-1, required=True, metavar="STUDY...", shell_complete=complete_study
)
@cases_option("Run")
@seed_option("Use this seed in place of the study's; of several seeds, as the first.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1, max=MAX_SEEDS),
    metavar="N",
    help="Run each case with N seeds in place of the study's number.",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    metavar="VERSION",
    help="Use this kernel in place of the study's; several are run and compared.",
)
@click.option(
    "--testbed",
    metavar="TIMING",
    help="Let all hosts run on one computer that takes time, in place of the study's: a profile "
    "such as vm-2020, or '{timer_latency: 50us}'.",
)
@click.option(
    "--shared-kernel/--separate-kernels",
    default=None,
    help="Let all hosts share a kernel, as in Mininet, or be separate computers, in place of the "
    "study's shared_kernel.",
)
@jobs_option()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where runs, plots and report go; default: runs/STUDY. For several studies: OUT/STUDY; "
    "for several kernels: OUT/KERNEL.",
)
@click.option(
    "--fresh",
    is_flag=True,
    help="Run what is cached, too, and fail if it gives other bytes than then.",
)
@click.option("--no-report", is_flag=True, help="Print the tables, and draw nothing.")
@language_option("The text in the report")
@click.option("--no-cache", is_flag=True, help="Do not use the result cache.")
@click.option(
    "--keep-going", is_flag=True, help="Go on after a failure; list all failures at the end."
)
@executor_options
@json_option("Print one JSON object, for several studies a list of them, and write no report.")
def run(
    studies: tuple[str, ...],
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernels: tuple[str, ...],
    testbed: str | None,
    shared_kernel: bool | None,
    jobs: int | None,
    out: Path | None,
    fresh: bool,
    no_report: bool,
    language: LanguageChoice,
    no_cache: bool,
    keep_going: bool,
    executor: ExecutorChoice,
    as_json: bool,
) -> None:
    """Run the cases of each STUDY.

    STUDY is a study file, a folder with a study.yaml, or the name of a lab or of a pitfall
    (pitfalls/NAME).

    A case that was run before with the same kernel and tools is not run again: its result
    is cached (see `longfat runs`).
    """
    if fresh and no_cache:
        raise click.UsageError("--fresh compares with what is cached, which --no-cache bars")
    executor.check()
    found = [
        (argument, read_study(find_study_file(argument), language=language)) for argument in studies
    ]
    check_names([study for _, study in found], names)
    for _, study in found:
        for warning in setting_warnings_of(study, names):
            where = f"{warning.place}: " if warning.place else ""
            _print_message(f"longfat: {where}warning: {warning.message}")
    parts = make_parts(
        found,
        names=names,
        seed=seed,
        seeds=seeds,
        kernels=kernels,
        testbed=None if testbed is None else parse_testbed(testbed),
        shared_kernel=shared_kernel,
        out=out,
    )
    outcome = _run(
        parts,
        jobs=jobs,
        cache=None if no_cache else ResultCache(report=_print_message),
        fresh=fresh,
        keep_going=keep_going,
        executor=executor.make(warn=_print_message),
    )
    verdicts = [evaluate(part.study, runs) for part, runs in zip(parts, outcome.runs, strict=True)]
    if not outcome.failures or keep_going:
        for part, verdict in zip(parts, verdicts, strict=True):
            keep_verdict(verdict, part)
        if as_json:
            echo(json.dumps(_document(parts, verdicts, outcome), indent=2))
        else:
            _show(parts, verdicts, draws=not no_report)
    print_failures(outcome.failures, parts, console=stderr())
    good = all(verdict.good for verdict in verdicts)
    if code := outcome.exit_code or (0 if good else ExitCode.CLAIM_FAILED):
        raise click.exceptions.Exit(code)


def _run(
    parts: Sequence[Part],
    *,
    jobs: int | None,
    cache: ResultCache | None,
    fresh: bool,
    keep_going: bool,
    executor: Executor | None,
) -> Outcome:
    batches = [part.batch for part in parts]
    labels = [label_of(part, parts) for part in parts]
    with CaseProgress(batches, labels=labels, console=stderr()) as progress:
        outcome = run_batches(
            batches,
            executor=executor,
            jobs=jobs,
            cache=cache,
            fresh=fresh,
            keep_going=keep_going,
            observer=progress,
        )
    _print_message(outcome.summary())
    return outcome


def _print_message(text: str) -> None:
    stderr().print(Text(text), soft_wrap=True)


def keep_verdict(verdict: Verdict, part: Part) -> None:
    """Write the verdict of a study's runs to their folder, for later readers."""
    data = verdict.to_json() | {
        "title": part.study.title,
        "file": str(part.study.file),
        "kernel": part.kernel,
    }
    out = part.batch.out
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / VERDICT, f"{json.dumps(data)}\n".encode())
    except OSError as error:
        raise write_error(out, error) from error


def _document(parts: Sequence[Part], verdicts: Sequence[Verdict], outcome: Outcome) -> Any:
    """Return what `--json` prints: an object for each study, a list of several."""
    documents: list[dict[str, Any]] = []
    for group in _by_study(parts, verdicts):
        if len(group) == 1:
            ((_, verdict),) = group.items()
            documents.append(verdict.to_json())
            continue
        compared = _compared(group)
        documents.append(
            {
                "study": next(iter(group.values())).study.name,
                "kernels": {kernel: verdict.to_json() for kernel, verdict in group.items()},
                "comparison": None if compared is None else compared.to_json(),
            }
        )
    if outcome.failures:
        for document in documents:
            of_study = [
                failure
                for failure in outcome.failures
                if parts[failure.run_id.batch].study.name == document["study"]
            ]
            document["failures"] = failures_json(of_study, parts)
    return documents if len(documents) != 1 else documents[0]


def _show(parts: Sequence[Part], verdicts: Sequence[Verdict], *, draws: bool) -> None:
    there = [pair for pair in zip(parts, verdicts, strict=True) if pair[1].runs]
    for index, (part, verdict) in enumerate(there):
        if len(parts) > 1:
            _heading(label_of(part, parts).removesuffix("/").replace("/", ", "), first=index == 0)
        # Drawing takes seconds, so the tables come before it.
        print_verdict(verdict, console=stdout())
        files = _report(verdict, part.batch.out) if draws else None
        print_files(verdict, console=stdout(), files=files)
        for note in files.notes if files else ():
            _print_message(note)
    for group in _by_study(parts, verdicts):
        if (compared := _compared(group)) is not None:
            from longfat.cli.render.comparison import print_compared  # noqa: PLC0415  see _compared

            name = next(iter(group.values())).study.name
            _heading(f"{name}: {' and '.join(group)} compared", first=False)
            print_compared(compared, console=stdout())


def _report(verdict: Verdict, folder: Path) -> ReportFiles:
    with stderr().status("drawing plots and report"):
        return write_report(verdict, folder)


def _by_study(parts: Sequence[Part], verdicts: Sequence[Verdict]) -> list[dict[str, Verdict]]:
    """Return for each study its verdicts by the kernels."""
    groups: dict[int, dict[str, Verdict]] = {}
    for part, verdict in zip(parts, verdicts, strict=True):
        groups.setdefault(id(part.study), {})[part.kernel or ""] = verdict
    return list(groups.values())


def _compared(group: dict[str, Verdict]) -> Compared | None:
    """Return how the verdicts of several kernels differ; None where one or none has runs."""
    there = {kernel: verdict for kernel, verdict in group.items() if verdict.runs}
    if len(there) < 2:
        return None
    # It loads numpy, and most commands are of one kernel.
    from longfat.analysis.compare import compare_verdicts  # noqa: PLC0415

    return compare_verdicts(there)


def _heading(name: str, *, first: bool) -> None:
    console = stdout()
    if not first:
        console.print("\n")
    console.rule(Text(name, style="bold"), align="left")
