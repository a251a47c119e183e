"""Which typed commands run until the user stops them: servers, endless pings, editors, pagers.

At a terminal, commands that end by themselves may run as fast as possible; others are for a
user who watches, in real time. They are recognized only by the programs' options: an unknown
command counts as ending by itself, and `MOST_FAST_S` bounds the cost of that.
"""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_FAST_S = 600.0
"""How long a command that seems to end by itself may run fast, in seconds of virtual time."""

# Programs that end by themselves if they have one of these options, and else do not.
_BOUNDED_BY = {
    "ping": ("-c", "-w"),
    "ping6": ("-c", "-w"),
    "tcpdump": ("-c",),
    "tshark": ("-c", "-r"),
}
# Programs that do not end by themselves if they have one of these options.
_ENDLESS_WITH = {
    "iperf3": ("-s", "--server"),
    "iperf": ("-s", "--server"),
    "nc": ("-l",),
    "ncat": ("-l",),
    "tail": ("-f", "-F", "--follow"),
    "journalctl": ("-f",),
    "ss": ("-E", "--events"),
    "python3": ("http.server",),
}
# Servers that serve one client, or none in the foreground.
_ENDS_AFTER_ALL = {"iperf3": ("-1", "--one-off", "-D", "--daemon"), "iperf": ("-D", "--daemon")}
_ENDLESS = frozenset(
    ("watch", "top", "htop", "less", "more", "man", "vi", "vim", "nano", "emacs", "yes")
)
_LETTER = re.compile(r"-\w")
# The letters of several options in one word, up to the first value (`-c5`, `-i0.2`).
_CLUSTER = re.compile(r"-([A-Za-z0-9][A-Za-z]*)")
# Words before the command itself: where it runs, as whom, with what environment.
_WRAPPERS = {"at": 1, "sudo": 0, "env": 0, "exec": 0, "time": 0, "stdbuf": 1, "nice": 0}


def goes_on_until_ended(line: str, *, nodes: Collection[str] = ()) -> bool:
    """Return whether a command runs until the user stops it.

    Args:
        line: the line as it was typed.
        nodes: words that are commands, too: those that run the rest at a node.
    """
    try:
        words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    except ValueError:
        return False
    commands: list[list[str]] = [[]]
    for word in words:
        if word == "&":  # what runs in the background is not waited for
            commands[-1] = []
        elif set(word) <= set("|;&"):
            commands.append([])
        else:
            commands[-1].append(word)
    return any(_is_endless(words, nodes) for words in commands)


def _is_endless(words: list[str], nodes: Collection[str]) -> bool:
    while words and (words[0] in _WRAPPERS or words[0] in nodes or "=" in words[0]):
        words = words[1 + _WRAPPERS.get(words[0], 0) :]
    if not words:
        return False
    program = PurePosixPath(words[0]).name
    if program in _ENDLESS:
        return True
    if program in _BOUNDED_BY:
        return not _has_any(words, _BOUNDED_BY[program])
    return _has_any(words, _ENDLESS_WITH.get(program, ())) and not _has_any(
        words, _ENDS_AFTER_ALL.get(program, ())
    )


def _has_any(words: list[str], options: tuple[str, ...]) -> bool:
    """Return whether an option is given: alone, with its value, or in a cluster (`-sD`)."""
    for word in words[1:]:
        letters = _CLUSTER.match(word)
        for option in options:
            if word == option or word.startswith(f"{option}="):
                return True
            if letters and _LETTER.fullmatch(option) and option[1] in letters[1]:
                return True
    return False
