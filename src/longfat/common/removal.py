"""Removing folders whatever the rights of what is in them, as far as it is our own user's."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_ALL = stat.S_IRWXU
_PLACE = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(name: str | Path, *, inside: int | None = None) -> int:
    """Open a folder for reading; give its owner, if that is us, all rights first if they lack.

    Args:
        name: the folder, no link.
        inside: the descriptor of the folder that it is relative to.

    Raises:
        OSError: it cannot be opened.
    """
    place = os.open(name, _PLACE, dir_fd=inside)
    try:
        about = os.fstat(place)
        if about.st_uid == os.getuid() and about.st_mode & _ALL != _ALL:
            Path(f"/proc/self/fd/{place}").chmod(stat.S_IMODE(about.st_mode) | _ALL)
        return os.open(".", _FOLDER, dir_fd=place)
    finally:
        os.close(place)


def remove_tree(folder: Path, *, last: str = "") -> None:
    """Remove a folder with all that is in it; links are removed, and not followed.

    Args:
        folder: the folder.
        last: the file in it that is removed after all others, so that it is there if something
            cannot be removed.

    Raises:
        OSError: something cannot be removed: its folder is not ours.
    """
    above = open_folder(folder.parent)
    try:
        inside = open_folder(folder.name, inside=above)
        try:
            _remove_all(inside, but=last)
            if last:
                _remove_all(inside)
        finally:
            os.close(inside)
        os.rmdir(folder.name, dir_fd=above)
    finally:
        os.close(above)


def _remove_all(folder: int, *, but: str = "") -> None:
    for name in os.listdir(folder):
        if name == but:
            continue
        if not stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
            continue
        inside = open_folder(name, inside=folder)
        try:
            _remove_all(inside)
        finally:
            os.close(inside)
        os.rmdir(name, dir_fd=folder)
