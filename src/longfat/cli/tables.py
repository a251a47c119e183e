"""Tables of the command line: narrow on a terminal, whole in a pipe."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table

from longfat.common.terminal_console import TerminalConsole

_PIPE_WIDTH = 2000


def plain_table(*heads: str) -> Table:
    """Return a table without lines, with heads that are quieter than the rows.

    Args:
        heads: the columns' heads; all empty for a table without a row of them.
    """
    table = Table(
        box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", show_header=any(heads)
    )
    for head in heads:
        table.add_column(head, no_wrap=True)
    return table


def print_table(table: Table, *, console: Console) -> None:
    """Print a table; in a pipe nothing of it is cut off, and no line ends with blanks."""
    if console.is_terminal:
        console.print(table)
        return
    # A console makes nothing wider than itself.
    wide = TerminalConsole(file=io.StringIO(), width=_PIPE_WIDTH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)
