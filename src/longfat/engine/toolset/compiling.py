"""The libraries of a toolset that are compiled, by a compiler which is pinned as its packages are.

The compiler is tcc, which is small and writes nothing of its folder or of the time into a file. It
runs by the loader and the C library of the toolset: a host needs no compiler, and all hosts get the
same bytes.
"""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.toolset.elf import needed_libraries, with_plain_stack
from longfat.engine.toolset.package_file import PackedFile, package_files
from longfat.engine.toolset.recipe import IPERF3_LIBRARY, LOADER_FILE, place_of, sources
from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SOURCE = "source"
_LIBRARIES = "lib"
_COMPILER = "usr/bin/tcc"
_COMPILER_FOLDER = "usr/lib/x86_64-linux-gnu/tcc"
# Those of the C library and of the kernel are of packages for cross-compilers, which an archive
# keeps for as long as the release; those of libc6-dev change with each security update.
_HEADERS = (f"{_COMPILER_FOLDER}/include", "usr/x86_64-linux-gnu/include", "usr/include")
_KEPT = (_COMPILER, *(f"{folder}/" for folder in (_COMPILER_FOLDER, *_HEADERS)))
_LOADER = place_of(LOADER_FILE, is_executable=True, is_link=False)
# The loader, and the libraries that the compiler needs.
_RUNTIME = (_LOADER, "lib/libc.so.6", "lib/libdl.so.2", "lib/libm.so.6", "lib/libpthread.so.0")
_LINKED = {IPERF3_LIBRARY: ("lib/libiperf.so.0",)}
"""The libraries that a compiled one needs, which the loader puts behind it."""


def compiled(
    packages: Mapping[str, bytes], *, libraries: Mapping[str, bytes], folder: Path
) -> dict[str, PackedFile]:
    """Return the libraries, by their places in a toolset.

    Args:
        packages: the packages of the compiler and of headers, by their names.
        libraries: the loader and the libraries of the toolset's packages, by their places.
        folder: a folder that does not exist, for the compiler.

    Raises:
        HostError: the compiler does not run on this host, or fails.
        OSError: a file cannot be written.
    """
    linked = itertools.chain(*_LINKED.values())
    for place in (*_RUNTIME, *_with_needed(linked, libraries)):
        _write(folder / place, libraries[place])
    for name, package in packages.items():
        for packed in package_files(package, name=name):
            if packed.path.startswith(_KEPT) and not packed.target:
                _write(folder / packed.path, packed.content)
    results = {}
    for place, files in sources().items():
        for file in files:
            _write(folder / _SOURCE / file.name, file.read_bytes())
        units = [f"{_SOURCE}/{file.name}" for file in files if file.suffix == ".c"]
        _compile([*units, *_LINKED.get(place, ())], place=place, folder=folder)
        content = with_plain_stack((folder / place).read_bytes())
        results[place] = PackedFile(path="", content=content)
    return results


def _with_needed(places: Iterable[str], libraries: Mapping[str, bytes]) -> list[str]:
    """Return libraries with those that they need, which the compiler reads, too."""
    result: dict[str, None] = {}
    waiting = list(places)
    while waiting:
        place = waiting.pop()
        if place not in result:
            result[place] = None
            beside = [f"{_LIBRARIES}/{name}" for name in needed_libraries(libraries[place])]
            waiting += [place for place in beside if place in libraries]
    return list(result)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)


def _compile(files: Iterable[str], *, place: str, folder: Path) -> None:
    """Compile a library.

    Args:
        files: sources and the libraries that it needs, relative to the folder.
        place: where the library goes, likewise.
        folder: the folder.

    Raises:
        HostError: the compiler does not run on this host, or fails.
    """
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    command = [f"./{_LOADER}", "--inhibit-cache", "--library-path", "./lib", f"./{_COMPILER}"]
    # Without -L it would read libraries of the host.
    command += [
        f"-B{_COMPILER_FOLDER}",
        f"-L{_LIBRARIES}",
        "-nostdinc",
        *(f"-I{path}" for path in _HEADERS),
    ]
    command += ["-nostdlib", "-shared", "-Wall", "-Werror", f"-Wl,-soname={Path(place).name}"]
    done = subprocess.run(
        [*command, "-o", place, *files],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={"LC_ALL": "C.UTF-8"},
    )
    if done.returncode != 0:
        why = done.stderr.strip() or f"exit status {done.returncode}"
        raise HostError(f"the compiler of the pinned tools fails on this host, for {place}: {why}")
