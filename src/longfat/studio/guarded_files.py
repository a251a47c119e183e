"""Texts in files of the workspace, with protection against lost updates.

A page that reads a file gets its version, a digest of the content, and sends it back with what
it saves. Of several saves that are based on one version the first is accepted; the others, and
a save over what an editor wrote meanwhile, get status 409.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.studio.http import HttpError, Name, conflict
from longfat.studio.workspace import version_of

if TYPE_CHECKING:
    from longfat.studio.workspace import StoredFile, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """What a save is based on.

    Attributes:
        version: the version that the page has read or saved last; None if it knows of none.
        force: overwrite whatever is there: the user was asked.
    """

    version: str | None = None
    force: bool = False

    def check(self, path: str, stored: StoredFile, content: bytes) -> None:
        """Check that a file may be overwritten.

        Args:
            path: the file, for the message.
            stored: what is there.
            content: the content to save; what is there already is no conflict.

        Raises:
            HttpError: something else was saved there meanwhile; the status is 409.
        """
        if self.force or stored.content in (None, content) or stored.version == self.version:
            return
        raise conflict(path, is_known=self.version is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveRequest:
    """A request to save a text.

    Attributes:
        text: the text.
        version: the version that the page has read or saved last; null if it knows of none.
        force: overwrite whatever is there: the user was asked.
    """

    text: str
    version: Name | None = None
    force: bool = False

    def base(self) -> Base:
        """Return what the save is based on."""
        return Base(version=self.version, force=self.force)


class GuardedFiles:
    """Texts in files of a workspace.

    Args:
        workspace: the folder.
        most_bytes: how large a file may be.
    """

    def __init__(self, workspace: Workspace, *, most_bytes: int) -> None:
        self._workspace = workspace
        self._most_bytes = most_bytes

    def read(self, path: str) -> tuple[str, str]:
        """Return the text of a file, and its version.

        Args:
            path: the file, below the workspace.

        Raises:
            InputError: it cannot be read, is too large, or is not UTF-8.
        """
        stored = self._workspace.stored(path, most_bytes=self._most_bytes)
        if stored.content is None:
            raise HttpError(f"{path}: there is no such file", status=HTTPStatus.NOT_FOUND)
        try:
            text = stored.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{path}: the file is not UTF-8") from None
        return text, version_of(stored.content)

    def write(self, path: str, text: str, *, base: Base, reserve_bytes: int = 0) -> str:
        """Write a text into a file.

        Args:
            path: the file, below the workspace.
            text: the text.
            base: what it is based on.
            reserve_bytes: how far the disk quota may be exceeded for it.

        Returns:
            The new version of the file.

        Raises:
            InputError: it cannot be written.
            HttpError: the workspace is full and the file would grow, or the file was changed
                meanwhile; then the status is 409.
        """
        content = text.encode()
        with self._workspace.lock:
            stored = self._workspace.stored(path, most_bytes=self._most_bytes)
            base.check(path, stored, content)
            if len(content) > len(stored.content or b""):
                self._workspace.disk.check(reserve_bytes=reserve_bytes)
            self._workspace.replace(path, content, stored=stored)
        return version_of(content)
