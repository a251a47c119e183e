"""Headers of tar archives that are checked when they are read, before what they announce is.

`tarfile` reads the extended headers of a member into memory whatever their size, so a
limit must hold where it reads a header.
"""

from __future__ import annotations

import tarfile
from typing import Any, Self


class CheckedHeader(tarfile.TarInfo):
    """A header that is checked: a subclass for `tarfile.open(..., tarinfo=...)`."""

    def check(self) -> None:
        """Raise an exception if the header is not allowed."""
        raise NotImplementedError

    @classmethod
    def frombuf(cls, buf: Any, encoding: Any, errors: str) -> Self:
        """Read a header. Raises what `check` and `tarfile` raise."""
        found = super().frombuf(buf, encoding, errors)
        found.check()
        return found

    @classmethod
    def _frombuf(cls, buf: Any, encoding: Any, errors: str, **options: Any) -> Self:
        # In newer Pythons (among them Debian's 3.13.5-2+deb13u2) members are read by this
        # method, which is not documented, and no longer by `frombuf`.
        found: Self = super()._frombuf(buf, encoding, errors, **options)  # type: ignore[misc]
        found.check()
        return found
