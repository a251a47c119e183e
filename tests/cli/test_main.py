"""The list of subcommands in `longfat --help`."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest

from longfat.cli.main import COMMANDS, commands

SCRIPT = """
import sys
from longfat.cli.main import COMMANDS, commands
commands.main(["--help"], standalone_mode=False)
sys.exit([name for name in COMMANDS if f"longfat.cli.{name}" in sys.modules] or 0)
"""


@pytest.fixture(scope="module")
def text() -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"these were imported: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_is_there_with_the_first_sentence_of_its_help(name: str, text: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [name]]
    words = line.split(maxsplit=1)[1]
    whole = command.get_short_help_str(1000)
    assert words == whole or (words.endswith("...") and whole.startswith(words[:-3]))
