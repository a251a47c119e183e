"""How far a build is: what a builder tells whoever waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """The steps of a build, in their order."""

    WAIT = "wait"
    """Another process builds the same kernel; when it is done, so are we."""
    UNPACK = "unpack"
    CONFIGURE = "configure"
    COMPILE = "compile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One report of a build.

    Attributes:
        version: the version that was asked for.
        step: what is being done.
        done: how much of this step is done, in the step's own unit.
        total: how much the step has in all; an estimate, and 0 if unknown.
    """

    version: str
    step: Step
    done: int = 0
    total: int = 0
