"""The Python packages that a caller gives a live network for its commands.

A package is pinned, as in a requirements file, and installed into longfat's cache; or it is
named, and the machine sees the one that is installed beside longfat.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.packages import (
    PinnedPackage,
    add_package,
    pinned_package,
    pinned_packages,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED_PLACE = "/opt/python"
"""The machine's path of the packages that are installed beside longfat."""


def read_packages(
    given: Sequence[str | Path | PinnedPackage],
) -> tuple[tuple[PinnedPackage, ...], list[str]]:
    """Return the packages that are pinned, and the names of those beside longfat.

    Args:
        given: pinned packages, lines of a requirements file that pin one, lock files, and
            names of packages that are installed beside longfat.

    Raises:
        InputError: a lock file cannot be read, or a line does not pin a package.
    """
    pinned: dict[str, PinnedPackage] = {}
    names = []
    for one in given:
        if isinstance(one, PinnedPackage):
            add_package(pinned, one)
        elif isinstance(one, Path):
            try:
                lines = one.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not text in UTF-8"
                raise InputError(f"{one}: cannot be read: {reason}") from None
            for package in pinned_packages(lines, name=str(one)):
                add_package(pinned, package)
        elif "=" in one or " " in one:
            add_package(pinned, pinned_package(one))
        else:
            names.append(one)
    return tuple(pinned.values()), names


def package_folders(names: Sequence[str]) -> dict[str, Path]:
    """Return the folders of Python packages that are installed beside longfat.

    Args:
        names: the packages, by their import names; each without its dependencies.

    Returns:
        By their paths in a machine: below `NAMED_PLACE`.

    Raises:
        InputError: one is not installed, or is not a folder.
    """
    folders = {}
    for name in names:
        spec = find_spec(name) if name.isidentifier() else None
        if spec is None:
            raise InputError(f"there is no Python package {name!r} installed beside longfat")
        if not spec.submodule_search_locations:
            raise InputError(f"{name} is a module, not a package, which would be a folder")
        folders[f"{NAMED_PLACE}/{name}"] = Path(next(iter(spec.submodule_search_locations)))
    return folders
