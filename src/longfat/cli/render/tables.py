"""Tables and headings of the command line: narrow on a terminal, whole in a pipe.

rich pads lines with spaces to the width of a table. A file or a pipe has no use for them, so
the functions here leave them out where the output is no terminal.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longfat.common.terminal_console import TerminalConsole

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import OverflowMethod

GAP = 2
"""The number of spaces between two columns."""

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


def print_table(table: Table, *, console: Console) -> None:
    """Print a table; in a pipe nothing of it is cut off, and no line ends with spaces."""
    if console.is_terminal:
        console.print(table)
        return
    # A console makes nothing wider than itself.
    wide = TerminalConsole(file=io.StringIO(), width=_PIPE_WIDTH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


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
