"""PID 1 of a machine: longfat's guest program, and how it is passed to a machine.

A machine sees a copy of the program that is compiled once for each version
of it and of Python, and not the folder of the installation. Whether there is bytecode, and
whether it is as old as the source, must not matter, but it would: a lookup
that fails takes a microsecond of virtual time, by which all that follows comes later.
An installation may also belong to another user, so that no bytecode can be stored.

Beside it are programs for a machine's users, in `bin` and `substitutes` of `longfat/guest`.

Experiments boot `longfat.guest.main`. A subpackage of `longfat.guest` is another
program for other kinds of machines, which experiments do not see: `part` names it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from longfat import guest
from longfat.common.checksum import folder_damage, write_sums
from longfat.common.folder_store import FolderStore, cache_root
from longfat.common.guard import scratch_folder
from longfat.engine.machine import HANDOVER
from longfat.engine.toolset import PLACE, PYTHON, Toolset
from longfat.errors import HostError
from longfat.guest.mounts import HOME

_SOURCES = Path(guest.__file__).resolve().parent
_WRITER = Path(__file__).with_name("guest_modules.py")
_OPTIONS = ("-I", "-S", "-B")

GUEST_PLACE = "guest"
"""Its path in a machine, under `HANDOVER`."""

# Where its users see it.
_SEEN_AT = f"{HOME}/{GUEST_PLACE}"

JOB_PLACE = "job"
"""The place of the folder with `job.json`, likewise."""

# A package of the same name, so that its modules import each other as they do here.
_PACKAGE = "longfat/guest"
_PROGRAM = "longfat.guest"


def init_program(part: str = "") -> list[str]:
    """Return the command line of the guest's PID 1: the interpreter and the program.

    Args:
        part: the subpackage with the `main`; the guest package itself, if empty.
    """
    boot = f"{HANDOVER}/{GUEST_PLACE}/{_PACKAGE}/boot.py"
    return [PYTHON, *_OPTIONS, boot, _main(part)]


def _main(part: str) -> str:
    return ".".join(filter(None, (_PROGRAM, part, "main")))


@contextmanager
def guest_folder(part: str = "", *, toolset: Toolset) -> Iterator[Path]:
    """Yield the compiled guest program: that in the cache, or a temporary one, if it is read-only.

    Args:
        part: a subpackage to include, too.
        toolset: the toolset whose Python runs it.

    Raises:
        HostError: it cannot be stored anywhere.
    """
    cached = _cached(part, toolset)
    if cached is not None:
        yield cached
        return
    with scratch_folder() as folder:
        _compile(folder, part, toolset)
        yield folder


def write_job(
    job: object, *, inside: Path, files: Mapping[str, bytes] = MappingProxyType({})
) -> Path:
    """Write a machine's job into a folder of its own, which is to be shown at `JOB_PLACE`.

    Args:
        job: what the guest is to do, as plain data.
        inside: the folder to create it in. Where this process may be killed together with its
            remover, it is to be the machine's folder, which the machine's guard removes.
        files: further files, by their names.

    Returns:
        The folder.
    """
    folder = inside / "job"
    folder.mkdir(mode=0o700)
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@functools.cache
def _cached(part: str, toolset: Toolset) -> Path | None:
    """Return its folder in the cache; None if the cache cannot be written to."""
    digest = hashlib.sha256(f"{part}\0{toolset.digest}\0".encode())
    digest.update(_WRITER.read_bytes())
    for name, path in _sources(part).items():
        digest.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    path = cache_root() / "guest" / digest.hexdigest()[:32]
    if folder_damage(path):
        try:
            _put(path, part, toolset)
        except OSError:
            return None
    return path


def _sources(part: str) -> dict[str, Path]:
    """Return the modules, and the programs for users, by their paths in the package."""
    paths = sorted(
        [*_SOURCES.glob("*.py"), *_SOURCES.glob("bin/*"), *_SOURCES.glob("substitutes/*")]
    )
    if part:
        paths += sorted((_SOURCES / part).glob("*.py"))
    return {path.relative_to(_SOURCES).as_posix(): path for path in paths}


def _put(path: Path, part: str, toolset: Toolset) -> None:
    store = FolderStore(folder=path.parent, prefix=".making-")
    with store.new_folder() as folder:
        program = folder / path.name
        program.mkdir()
        _compile(program, part, toolset)
        write_sums(program)
        if folder_damage(path):  # otherwise another process was faster
            store.replace(program, path)


def _compile(folder: Path, part: str, toolset: Toolset) -> None:
    for name, path in _sources(part).items():
        copy = folder / _PACKAGE / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        if path.suffix != ".py":
            copy.chmod(0o755)
    names = {f"{_PROGRAM}.{path.stem}" for path in _SOURCES.glob("*.py") if path.stem[0] != "_"}
    write_modules(folder, sorted({*names, _main(part)}), toolset=toolset)


def write_modules(root: Path, names: Sequence[str], *, toolset: Toolset) -> None:
    """Compile modules, and write the file of modules that `longfat.guest.boot` reads.

    Args:
        root: the folder of the program with its modules, in which the file is written.
        names: the names of the modules that it has, with all that they import.
        toolset: the toolset whose Python runs them.

    Raises:
        HostError: one cannot be imported.
    """
    # The path that tracebacks of the guest show is below that of the program.
    compiled = toolset.run_python(
        *("-m", "compileall", "-q", "-j1", "-s", str(root)),
        *("--invalidation-mode", "unchecked-hash", str(root)),
    )
    written = toolset.run_python(
        str(_WRITER), str(root), _SEEN_AT, str(toolset.folder), PLACE, *names
    )
    for done in (compiled, written):
        if done.returncode != 0:
            why = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            raise HostError(
                f"the toolset's Python cannot import what runs in a machine: {why}",
                hint="longfat tools build --again",
            )
