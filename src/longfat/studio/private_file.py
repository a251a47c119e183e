"""Files of the studio's state that only their owner may read, such as tokens."""

from __future__ import annotations

import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from longfat.errors import HostError

MAX_BYTES = 4096
"""How many bytes of a file are read, unless the reader says otherwise."""

_OURS_ALONE = 0o077
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFile:
    """A file that only its owner may read.

    Attributes:
        path: where it is, in a private folder.
    """

    path: Path

    def read(self, *, max_bytes: int = MAX_BYTES) -> str | None:
        """Return its content; None if we do not own it, or others may read or write it.

        Args:
            max_bytes: how many bytes of it are read.
        """
        try:
            file = os.open(self.path, _READ)
        except OSError:
            return None
        with os.fdopen(file, "rb") as stream:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
                return None
            if about.st_mode & _OURS_ALONE:
                return None
            return stream.read(max_bytes).decode("ascii", "replace").strip()

    def write(self, text: str) -> None:
        """Replace its content.

        Raises:
            HostError: it cannot be written.
        """
        hidden = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            try:
                with os.fdopen(os.open(hidden, _NEW, 0o600), "w") as file:
                    file.write(text)
                hidden.replace(self.path)
            finally:
                hidden.unlink(missing_ok=True)
        except OSError as error:
            raise HostError(f"{self.path}: cannot be written: {error.strerror}") from None
