"""Guest programs of other packages: what a product runs as PID 1 of its machines.

Such a program is a package of modules that use the standard library and `longfat.guest` only, with
a function `main` in its module `main`, as `longfat.guest.main` has one. Its folder in a machine is
that of `longfat.engine.init.guest_folder` with the package beside `longfat`, and its modules are in
the file that `longfat.guest.boot` reads. It is stored in the cache likewise.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longfat.common.checksum import SUMS, folder_damage, write_sums
from longfat.common.folder_store import FolderStore
from longfat.common.guard import scratch_folder
from longfat.engine.init import guest_folder, init_program, write_modules
from longfat.engine.toolset import Toolset

_CORE = "longfat.guest"


def product_program(package: str) -> list[str]:
    """Return the command line of the PID 1 of a package.

    Args:
        package: the package, such as `longfat_packetdrill.guest`.
    """
    return [*init_program()[:-1], f"{package}.main"]


@contextmanager
def product_folder(package: str, *, toolset: Toolset) -> Iterator[Path]:
    """Yield the compiled program: that in the cache, or a temporary one, if it is read-only.

    Args:
        package: the package, such as `longfat_packetdrill.guest`.
        toolset: the toolset whose Python runs it.

    Raises:
        HostError: it cannot be stored anywhere.
    """
    with guest_folder(toolset=toolset) as core:
        # A temporary folder has no checksums, as the cache cannot be written to.
        cached = _cached(package, core, toolset) if (core / SUMS).is_file() else None
        if cached is not None:
            yield cached
            return
        with scratch_folder() as folder:
            _compile(folder, package, core, toolset)
            yield folder


@functools.cache
def _cached(package: str, core: Path, toolset: Toolset) -> Path | None:
    """Return its folder in the cache; None if the cache cannot be written to."""
    digest = hashlib.sha256(f"{package}\0".encode() + (core / SUMS).read_bytes())
    for path in _sources(package):
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    path = core.parent / digest.hexdigest()[:32]
    if folder_damage(path):
        try:
            _put(path, package, core, toolset)
        except OSError:
            return None
    return path


def _sources(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return sorted(Path(spec.origin).parent.glob("*.py"))


def _put(path: Path, package: str, core: Path, toolset: Toolset) -> None:
    store = FolderStore(folder=path.parent, prefix=".making-")
    with store.new_folder() as folder:
        program = folder / path.name
        program.mkdir()
        _compile(program, package, core, toolset)
        write_sums(program)
        if folder_damage(path):  # otherwise another process was faster
            store.replace(program, path)


def _compile(folder: Path, package: str, core: Path, toolset: Toolset) -> None:
    shutil.copytree(core, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(SUMS))
    own = folder / package.replace(".", "/")
    own.mkdir(parents=True)
    for path in _sources(package):
        shutil.copyfile(path, own / path.name)
    guest = folder / _CORE.replace(".", "/")
    names = [f"{_CORE}.{path.stem}" for path in sorted(guest.glob("*.py")) if path.stem[0] != "_"]
    write_modules(folder, [*names, f"{package}.main"], toolset=toolset)
