"""The recipe: everything of ours that goes into a kernel.

Answers, patches, shims and the launcher stand in the project's `kernel` folder. Two kernels
of one source that were built by the same recipe and compiler are the same
kernel, so the recipe's digest is half of a kernel's name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longfat.common import resources
from longfat.errors import HostError

# Raised when the way of building changes what comes out (flags, stamps, steps).
_METHOD = "1"

EVERY_SERIES = "all"
"""The folder of the patches that every series gets."""

_ANSWER = re.compile(r"(CONFIG_\w+)=(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What goes into a kernel of one series, beside its source.

    Attributes:
        answers: the file of Kconfig answers.
        patches: the patches of every series and then of this one, in the order of their names.
        shims: C files that are compiled to stand beside the binary, as libraries.
        launcher: the C file of the program that starts the binary with fewer rights.
        binary_digest: names what goes into the binary: answers and patches.
        digest: names the content of it all.
    """

    answers: Path
    patches: tuple[Path, ...]
    shims: tuple[Path, ...]
    launcher: Path
    binary_digest: str
    digest: str


def load(series: str, *, folder: Path | None = None) -> Recipe:
    """Read the recipe of a kernel series.

    Args:
        series: such as `6.1`.
        folder: where the recipe stands; the project's own, if None.

    Raises:
        HostError: the installation is incomplete.
    """
    folder = resources.folder("kernel") if folder is None else folder
    answers = folder / "answers.config"
    own = [path.name for path in sorted((folder / "patches").glob("*")) if series in _series(path)]
    patches = tuple(
        path
        for group in (EVERY_SERIES, *own)
        for path in sorted((folder / "patches" / group).glob("*.patch"))
    )
    shims = tuple(sorted((folder / "shims").glob("*.c")))
    launcher = folder / "launcher" / "confine.c"
    try:
        binary = _digest(_METHOD, _content(answers, *patches))
        whole = _digest(binary, _content(*shims, launcher))
    except OSError as error:
        raise HostError(f"cannot read the kernel recipe: {error}") from error
    return Recipe(
        answers=answers,
        patches=patches,
        shims=shims,
        launcher=launcher,
        binary_digest=binary,
        digest=whole,
    )


def _series(group: Path) -> list[str]:
    """Return the kernel series that a folder of patches is for."""
    return group.name.split("+")


def parse_answers(text: str) -> dict[str, str]:
    """Return the answers of a configuration file: `CONFIG_NET` -> `y`."""
    matches = (_ANSWER.fullmatch(line) for line in text.splitlines())
    return {match[1]: match[2] for match in matches if match}


def build_digest(part: str, *, source_digest: str, tools: Iterable[str]) -> str:
    """Return the digest of what is made of our share, a source, and these tools.

    Args:
        part: a recipe's `digest`, to name a kernel; its `binary_digest`, to
            name the binary alone.
        source_digest: the digest of the source.
        tools: the version lines of compiler and linker.
    """
    return _digest(part, source_digest, *tools)


def _content(*paths: Path) -> str:
    return "\n".join(f"{path.name} {_digest(path.read_text())}" for path in paths)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
