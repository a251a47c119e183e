"""A build as values: the job that it passes to its worker, and the progress that it reports."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from longfat.common.decoding import decode, parse_json
from longfat.engine.kernel.version import matches
from longfat.errors import InputError

BUILD_LOG = "build.log"
"""The file name of the build's log in the scratch folder."""

PRODUCT = "product"
"""The folder, in the job's scratch folder, where the finished kernel is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to build.

    Attributes:
        version: the requested version.
        digest: the kernel's digest.
        binary_key: the digest of all inputs of the binary.
        twin: the folder of a kernel with the same binary, or nothing.
        recipe_digest: the digest of the recipe, an input of `digest`.
        source: the tarball or tree.
        source_digest: its digest.
        tools: the version lines of compiler and linker.
        scratch: the folder to build in, to be created; the guard removes it.
        log: the destination of the log of a failed build.
        jobs: how many compilers run at once.
        variant: the name of a user's own variant; empty for none.
        patches: the files of its patches, in the order in which they are applied.
        answers: its answers to Kconfig, such as `CONFIG_TCP_CONG_MINE=y`.
    """

    version: str
    digest: str
    binary_key: str
    twin: str
    recipe_digest: str
    source: str
    source_digest: str
    tools: tuple[str, ...]
    scratch: str
    log: str
    jobs: int
    variant: str = ""
    patches: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the job as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        """Return the job that `to_json` wrote."""
        return decode(Job, parse_json(text.encode(), where="the job"), where="the job")


def check_release(release: str, *, version: str, source: Path) -> None:
    """Check that the kernel in a source is the requested one.

    Raises:
        InputError: it is another.
    """
    if not matches(release, version):
        raise InputError(f"the source in {source} is of kernel {release}, not {version}")


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
