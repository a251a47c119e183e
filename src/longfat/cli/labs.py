"""`longfat labs`: the labs that come with longfat."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from longfat.cli.console import stdout
from longfat.execution.compile import expected_virtual_s
from longfat.study import Study, read_study
from longfat.study.labs import StudyFolder, all_labs


@dataclass(frozen=True, slots=True)
class _Entry:
    """A lab and what its study says."""

    lab: StudyFolder
    study: Study

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

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.lab.name,
            "title": self.study.title,
            "cases": len(self.study.cases),
            "runs": self.runs,
            "virtual_s": self.virtual_s,
            "text": self.lab.text_file is not None,
            "folder": str(self.lab.folder),
        }


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def labs(*, as_json: bool) -> None:
    """List the labs: read one with `longfat show LAB`, run it with `longfat run LAB`.

    A run is a case with one seed; the virtual time is that of all runs together.
    """
    entries = [_Entry(lab, read_study(lab.study_file)) for lab in all_labs()]
    if as_json:
        click.echo(json.dumps([entry.to_json() for entry in entries], indent=2))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("lab", no_wrap=True)
    table.add_column("title")
    for head in ("cases", "runs", "virtual s"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("text", no_wrap=True)
    for entry in entries:
        table.add_row(
            Text(entry.lab.name, style="bold"),
            Text(entry.study.title),
            str(len(entry.study.cases)),
            str(entry.runs),
            f"{entry.virtual_s:.0f}",
            "yes" if entry.lab.text_file is not None else "no",
        )
    console = stdout()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())
