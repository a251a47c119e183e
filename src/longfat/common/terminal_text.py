"""Texts of others on a terminal: what a study, a run or a guest wrote must not control it.

A terminal obeys control characters. With an escape sequence a text could write to the
clipboard, change what was printed before it, or answer on behalf of the person who reads it;
bidirectional controls change the order in which a line is read.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

# C0 but for tab and newline, DEL and C1; marks and controls of the direction of writing; line
# and paragraph separators; characters that are deprecated or invisible; lone surrogates.
_OBEYED = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
ENCODING_ERRORS = "longfat.escape"
"""The error handler for streams whose encoding lacks characters, as in the POSIX locale."""


def printable(text: str) -> str:
    r"""Return a text with escapes such as `\x1b` for what a terminal would obey.

    Tabs and newlines are left.
    """
    return _OBEYED.sub(_escape, text)


def printable_line(text: str) -> str:
    """Return a text on one line, with escapes for what a terminal would obey."""
    return printable(" ".join(text.split()))


def _escape(match: re.Match[str]) -> str:
    return repr(match[0])[1:-1]


class TerminalStream:
    """A terminal's stream that escapes what is printed to it; the rest is the stream's.

    Args:
        stream: the terminal as Python opened it.

    Attributes:
        stream: for a writer that escapes texts itself, and writes sequences of its own.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text with escapes; return its length."""
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)


def relative_path(path: Path) -> Path:
    """Return a path as its user sees it: relative to the current folder, if it is below it."""
    try:
        here = Path.cwd()
    except OSError:  # the current folder was removed
        return path
    return path.relative_to(here) if path.is_relative_to(here) else path


def _escape_unencodable(error: UnicodeError) -> tuple[str | bytes, int]:
    r"""Return `\uXXXX` for what an encoding lacks, as in JSON, and a file name's byte as it is."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    first = ord(error.object[error.start])
    if 0xDC80 <= first <= 0xDCFF:  # what `os.fsdecode` makes of a byte that is no text
        return bytes([first - 0xDC00]), error.start + 1
    units = error.object[error.start].encode("utf-16-be", errors="surrogatepass")
    pairs = (int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2))
    return "".join(f"\\u{unit:04x}" for unit in pairs), error.start + 1


codecs.register_error(ENCODING_ERRORS, _escape_unencodable)
