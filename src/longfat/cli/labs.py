"""`longfat labs`: the labs that come with longfat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from longfat.cli.console import stdout
from longfat.cli.language import language_option
from longfat.execution.compile import expected_virtual_s
from longfat.study import Study, read_study
from longfat.study.labs import StudyFolder, all_labs
from longfat.study.text import LanguageChoice, StudyText, read_texts


@dataclass(frozen=True, slots=True)
class _Entry:
    """A lab, what its study says, and its texts by their languages."""

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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.lab.name,
            "title": self.study.title,
            "cases": len(self.study.cases),
            "runs": self.runs,
            "virtual_s": self.virtual_s,
            "texts": {code: text.title(self.study.title) for code, text in self.texts.items()},
            "folder": str(self.lab.folder),
        }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
@language_option("Titles")
def labs(*, as_json: bool, language: LanguageChoice) -> None:
    """List the labs: read one with `longfat show LAB`, run it with `longfat run LAB`.

    A run is a case with one seed; the virtual time is that of all runs together. The last
    column has the languages that the lab's text is there in.
    """
    entries = [
        _Entry(lab, read_study(lab.study_file), read_texts(lab.folder)) for lab in all_labs()
    ]
    language.choose(sorted({code for entry in entries for code in entry.texts}), of="any lab")
    if as_json:
        click.echo(json.dumps([entry.to_json() for entry in entries], indent=2))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("lab", no_wrap=True)
    table.add_column("title")
    for head in ("cases", "runs", "virtual s"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("texts", no_wrap=True)
    for entry in entries:
        table.add_row(
            Text(entry.lab.name, style="bold"),
            Text(entry.title(language)),
            str(len(entry.study.cases)),
            str(entry.runs),
            f"{entry.virtual_s:.0f}",
            ", ".join(entry.texts) or "none",
        )
    console = stdout()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
