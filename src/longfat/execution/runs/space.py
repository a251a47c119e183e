"""Disk space: a guest whose output was cut off must never become a result.

The guest's writes reach the host's file system late, when its kernel writes back its
cache, and it is not notified when that fails: a file is then shorter than
the guest assumes, or has a hole. So the host checks the free space
while a machine runs and when it has ended. Source: posix_fallocate(3), statvfs(3).
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import TYPE_CHECKING

from longfat.common.file_size import file_size_error, is_file_size_error
from longfat.errors import HostError, InputError, LongfatError

if TYPE_CHECKING:
    from pathlib import Path

ROOM_BYTES = 1 << 20
"""The required free space at the end: more than the host still writes into a small run."""


def is_full_error(error: OSError) -> bool:
    """Return whether an error means that the disk, or the user's quota, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_full(folder: Path) -> bool:
    """Return quickly whether the file system of a folder is full; quotas are not checked."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return False
    # Some of the blocks are reserved for root.
    free = about.f_bfree if os.geteuid() == 0 else about.f_bavail
    return about.f_blocks > 0 and free * about.f_frsize < ROOM_BYTES


def check_room(folder: Path) -> None:
    """Check that some more data can be written to a folder, by trying it.

    Raises:
        HostError: the disk, or the user's quota, is full.
    """
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except OSError as error:
        if is_full_error(error):
            raise disk_full(folder) from None


def has_room(folder: Path) -> bool:
    """Return whether `check_room` succeeds."""
    with contextlib.suppress(HostError):
        check_room(folder)
        return True
    return False


def disk_full(folder: Path) -> HostError:
    """Return the error for a full disk."""
    return HostError(
        f"{folder}: the disk or your quota is full",
        hint="free some space, or choose another disk with --out and LONGFAT_RESULT_CACHE, and"
        " repeat the command: finished runs are not run again (`longfat runs gc` removes old"
        " results)",
    )


def write_error(folder: Path, error: OSError) -> LongfatError:
    """Return the error that corresponds to an OSError of a folder that was made or written to."""
    if is_full_error(error):
        return disk_full(folder)
    if is_file_size_error(error):
        return file_size_error(str(folder))
    return InputError(f"{folder}: cannot be written to: {error.strerror}")
