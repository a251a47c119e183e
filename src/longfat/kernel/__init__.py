"""Kernels: built from source, kept in a cache, found by version.

A kernel is a User-Mode Linux binary. What goes into it is its source and our
*recipe* (Kconfig answers, patches of arch/um, shims); the digest of these and
of the compiler is its name, and the same input gives the same binary.

    version, progress, manifest   the values
    recipe, source, toolchain     what goes in
    cache, _find                  what is built, and where
    _build                        the near side of a build: lock, guard, messages
    job, worker                   the far side: unpack, patch, configure, make
"""

from longfat.kernel._build import build
from longfat.kernel._find import find, fits, named
from longfat.kernel.cache import kernels, manifest_of, remove
from longfat.kernel.manifest import Kernel, Manifest
from longfat.kernel.progress import Progress, Step
from longfat.kernel.source import installed_versions

__all__ = [
    "Kernel",
    "Manifest",
    "Progress",
    "Step",
    "build",
    "find",
    "fits",
    "installed_versions",
    "kernels",
    "manifest_of",
    "named",
    "remove",
]
