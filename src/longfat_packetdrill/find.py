"""The scripts in files and folders, and which folder each of them sees."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longfat.errors import InputError, Place

SUFFIX = ".pkt"

_IP_VERSION = re.compile(r"^--ip_version=(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptFile:
    """A script, and what it sees.

    Attributes:
        path: the file.
        root: the folder that its machine shows, read-only; the file is in it.
        text: its text, where that is not (yet) in the file; None to read the file.
    """

    path: Path
    root: Path
    text: str | None = None

    def read(self) -> str:
        """Return its text.

        Raises:
            InputError: it cannot be read.
        """
        if self.text is not None:
            return self.text
        try:
            return self.path.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError as error:
            raise InputError(
                f"cannot read the script: {error.strerror}", place=Place(str(self.path), 1, 1)
            ) from None

    def ip_version(self) -> str | None:
        """Return the version of IP that the script asks for; None if it asks for none."""
        match = _IP_VERSION.search(self.read())
        return match[1] if match else None


def find_scripts(paths: Iterable[Path], *, root: Path | None = None) -> list[ScriptFile]:
    """Return the scripts that are meant, each once.

    Args:
        paths: files, and folders with files that end with `.pkt`.
        root: the folder that all of them see; the file's own folder, or the folder that
            was given, if None.

    Raises:
        InputError: a path leads to no script, or out of the root.
    """
    found: dict[Path, ScriptFile] = {}
    for path in paths:
        if path.is_dir():
            inside = sorted(path.rglob(f"*{SUFFIX}"))
            if not inside:
                raise InputError(f"{path}: there is no script (*{SUFFIX}) in this folder")
        elif path.is_file():
            inside = [path]
        else:
            raise InputError(f"{path}: there is no such file or folder")
        seen = root or (path if path.is_dir() else path.parent)
        for script in inside:
            if not script.resolve().is_relative_to(seen.resolve()):
                raise InputError(f"{script} is outside of the root, {seen}")
            found.setdefault(script.resolve(), ScriptFile(path=script, root=seen))
    return list(found.values())
