"""Folders of the host and Python packages that a live machine sees in addition to the default ones.

A machine sees programs and their data (`longfat.engine.sandbox.view`) and no personal
files. Additional folders are specified: a folder, and its path in the machine.
It is read-only by default.

A Python package is pinned, as in a requirements file, and installed into longfat's cache; or it
is named, and the machine sees the one that is installed beside longfat.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from longfat.engine.machine import is_visible
from longfat.engine.toolset import PYTHON_VERSION
from longfat.errors import InputError
from longfat.model.packages import PinnedPackage, add_package, pinned_package, pinned_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The guest's own file systems: the host's files there are not visible.
_ITS_OWN = tuple(Path(place) for place in ("/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"))

# Folders of the host's system, which nobody should bind.
_SYSTEM_FOLDERS = frozenset((name,) for name in ("etc", "boot", "dev", "proc", "sys", "run"))

# Folders that a machine cannot work without.
_NEEDED = tuple(Path(place) for place in ("/", "/dev", "/proc", "/sys", "/run", "/run/longfat"))

_WRITABLE, _READ_ONLY = "rw", "ro"

_COMPILED = (f".cpython-{PYTHON_VERSION.replace('.', '')}-x86_64-linux-gnu.so", ".abi3.so")

NAMED_PLACE = "/opt/python"
"""The machine's path of the packages that are installed beside longfat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFolder:
    """A folder of the host that a machine sees.

    Attributes:
        place: its path in the machine, absolute.
        path: its path on the host, absolute.
        is_writable: the machine may write to it.
        is_counted: what it holds counts for the machine's quota of disk and files.
    """

    place: str
    path: Path
    is_writable: bool = False
    is_counted: bool = False


def share_folder(place: str | Path, path: str | Path, *, is_writable: bool = False) -> SharedFolder:
    """Return a checked folder for a machine.

    Args:
        place: its path in the machine.
        path: the folder on the host.
        is_writable: the machine may write to it.

    Raises:
        InputError: there is no such folder, or it cannot be shown there.
    """
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise InputError(f"there is no folder {str(path)!r} on the host")
    wanted = os.R_OK | os.X_OK | (os.W_OK if is_writable else 0)
    if not os.access(folder, wanted):
        raise InputError(f"you may not {'write to' if is_writable else 'read'} {folder}")
    at = PurePosixPath(place)
    if not at.is_absolute() or ".." in at.parts:
        raise InputError(
            f"{str(place)!r}: the path inside must be absolute and without .., such as /mnt"
        )
    if Path(at) in _NEEDED:
        raise InputError(f"the machine itself needs {at}; choose another path")
    if is_visible(Path(at)) and not Path(at).is_dir():
        raise InputError(
            f"there is no folder {at} to show it at, and none can be created in {at.parent}: "
            "choose a path such as /mnt"
        )
    return SharedFolder(place=str(at), path=folder, is_writable=is_writable)


def share_folders(
    read_only: Mapping[str, str | Path], writable: Mapping[str, str | Path]
) -> tuple[SharedFolder, ...]:
    """Return checked folders by their paths in a machine.

    Args:
        read_only: folders that it may read.
        writable: folders that it may also write to.

    Raises:
        InputError: as for `share_folder`, or two have the same path.
    """
    return check_places(
        [
            *(share_folder(place, path) for place, path in read_only.items()),
            *(share_folder(place, path, is_writable=True) for place, path in writable.items()),
        ]
    )


def read_bind(text: str) -> SharedFolder:
    """Parse `DIR[:PLACE][:rw]`.

    Args:
        text: a folder of the host, its path in the machine if different, and
            whether it may write to it.

    Raises:
        InputError: there is no such folder, or it cannot be shown there.
    """
    parts = text.split(":")
    mode = parts.pop() if len(parts) > 1 and parts[-1] in (_WRITABLE, _READ_ONLY) else _READ_ONLY
    host, *place = parts
    try:
        if len(place) > 1 or place == [""]:
            raise InputError("write DIR, DIR:PLACE, DIR:rw or DIR:PLACE:rw")
        at = place[0] if place else Path(host).resolve()
        return share_folder(at, host, is_writable=mode == _WRITABLE)
    except InputError as error:
        raise InputError(f"--bind {text}: {error.message}") from None


def check_places(folders: Iterable[SharedFolder]) -> tuple[SharedFolder, ...]:
    """Return the folders.

    Raises:
        InputError: two have the same path.
    """
    found: dict[str, SharedFolder] = {}
    for folder in folders:
        if folder.place in found:
            raise InputError(
                f"{found[folder.place].path} and {folder.path} cannot both be shown at"
                f" {folder.place}; choose another path for one of them"
            )
        found[folder.place] = folder
    return tuple(found.values())


def folder_inside(folder: Path, shared: Sequence[SharedFolder]) -> str:
    """Return the path of a host's folder in the machine; `/` if it is not visible.

    Args:
        folder: the folder, as an absolute path.
        shared: the folders of the machine.
    """
    for one in sorted(shared, key=lambda one: len(one.path.parts), reverse=True):
        if folder.is_relative_to(one.path):
            return str(Path(one.place, folder.relative_to(one.path)))
    is_hidden = any(folder.is_relative_to(top) for top in _ITS_OWN)
    return str(folder) if is_visible(folder) and not is_hidden else "/"


def hidden_arguments(
    words: Sequence[str], *, here: Path, shared: Sequence[SharedFolder]
) -> list[str]:
    """Return the words of a command that name files of the host which it does not see.

    Files of the system, such as those of /etc, are left out: the machine has its own.

    Args:
        words: the program and its arguments.
        here: the current directory of the user.
        shared: the folders of the machine.
    """

    def is_hidden(word: str) -> bool:
        path = here / word
        if path.is_absolute() and path.parts[1:2] in _SYSTEM_FOLDERS:
            return False
        try:
            if "/" not in word and "." not in word:
                return False  # a program, or not the name of a file
            return path.is_file() and folder_inside(path.resolve().parent, shared) == "/"
        except (OSError, ValueError):  # too long for a name, or with a NUL in it
            return False

    return [word for word in words if is_hidden(word)]


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
        InputError: one is not installed, is not a folder, or is compiled for another Python.
    """
    folders = {}
    for name in names:
        spec = find_spec(name) if name.isidentifier() else None
        if spec is None:
            raise InputError(f"there is no Python package {name!r} installed beside longfat")
        if not spec.submodule_search_locations:
            raise InputError(f"{name} is a module, not a package, which would be a folder")
        folder = Path(next(iter(spec.submodule_search_locations)))
        if any(not path.name.endswith(_COMPILED) for path in folder.rglob("*.so")):
            raise InputError(
                f"{name} has modules that are compiled for another Python than a machine's, which "
                f"is {PYTHON_VERSION}: pin it, such as {name}==1.2 --hash=sha256:..., and it is "
                "installed for that"
            )
        folders[f"{NAMED_PLACE}/{name}"] = folder
    return folders
