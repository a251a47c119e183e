"""The points of a class as a table, and the reasons below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.cli.render.tables import is_too_wide, plain_table, print_blocks, print_table
from longfat.common.terminal_text import printable_line
from longfat_class.analysis import CHECKS

if TYPE_CHECKING:
    from rich.console import Console

    from longfat_class.analysis import Graded


def print_graded(graded: Sequence[Graded], *, console: Console, for_student: bool = False) -> None:
    """Print the points of submissions, and the reasons for lost points.

    Args:
        graded: the submissions; at least one.
        console: where to print.
        for_student: print neither answer keys nor what hidden exercises found.
    """
    exercises = [score.exercise for score in graded[0].scores]
    late = any(one.penalty for one in graded)
    columns = [*(exercise.name for exercise in exercises), *(["late"] if late else []), "points"]
    rows = [
        (Text(), [*(f"/{one.points:g}" for one in exercises), *([""] if late else []), ""]),
    ]
    for one in graded:
        cells = ["-" if one.failure else f"{score.points:g}" for score in one.scores]
        cells += [f"-{one.penalty:g}" if one.penalty else ""] if late else []
        cells.append("not graded" if one.failure else f"{one.total:g} of {one.most:g}")
        rows.append((Text(printable_line(one.submission.student), style="bold"), cells))
    table = plain_table()
    table.add_column("student", no_wrap=True)
    for head in columns:
        table.add_column(head, justify="right", no_wrap=True)
    for name, cells in rows:
        table.add_row(name, *map(Text, cells))
    if is_too_wide(table, console):
        print_blocks("student", columns, rows, console=console)
    else:
        print_table(table, console=console)
    for one in graded:
        _print_reasons(one, console, for_student=for_student)


def _print_reasons(graded: Graded, console: Console, *, for_student: bool) -> None:
    lines = list(_lines(graded, for_student=for_student))
    if not lines:
        return
    student, seed = printable_line(graded.submission.student), graded.submission.seed
    console.print(Text(f"\n{student}, seed {seed}", style="bold"), soft_wrap=True)
    for name, words in lines:
        console.print(Text(f"  {name}: {printable_line(words)}"), soft_wrap=True)


def _lines(graded: Graded, *, for_student: bool) -> Iterator[tuple[str, str]]:
    """Yield what is printed about a submission below the table, each with its subject."""
    if graded.failure:
        yield "not graded", "your instructor knows why" if for_student else graded.failure
    else:
        yield from _reasons(graded, for_student=for_student)
    yield from _notes(graded, for_student=for_student)
    for words in () if for_student else graded.oddities:
        yield "look at", words


def _reasons(graded: Graded, *, for_student: bool) -> Iterator[tuple[str, str]]:
    for score in graded.scores:
        for number, reason in enumerate(score.visible_reasons if for_student else score.reasons):
            key = f" [key: {score.key}]" if score.key and number == 0 and not for_student else ""
            yield score.exercise.name, f"{reason}{key}"


def _notes(graded: Graded, *, for_student: bool) -> Iterator[tuple[str, str]]:
    reasons = {
        reason
        for score in graded.scores
        for reason in (*score.reasons, *(score.visible_reasons if for_student else ()))
    }
    lost = {score.exercise.name for score in graded.scores if score.reasons}
    for finding in graded.visible_findings if for_student else graded.findings:
        if finding.where.rpartition(", ")[2] in lost:
            continue  # reported with its exercise
        words = f"{CHECKS[finding.check].title}: {finding.words}"
        if words not in reasons and finding.words not in " ".join(reasons):
            yield f"note ({finding.where})", words
    for problem in graded.visible_problems if for_student else graded.problems:
        if not any(problem.partition(": ")[2] in reason for reason in reasons):
            yield "note", problem
