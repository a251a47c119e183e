"""Output of commands in README.md and docs/, as the commands print it.

    python -m tools.output_blocks           # run the commands, and write the blocks anew
    python -m tools.output_blocks --check   # run the commands; 1 if a block is not as printed

A comment in front of a block names its command, which must be a `longfat run`:

    <!-- output of: longfat run lab08 -->
    <!-- excerpt of: longfat run lab08 -->

An output is whole, up to the list of files. Of an excerpt each line is the next one of the output
with the same words, so its choice of lines is kept. The wall time, which differs between runs, is
not renewed. Results are taken from the result cache where they are there.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from longfat.errors import InputError
from tools.figures import Texts, shown

_LONGFAT = Path(sys.executable).with_name("longfat")
_BLOCK = re.compile(
    r"(?P<head><!-- (?P<kind>output|excerpt) of: longfat run (?P<arguments>[^\n]+?) -->\n```\n)"
    r"(?P<text>.*?\n)(?P<end>```\n)",
    re.DOTALL,
)
_FILES = re.compile(r"^Files$", re.MULTILINE)
_WALL = re.compile(r"(?<= virtual s in )[\d.]+(?= s$)", re.MULTILINE)
_NUMBERS = re.compile(r"\s*[\d.,]+\s*")

Printed = Callable[[str], str]
"""Returns what `longfat run` prints, by its arguments."""


def outputs(page: str) -> Iterator[tuple[str, str]]:
    """Yield the whole outputs on a page: the arguments of `longfat run`, and what it printed."""
    for match in _BLOCK.finditer(page):
        if match["kind"] == "output":
            yield match["arguments"], _FILES.split(match["text"])[0]


def renewed(page: str, printed: Printed) -> str:
    """Return a page with its blocks as the commands print them.

    Args:
        page: the page.
        printed: runs a command.

    Raises:
        InputError: the output lacks a line of an excerpt.
    """

    def block(match: re.Match[str]) -> str:
        text = printed(match["arguments"])
        if match["kind"] == "excerpt":
            text = "".join(_excerpt(match["text"].splitlines(), text.splitlines()))
        else:
            wall = _WALL.search(match["text"])
            text = _WALL.sub(wall[0], text) if wall else text
            files = _FILES.search(match["text"])
            text += match["text"][files.start() :] if files else ""
        return f"{match['head']}{text}{match['end']}"

    return _BLOCK.sub(block, page)


def _excerpt(lines: Iterable[str], output: Sequence[str]) -> Iterator[str]:
    rest = iter(output)
    for line in lines:
        if not line:
            yield "\n"
            continue
        text = _NUMBERS.sub(" # ", line).strip()
        same = (other for other in rest if _NUMBERS.sub(" # ", other).strip() == text)
        if (printed := next(same, None)) is None:
            raise InputError(f"the output has no line as {line!r}, in this order")
        yield f"{printed}\n"


@cache
def run(arguments: str) -> str:
    """Return what `longfat run` prints, up to the list of files.

    Raises:
        InputError: it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [str(_LONGFAT), "run", *shlex.split(arguments), "--no-report"]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise InputError(f"longfat run {arguments} ended with {done.returncode}")
    return _FILES.split(done.stdout)[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Renew the blocks of all pages, or check them; return the exit status."""
    chosen = sys.argv[1:] if arguments is None else arguments
    differ = 0
    for file in Texts().pages():
        page = file.read_text("utf-8")
        try:
            text = renewed(page, run)
        except InputError as error:
            print(f"{shown(file)}: {error}", file=sys.stderr)
            return error.exit_code
        if text != page:
            print(f"{shown(file)}: a block is not what its command prints")
            differ += 1
            if "--check" not in chosen:
                file.write_text(text, "utf-8")
    return int("--check" in chosen and differ > 0)


if __name__ == "__main__":
    sys.exit(main())
