"""`longfat labs`: the labs that come with longfat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from rich.text import Text

from longfat.cli.console import echo, stdout
from longfat.cli.language import language_option
from longfat.cli.options import json_option
from longfat.cli.render.tables import plain_table, print_trimmed
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


@click.command()
@json_option("Print a JSON list.")
@language_option("Titles")
def labs(*, as_json: bool, language: LanguageChoice) -> None:
    """List the labs by course.

    Read a lab with `longfat show LAB`, run it with `longfat run LAB`. A run is a case with
    one seed; the virtual time is that of all runs together. The last column has the languages
    that the lab's text is there in.
    """
    list_labs(as_json=as_json, language=language)


def list_labs(*, as_json: bool, language: LanguageChoice) -> None:
    """Print the labs by course.

    Args:
        as_json: print a JSON list in place of a table.
        language: the language of titles.
    """
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
