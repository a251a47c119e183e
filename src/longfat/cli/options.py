"""Options that several commands share, with their names, types and bounds.

The part of the help that differs between commands is an argument.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from longfat.cli.completion import complete_case
from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR
from longfat.study.expand import MAX_SEED

_Option = Callable[[Any], Any]


def json_option(text: str = "Print one JSON object.") -> _Option:
    """Return `--json`, as the parameter `as_json`.

    Args:
        text: what is printed in place of what, for the help.
    """
    return click.option("--json", "as_json", is_flag=True, help=text)


def jobs_option(what: str = "Machines") -> _Option:
    """Return `--jobs`: how many at once.

    Args:
        what: of what.
    """
    return click.option(
        "--jobs", type=click.IntRange(min=1), help=f"{what} at once; default: one a CPU."
    )


def seed_option(text: str, *, default: int | None = None) -> _Option:
    """Return `--seed`.

    Args:
        text: what it is for.
        default: the seed where none is given.
    """
    return click.option(
        "--seed",
        type=click.IntRange(min=0, max=MAX_SEED),
        default=default,
        show_default=default is not None,
        help=text,
    )


def study_kernel_option(verb: str = "Use") -> _Option:
    """Return `--kernel` of a command whose study names one.

    Args:
        verb: what the command does with it.
    """
    return click.option(
        "--kernel", metavar="VERSION", help=f"{verb} this kernel in place of the study's."
    )


FULL_SPEED = "max"
"""The value of `--pace` for as fast as the machine can."""


class _Pace(click.FloatRange):
    """A pace: virtual seconds per second, or `max`."""

    def __init__(self) -> None:
        super().__init__(min=MIN_FACTOR, max=MAX_FACTOR)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number, or `FULL_SPEED`."""
        return value if value == FULL_SPEED else super().convert(value, param, ctx)


def pace_option(text: str) -> _Option:
    """Return `--pace`: how fast virtual time may pass, as a multiple of real time, or `max`.

    Args:
        text: what it holds for.
    """
    return click.option("--pace", type=_Pace(), metavar="FACTOR|max", help=text)


def pace_factor(pace: float | str | None, *, default: float | None = None) -> float | None:
    """Return the factor of a value of `--pace`: None for full speed.

    Args:
        pace: the value; None without the option.
        default: the factor without the option.
    """
    if pace is None:
        return default
    return None if isinstance(pace, str) else pace


def case_option() -> _Option:
    """Return `--case` of a command that opens a study's network."""
    return click.option(
        "--case",
        metavar="NAME",
        shell_complete=complete_case,
        help="Open this case of the study, with its set-up lines; without it, of several cases "
        "only those of the network are typed.",
    )


def cases_option(verb: str, *, parameter: str = "names") -> _Option:
    """Return `--case` of a command that takes several, by name or pattern.

    Args:
        verb: what the command does with them.
        parameter: the name of its parameter.
    """
    return click.option(
        "--case",
        parameter,
        multiple=True,
        metavar="NAME",
        shell_complete=complete_case,
        help=f"{verb} this case only, or those that a pattern such as 'cubic-*' fits; repeatable.",
    )


def bind_option() -> _Option:
    """Return `--bind`: folders of the host that a machine sees, as the parameter `binds`."""
    return click.option(
        "--bind",
        "binds",
        multiple=True,
        metavar="DIR[:PLACE][:rw]",
        help="Show it this folder, at the same place or at PLACE; with :rw it may write there."
        " Repeatable.",
    )
