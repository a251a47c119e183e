"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import IO


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a file without a name first: it appears complete, or not at all.

    A symbolic link of that name is replaced; see `write_over`.

    Args:
        path: the file.
        content: its content.
        mode: its permissions; those of a new file, if None.

    Raises:
        OSError: it cannot be written.
    """
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with _unnamed(path.parent, hidden) as file:
            file.write(content)
            file.flush()
            if mode is not None:
                os.fchmod(file.fileno(), mode)
            with contextlib.suppress(FileExistsError):  # it has that name from the start
                # A file cannot be linked to an existing name: that takes a second step.
                os.link(f"/proc/self/fd/{file.fileno()}", hidden, src_dir_fd=file.fileno())
            hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


def write_over(path: Path, content: bytes) -> None:
    """Write a file that a user names and that may be there, as editors and `cp` do.

    A symbolic link stays, and the file that it leads to is written. The permissions of a
    file stay, too. A device or a named pipe is written to, and not replaced.

    Raises:
        OSError: it cannot be written.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        write_whole(Path(os.path.realpath(path)), content)
        return
    if stat.S_ISREG(mode):
        write_whole(Path(os.path.realpath(path)), content, mode=stat.S_IMODE(mode))
        return
    with path.open("wb") as file:
        file.write(content)


def write_new(path: Path, content: bytes) -> None:
    """Write a new file; it is removed if it cannot be written completely.

    Raises:
        FileExistsError: there is something already.
        OSError: it cannot be written.
    """
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _unnamed(folder: Path, hidden: Path) -> IO[bytes]:
    """Open a file that is removed when it is closed; a hidden one, if that is not supported."""
    flags = os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC
    try:
        return os.fdopen(os.open(folder, flags, 0o666), "wb")
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
        return hidden.open("xb")
