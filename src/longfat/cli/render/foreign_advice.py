"""Print diagnoses of files that are not of a run: ranked causes, evidence, what is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.cli.render.tables import grid_table, print_heading, print_trimmed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis

_ALIKE_SHARE = 0.5
"""The remedy of a further cause is printed from this part of the first one's weight on."""


def print_foreign_diagnoses(diagnoses: Sequence[ForeignDiagnosis], *, console: Console) -> None:
    """Print what limited each flow, what shows it, and what would help.

    Args:
        diagnoses: the diagnoses.
        console: where to print.
    """

    def draw(console: Console) -> None:
        for index, diagnosis in enumerate(diagnoses):
            if index:
                console.print()
                console.rule(style="dim")
            _draw(console, diagnosis)

    print_trimmed(draw, console=console)


def _draw(console: Console, diagnosis: ForeignDiagnosis) -> None:
    console.print(
        Text.assemble((diagnosis.flow, "bold"), (f"  {diagnosis.title}", "dim")), soft_wrap=True
    )
    console.print(Text(diagnosis.verdict))
    print_heading(console, "Causes", "the likeliest first", style="dim")
    for one in diagnosis.findings:
        _draw_cause(console, one)
    shown = {fact.key for fact in diagnosis.findings[0].evidence}
    for title, facts in (
        ("Evidence", diagnosis.findings[0].evidence),
        ("Also known", [fact for fact in diagnosis.facts if fact.key not in shown]),
    ):
        if facts:
            print_heading(console, title)
            table = grid_table("lw")
            for fact in facts:
                table.add_row(Text(fact.label), Text(fact.text))
            console.print(table)
    _draw_remedies(console, diagnosis)
    if diagnosis.unknown:
        print_heading(console, "Not known from this")
        for remark in diagnosis.unknown:
            console.print(Text(f"- {remark}"))
    if diagnosis.notes:
        console.print()
        for note in diagnosis.notes:
            console.print(Text(note, style="dim"))


def _draw_cause(console: Console, one: Finding) -> None:
    how = "measured" if one.certain else "inferred"
    line = Text.assemble(
        (f"{one.share * 100:3.0f} %  ", "dim"),
        (str(one.cause), "bold"),
        (f"  {how}", "dim"),
    )
    if one.cause is RootCause.UNKNOWN:
        line = Text(str(one.cause), style="bold")
    console.print(line)


def _draw_remedies(console: Console, diagnosis: ForeignDiagnosis) -> None:
    print_heading(console, "What would help")
    first = diagnosis.findings[0]
    for one in diagnosis.findings:
        if one is not first and one.share < _ALIKE_SHARE * first.share:
            continue
        finding = one
        if one is not first:
            console.print()
            console.print(Text(f"Or, for {finding.cause}: {finding.sentence}"))
        console.print(Text(finding.remedy.words))
        for line in finding.remedy.lines:
            comment = Text(f"at {line.node}: {line.why}")
            for part in comment.wrap(console, max(20, console.width - 2)):
                console.print(Text(f"# {part.plain.rstrip()}", style="dim"))
            console.print(Text(line.text, style="bold"), soft_wrap=True)
