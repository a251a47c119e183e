"""Room on the disk: a guest whose output was cut off must never become a result.

The guest's writes reach our file system late, when its kernel writes back what
it has cached, and it is not told when that fails: a file is then shorter than
the guest knows, or has a hole. So the host looks whether there is room left,
while a machine runs and when it has ended. Source: posix_fallocate(3), statvfs(3).
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import TYPE_CHECKING

from longfat.errors import HostError, InputError, LongfatError

if TYPE_CHECKING:
    from pathlib import Path

ROOM_BYTES = 1 << 20
"""How much room there must be in the end: more than the host still writes into a small run."""


def is_full_error(error: OSError) -> bool:
    """Return whether an error says that the disk, or the user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_full(folder: Path) -> bool:
    """Return quickly whether the file system of a folder is full; quotas are not looked at."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return False
    # Some of the blocks are kept for root.
    free = about.f_bfree if os.geteuid() == 0 else about.f_bavail
    return about.f_blocks > 0 and free * about.f_frsize < ROOM_BYTES


def check_room(folder: Path) -> None:
    """Check that a little more can be written to a folder, by trying it.

    Raises:
        HostError: the disk, or the user's share of it, is full.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except OSError as error:
        if is_full_error(error):
            raise disk_full(folder) from None


def has_room(folder: Path) -> bool:
    """Return whether `check_room` finds room."""
    with contextlib.suppress(HostError):
        check_room(folder)
        return True
    return False


def disk_full(folder: Path) -> HostError:
    """Return the error that says that there is no room for a folder."""
    return HostError(
        f"{folder}: the disk is full, or the share of it that you may use",
        hint="make room, or choose another disk by --out and LONGFAT_RESULT_CACHE, and run the same"
        " line again: what is done is not run again (`longfat runs gc` drops old results)",
    )


def write_error(folder: Path, error: OSError) -> LongfatError:
    """Return what an error amounts to that came up when a folder was made or written to."""
    if is_full_error(error):
        return disk_full(folder)
    return InputError(f"{folder}: cannot be written to: {error.strerror}")
