"""Put the files of a run into another folder: by hard links where possible, otherwise by copies."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from longfat.common.checksum import file_damage
from longfat.execution.runs.partial_folder import partial_folder, publish
from longfat.execution.runs.run import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from longfat.execution.runs import Run


def fill(folder: Path, *, source: Path, files: Iterable[str]) -> None:
    """Put files into an empty folder.

    Args:
        folder: the folder.
        source: the folder that contains them.
        files: their paths below it.

    Raises:
        OSError: one of them is not there, or cannot be written.
    """
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(source / name, path)


def link_or_copy(source: Path, path: Path) -> None:
    """Create a hard link to a file; a copy of it, if the file system does not allow that.

    Raises:
        OSError: it is not there, or cannot be written.
    """
    try:
        os.link(source, path, follow_symlinks=False)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, another user's file, or too many links
        shutil.copy2(source, path, follow_symlinks=False)


def place_run(run: Run, *, source: Path) -> None:
    """Create a run directory from files elsewhere, unless it exists already.

    Args:
        run: the run, with its future folder.
        source: the folder with its files, which have been checked.

    Raises:
        OSError: a file has gone, or the folder cannot be written.
    """
    text = run.manifest_text()
    if _is_there(run, source=source, manifest=text):
        return
    run.folder.parent.mkdir(parents=True, exist_ok=True)
    with partial_folder(run.folder.parent, name=run.name) as folder:
        fill(folder, source=source, files=run.files)
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        publish(folder, run.folder)


def _is_there(run: Run, *, source: Path, manifest: str) -> bool:
    """Return whether a run directory exists with the files of the source or equal ones."""
    try:
        if (run.folder / MANIFEST).read_text(encoding="utf-8") != manifest:
            return False
        for name, wanted in run.files.items():
            there = run.folder / name
            if not there.samefile(source / name) and file_damage(there, wanted):
                return False
    except (OSError, ValueError):
        return False
    return True
