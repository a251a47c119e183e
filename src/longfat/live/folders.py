"""Folders of the host that a live machine is to see, beside what every machine sees.

A machine sees programs and their data (`longfat.engine.sandbox.view`) and no file of a
person's. What is wanted besides is named: a folder, and where it is to be seen.
It is read-only unless said otherwise.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from longfat.engine.machine import is_visible
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What the guest has of its own: the host's files there are not seen.
_ITS_OWN = tuple(Path(place) for place in ("/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"))

# What a machine cannot do without.
_NEEDED = tuple(Path(place) for place in ("/", "/dev", "/proc", "/sys", "/run", "/run/longfat"))

_WRITABLE, _READ_ONLY = "rw", "ro"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFolder:
    """A folder of the host's that a machine sees.

    Attributes:
        place: where the machine sees it, as a whole path.
        path: the folder on the host, as a whole path.
        is_writable: the machine may write to it.
    """

    place: str
    path: Path
    is_writable: bool = False


def share_folder(place: str | Path, path: str | Path, *, is_writable: bool = False) -> SharedFolder:
    """Return a folder that a machine is to see, checked.

    Args:
        place: where the machine is to see it.
        path: the folder on the host.
        is_writable: the machine may write to it.

    Raises:
        InputError: there is no such folder, or it cannot be seen there.
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
            f"{str(place)!r}: give the place inside as a whole path without .., such as /mnt"
        )
    if Path(at) in _NEEDED:
        raise InputError(f"the machine itself needs {at}; choose another place")
    if is_visible(Path(at)) and not Path(at).is_dir():
        raise InputError(
            f"there is no folder {at} to show it at, and none can be made in {at.parent}: "
            "choose a place such as /mnt"
        )
    return SharedFolder(place=str(at), path=folder, is_writable=is_writable)


def share_folders(
    read_only: Mapping[str, str | Path], writable: Mapping[str, str | Path]
) -> tuple[SharedFolder, ...]:
    """Return folders by where a machine is to see them, checked.

    Args:
        read_only: folders that it may read.
        writable: folders that it may also write to.

    Raises:
        InputError: as for `share_folder`, or two are to be seen at one place.
    """
    return check_places(
        [
            *(share_folder(place, path) for place, path in read_only.items()),
            *(share_folder(place, path, is_writable=True) for place, path in writable.items()),
        ]
    )


def read_bind(text: str) -> SharedFolder:
    """Return what `DIR[:PLACE][:rw]` means.

    Args:
        text: a folder of the host's, where a command is to see it if not there, and
            whether it may write to it.

    Raises:
        InputError: there is no such folder, or it cannot be seen there.
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
        InputError: two are to be seen at one place.
    """
    found: dict[str, SharedFolder] = {}
    for folder in folders:
        if folder.place in found:
            raise InputError(
                f"{found[folder.place].path} and {folder.path} cannot both be seen at"
                f" {folder.place}; give one of them another place"
            )
        found[folder.place] = folder
    return tuple(found.values())


def folder_inside(folder: Path, shared: Sequence[SharedFolder]) -> str:
    """Return where a command sees a folder of the host's; `/` if it does not.

    Args:
        folder: the folder, as a whole path.
        shared: what the machine is shown.
    """
    for one in sorted(shared, key=lambda one: len(one.path.parts), reverse=True):
        if folder.is_relative_to(one.path):
            return str(Path(one.place, folder.relative_to(one.path)))
    is_hidden = any(folder.is_relative_to(top) for top in _ITS_OWN)
    return str(folder) if is_visible(folder) and not is_hidden else "/"


def hidden_arguments(
    words: Sequence[str], *, here: Path, shared: Sequence[SharedFolder]
) -> list[str]:
    """Return the words of a command that name files of the host's which it does not see.

    Args:
        words: the program and its arguments.
        here: the folder in which they were written.
        shared: what the machine is shown.
    """

    def is_hidden(word: str) -> bool:
        path = here / word
        try:
            if "/" not in word and "." not in word:
                return False  # a program, or no file's name
            return path.is_file() and folder_inside(path.resolve().parent, shared) == "/"
        except (OSError, ValueError):  # too long for a name, or with a NUL in it
            return False

    return [word for word in words if is_hidden(word)]
