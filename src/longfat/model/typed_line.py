"""The contents of a typed line that is one plain command.

A line that needs a shell to know what it does (a loop, a variable, a pipe) is never guessed
at: it raises `NotUnderstoodError`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

# sudo(8): options without a value, options with one, and variables. All run as root anyway; for
# another user a line is not what it is for root.
_SUDO = re.compile(
    r"\s*(?:\S*/)?sudo\s+"
    r"(?:(?:-[EHnPSABN]+|--(?:preserve-env(?:=\S+)?|set-home|non-interactive|stdin)|-u\s*root"
    r"|--user[= ]root|--)\s+)*(?![-\s])"
)

# What follows a line whose exit status is to be ignored.
_IN_ANY_CASE = re.compile(r"\s*\|\|\s*(?:true|:)\s*$")
_SHELL = frozenset(";&|$`(){}<>*?!#\n")


class NotUnderstoodError(Exception):
    """A line concerns the subject in question, in a form that is not understood.

    Args:
        line: the line.
        why: what it is or does, if more is known of it.
        reason: of what is no line, what is not known.
    """

    def __init__(self, line: str, *, why: str = "is not understood", reason: str = "") -> None:
        super().__init__(reason or f"`{line}` {why}")
        self.is_line = not reason


def without_sudo(line: str) -> str:
    """Return a line without the `sudo` that it begins with: in a machine everything is root's."""
    if (sudo := _SUDO.match(line)) and sudo.end() < len(line):
        return line[sudo.end() :]
    return line


def needs_shell(line: str) -> bool:
    """Return whether only a shell can interpret a line; `|| true` at its end says nothing of it."""
    return bool(_SHELL & set(_IN_ANY_CASE.sub("", line)))


def shell_line(argv: Sequence[str]) -> str:
    """Return the line of a command that is `/bin/sh -c LINE`; empty for any other."""
    return argv[2] if len(argv) == 3 and list(argv[:2]) == ["/bin/sh", "-c"] else ""


def plain_words(line: str) -> list[str]:
    """Split a line as a shell does, without `sudo`; the program without its folder.

    Raises:
        NotUnderstoodError: it is not one plain command.
    """
    if needs_shell(line):
        raise NotUnderstoodError(line)
    try:
        words = shlex.split(without_sudo(_IN_ANY_CASE.sub("", line)))
    except ValueError:
        raise NotUnderstoodError(line) from None
    if not words:
        raise NotUnderstoodError(line)
    return [words[0].rpartition("/")[2], *words[1:]]


def mentions(line: str, word: str) -> bool:
    """Return whether a word is in a line, not as a part of a longer one."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", line) is not None
