"""Builds a toolset: packages are downloaded, their files put into one folder, and a few compiled.

Two builds are byte-identical: files have no times of their own, and the bytecode of Python's
modules is made by the toolset's own Python.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from longfat.common.checksum import write_sums
from longfat.engine.toolset.compiling import compiled
from longfat.engine.toolset.contents import contents_digest
from longfat.engine.toolset.download import Report, downloaded
from longfat.engine.toolset.elf import MAGIC, needed_libraries, with_library, with_loader
from longfat.engine.toolset.library_cache import library_cache, with_list
from longfat.engine.toolset.package_file import PackedFile, package_files
from longfat.engine.toolset.recipe import (
    IPERF3,
    IPERF3_LIBRARY,
    LINKS,
    build_packages,
    changes_text,
    pinned_packages,
    place_of,
    recipe_digest,
)
from longfat.engine.toolset.store import (
    LIST,
    LOADER,
    MANIFEST,
    PLACE,
    Toolset,
    path_of,
    read,
    store,
)
from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PYTHON_FOLDER = "lib/python3.11"
_LIBRARIES = PurePosixPath("lib")
_LOADER_NAME = "ld-linux-x86-64.so.2"
# What the C library loads when a thread ends, and when a name is looked up.
_LOADED_BY_NAME = ("libgcc_s.so.1", "libnss_dns.so.2")
_CHANGES = "licences/changes.md"
_IPERF3_LIBRARY = "libiperf.so.0"
_TIME_S = 1_735_689_600  # 2025-01-01: any constant


def build(*, report: Report, again: bool = False) -> Toolset:
    """Return the toolset of this version of longfat, built unless it is in the cache.

    Args:
        report: called with the bytes of packages that are there, and those of all.
        again: build it, although it is in the cache.

    Raises:
        HostError: a package cannot be downloaded, or the cache not be written to.
    """
    path = path_of(recipe_digest())
    toolsets = store()
    try:
        toolsets.folder.mkdir(parents=True, exist_ok=True)
        with toolsets.lock(recipe_digest(), on_wait=lambda: None):
            ready = None if again else read(path)
            if ready is None:
                with toolsets.new_folder() as scratch:
                    folder = scratch / "toolset"
                    _fill(folder, report=report)
                    toolsets.replace(folder, path)
                ready = read(path)
    except OSError as error:
        raise HostError(f"the pinned tools cannot be stored in {path.parent}: {error}") from error
    assert ready is not None
    return ready


def _fill(folder: Path, *, report: Report) -> None:
    """Put all files of the toolset into a new folder."""
    files: dict[str, PackedFile] = {}
    packages, compiler = pinned_packages(), dict[str, bytes]()
    needed = (*packages, *build_packages())
    for package, content in zip(needed, downloaded(needed, report=report), strict=True):
        if package not in packages:
            compiler[package.name] = content
            continue
        for file in package_files(content, name=package.name):
            place = place_of(file.path, is_executable=file.is_executable, is_link=bool(file.target))
            # Two folders of programs may have one name: a program, and a link to it.
            if place and not (file.target and place in files):
                files[place] = file
    files |= {f"bin/{name}": PackedFile(path="", target=target) for name, target in LINKS.items()}
    libraries = {place: _target(place, files) for place in files if _is_library(place)}
    own = compiled(
        compiler,
        libraries={**libraries, LOADER: files[LOADER].content},
        folder=folder.with_name("compiler"),
    )
    libraries |= {place: file.content for place, file in own.items() if _is_library(place)}
    others = {place: file for place, file in (files | own).items() if place not in libraries}
    others[_CHANGES] = PackedFile(path="", content=changes_text().encode())
    programs = []
    for place, file in others.items():
        if file.target:
            _link(folder / place, PurePosixPath(file.target).name, is_there=_has(others, place))
        else:
            programs.append(_adapted(place, file))
            _write(folder / place, programs[-1], is_executable=file.is_executable)
    taken = _closure(programs, {PurePosixPath(place).name: libraries[place] for place in libraries})
    for name, content in taken.items():
        _write(folder / _LIBRARIES / name, content, is_executable=False)
    (folder / LIST).write_bytes(library_cache({name: f"{PLACE}/lib/{name}" for name in taken}))
    _compile(folder)
    _set_times(folder)
    manifest = {
        "digest": contents_digest(folder),
        "recipe": recipe_digest(),
        "packages": {package.name: package.version for package in packages},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    write_sums(folder)


def _is_library(place: str) -> bool:
    return PurePosixPath(place).parent == _LIBRARIES


def _target(place: str, files: Mapping[str, PackedFile]) -> bytes:
    """Return the content of a library, which may be a link; empty if it leads out of the folder."""
    file = files[place]
    while file.target:
        following = files.get(str(_LIBRARIES / PurePosixPath(file.target).name))
        if following is None or following is file:
            return b""
        file = following
    return file.content


def _has(files: Mapping[str, PackedFile], place: str) -> bool:
    beside = PurePosixPath(place).with_name(PurePosixPath(files[place].target).name)
    return str(beside) in files and str(beside) != place


def _link(path: Path, target: str, *, is_there: bool) -> None:
    if is_there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def _adapted(place: str, file: PackedFile) -> bytes:
    """Return the content of a file with the toolset's loader and its list of libraries."""
    if place == LOADER:
        return with_list(file.content, f"{PLACE}/{LIST}")
    if place == IPERF3:
        program = with_library(
            file.content, PurePosixPath(IPERF3_LIBRARY).name, before=_IPERF3_LIBRARY
        )
        return with_loader(program, f"{PLACE}/{LOADER}")
    if file.content.startswith(MAGIC):
        return with_loader(file.content, f"{PLACE}/{LOADER}")
    return file.content


def _closure(programs: Iterable[bytes], libraries: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the libraries that programs need, by their names.

    Raises:
        HostError: one is in no package.
    """
    taken: dict[str, bytes] = {name: libraries[name] for name in _LOADED_BY_NAME}
    waiting = [*programs, *taken.values()]
    while waiting:
        content = waiting.pop()
        if not content.startswith(MAGIC):
            continue
        for name in needed_libraries(content):
            if name in taken or name == _LOADER_NAME:
                continue
            if not libraries.get(name):
                raise HostError(f"no package of the pinned tools has the library {name}")
            taken[name] = libraries[name]
            waiting.append(taken[name])
    return dict(sorted(taken.items()))


def _write(path: Path, content: bytes, *, is_executable: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755 if is_executable else 0o644)


def _compile(folder: Path) -> None:
    """Compile Python's modules by the toolset's own Python.

    Raises:
        HostError: it does not run on this host.
    """
    toolset = Toolset(folder=folder, digest="", versions={})
    command = [*toolset.on_host("python3.11"), "-I", "-S", "-B", "-m", "compileall", "-q", "-j1"]
    command += ["--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", PLACE]
    done = subprocess.run(
        [*command, str(folder / _PYTHON_FOLDER)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
    )
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise HostError(f"the Python of the pinned tools does not run on this host: {why}")


def _set_times(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        os.utime(path, (_TIME_S, _TIME_S), follow_symlinks=False)
