"""The cases of a grid on the terminal: one line for each, and at most a screen of them.

The page has all of them, and `longfat query` queries them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.output.report.case_table import case_table

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.analysis.verdict import Verdict

_MOST_ROWS = 24
_GAP = 2
_WIDEST = 12  # of a head that is broken over lines, in characters


def print_cases(verdict: Verdict, console: Console) -> None:
    """Print a line for each case, with the main metrics as far as the console is wide.

    Args:
        verdict: the study with its runs.
        console: where to print.
    """
    cases = case_table(verdict)
    if not cases.rows:
        return
    rows = range(min(cases.rows, _MOST_ROWS))
    name, *measured = [one for one in cases.plain if one.numeric or one is cases.columns[0]]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    table.add_column(name.head, no_wrap=True)
    used = max((len(name.cell(row)) for row in rows), default=0) + _GAP
    shown = [name]
    for column in measured:
        words = [*column.head.split(), *(column.cell(row) for row in rows)]
        width = max(map(len, words))
        head = max(width, min(len(column.head), _WIDEST))
        if used + head + _GAP > console.width:
            break
        used += head + _GAP
        table.add_column(Text(column.head), justify="right", overflow="fold", max_width=head)
        shown.append(column)
    for row in rows:
        table.add_row(*(Text(column.cell(row)) for column in shown))
    console.print(table)
    if cases.rows > len(rows):
        note = (
            f"... and {cases.rows - len(rows):,} more cases, in the report and in `longfat query`"
        )
        console.print(Text(note, style="dim"))
