"""Files of the workspace with protection against lost updates.

The digest of each file is recorded when it is read or written, so that changes by an editor or
another page are not overwritten.
"""

from __future__ import annotations

import hashlib
from http import HTTPStatus
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.studio.http_error import HttpError

if TYPE_CHECKING:
    from longfat.studio.workspace import Workspace


class GuardedFiles:
    """Texts in files of a workspace.

    Args:
        workspace: the folder.
        most_bytes: how large a file may be.
    """

    def __init__(self, workspace: Workspace, *, most_bytes: int) -> None:
        self._workspace = workspace
        self._most_bytes = most_bytes
        self._known: dict[str, str] = {}

    def read(self, path: str) -> str:
        """Return the text of a file.

        Args:
            path: the file, below the workspace.

        Raises:
            InputError: it cannot be read, is too large, or is not UTF-8.
        """
        content = self._workspace.read(path, most_bytes=self._most_bytes)
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{path}: the file is not UTF-8") from None
        self._known[path] = _digest(content)
        return text

    def write(self, path: str, text: str, *, before: str | None, force: bool) -> None:
        """Write a text into a file.

        Args:
            path: the file, below the workspace.
            text: the text.
            before: the file's text as far as the page knows; by
                default what was last read or written here.
            force: overwrite the file, whatever its content.

        Raises:
            InputError: it cannot be written.
            HttpError: the workspace is full, or the file has other
                content than expected; then the status is 409.
        """
        self._workspace.disk.check()
        there = self._workspace.read_or_none(path, most_bytes=self._most_bytes)
        known = self._known.get(path) if before is None else _digest(before.encode())
        content = text.encode()
        if not force and there not in (None, content) and _digest(there or b"") != known:
            changed = "has changed on disk since it was opened" if known else "is there already"
            raise HttpError(f"{path} {changed}: overwrite it?", status=HTTPStatus.CONFLICT)
        self._workspace.write(path, content)
        self._known[path] = _digest(content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
