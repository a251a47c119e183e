"""Kernels that pip has installed: prebuilt ones in wheels.

Such a wheel fills a namespace package, from which nothing is ever imported:

    longfat_kernels/DIGEST/          the kernel's folder, file for file as in the cache
    longfat_kernels/source-SERIES/   its sources, and a reference to the rest of them

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
    """Return pip's name of the prebuilt kernel of a series."""
    return f"longfat-kernel-{series}"


def folders() -> Iterator[Path]:
    """Yield all folders in which wheels may have put a kernel; not each of them contains one."""
    found = importlib.util.find_spec(PACKAGE)
    for place in (found and found.submodule_search_locations) or ():
        yield from sorted(path for path in Path(place).iterdir() if path.is_dir())


def wheel_of(kernel: Kernel) -> str:
    """Return the distribution of a kernel; empty if it is in the cache."""
    return distribution(kernel.series) if kernel.folder.parent.name == PACKAGE else ""
