"""The list of subcommands in `longfat --help`, and how a command ends in an unusual environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import click
import pytest

from longfat.cli.main import command_modules, commands
from tests.command import longfat
from tests.paths import LONGFAT

SCRIPT = """
import sys
from longfat.cli.main import command_modules, commands
commands.main(["--help"], standalone_mode=False)
sys.exit([name for name in command_modules().values() if name in sys.modules] or 0)
"""


SIZED = """\
title: Größe … ≤ µs →
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2]]
flows:
  rtt: {ping: h1 -> h2, count: 2, interval: 100ms}
probes:
  queue: {of: h1-eth0, every: 100ms}
cases:
  good: {title: Fall größer}
  line:
    setup: [{h1: "sh -c 'echo größe µ >&2; exit 1'"}]
claims:
  - Die Größe ≤ 1 s: good.rtt.min < 1s
"""


@pytest.fixture(scope="module")
def text() -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"these were imported: {done.stderr}"
    return done.stdout


@pytest.mark.parametrize("name", command_modules())
def test_each_is_there_with_the_first_sentence_of_its_help(name: str, text: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    (start,) = [place.start() for place in re.finditer(rf"^  {name} ", text, re.MULTILINE)]
    words = " ".join(text[start:].split())
    assert words.startswith(f"{name} {command.get_short_help_str(1000)}")


@pytest.mark.parametrize("group", ["runs", "kernel", "images", "labs", "new"])
def test_the_help_of_a_group_has_whole_sentences(group: str, tmp_path: Path) -> None:
    done = longfat(group, "--help", cwd=tmp_path)
    assert done.returncode == 0
    listed = done.stdout[done.stdout.index("Commands:") :]
    assert not any(line.endswith("...") for line in listed.splitlines())


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


# What needs a large file, and standard output as one of more bytes than the limit.
LARGE = [("run", "small.yaml"), ("exec", "true"), ("watch", "small.yaml"), ("schema",)]


@pytest.mark.parametrize("arguments", LARGE, ids=lambda arguments: arguments[0])
def test_a_file_size_limit_is_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SIZED, encoding="utf-8")
    script = f'ulimit -f 8; exec {LONGFAT} "$@" > {tmp_path / "out"}'
    done = subprocess.run(
        ["bash", "-c", script, "bash", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "the limit of file sizes, ulimit -f (8,192 bytes), was hit" in done.stderr
    assert "ulimit -f unlimited" in done.stderr


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


# A command, its exit status, and what it prints.
POSIX_LOCALE = [
    (("check", "größe.yaml"), 0, ""),
    (("plan", "größe.yaml"), 0, r"Gr\u00f6\u00dfe \u2026"),
    (("show", "größe", "--study"), 0, r"Fall gr\u00f6\u00dfer"),
    (("run", "größe.yaml", "--case", "line"), 2, r"gr\u00f6\u00dfe \u00b5"),
    (("run", "größe.yaml", "--case", "good"), 0, r"Die Gr\u00f6\u00dfe \u2264 1 s"),
    (("query", "select 'µ' as x, count(*) from series_queue"), 0, r"\u00b5"),
    (("query", "select 'µ' as x", "--json"), 0, r'"\u00b5"'),
    (("watch", "größe.yaml", "--case", "good"), 0, r"Die Gr\u00f6\u00dfe"),
    (("plot", "runs/größe/good-seed1"), 0, r"runs/gr\u00f6\u00dfe/"),
    (("convert", "größe.yaml", "µ.py"), 0, ""),
    (("labs",), 0, "lab08"),
    (("größe",), 2, r"'gr\u00f6\u00dfe'"),
]


def test_all_works_in_the_posix_locale(tmp_path: Path) -> None:
    (tmp_path / "größe").mkdir()
    for name in ("größe.yaml", "größe/study.yaml"):
        (tmp_path / name).write_text(SIZED, encoding="utf-8")
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONIOENCODING"}
    for arguments, status, text in POSIX_LOCALE:
        done = subprocess.run(
            [LONGFAT, *arguments],
            cwd=tmp_path,
            capture_output=True,
            check=False,
            encoding="ascii",
            env={**kept, "LC_ALL": "C", "PYTHONUTF8": "0"},
        )
        printed = done.stdout + done.stderr
        assert "Traceback" not in printed, printed
        assert done.returncode == status, printed
        assert text in printed


@pytest.mark.parametrize("command", ["check", "show", "plot", "packets", "fidelity", "shell"])
@pytest.mark.parametrize("suffix", ["", ".yaml"])
def test_a_name_too_long_for_a_file(command: str, suffix: str, tmp_path: Path) -> None:
    done = longfat(command, "b" * 3000 + suffix, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("longfat: ")
    assert "Traceback" not in done.stderr
