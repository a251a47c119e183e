"""The built kernels on this host: stored, and found by version, without building or downloading.

    CACHE/kernels/DIGEST/   linux, entropy.so, confine, config, manifest.json, SHA256SUMS
    CACHE/kernels/.build-DIGEST-RANDOM/     a build in progress, see `building`
    CACHE/kernels/.removal-DIGEST-RANDOM/   a kernel that is being removed
    CACHE/kernels/.lock     see `lock`
    CACHE/logs/             logs of builds that failed
    CACHE/objects/          object files, kept by ccache if the host has it

A kernel appears there complete, by one rename, and disappears by one. Kernels that pip has
installed are read here as well, and never written. Their wheels fill a namespace package, from
which nothing is ever imported:

    longfat_kernels/DIGEST/          the kernel's folder, file for file as in the cache
    longfat_kernels/source-SERIES/   its sources, and a reference to the rest of them

So they are found by listing a folder for each entry of Python's path; entry points would need
the metadata of every installed package.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.checksum import folder_damage
from longfat.common.folder_store import FolderStore, cache_root
from longfat.engine.kernel import manifest, recipe
from longfat.engine.kernel.manifest import Kernel, Manifest
from longfat.engine.kernel.version import (
    NEWEST,
    USUAL,
    check_version,
    matches,
    series,
    sort_key,
    split_variant,
)
from longfat.errors import HostError, InputError
from longfat.model.network.clock import CLOCK_PATCH, CLOCK_VERSION

if TYPE_CHECKING:
    from collections.abc import Collection

WHEEL_PACKAGE = "longfat_kernels"
"""The namespace package that all these wheels fill."""

_DIGEST = re.compile("[0-9a-f]{6,64}")
_Entry = tuple[Path, Manifest]


def kernels_folder() -> Path:
    """Return the cache's folder of kernels, which contains a folder for each."""
    return cache_root() / "kernels"


def _store() -> FolderStore:
    return FolderStore(folder=kernels_folder(), prefix=".build-", removal_prefix=".removal-")


def distribution(series: str) -> str:
    """Return pip's name of the prebuilt kernel of a series."""
    return f"longfat-kernel-{series}"


def wheel_folders() -> Iterator[Path]:
    """Yield all folders in which wheels may have put a kernel; not each of them contains one."""
    found = importlib.util.find_spec(WHEEL_PACKAGE)
    for place in (found and found.submodule_search_locations) or ():
        yield from sorted(path for path in Path(place).iterdir() if path.is_dir())


def wheel_of(kernel: Kernel) -> str:
    """Return the distribution of a kernel; empty if it is in the cache."""
    return distribution(kernel.series) if kernel.folder.parent.name == WHEEL_PACKAGE else ""


def objects_folder() -> Path:
    """Return the folder where ccache keeps object files for the builds of similar kernels."""
    return cache_root() / "objects"


def manifests() -> Iterator[tuple[Path, Manifest]]:
    """Yield the folder and the manifest of each built kernel."""
    everything = kernels_folder()
    cached = sorted(everything.iterdir()) if everything.is_dir() else []
    for folder in (*cached, *wheel_folders()):
        if not folder.name.startswith(".") and (found := manifest.read(folder)):
            yield folder, found


def kernels() -> list[Kernel]:
    """Return all built kernels, old releases first; leftovers of killed processes are removed."""
    _store().sweep()
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
    places = (kernels_folder() / digest, *wheel_folders())
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


@contextmanager
def building(digest: str) -> Iterator[Path]:
    """Create a folder to build a kernel in; it is removed at the end of the context or process.

    Raises:
        HostError: it cannot be created.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(_store().new_folder(f"{digest[:12]}-"))
        except OSError as error:
            raise _write_error(error) from error
        yield folder


def log_file(digest: str) -> Path:
    """Return the path where the log of a failed build of this kernel is kept."""
    return cache_root() / "logs" / f"kernel-{digest[:12]}.log"


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
        # One that is there has no manifest of the current format or is damaged, since else
        # it was not rebuilt.
        _store().replace(product, folder)
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
    if wheel := wheel_of(kernel):
        raise HostError(
            f"kernel {kernel.release} in {kernel.folder} was installed by pip",
            hint=f"pip uninstall {wheel}",
        )
    try:
        _store().remove(kernel.folder)
    except OSError as error:
        raise HostError(f"cannot remove {kernel.folder}: {error}") from error


@contextmanager
def lock(digest: str, *, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock for building a kernel; others wait until it is released.

    Args:
        digest: the kernel's digest.
        on_wait: called once if another process holds the lock.

    Raises:
        HostError: the cache folder cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(_store().lock(digest, on_wait=on_wait))
        except OSError as error:
            raise _write_error(error) from error
        yield


def _write_error(error: OSError) -> HostError:
    return HostError(f"cannot write to the kernel cache: {error}")


def find(version: str) -> Kernel:
    """Return the built kernel of a version that matches the current recipe.

    Of several, it is the newest release, and of that the one built or installed last.

    Args:
        version: such as `6.1` or `6.1.158`, or `newest`.

    Raises:
        InputError: `version` is not a kernel version.
        HostError: no such kernel is built, or only from another
            recipe; the message lists those that are. Or it is damaged.
    """
    built = list(manifests())
    candidates = _plain(built) if version == NEWEST else _of_version(version, built)
    kinds = {_kind(one.release) for _, one in candidates}
    wanted = {kind: recipe.load(kind[0], variant=kind[1]).digest for kind in kinds}
    fitting = [(path, one) for path, one in candidates if _fits(one, wanted)]
    if fitting:
        folder, found = max(
            fitting, key=lambda entry: (sort_key(entry[1].release), entry[0].stat().st_mtime_ns)
        )
        kernel = found.kernel(folder)
        if problem := problem_of(found, folder):
            wheel = wheel_of(kernel)
            raise HostError(
                f"kernel {found.release} is damaged: {problem}",
                hint=f"pip uninstall {wheel}, and install it again"
                if wheel
                else f"longfat kernel build {version}",
            )
        return kernel
    if version == NEWEST:
        version = max((one.series for _, one in _plain(built)), key=sort_key, default=USUAL)
    raise HostError(
        _explanation(version, candidates=candidates, built=built),
        hint=f"longfat kernel build {version}",
    )


def _kind(release: str) -> tuple[str, str]:
    """Return the series of a release, and its variant, which decide its recipe."""
    return series(release), split_variant(release)[1]


def _fits(found: Manifest, wanted: Mapping[tuple[str, str], str]) -> bool:
    return found.recipe_digest == wanted[_kind(found.release)]


def _plain(built: list[_Entry]) -> list[_Entry]:
    return [entry for entry in built if not split_variant(entry[1].release)[1]]


def _of_version(version: str, built: list[_Entry]) -> list[_Entry]:
    check_version(version)
    return [entry for entry in built if matches(entry[1].release, version)]


def fits(kernel: Kernel) -> bool:
    """Return whether a built kernel is of the current recipe, so that `find` may return it."""
    about = manifest_of(kernel)
    found, variant = _kind(kernel.release)
    return about.recipe_digest == recipe.load(found, variant=variant).digest


def named(name: str) -> list[Kernel]:
    """Return the built kernels that match a version or a digest.

    Args:
        name: a version, for all kernels of it, or at least six digits of a digest.

    Raises:
        InputError: it is neither, or no such kernel is built.
    """
    built = kernels()
    if _DIGEST.fullmatch(name):
        found = [kernel for kernel in built if kernel.digest.startswith(name)]
    else:
        check_version(name)
        found = [kernel for kernel in built if matches(kernel.release, name)]
    if not found:
        releases = ", ".join(dict.fromkeys(kernel.release for kernel in built))
        raise InputError(f"no kernel {name} is built; built: {releases or 'none'}")
    return found


def _explanation(version: str, *, candidates: list[_Entry], built: list[_Entry]) -> str:
    if candidates:
        release = max((found.release for _, found in candidates), key=sort_key)
        return (
            f"kernel {release} was built from other answers, patches or shims than the current "
            "ones, and must be rebuilt"
        )
    if not built:
        return "no kernel is built"
    releases = sorted({found.release for _, found in built}, key=sort_key)
    return f"kernel {version} is not built; built: {', '.join(releases)}"


def check_clocks(hosts: Collection[str], kernel: Kernel) -> None:
    """Check that a kernel supports separate clocks for these hosts.

    Args:
        hosts: the names of hosts with clock errors.
        kernel: the kernel of their machine.

    Raises:
        InputError: it does not.
        HostError: the kernel has been removed meanwhile.
    """
    if not hosts:
        return
    # A user's own variant may have the patch as well, with a digest in its name.
    patches = {name.partition(" ")[0] for name in manifest_of(kernel).patches}
    if CLOCK_PATCH not in patches:
        raise InputError(
            f"the clock of {', '.join(sorted(hosts))} has an error, but in kernel "
            f"{kernel.release} all hosts have one clock: write `kernel: {CLOCK_VERSION}`, which "
            f"`longfat kernel build {CLOCK_VERSION}` builds"
        )
