"""How far a build is: what a builder tells whoever waits for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Step(StrEnum):
    """The steps of a build, in their order."""

    WAIT = "wait"
    """Another process builds or downloads the same; when it is done, so are we."""
    SEARCH = "search"
    """The source is not on this host; the package manager's archives are asked for it."""
    DOWNLOAD = "download"
    SOURCE = "source"
    """The source is chosen; the report's words say which one and why."""
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
        words: what is searched, downloaded or chosen; empty at other steps.
    """

    version: str
    step: Step
    done: int = 0
    total: int = 0
    words: str = ""


class Report(Protocol):
    """Tells how far a build is."""

    def __call__(self, step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
        """Tell that `done` of `total` units of a step are done."""
