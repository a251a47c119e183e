"""Tables and headings of the command line: narrow on a terminal, whole in a pipe.

rich pads lines with spaces to the width of a table. A file or a pipe has no use for them, so
the functions here leave them out where the output is no terminal.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longfat.common.terminal_console import TerminalConsole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import OverflowMethod

GAP = 2
"""The number of spaces between two columns."""

MAX_HEAD_WIDTH = 12
"""The width up to which a column is as wide as its head; a longer head has several lines."""

_PIPE_WIDTH = 2000


def plain_table(*heads: str, gap: int = GAP) -> Table:
    """Return a table without lines, with heads that are quieter than the rows.

    Args:
        heads: the heads of columns whose cells do not wrap; all empty for a table without a
            row of heads. Without any, the caller adds the columns.
        gap: the number of spaces between two columns.
    """
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, gap, 0, 0),
        header_style="dim",
        show_header=any(heads) or not heads,
    )
    for head in heads:
        table.add_column(head, no_wrap=True)
    return table


def grid_table(columns: str, *, overflow: OverflowMethod = "ellipsis") -> Table:
    """Return a table without heads.

    Args:
        columns: a letter for each column: `l` aligns it to the left, `r` to the right, and the
            cells of `w` wrap.
        overflow: what becomes of a word that is longer than its column.
    """
    table = Table.grid(padding=(0, GAP, 0, 0))
    for letter in columns:
        table.add_column(
            justify="right" if letter == "r" else "left", no_wrap=letter != "w", overflow=overflow
        )
    return table


def print_table(table: Table, *, console: Console, optional: Sequence[str] = ()) -> None:
    """Print a table; no cell is cut off, and in a pipe no line ends with spaces.

    Args:
        table: the table.
        console: where to print.
        optional: the heads of columns that are left out of a terminal that is too narrow, the
            first of them first. If it still is, cells of texts continue on further lines.
    """
    if console.is_terminal:
        fit_table(table, console, optional=optional)
        console.print(table)
        return
    # A console makes nothing wider than itself.
    wide = TerminalConsole(file=io.StringIO(), width=_PIPE_WIDTH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def print_blocks(
    head: str,
    columns: Sequence[str],
    rows: Sequence[tuple[Text, Sequence[str]]],
    *,
    console: Console,
) -> None:
    """Print a table of numbers; one that is wider than the console in several blocks.

    Args:
        head: the head of the rows' names.
        columns: the heads of the other columns.
        rows: the name of each row, and its cells.
        console: where to print.
    """
    names = max((len(name) for name, _ in rows), default=0)
    first = 0
    while first < len(columns):
        table = plain_table()
        table.add_column(head, no_wrap=True)
        used, last = max(names, len(head)) + GAP, first
        while last < len(columns):
            words = [*columns[last].split(), *(cells[last] for _, cells in rows)]
            width = max([*map(len, words), min(len(columns[last]), MAX_HEAD_WIDTH)])
            if used + width > console.width and last > first:
                break
            used += width + GAP
            table.add_column(Text(columns[last]), justify="right", overflow="fold", max_width=width)
            last += 1
        for name, cells in rows:
            table.add_row(name, *map(Text, cells[first:last]))
        console.print(table)
        first = last
        if first < len(columns):
            console.print()


def is_too_wide(table: Table, console: Console) -> bool:
    """Return whether a table is wider than a terminal; nothing is too wide for a pipe."""
    options = console.options.update(max_width=_PIPE_WIDTH)
    return console.is_terminal and console.measure(table, options=options).maximum > console.width


def fit_table(table: Table, console: Console, *, optional: Sequence[str]) -> None:
    """Leave out columns of a table until it is no wider than a terminal; then let texts wrap.

    Args:
        table: the table.
        console: the terminal.
        optional: the heads of columns that can be left out, the first of them first.
    """
    for head in optional:
        if not is_too_wide(table, console):
            return
        kept = (column for column in table.columns if str(column.header) != head)
        table.columns = [replace(column, _index=number) for number, column in enumerate(kept)]
    if is_too_wide(table, console):
        for column in table.columns:
            if column.justify == "left":
                column.no_wrap, column.overflow = False, "fold"


def print_trimmed(draw: Callable[[Console], None], *, console: Console) -> None:
    """Print to a console at its own width; in a pipe no line ends with spaces.

    Args:
        draw: prints to the console that it is given.
        console: where to print.
    """
    if console.is_terminal:
        draw(console)
        return
    with console.capture() as captured:
        draw(console)
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def print_heading(console: Console, title: str, beside: str = "", *, style: str = "") -> None:
    """Print a bold title after an empty line, and a remark beside it.

    Args:
        console: where to print.
        title: the title.
        beside: the remark; empty for none.
        style: rich's style of the remark.
    """
    console.print()
    console.print(Text.assemble((title, "bold"), (f"  {beside}" if beside else "", style)))
