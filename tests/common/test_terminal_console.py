"""What a console makes of texts that are not its own."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from longfat.common.terminal_console import TerminalConsole


@pytest.mark.parametrize("text", ["ce00::b", "fe80::a", "::cd:b:1", "10::100:8", ":b: [bold]x[/]"])
def test_addresses_have_no_emoji(text: str) -> None:
    file = io.StringIO()
    console = TerminalConsole(file=file, width=60, force_terminal=False)
    console.print(text)
    table = Table()
    table.add_column(text)
    table.add_row(text)
    console.print(table)
    assert file.getvalue().count(text) == 3
