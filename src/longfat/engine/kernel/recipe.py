"""The recipe: longfat's own inputs of a kernel.

Answers, patches, shims and the launcher are in the project's `kernel` folder. Two kernels
of one source that were built by the same recipe and compiler are the same
kernel, so the recipe's digest is a part of a kernel's name.

A folder in `variants` adds patches, and perhaps answers, to a variant of its name: 6.12+clock
gets those of `variants/clock/all` and `variants/clock/6.12`.

`tested` names the release of each series that the tests run on. It is no input of a
kernel: the patches are for all releases of a series.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longfat.common import resources
from longfat.engine.kernel.version import series as series_of
from longfat.engine.kernel.version import sort_key
from longfat.errors import HostError

# To be incremented when the build procedure changes the output (flags, stamps, steps).
_METHOD = "1"

EVERY_SERIES = "all"
"""The folder of the patches that every series gets."""

_VARIANTS = "variants"

_ANSWER = re.compile(r"(CONFIG_\w+)=(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The inputs of a kernel of one series, besides its source.

    Attributes:
        answers: the file of Kconfig answers.
        variant_answers: that of a variant, which come after them; None for none.
        patches: the patches of every series and then of this one, in the order of their names;
            a variant's come last.
        shims: C files that are compiled to libraries beside the binary.
        launcher: the C file of the program that starts the binary with fewer rights.
        binary_digest: the digest of the inputs of the binary: answers and patches.
        digest: the digest of all of it.
    """

    answers: Path
    variant_answers: Path | None = None
    patches: tuple[Path, ...]
    shims: tuple[Path, ...]
    launcher: Path
    binary_digest: str
    digest: str


def load(series: str, *, variant: str = "", folder: Path | None = None) -> Recipe:
    """Read the recipe of a kernel series.

    Args:
        series: such as `6.1`.
        variant: the name of a variant. One that the recipe does not define, such as a user's own,
            gets what the series gets.
        folder: the recipe's folder; the project's own, if None.

    Raises:
        HostError: the installation is incomplete.
    """
    folder = resources.folder("kernel") if folder is None else folder
    answers = folder / "answers.config"
    patches, variant_answers = _patches(folder / "patches", series), None
    if series in variant_series(variant, folder=folder):
        of_variant = folder / _VARIANTS / variant
        patches += _patches(of_variant, series)
        if (of_variant / "answers.config").is_file():
            variant_answers = of_variant / "answers.config"
    shims = tuple(sorted((folder / "shims").glob("*.c")))
    launcher = folder / "launcher" / "confine.c"
    try:
        of_variant_only = () if variant_answers is None else (variant_answers,)
        binary = _digest(_METHOD, _content(answers, *patches, *of_variant_only))
        whole = _digest(binary, _content(*shims, launcher))
    except OSError as error:
        raise HostError(f"cannot read the kernel recipe: {error}") from error
    return Recipe(
        answers=answers,
        variant_answers=variant_answers,
        patches=patches,
        shims=shims,
        launcher=launcher,
        binary_digest=binary,
        digest=whole,
    )


def reference_releases(*, folder: Path | None = None) -> list[str]:
    """Return the releases that the tests run on, one of each series: `6.1.192`.

    Args:
        folder: as for `load`.

    Raises:
        HostError: the installation is incomplete.
    """
    folder = resources.folder("kernel") if folder is None else folder
    try:
        return (folder / "tested").read_text("utf-8").split()
    except OSError as error:
        raise HostError(f"cannot read the kernel recipe: {error}") from error


def reference_release(series: str, *, folder: Path | None = None) -> str:
    """Return the release of a series that the tests run on; empty if they run on none.

    Args:
        series: such as `6.1`.
        folder: as for `load`.

    Raises:
        HostError: the installation is incomplete.
    """
    releases = reference_releases(folder=folder)
    return next((release for release in releases if series_of(release) == series), "")


def variant_series(variant: str, *, folder: Path | None = None) -> list[str]:
    """Return the series of a variant of the recipe; none, if the recipe does not define it.

    Args:
        variant: the variant's name; empty for none.
        folder: as for `load`.

    Raises:
        HostError: the installation is incomplete.
    """
    folder = resources.folder("kernel") if folder is None else folder
    groups = sorted((folder / _VARIANTS / variant).glob("*/")) if variant else []
    named = {series for group in groups if group.name != EVERY_SERIES for series in _series(group)}
    return sorted(named, key=sort_key)


def _patches(folder: Path, series: str) -> tuple[Path, ...]:
    """Return the patches for a series in a folder that has a folder for each group of series."""
    own = [path.name for path in sorted(folder.glob("*")) if series in _series(path)]
    return tuple(
        path for group in (EVERY_SERIES, *own) for path in sorted((folder / group).glob("*.patch"))
    )


def _series(group: Path) -> list[str]:
    """Return the kernel series that a folder of patches is for."""
    return group.name.split("+")


def parse_answers(text: str) -> dict[str, str]:
    """Return the answers of a configuration file: `CONFIG_NET` -> `y`."""
    matches = (_ANSWER.fullmatch(line) for line in text.splitlines())
    return {match[1]: match[2] for match in matches if match}


def build_digest(part: str, *, source_digest: str, tools: Iterable[str]) -> str:
    """Return the digest of a recipe, a source, and these tools.

    Args:
        part: a recipe's `digest`, to name a kernel; its `binary_digest`, to
            name the binary alone.
        source_digest: the digest of the source.
        tools: the version lines of compiler and linker.
    """
    return _digest(part, source_digest, *tools)


def _content(*paths: Path) -> str:
    return "\n".join(f"{path.name} {_digest(path.read_text('utf-8'))}" for path in paths)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
