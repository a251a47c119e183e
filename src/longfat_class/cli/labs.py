"""`longfat labs` with what makes labs for a class."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from longfat.cli.console import echo, stdout
from longfat.cli.group import Group
from longfat.cli.labs import list_labs
from longfat.cli.language import language_option
from longfat.cli.options import json_option
from longfat.common import resources
from longfat.common.atomic import write_whole
from longfat.common.suggest import listed, nearest
from longfat.errors import ExitCode, HostError, InputError
from longfat.study.text import LanguageChoice


@click.group(cls=Group, invoke_without_command=True)
@json_option("Print a JSON list.")
@language_option("Titles")
@click.pass_context
def labs(context: click.Context, *, as_json: bool, language: LanguageChoice) -> None:
    """List the labs by course, or make labs for a class.

    Read a lab with `longfat show LAB`, run it with `longfat run LAB`. A run is a case with
    one seed; the virtual time is that of all runs together. The last column has the languages
    that the lab's text is there in.
    """
    if context.invoked_subcommand is None:
        list_labs(as_json=as_json, language=language)


TEMPLATES = "templates"
DEFAULT_TEMPLATE = "bdp"
_SOLUTION_SEED = 1


def _templates() -> dict[str, Path]:
    """Return the templates of labs for a class, by name."""
    folder = resources.folder("labs") / TEMPLATES
    return {one.name: one for one in sorted(folder.iterdir()) if one.is_dir()}


@labs.command()
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "--template", default=DEFAULT_TEMPLATE, metavar="TEMPLATE", help="What to start from: bdp."
)
def new(folder: Path, *, template: str) -> None:
    """Make a lab for a class in the folder NAME, to be changed as you like.

    Its folder student/ is what students get; instructor/ has the grading, the answer key's
    study and a solution.
    """
    templates = _templates()
    if template not in templates:
        raise InputError(
            f"there is no template {template!r}{nearest(template, templates)} "
            f"(there are: {listed(templates)})"
        )
    if folder.exists():
        raise InputError(f"{folder}: it is there already")
    try:
        shutil.copytree(templates[template], folder)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from None
    echo(f"{folder / 'student'}: give this folder to students")
    echo(f"{folder / 'instructor'}: keep this one")
    echo(f"longfat labs check {folder}")


@labs.command()
@click.argument("student", metavar="STUDENT")
def seed(student: str) -> None:
    """Print the seed of STUDENT, the name of their folder: what `longfat grade` runs with.

    A roster may have another one for them.
    """
    from longfat_class.analysis import seed_of  # noqa: PLC0415  it loads what runs cases

    echo(str(seed_of(student)))


@labs.command()
@click.argument("folder", metavar="LAB", type=click.Path(path_type=Path))
def check(folder: Path) -> None:
    """Check the instructor's file of LAB, and that its solution gets all points.

    The solution lies in instructor/solution and answers for the seed 1; its answer may be
    `as the key` where the figure depends on the versions of tools.
    """
    from longfat.execution.cache import ResultCache  # noqa: PLC0415
    from longfat.execution.tools import Toolbox  # noqa: PLC0415
    from longfat_class.analysis import Player, Submission, grade  # noqa: PLC0415  as in seed
    from longfat_class.cli.render import print_graded  # noqa: PLC0415
    from longfat_class.study.read import SOLUTION, read_grading  # noqa: PLC0415

    grading = read_grading(folder)
    solution = grading.folder / SOLUTION
    if not solution.is_dir():
        raise InputError(f"{solution}: there is no solution, which would show what is right")
    submission = Submission(
        student=SOLUTION, folder=solution, seed=_SOLUTION_SEED, is_solution=True
    )
    graded = grade(submission, grading, player=Player(ResultCache(), Toolbox()))
    if graded.failure:
        raise HostError(graded.failure)
    print_graded([graded], console=stdout())
    if not all(score.is_full for score in graded.scores):
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


@labs.command()
@click.argument("folder", metavar="LAB", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="The repository of the assignment.",
)
@click.option(
    "--lab",
    default=".lab",
    metavar="PATH",
    help="Where the lab is when the tests run, relative to the repository; default: .lab.",
)
@click.option(
    "--setup",
    required=True,
    metavar="COMMAND",
    help="The command that makes longfat and the lab available there.",
)
def classroom(folder: Path, *, out: Path, lab: str, setup: str) -> None:
    """Write the files of GitHub Classroom for LAB: a test for each exercise."""
    from longfat_class.output import classroom_files  # noqa: PLC0415  as in seed
    from longfat_class.study import read_grading  # noqa: PLC0415

    for name, text in classroom_files(read_grading(folder), lab=lab, setup=setup).items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        echo(str(path))
