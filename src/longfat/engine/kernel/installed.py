"""Kernels that pip has installed: prebuilt ones, which came as wheels.

Such a wheel fills a namespace package, of which nothing is ever imported:

    longfat_kernels/DIGEST/          the kernel's folder, file for file as in the cache
    longfat_kernels/source-SERIES/   what it was made of, and where the rest of that is

So finding them takes a look into as many folders as Python's path has, while entry
points would take the metadata of every package that is installed.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.engine.kernel.manifest import Kernel

PACKAGE = "longfat_kernels"
"""The namespace package that all these wheels fill."""


def distribution(series: str) -> str:
    """Return the name by which pip knows the prebuilt kernel of a series."""
    return f"longfat-kernel-{series}"


def folders() -> Iterator[Path]:
    """Yield all folders in which wheels may have put a kernel; not each of them holds one."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found and found.submodule_search_locations) or ():
        yield from sorted(path for path in Path(place).iterdir() if path.is_dir())


def wheel_of(kernel: Kernel) -> str:
    """Return the distribution that a kernel came with; empty if it is one of the cache."""
    return distribution(kernel.series) if kernel.folder.parent.name == PACKAGE else ""
