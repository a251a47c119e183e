"""Consoles: results go to standard output, everything else to standard error."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console


class _Console(Console):
    """A console whose output may be a pipe that its reader closes."""

    def on_broken_pipe(self) -> NoReturn:
        """Let the command end as by any closed pipe; rich ends it with 1, our failed claim."""
        raise BrokenPipeError


def stdout() -> Console:
    """Return a console for results."""
    return _Console(highlight=False)


def stderr() -> Console:
    """Return a console for progress, warnings and errors."""
    return _Console(stderr=True, highlight=False)
