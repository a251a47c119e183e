"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file without a name first: it appears complete, or not at all.

    Raises:
        OSError: it cannot be written.
    """
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with _unnamed(path.parent, hidden) as file:
            file.write(content)
            file.flush()
            with contextlib.suppress(FileExistsError):  # it has that name from the start
                # A file cannot be linked to an existing name: that takes a second step.
                os.link(f"/proc/self/fd/{file.fileno()}", hidden, src_dir_fd=file.fileno())
            hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


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
