"""The built kernels on this host: those of the cache, and those that pip has installed.

    CACHE/kernels/DIGEST/   linux, entropy.so, confine, config, manifest.json, SHA256SUMS
    CACHE/kernels/.build-DIGEST-RANDOM/     a build in progress, see `building`
    CACHE/kernels/.removal-DIGEST-RANDOM/   a kernel that is being removed
    CACHE/kernels/.lock     see `lock`
    CACHE/logs/             logs of builds that failed
    CACHE/objects/          object files, kept by ccache if the host has it

A kernel appears there complete, by one rename, and disappears by one. Kernels that pip has
installed (`installed`) are read here as well, and never written.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import platformdirs

from longfat.common.checksum import folder_damage
from longfat.common.guard import doomed_folder, sweep
from longfat.engine.kernel import installed, manifest
from longfat.engine.kernel.manifest import Kernel, Manifest
from longfat.engine.kernel.version import sort_key
from longfat.errors import HostError

_BUILD = ".build-"
_REMOVAL = ".removal-"


def root() -> Path:
    """Return the cache folder: `LONGFAT_CACHE`, or the user's own."""
    named = os.environ.get("LONGFAT_CACHE")
    return Path(named).resolve() if named else platformdirs.user_cache_path("longfat")


def kernels_folder() -> Path:
    """Return the cache's folder of kernels, which contains a folder for each."""
    return root() / "kernels"


def objects_folder() -> Path:
    """Return the folder where ccache keeps object files for the builds of similar kernels."""
    return root() / "objects"


def manifests() -> Iterator[tuple[Path, Manifest]]:
    """Yield the folder and the manifest of each built kernel."""
    everything = kernels_folder()
    cached = sorted(everything.iterdir()) if everything.is_dir() else []
    for folder in (*cached, *installed.folders()):
        if not folder.name.startswith(".") and (found := manifest.read(folder)):
            yield folder, found


def kernels() -> list[Kernel]:
    """Return all built kernels, old releases first; leftovers of killed processes are removed."""
    _sweep()
    found = [manifest.kernel(folder) for folder, manifest in manifests()]
    return sorted(found, key=lambda kernel: (sort_key(kernel.release), kernel.digest))


def manifest_of(kernel: Kernel) -> Manifest:
    """Return the manifest of a kernel.

    Raises:
        HostError: it has been removed meanwhile.
    """
    if found := manifest.read(kernel.folder):
        return found
    raise HostError(f"kernel {kernel.release} is no longer in {kernel.folder}")


def get(digest: str) -> Kernel | None:
    """Return the kernel of this digest, if it is built and undamaged."""
    places = (kernels_folder() / digest, *installed.folders())
    for folder in (place for place in places if place.name == digest):
        if (found := manifest.read(folder)) and not problem_of(found, folder):
            return found.kernel(folder)
    return None


def problem_of(found: Manifest, folder: Path) -> str:
    """Return why a kernel cannot be used: a file that has changed; empty if it can.

    Args:
        found: its manifest.
        folder: its folder.
    """
    if found.digest != folder.name:
        return f"{folder / manifest.FILE}: it belongs to another kernel"
    return folder_damage(folder)


def _sweep() -> None:
    for prefix in (_BUILD, _REMOVAL):
        sweep(kernels_folder(), prefix=prefix)


@contextmanager
def building(digest: str) -> Iterator[Path]:
    """Create a folder to build a kernel in; it is removed at the end of the context or process.

    Raises:
        HostError: it cannot be made.
    """
    _sweep()
    with ExitStack() as stack:
        prefix = f"{_BUILD}{digest[:12]}-"
        try:
            folder = stack.enter_context(doomed_folder(kernels_folder(), prefix=prefix))
        except OSError as error:
            raise HostError(f"cannot write to the kernel cache: {error}") from error
        yield folder


def log_file(digest: str) -> Path:
    """Return the path where the log of a failed build of this kernel is kept."""
    return root() / "logs" / f"kernel-{digest[:12]}.log"


def put(product: Path, *, digest: str) -> Kernel:
    """Publish a finished kernel.

    Args:
        product: a folder with all the files of a kernel, in the same file system.
        digest: the kernel's digest.

    Raises:
        HostError: the folder contains no kernel, or cannot be moved.
    """
    folder = kernels_folder() / digest
    found = manifest.read(product)
    if found is None:
        raise HostError(f"the build left no kernel in {product}")
    try:
        # Without a manifest of the current format, or damaged: otherwise it was not rebuilt.
        if folder.exists():
            _set_aside(folder)
        product.rename(folder)
    except OSError as error:
        raise HostError(f"cannot put the kernel into {folder}: {error}") from error
    return found.kernel(folder)


def remove(kernel: Kernel) -> None:
    """Remove a built kernel.

    Args:
        kernel: one of `kernels()`; it may not exist any more.

    Raises:
        HostError: it cannot be removed, or pip has installed it.
    """
    if wheel := installed.wheel_of(kernel):
        raise HostError(
            f"kernel {kernel.release} in {kernel.folder} was installed by pip",
            hint=f"pip uninstall {wheel}",
        )
    try:
        with suppress(FileNotFoundError):
            _set_aside(kernel.folder)
    except OSError as error:
        raise HostError(f"cannot remove {kernel.folder}: {error}") from error


def _set_aside(folder: Path) -> None:
    """Remove a kernel's folder, atomically, by a rename.

    Raises:
        OSError: it cannot be moved.
    """
    with doomed_folder(folder.parent, prefix=f"{_REMOVAL}{folder.name[:12]}-") as grave:
        folder.rename(grave / "old")


@contextmanager
def lock(digest: str, *, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock for building a kernel; others wait until it is released.

    All kernels share one lock file, a byte each, so that a killed build leaves
    no file behind; the kernel releases the lock of a process that has ended.

    Args:
        digest: the kernel's digest.
        on_wait: called once if another process holds the lock.

    Raises:
        HostError: the cache folder cannot be written.
    """
    try:
        kernels_folder().mkdir(parents=True, exist_ok=True)
        fd = os.open(kernels_folder() / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise HostError(f"cannot write to the kernel cache: {error}") from error
    # struct flock: the type, from where the start counts, start, length, no pid.
    byte = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, int(digest[:15], 16), 1, 0)
    try:
        # OFD locks, unlike older kinds, also keep two threads of one process apart.
        try:
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, byte)
        except BlockingIOError:
            on_wait()
            fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, byte)
        yield
    finally:
        os.close(fd)
