"""The progress of a build."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Step(StrEnum):
    """The steps of a build, in their order."""

    WAIT = "wait"
    """Another process builds or downloads the same; its result will be used."""
    SEARCH = "search"
    """The source is not on this host; the package manager's archives are searched for it."""
    DOWNLOAD = "download"
    SOURCE = "source"
    """The source is chosen; the report's words state which one and why."""
    UNPACK = "unpack"
    CONFIGURE = "configure"
    COMPILE = "compile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One report of a build.

    Attributes:
        version: the requested version.
        step: what is being done.
        done: how much of this step is done, in the step's own unit.
        total: how much the step has in all; an estimate, and 0 if unknown.
        words: the subject of a search, download or choice; empty at other steps.
    """

    version: str
    step: Step
    done: int = 0
    total: int = 0
    words: str = ""


class Report(Protocol):
    """Reports the progress of a build."""

    def __call__(self, step: Step, done: int = 0, total: int = 0, *, words: str = "") -> None:
        """Report that `done` of `total` units of a step are done."""
