"""`longfat grade`: points for what students handed in."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import jobs_option, json_option, seed_option
from longfat.common.atomic import write_whole
from longfat.common.extras import need
from longfat.common.suggest import listed, nearest
from longfat.common.terminal_text import printable_line
from longfat.errors import ExitCode, HostError, InputError, MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longfat.execution.cache import ResultCache
    from longfat_class.analysis import Graded, Player, Submission
    from longfat_class.study import Grading

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    metavar="SUBMISSION...",
    type=click.Path(path_type=Path),
)
@click.option(
    "--against",
    "lab",
    required=True,
    metavar="LAB",
    type=click.Path(path_type=Path),
    help="The lab's folder, or its instructor's file.",
)
@seed_option("Use this seed for all, in place of the one that follows from each student's name.")
@click.option(
    "--roster",
    type=_FILE,
    metavar="CSV",
    help="Names, seeds and times of submission: columns folder, name, seed, submitted.",
)
@click.option(
    "--folder",
    metavar="NAME",
    help="Where in each SUBMISSION its files are, as a studio of a class keeps them: NAME of LAB.",
)
@click.option(
    "--submitted",
    metavar="TIME",
    help="When it was handed in, such as 2026-11-30T17:55+01:00, if it is not in the roster.",
)
@click.option(
    "--exercise",
    "exercises",
    multiple=True,
    metavar="NAME",
    help="Grade this exercise only, and end with 1 unless it gives all points; repeatable.",
)
@click.option(
    "--for-student",
    is_flag=True,
    help="Print neither answer keys nor what hidden exercises found: where students read it.",
)
@jobs_option("Submissions")
@click.option("--no-cache", is_flag=True, help="Do not use the result cache.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write a page for each student there, and grades.json for the instructor.",
)
@click.option(
    "--gradescope", type=_FILE, metavar="FILE", help="Write Gradescope's results.json of one."
)
@click.option(
    "--csv",
    "gradebook",
    type=(click.Choice(("moodle", "canvas", "blackboard")), _FILE),
    metavar="GRADEBOOK FILE",
    help="Write the points as the CSV file that moodle, canvas or blackboard imports; the login "
    "is the folder's name.",
)
@click.option(
    "--metadata",
    type=_FILE,
    metavar="FILE",
    help="Of one submission: Gradescope's submission_metadata.json, for its time and names.",
)
@json_option()
def grade(
    folders: tuple[Path, ...],
    *,
    lab: Path,
    seed: int | None,
    roster: Path | None,
    folder: str | None,
    submitted: str | None,
    exercises: tuple[str, ...],
    for_student: bool,
    jobs: int | None,
    no_cache: bool,
    out: Path | None,
    gradescope: Path | None,
    gradebook: tuple[str, Path] | None,
    metadata: Path | None,
    as_json: bool,
) -> None:
    """Grade each SUBMISSION of LAB, a student's folder.

    Everything is rerun, in sandboxes and within the lab's limits; no submitted result is
    trusted. An error in a submission costs points and does not stop the grading; nor does a
    submission that cannot be graded, but then the exit code is 3.
    """
    need("series")
    # They load what runs cases.
    from longfat.execution.tools import Toolbox  # noqa: PLC0415
    from longfat_class.analysis import Player  # noqa: PLC0415
    from longfat_class.cli.render import print_graded  # noqa: PLC0415
    from longfat_class.output import (  # noqa: PLC0415
        gradebook_csv,
        gradescope_results,
    )
    from longfat_class.study import read_grading  # noqa: PLC0415

    if len(folders) > 1 and (gradescope is not None or metadata is not None):
        raise click.UsageError("--gradescope and --metadata are of one submission")
    with _errors_of_the_lab(for_student=for_student):
        grading = read_grading(lab)
    known = [exercise.name for exercise in grading.exercises]
    for name in exercises:
        if name not in known:
            raise InputError(
                f"{grading.file}: there is no exercise {name!r}{nearest(name, known)} "
                f"(there are: {listed(known)})"
            )
    submissions, grading = _submissions(
        folders, grading, seed=seed, roster=roster, submitted=submitted, metadata=metadata
    )
    if folder is not None:
        if folder in ("", ".", "..") or "/" in folder:
            raise click.UsageError(f"--folder {folder}: a folder's name is needed, and no path")
        submissions = [dataclasses.replace(one, inside=folder) for one in submissions]
    began_s = time.monotonic()
    player = Player(None if no_cache else _cache(), Toolbox())
    with _errors_of_the_lab(for_student=for_student):
        graded = _grade(submissions, grading, player, exercises=exercises, jobs=jobs)
    if out is not None:
        _write(graded, out)
    if gradescope is not None:
        results = gradescope_results(graded[0], took_s=time.monotonic() - began_s)
        _write_file(gradescope, json.dumps(results, indent=2))
    if gradebook is not None:
        _write_file(gradebook[1], gradebook_csv(graded, gradebook[0]))
    if as_json:
        echo(json.dumps(_document(graded, grading, for_student=for_student), indent=2))
    else:
        print_graded(graded, console=stdout(), for_student=for_student)
    _exit(graded, is_all_or_nothing=bool(exercises))


@contextlib.contextmanager
def _errors_of_the_lab(*, for_student: bool) -> Iterator[None]:
    """Show an error in the lab's own files, which quotes them, to the instructor only."""
    try:
        yield
    except (InputError, MachineError):
        if not for_student:
            raise
        raise HostError(
            "nothing was graded: the lab's own files are wrong, or one of its cases failed",
            hint="the same command without --for-student shows why",
        ) from None


def _cache() -> ResultCache | None:
    """Return the result cache; None, with a warning, if others could have forged its results."""
    from longfat.execution.cache import ResultCache, check_private  # noqa: PLC0415  as in grade

    cache = ResultCache(report=_print_message, private=True)
    try:
        check_private(cache.root)
    except InputError as error:
        _print_message(f"the result cache {cache.root} is not used: {error.message}")
        return None
    return cache


def _submissions(
    folders: Sequence[Path],
    grading: Grading,
    *,
    seed: int | None,
    roster: Path | None,
    submitted: str | None,
    metadata: Path | None,
) -> tuple[list[Submission], Grading]:
    """Return whose the folders are, and the grading with the deadline that counts."""
    from longfat_class.analysis import Submission, seed_of  # noqa: PLC0415  as in grade
    from longfat_class.study.model import Moment  # noqa: PLC0415
    from longfat_class.study.roster import Entry, read_metadata, read_roster  # noqa: PLC0415

    entries = {} if roster is None else read_roster(roster)
    at = None
    if submitted is not None:
        try:
            at = Moment().parse(submitted)
        except InputError as error:
            raise click.UsageError(f"--submitted: {error.message}") from None
    platform = None if metadata is None else read_metadata(metadata)
    if platform is not None and platform.deadline is not None:
        grading = dataclasses.replace(grading, deadline=platform.deadline)
    names = [folder.absolute().name for folder in folders]
    if missing := [name for name in entries if name not in names]:
        _print_message(f"{roster}: not handed in: {', '.join(missing)}")
    if unknown := [name for name in names if roster is not None and name not in entries]:
        _print_message(f"{roster}: not in the roster: {', '.join(unknown)}")
    found = []
    for folder in folders:
        # An InputError: who typed it is the instructor. A dangling link is the student's.
        if not os.path.lexists(folder):
            raise InputError(f"{folder}: there is no such submission")
        name = folder.absolute().name or folder.resolve().name
        entry = entries.get(name, Entry(folder=name))
        given = platform.student if platform else ""
        drawn = seed_of(given or name)
        found.append(
            Submission(
                student=entry.name or given or name,
                folder=folder,
                seed=next(one for one in (seed, entry.seed, drawn) if one is not None),
                submitted=entry.submitted or (platform.submitted if platform else at),
            )
        )
    return found, grading


def _print_message(text: str) -> None:
    stderr().print(Text(f"longfat: {printable_line(text)}"), soft_wrap=True)


def _grade(
    submissions: Sequence[Submission],
    grading: Grading,
    player: Player,
    *,
    exercises: Sequence[str],
    jobs: int | None,
) -> list[Graded]:
    from longfat_class.analysis import grade as grade_one  # noqa: PLC0415  as in grade
    from longfat_class.analysis import shared_oddities  # noqa: PLC0415

    console = stderr()
    workers = jobs or len(os.sched_getaffinity(0))
    with (
        console.status(f"grading {len(submissions)} submissions") as status,
        ThreadPoolExecutor(max_workers=workers) as threads,
    ):
        futures = [
            threads.submit(grade_one, one, grading, player=player, exercises=exercises)
            for one in submissions
        ]
        graded = []
        try:
            for number, future in enumerate(futures, start=1):
                graded.append(future.result())
                status.update(f"graded {number} of {len(submissions)} submissions")
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            player.end()
            raise
    return [
        dataclasses.replace(one, oddities=(*one.oddities, *shared))
        for one, shared in zip(graded, shared_oddities(graded), strict=True)
    ]


def _exit(graded: Sequence[Graded], *, is_all_or_nothing: bool) -> None:
    """End with the exit code that fits: a good one by returning."""
    failed = [one.submission.student for one in graded if one.failure]
    if failed:
        raise HostError(f"not graded: {', '.join(failed)}")
    if is_all_or_nothing and not all(score.is_full for one in graded for score in one.scores):
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _document(
    graded: Sequence[Graded], grading: Grading, *, for_student: bool = False
) -> dict[str, object]:
    return {
        "lab": grading.title,
        "file": str(grading.file),
        "max_points": sum(score.exercise.points for score in graded[0].scores),
        "submissions": [one.to_json(for_student=for_student) for one in graded],
    }


def _write(graded: Sequence[Graded], out: Path) -> None:
    from longfat_class.output import student_page  # noqa: PLC0415  it loads templates

    for name, one in zip(page_names(graded), graded, strict=True):
        _write_file(out / name, student_page(one))
    document = json.dumps(_document(graded, graded[0].grading), indent=2)
    _write_file(out / "grades.json", f"{document}\n")


def page_names(graded: Sequence[Graded]) -> list[str]:
    """Return the names of the students' pages: safe as files, and each of them once."""
    names: list[str] = []
    for one in graded:
        folder = one.submission.folder.absolute().name
        stem = re.sub(r"[^A-Za-z0-9._-]+", "_", folder).lstrip(".")[:80] or "student"
        if f"{stem}.html" in names or stem != folder:
            digest = hashlib.sha256(str(one.submission.folder).encode(errors="replace"))
            stem = f"{stem}-{digest.hexdigest()[:8]}"
        names.append(f"{stem}.html")
    return names


def _write_file(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode(errors="replace"))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
