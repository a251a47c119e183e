"""Consoles: results go to standard output, everything else to standard error."""

from __future__ import annotations

from rich.console import Console


def stdout() -> Console:
    """Return a console for results."""
    return Console(highlight=False)


def stderr() -> Console:
    """Return a console for progress, warnings and errors."""
    return Console(stderr=True, highlight=False)
