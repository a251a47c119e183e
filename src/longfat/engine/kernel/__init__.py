"""Kernels: built from source, kept in a cache, found by version.

A kernel is a User-Mode Linux binary. Its inputs are its source and longfat's
*recipe* (Kconfig answers, patches of arch/um, shims); the digest of these and
of the compiler is its name, and the same input gives the same binary.

    version, manifest             the values
    recipe, sources, toolchain    the inputs
    locate                        where the source is: on this host, or to be downloaded
    apt, apt_sources, kernel_org  the sites that it is downloaded from
    cache                         the built kernels
    build, job                    the parent of a build: lock, guard, messages
    worker, steps                 the build process: unpack, patch, configure, make

What only builds need (`build`, `locate`) is not imported by the package: it accesses the web.
"""

from longfat.engine.kernel.cache import find, fits, kernels, manifest_of, named, remove, wheel_of
from longfat.engine.kernel.job import Progress, Step
from longfat.engine.kernel.manifest import Kernel, Manifest

__all__ = [
    "Kernel",
    "Manifest",
    "Progress",
    "Step",
    "find",
    "fits",
    "kernels",
    "manifest_of",
    "named",
    "remove",
    "wheel_of",
]
