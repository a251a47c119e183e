"""Where commands write: results to standard output or a file, everything else to standard error."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

from longfat.common.atomic import write_new, write_over
from longfat.common.terminal_console import TerminalConsole
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


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


def write_target(path: Path, content: bytes, *, force: bool | None = None) -> None:
    """Write a file, whole or not at all; one that is written over stays what it was.

    Args:
        path: the file.
        content: its content.
        force: it may be there already and is written over, as by `write_over`; None where
            the command has no option `--force`.

    Raises:
        InputError: it is there already, or cannot be written.
    """
    try:
        if force:
            write_over(path, content)
        else:
            write_new(path, content)
    except FileExistsError:
        hint = "" if force is None else "; --force writes over it"
        raise InputError(f"{path}: the file is there already{hint}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be written: {reason}") from None
