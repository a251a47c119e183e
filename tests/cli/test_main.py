"""The list of subcommands in `longfat --help`, and how a command ends in an unusual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import click
import pytest

from longfat.cli.main import COMMANDS, commands
from tests.command import longfat
from tests.paths import LONGFAT

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


def run(
    *arguments: str, stdout: IO[bytes] | int, unbuffered: str = "", **environment: str
) -> tuple[int, str]:
    """Return the exit status and what was printed on standard error."""
    done = subprocess.run(
        [LONGFAT, *arguments],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered, **environment},
    )
    return done.returncode, done.stderr


# By click, by rich, by print, and the help.
PRINTING = pytest.mark.parametrize(
    "arguments", [("labs", "--json"), ("bdp", "10gbit", "50ms"), ("schema",), ("--help",)]
)


@PRINTING
def test_a_full_disk_is_no_failed_claim(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        for unbuffered in ("", "1"):
            status, words = run(*arguments, stdout=full, unbuffered=unbuffered)
            message = "longfat: the output cannot be written: No space left on device\n"
            assert (status, words) == (3, message)


@PRINTING
def test_a_closed_pipe_ends_it_quietly_as_sigpipe_does(arguments: tuple[str, ...]) -> None:
    for unbuffered in ("", "1"):
        reader, writer = os.pipe()
        os.close(reader)
        assert run(*arguments, stdout=writer, unbuffered=unbuffered) == (141, "")
        os.close(writer)


def test_closed_standard_streams_are_no_files_of_others(tmp_path: Path) -> None:
    shell = f"exec {LONGFAT} new dumbbell -o net.yaml <&- >&- 2>&-"
    subprocess.run(["sh", "-c", shell], cwd=tmp_path, check=True)
    assert "\ntitle: " in (tmp_path / "net.yaml").read_text()
    # It asks for the number of its standard output.
    shell = f"echo true | exec {LONGFAT} shell gone.yaml >&-"
    done = subprocess.run(
        ["sh", "-c", shell], cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_what_the_locale_cannot_encode_is_printed_in_escapes(tmp_path: Path) -> None:
    (tmp_path / "net.yaml").write_text("title: x\ntєtle: y\n", encoding="utf-8")
    with (tmp_path / "out").open("wb") as out:
        environment = {"LC_ALL": "C.UTF-8", "PYTHONIOENCODING": "latin-1"}
        status, words = run("check", str(tmp_path / "net.yaml"), stdout=out, **environment)
    assert (status, words) == (2, "")
    assert "unknown field 't\\u0454tle'" in (tmp_path / "out").read_text("latin-1")


@pytest.mark.parametrize("command", ["check", "show", "plot", "packets", "fidelity", "shell"])
@pytest.mark.parametrize("suffix", ["", ".yaml"])
def test_a_name_too_long_for_a_file(command: str, suffix: str, tmp_path: Path) -> None:
    done = longfat(command, "b" * 3000 + suffix, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("longfat: ")
    assert "Traceback" not in done.stderr
