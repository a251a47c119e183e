"""Where the project's own data files are: kernel answers, patches, shims, labs, examples.

In a checkout they are at the top of the repository; an installed wheel
contains them inside the package, under `_data`.
"""

from __future__ import annotations

from pathlib import Path

from longfat.errors import HostError

_PACKAGE = Path(__file__).resolve().parents[1]


def folder(name: str) -> Path:
    """Return the folder of data files with a name.

    Args:
        name: `kernel`, `labs`, `studies` or `examples`.

    Raises:
        HostError: the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent.parent / name):
        if candidate.is_dir():
            return candidate
    raise HostError(f"longfat's folder {name!r} is missing: the installation is incomplete")


def licence() -> Path:
    """Return the file with longfat's own licence.

    Raises:
        HostError: the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / "LICENSE", _PACKAGE.parent.parent / "LICENSE"):
        if candidate.is_file():
            return candidate
    raise HostError("longfat's licence is missing: the installation is incomplete")
