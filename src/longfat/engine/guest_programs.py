"""Guest programs of other packages: what a product runs as PID 1 of its machines.

Such a program is a package of modules that use the standard library and `longfat.guest` only, with
a function `main` in its module `main`, as `longfat.guest.main` has one. Its folder in a machine is
that of `longfat.engine.init.guest_folder` with the package beside `longfat`, and its modules are in
the file that `longfat.guest.boot` reads. It is stored in the cache likewise.
"""

from __future__ import annotations

import compileall
import functools
import hashlib
import importlib.util
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode

from longfat.common.checksum import SUMS, folder_damage, write_sums
from longfat.common.folder_store import FolderStore
from longfat.common.guard import scratch_folder
from longfat.engine import guest_modules
from longfat.engine.init import GUEST_PLACE, guest_folder, init_program
from longfat.errors import HostError
from longfat.guest.mounts import HOME

_CORE = "longfat.guest"


def product_program(package: str) -> list[str]:
    """Return the command line of the PID 1 of a package.

    Args:
        package: the package, such as `longfat_packetdrill.guest`.
    """
    return [*init_program()[:-1], f"{package}.main"]


@contextmanager
def product_folder(package: str) -> Iterator[Path]:
    """Yield the compiled program: that in the cache, or a temporary one, if it is read-only.

    Args:
        package: the package, such as `longfat_packetdrill.guest`.

    Raises:
        HostError: it cannot be stored anywhere, or this Python lacks modules.
    """
    with guest_folder() as core:
        # A temporary folder has no checksums, as the cache cannot be written to.
        cached = _cached(package, core) if (core / SUMS).is_file() else None
        if cached is not None:
            yield cached
            return
        with scratch_folder() as folder:
            _compile(folder, package, core)
            yield folder


@functools.cache
def _cached(package: str, core: Path) -> Path | None:
    """Return its folder in the cache; None if the cache cannot be written to."""
    digest = hashlib.sha256(f"{package}\0".encode() + (core / SUMS).read_bytes())
    for path in _sources(package):
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    path = core.parent / digest.hexdigest()[:32]
    if folder_damage(path):
        try:
            _put(path, package, core)
        except OSError:
            return None
    return path


def _sources(package: str) -> list[Path]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return sorted(Path(spec.origin).parent.glob("*.py"))


def _put(path: Path, package: str, core: Path) -> None:
    store = FolderStore(folder=path.parent, prefix=".making-")
    with store.new_folder() as folder:
        program = folder / path.name
        program.mkdir()
        _compile(program, package, core)
        write_sums(program)
        if folder_damage(path):  # otherwise another process was faster
            store.replace(program, path)


def _compile(folder: Path, package: str, core: Path) -> None:
    shutil.copytree(core, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(SUMS))
    own = folder / package.replace(".", "/")
    own.mkdir(parents=True)
    for path in _sources(package):
        shutil.copyfile(path, own / path.name)
    compileall.compile_dir(
        own,
        quiet=2,
        # The path that tracebacks of the guest show.
        stripdir=str(folder),
        invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
    )
    guest = folder / _CORE.replace(".", "/")
    names = [f"{_CORE}.{path.stem}" for path in sorted(guest.glob("*.py")) if path.stem[0] != "_"]
    *python, _, main = product_program(package)
    done = subprocess.run(
        [*python, guest_modules.__file__, str(folder), f"{HOME}/{GUEST_PLACE}", *names, main],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        why = done.stderr.strip().rpartition("\n")[2]
        raise HostError(
            f"{python[0]} cannot import what runs in a machine: {why}",
            hint="install all of Python's standard library, such as the package python3",
        )
