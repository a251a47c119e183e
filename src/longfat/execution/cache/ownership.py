"""Who can write into a result cache: results of others are not to be believed.

The checksums of a result show damage, and no forgery: whoever can write a result can write its
checksums, too. So where a result decides about points, the cache is used only if nobody but the
user can write into it. Access control lists are not examined, and root can write everywhere.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def check_private(folder: Path) -> None:
    """Check that nobody but the user, and root, can write into a folder or replace it.

    Args:
        folder: the folder, without links; it need not exist.

    Raises:
        InputError: somebody can; the message says what to do.
    """
    check_ours([folder])
    for above in folder.parents:
        try:
            about = above.stat()
        except OSError:
            continue  # it will be made by us, in one of those above it
        if about.st_uid not in (os.getuid(), 0):
            raise InputError(f"{above} belongs to another user")
        # In a folder with the sticky bit, such as /tmp, nobody can replace what is ours.
        if _is_open(about) and not about.st_mode & stat.S_ISVTX:
            raise InputError(f"{above} can be written by others: run `chmod go-w {above}`")


def check_ours(paths: Iterable[Path]) -> None:
    """Check that files and folders are the user's own, and that no other user can write them.

    Args:
        paths: the files and folders; those that are not there are left out.

    Raises:
        InputError: one is another user's, a link, or can be written by others.
    """
    for path in paths:
        try:
            about = path.lstat()
        except OSError:
            continue
        if about.st_uid != os.getuid():
            raise InputError(f"{path} belongs to another user")
        if stat.S_ISLNK(about.st_mode):
            raise InputError(f"{path} is a symbolic link")
        if _is_open(about):
            raise InputError(f"{path} can be written by others: run `chmod go-w {path}`")


def _is_open(about: os.stat_result) -> bool:
    """Return whether others can write: everybody, or a group that is not the user's alone."""
    if about.st_mode & stat.S_IWOTH:
        return True
    return bool(about.st_mode & stat.S_IWGRP) and not _is_own_group(about.st_gid)


def _is_own_group(number: int) -> bool:
    """Return whether a group is the user's private one, as many distributions make it."""
    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    is_named_alike = group.gr_name == user.pw_name and user.pw_gid == number
    return is_named_alike and set(group.gr_mem) <= {user.pw_name}
