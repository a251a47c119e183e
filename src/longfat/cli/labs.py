"""`longfat labs`: the labs that come with longfat, and those that an instructor makes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from longfat.cli.console import echo, stdout
from longfat.cli.language import language_option
from longfat.cli.options import json_option
from longfat.cli.render.tables import plain_table, print_trimmed
from longfat.common import resources
from longfat.common.atomic import write_whole
from longfat.common.suggest import listed, nearest
from longfat.errors import ExitCode, HostError, InputError
from longfat.execution.compile import expected_virtual_s
from longfat.study import Study, read_study
from longfat.study.labs import StudyFolder, all_courses, all_labs, course_of, sorted_by_course
from longfat.study.text import LanguageChoice, StudyText, read_texts


@dataclass(frozen=True, slots=True)
class _Entry:
    """A lab, its study, and its texts by language."""

    lab: StudyFolder
    study: Study
    texts: Mapping[str, StudyText]

    @property
    def runs(self) -> int:
        return sum(planned.seeds for planned in self.study.cases.values())

    @property
    def virtual_s(self) -> float:
        """Return about how long all runs take together, in seconds of virtual time."""
        return sum(
            expected_virtual_s(case)
            for planned in self.study.cases.values()
            for case in planned.seeded()
        )

    def title(self, language: LanguageChoice) -> str:
        """Return its title in a language, or in English where it has no text in that."""
        code = LanguageChoice(wanted=language.wanted).choose(self.texts, of=self.lab.name)
        return self.study.title if code is None else self.texts[code].title(self.study.title)

    def cells(self, language: LanguageChoice) -> tuple[str | Text, ...]:
        """Return its row of the table."""
        return (
            Text(self.lab.name, style="bold"),
            Text(self.title(language)),
            str(len(self.study.cases)),
            str(self.runs),
            f"{self.virtual_s:.0f}",
            ", ".join(self.texts) or "none",
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.lab.name,
            "title": self.study.title,
            "course": course_of(self.study.course, all_courses()).id,
            "cases": len(self.study.cases),
            "runs": self.runs,
            "virtual_s": self.virtual_s,
            "texts": {code: text.title(self.study.title) for code, text in self.texts.items()},
            "folder": str(self.lab.folder),
        }


@click.group(invoke_without_command=True)
@json_option("Print a JSON list.")
@language_option("Titles")
@click.pass_context
def labs(context: click.Context, *, as_json: bool, language: LanguageChoice) -> None:
    """List the labs by course; new, check, seed and classroom make labs for a class.

    Read a lab with `longfat show LAB`, run it with `longfat run LAB`. A run is a case with
    one seed; the virtual time is that of all runs together. The last column has the languages
    that the lab's text is there in.
    """
    if context.invoked_subcommand is not None:
        return
    entries = [
        _Entry(lab, read_study(lab.study_file), read_texts(lab.folder)) for lab in all_labs()
    ]
    language.choose(sorted({code for entry in entries for code in entry.texts}), of="any lab")
    if as_json:
        echo(json.dumps([entry.to_json() for entry in entries], indent=2))
        return
    table = plain_table()
    table.add_column("lab", no_wrap=True)
    table.add_column("title")
    for head in ("cases", "runs", "virtual s"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("texts", no_wrap=True)
    courses = all_courses()
    for name in sorted_by_course([entry.study.course for entry in entries], courses):
        if table.row_count:
            table.add_row()
        course = course_of(name, courses)
        table.add_row("", Text(course.title(language), style="italic"))
        for entry in entries:
            if course_of(entry.study.course, courses).id == course.id:
                table.add_row(*entry.cells(language))
    print_trimmed(lambda console: console.print(table), console=stdout())


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
    from longfat.analysis.grading import seed_of  # noqa: PLC0415  it loads what runs cases

    echo(str(seed_of(student)))


@labs.command()
@click.argument("folder", metavar="LAB", type=click.Path(path_type=Path))
def check(folder: Path) -> None:
    """Check the instructor's file of LAB, and that its solution gets all points.

    The solution lies in instructor/solution and answers for the seed 1; its answer may be
    `as the key` where the figure depends on the versions of tools.
    """
    from longfat.analysis.grading import Player, Submission, grade  # noqa: PLC0415  as in seed
    from longfat.cli.render.grading import print_graded  # noqa: PLC0415
    from longfat.execution.cache import ResultCache  # noqa: PLC0415
    from longfat.execution.tools import Toolbox  # noqa: PLC0415
    from longfat.study.grading.read import SOLUTION, read_grading  # noqa: PLC0415

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
    from longfat.output.grading import classroom_files  # noqa: PLC0415  as in seed
    from longfat.study.grading import read_grading  # noqa: PLC0415

    for name, text in classroom_files(read_grading(folder), lab=lab, setup=setup).items():
        path = out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text.encode())
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None
        echo(str(path))
