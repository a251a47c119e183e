"""Figures as files: equal bytes for equal figures, each whole or not there."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

FORMS = ("pdf", "png", "svg")
"""The formats, which are also the endings of the files."""

# A date would make two figures of the same run differ, and a version two installations.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
}


def saved(figure: Figure, form: str, *, transparent: bool = False) -> bytes:
    """Return a figure as a file's bytes.

    Args:
        figure: the figure.
        form: one of `FORMS`.
        transparent: leave the ground out, for a page that has its own.
    """
    stream = io.BytesIO()
    figure.savefig(stream, format=form, metadata=_METADATA[form], transparent=transparent)
    return stream.getvalue()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file without a name first: it appears whole, or not at all.

    Raises:
        OSError: it cannot be written.
    """
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with _unnamed(path.parent, hidden) as file:
            file.write(content)
            file.flush()
            with contextlib.suppress(FileExistsError):  # it has that name from the start
                # A file cannot be given a name that another one has: it takes a second step.
                os.link(f"/proc/self/fd/{file.fileno()}", hidden, src_dir_fd=file.fileno())
            hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)


def _unnamed(folder: Path, hidden: Path) -> IO[bytes]:
    """Open a file that is gone when it is closed; a hidden one, where that cannot be."""
    flags = os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC
    try:
        return os.fdopen(os.open(folder, flags, 0o666), "wb")
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL):
            raise
        return hidden.open("xb")
