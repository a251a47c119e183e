"""The toolsets in the cache, and what a machine needs to know of one."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.common.checksum import SUMS, folder_damage, folder_mark
from longfat.common.folder_store import FolderStore, cache_root
from longfat.engine.toolset.archive import archive_name, installed_archives, unpack
from longfat.engine.toolset.recipe import recipe_digest
from longfat.errors import HostError
from longfat.guest import toolset as inside

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PLACE = inside.PLACE
"""Where a machine sees a toolset. No longer than the distribution's path of a loader allows."""

PROGRAMS = f"{PLACE}/bin"
"""The folder of its programs, in a machine."""

PYTHON = inside.PYTHON
"""Its Python, in a machine."""

PYTHON_VERSION = "3.11"
"""The version of that."""

LOADER = "ld.so"
"""The loader of its programs, in a toolset's folder."""

LIST = "ldcache"
"""The loader's list of libraries, likewise."""

MANIFEST = "manifest.json"
"""What is in it, likewise."""

OVER = {"/etc/iproute2": "etc/iproute2"}
"""Folders of a machine that are those of its toolset."""


_CHECK_EVERY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """A toolset in the cache.

    Attributes:
        folder: its folder.
        digest: the digest of all its files.
        versions: the versions of its packages, by their names.
    """

    folder: Path
    digest: str
    versions: Mapping[str, str] = field(compare=False)

    def has(self, program: str) -> bool:
        """Return whether it has a program of this name."""
        return (self.folder / "bin" / program).is_file()

    def on_host(self, program: str) -> list[str]:
        """Return the command line that runs one of its programs on the host, without arguments."""
        loader, libraries = self.folder / LOADER, self.folder / "lib"
        path = self.folder / "bin" / program
        return [str(loader), "--inhibit-cache", "--library-path", str(libraries), str(path)]

    def run_python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its Python on the host, without modules and settings of the user."""
        return subprocess.run(
            [*self.on_host(f"python{PYTHON_VERSION}"), "-I", "-S", "-B", *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )

    def shown(self) -> dict[str, Path]:
        """Return the folders that a machine sees, by their places."""
        return {PLACE: self.folder} | {place: self.folder / name for place, name in OVER.items()}


def store() -> FolderStore:
    """Return the store of toolsets."""
    return FolderStore(folder=cache_root() / "toolsets", prefix=".making-")


def path_of(recipe: str) -> Path:
    """Return the folder of a recipe's toolset, which may not exist."""
    return store().folder / recipe[:32]


def read(folder: Path) -> Toolset | None:
    """Return the toolset in a folder; None if there is none, or it is damaged.

    Its files are read once a day, and when one of them was changed: to read them takes as long as
    a short run.
    """
    if not _was_checked(folder):
        if folder_damage(folder):
            return None
        _note_check(folder)
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    return Toolset(folder=folder, digest=manifest["digest"], versions=manifest["packages"])


def _was_checked(folder: Path) -> bool:
    note = _note_of(folder)
    try:
        return time.time() - note.stat().st_mtime < _CHECK_EVERY_S and note.read_text(
            "ascii", errors="replace"
        ) == folder_mark(folder)
    except OSError:
        return False


def _note_check(folder: Path) -> None:
    with contextlib.suppress(OSError):
        write_whole(_note_of(folder), folder_mark(folder).encode("ascii") or b"changing")


def _note_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.checked")


def stored() -> Toolset | None:
    """Return the toolset of this version of longfat; None if it is not in the cache."""
    folder = path_of(recipe_digest())
    return read(folder) if (folder / SUMS).is_file() else None


def find() -> Toolset:
    """Return the toolset of this version of longfat: of the cache, or of a wheel.

    Raises:
        HostError: there is none, or it cannot be unpacked.
    """
    toolset = stored() or _unpacked()
    if toolset is None:
        raise HostError("the pinned tools are not built", hint="longfat tools build")
    return toolset


def _unpacked() -> Toolset | None:
    """Return the toolset of a wheel, unpacked into the cache; None if no wheel has it."""
    recipe = recipe_digest()
    for archive in installed_archives():
        if archive.name != archive_name(recipe):
            continue
        toolsets = store()
        try:
            with toolsets.new_folder() as scratch:
                unpack(archive, scratch / "toolset")
                toolsets.publish(scratch / "toolset", path_of(recipe))
        except OSError as error:
            raise HostError(
                f"the pinned tools cannot be stored in {toolsets.folder}: {error}"
            ) from error
        return stored()
    return None
