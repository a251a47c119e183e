"""A built kernel that comes from another host: identified by its bytes, published atomically.

A kernel's digest is that of its inputs. Code that takes a kernel from
elsewhere, or must run the very kernel of another host, identifies it by the
bytes of what is loaded at boot: the binary and its shims.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from longfat.common.checksum import SUMS, folder_damage
from longfat.engine.kernel import cache, manifest
from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longfat.engine.kernel.manifest import Kernel

# Records of a build that are not loaded at boot; hosts may differ in them.
_TELLING = (manifest.FILE, SUMS, "config")
_SHOWN = 12


def fingerprint(folder: Path) -> str:
    """Return the hash over the names and bytes of all files of a kernel that a machine loads.

    Args:
        folder: a kernel's folder.

    Raises:
        HostError: a file of it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for path in sorted(folder.iterdir()):
            if path.name not in _TELLING:
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
                digest.update(f"{path.name}\0{content}\n".encode())
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def install(digest: str, *, content: str, unpack: Callable[[Path], None]) -> Kernel:
    """Put a kernel that was built elsewhere into this host's cache, unless it exists there.

    Args:
        digest: the kernel's digest.
        content: its `fingerprint`.
        unpack: fills an empty folder with the kernel's files.

    Returns:
        The kernel, complete and in its place.

    Raises:
        HostError: the unpacked files are not that kernel, the cache has another
            one under its name, or cannot be written.
    """
    with cache.lock(digest, on_wait=lambda: None):
        kernel = cache.get(digest)
        if kernel is None:
            kernel = _put(digest, content=content, unpack=unpack)
        if fingerprint(kernel.folder) != content:
            raise HostError(
                f"the kernel {digest[:_SHOWN]} ({kernel.release}) in {kernel.folder} has other"
                " bytes than the kernel of the same name elsewhere",
                hint=f"longfat kernel remove {digest[:_SHOWN]}",
            )
        return kernel


def _put(digest: str, *, content: str, unpack: Callable[[Path], None]) -> Kernel:
    """Unpack a kernel and publish it; the caller holds the lock of its digest."""
    try:
        with cache.building(digest) as scratch:
            product = scratch / "product"
            product.mkdir()
            unpack(product)
            found = manifest.read(product)
            fits = found is not None and found.digest == digest and not folder_damage(product)
            if not fits or fingerprint(product) != content:
                raise HostError(f"the received files are not the kernel {digest[:_SHOWN]}")
            return cache.put(product, digest=digest)
    except OSError as error:
        raise HostError(
            f"cannot put kernel {digest[:_SHOWN]} into {cache.kernels_folder()}:"
            f" {error.strerror or error}"
        ) from error
