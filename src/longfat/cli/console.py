"""Consoles: results go to standard output, everything else to standard error."""

from __future__ import annotations

import sys

from rich.console import Console

from longfat.common.terminal_console import TerminalConsole


def stdout() -> Console:
    """Return a console for results."""
    return TerminalConsole()


def stderr() -> Console:
    """Return a console for progress, warnings and errors."""
    return TerminalConsole(stderr=True)


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text at once.

    `click.echo` is not used: it opens the stream again in the POSIX locale, past the escapes of
    a terminal, and leaves escape sequences out of what is written to a file.

    Args:
        text: what to print; verbatim, but to a terminal as by `longfat.common.terminal_text`.
        err: to standard error.
        nl: whether a newline follows.
    """
    print(text, file=sys.stderr if err else sys.stdout, end="\n" if nl else "", flush=True)
