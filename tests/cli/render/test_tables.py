"""Tables at narrow terminals: columns are left out and texts wrap before anything is cut off."""

from __future__ import annotations

import io

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longfat.cli.render.tables import plain_table, print_blocks, print_table


def a_table() -> Table:
    table = plain_table("key", "name of the case", "size", "used")
    table.columns[2].justify = "right"
    for number in range(3):
        table.add_row(f"{number:012}", f"a-case-of-a-long-name-{number}", "123 KB", "now")
    return table


def printed(table: Table, *, width: int, optional: tuple[str, ...] = ()) -> list[list[str]]:
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=True, no_color=True)
    print_table(table, console=console, optional=optional)
    lines = stream.getvalue().replace("\x1b[2m", "").replace("\x1b[0m", "").splitlines()
    assert max(map(len, lines)) <= width
    return [line.split() for line in lines]


def test_columns_are_left_out_in_their_order() -> None:
    wide = printed(a_table(), width=80, optional=("used", "size"))
    assert wide[1] == ["000000000000", "a-case-of-a-long-name-0", "123", "KB", "now"]
    narrow = printed(a_table(), width=46, optional=("used", "size"))
    assert narrow[1] == ["000000000000", "a-case-of-a-long-name-0", "123", "KB"]
    narrower = printed(a_table(), width=38, optional=("used", "size"))
    assert narrower[1] == ["000000000000", "a-case-of-a-long-name-0"]


def test_texts_wrap_where_that_does_not_suffice() -> None:
    lines = printed(a_table(), width=30, optional=("used", "size"))
    text = "".join("".join(line) for line in lines)
    assert "…" not in text
    for number in range(3):
        first, second = (line for line in lines[1 + 2 * number : 3 + 2 * number])
        assert "".join([first[1], *second]) == f"a-case-of-a-long-name-{number}"


def test_a_wide_table_is_printed_in_blocks() -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=40)
    columns = [f"metric number {number}" for number in range(5)]
    rows = [(Text(f"flow-{name}"), [f"{n}.00 Mbit/s" for n in range(5)]) for name in "ab"]
    print_blocks("flow", columns, rows, console=console)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    rows_of_a = [line.split()[1::2] for line in lines if line.startswith("flow-a")]
    assert [cell for row in rows_of_a for cell in row] == [f"{n}.00" for n in range(5)]
    assert "…" not in stream.getvalue()
