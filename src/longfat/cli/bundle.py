"""`longfat bundle`: a study with its results and what obtains them again, in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.analysis.verdict import evaluate
from longfat.bundles.contents import Source, check_runs, collect
from longfat.bundles.matching import by_case
from longfat.bundles.publication import Publication, parse_author, parse_date, parse_licence
from longfat.bundles.study_files import read_with_files
from longfat.cli.completion import complete_study
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import jobs_option, json_option
from longfat.cli.render.failures import print_failures
from longfat.cli.render.progress import CaseProgress
from longfat.cli.run import VERDICT, keep_verdict
from longfat.cli.selection import make_parts
from longfat.common.decoding import read_json
from longfat.common.guard import scratch_folder
from longfat.common.zip_archive import write_archive
from longfat.errors import InputError
from longfat.execution import run_batches
from longfat.execution.cache import ResultCache
from longfat.execution.host_programs import host_programs_of
from longfat.execution.runs import load_run
from longfat.execution.runs.space import write_error
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.report.files import write_report
from longfat.study.labs import find_study_file

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from longfat.analysis.verdict import Verdict
    from longfat.common.zip_archive import Member
    from longfat.execution.runs import Run
    from longfat.study import Study


@click.command()
@click.argument("source", metavar="STUDY|RUN-FOLDER", shell_complete=complete_study)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file; default: STUDY-bundle.zip.",
)
@click.option(
    "--study",
    "study_file",
    metavar="FILE",
    help="The study of a RUN-FOLDER, if it was moved since.",
)
@click.option(
    "--without-binaries",
    is_flag=True,
    help="Write digests of kernels and programs, and how to build them, in place of the files.",
)
@click.option("--no-report", is_flag=True, help="Leave the report and its figures out.")
@click.option("--title", help="The title; default: that of the study.")
@click.option(
    "--author",
    "authors",
    multiple=True,
    metavar="NAME",
    help="An author: 'Doe, Jane', or 'Doe, Jane (ORCID)'. May be given several times.",
)
@click.option("--license", "licence", metavar="SPDX", help="The licence, such as CC-BY-4.0.")
@click.option("--date", "published", metavar="DATE", help="The date of publication: 2026-11-29.")
@jobs_option()
@json_option()
def bundle(
    source: str,
    *,
    out: Path | None,
    study_file: str | None,
    without_binaries: bool,
    no_report: bool,
    title: str | None,
    authors: tuple[str, ...],
    licence: str | None,
    published: str | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Write a study, its results, kernel and programs to one file, to publish or review.

    STUDY is a study file, a folder with a study.yaml, or the name of a lab. Its cases are run, or
    taken from the result cache, as by `longfat run`. Of a RUN-FOLDER, such as runs/lab08, the runs
    are taken as they are.

    `longfat verify FILE` runs the cases again on another computer, and compares all bytes.
    """
    publication = Publication(
        title=title or "",
        authors=tuple(map(parse_author, authors)),
        licence="" if licence is None else parse_licence(licence),
        published=None if published is None else parse_date(published),
    )
    folder = Path(source)
    if (folder / VERDICT).is_file() and not (folder / "study.yaml").exists():
        recorded = _recorded(folder / VERDICT)
        named = study_file or str(recorded["file"])
        study, name, members = _read_study_of(named, folder)
        verdict = evaluate(study, by_case(study, _load_runs(folder, recorded)))
    else:
        if study_file is not None:
            raise click.UsageError("--study is for a RUN-FOLDER")
        study, name, members = read_with_files(find_study_file(source))
        verdict, folder = _run(source, study, jobs=jobs)
    check_runs(verdict)
    written = out or Path(f"{study.name}-bundle.zip")
    made_of = Source(
        verdict=verdict,
        study_file=name,
        study_members=members,
        report={} if no_report else _report(verdict, folder),
        publication=publication,
        binaries=not without_binaries,
    )
    try:
        with stderr().status("writing the bundle"), scratch_folder() as scratch:
            digest = write_archive(written, collect(made_of, scratch=scratch))
    except OSError as error:
        raise write_error(written, error) from error
    _print(written, digest, verdict, publication, as_json=as_json)


def _run(source: str, study: Study, *, jobs: int | None) -> tuple[Verdict, Path]:
    """Run a study as `longfat run` does, and return its verdict and the folder of the runs."""
    parts = make_parts(
        [(source, study)],
        names=(),
        seed=None,
        seeds=None,
        kernels=(),
        testbed=None,
        out=None,
    )
    batches = [part.batch for part in parts]
    cache = ResultCache(report=_print_message)
    with CaseProgress(batches, labels=[""], console=stderr()) as progress:
        outcome = run_batches(batches, jobs=jobs, cache=cache, observer=progress)
    _print_message(outcome.summary())
    if outcome.failures:
        print_failures(outcome.failures, parts, console=stderr())
        raise click.exceptions.Exit(outcome.exit_code)
    verdict = evaluate(study, outcome.runs[0])
    keep_verdict(verdict, parts[0])
    return verdict, batches[0].out


def _recorded(file: Path) -> dict[str, Any]:
    data = read_json(file)
    if not isinstance(data, dict) or not {"file", "cases"} <= data.keys():
        raise InputError(f"{file}: not the verdict of a study: run it again")
    return data


def _read_study_of(named: str, folder: Path) -> tuple[Study, str, dict[str, Member]]:
    if not Path(named).exists():
        raise InputError(
            f"{folder}: the study of these runs, {named}, is not there: name it by --study FILE"
        )
    return read_with_files(Path(named))


def _load_runs(folder: Path, recorded: Mapping[str, Any]) -> list[Run]:
    """Return the runs of a folder that its verdict lists: others may be of an older study."""
    try:
        names = [
            Path(run["run_dir"]).name for case in recorded["cases"].values() for run in case["runs"]
        ]
    except (AttributeError, KeyError, TypeError):
        raise InputError(f"{folder / VERDICT}: not the verdict of a study: run it again") from None
    return [load_run(folder / name) for name in names]


def _report(verdict: Verdict, folder: Path) -> dict[str, Path]:
    with stderr().status("drawing plots and report"):
        files = write_report(verdict, folder)
    for note in files.notes:
        _print_message(note)
    paths = (files.page, *files.figures, *([files.paper] if files.paper else []))
    return {path.relative_to(folder).as_posix(): path for path in paths}


def _print(
    path: Path, digest: str, verdict: Verdict, publication: Publication, *, as_json: bool
) -> None:
    runs = [run for of_case in verdict.runs.values() for run in of_case]
    failed = [judged.claim.text for judged in verdict.claims if judged.passed is False]
    programs = host_programs_of(runs)
    if as_json:
        document = {
            "file": str(path),
            "bytes": path.stat().st_size,
            "sha256": digest,
            "runs": {run.folder.name: run.digest for run in runs},
            "failed_claims": failed,
            "host_programs": programs,
            "not_given": publication.missing,
        }
        echo(json.dumps(document, indent=2))
        return
    size = format_quantity(path.stat().st_size, Unit.BYTES)
    stdout().print(Text(f"{path}: {size}, {len(runs)} run{'' if len(runs) == 1 else 's'}"))
    stdout().print(Text(f"SHA-256 {digest}"), soft_wrap=True)
    for claim in failed:
        _print_message(f"note: this claim does not hold: {claim}")
    for program in programs:
        _print_message(
            f"note: a program of this computer is used and not in the bundle, so that another"
            f" computer may give other bytes: {program}"
        )
    if publication.missing:
        _print_message(
            f"note: an archive will ask for what was not given: {', '.join(publication.missing)}"
        )
    _print_message(f"to verify it on another computer: longfat verify {path.name}")


def _print_message(text: str) -> None:
    stderr().print(Text(text), soft_wrap=True)
