"""Put the files of a run into another folder: by hard links where that can be, else by copies."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from longfat.memory.entry import NOTE
from longfat.runs.hidden import hidden_folder, publish
from longfat.runs.run import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from longfat.runs import Run


def files_of(folder: Path) -> list[str]:
    """Return the files of a run directory but its manifest, by their paths below it."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in paths if path.name not in (MANIFEST, NOTE))


def fill(folder: Path, *, source: Path, files: Iterable[str]) -> None:
    """Put files into an empty folder.

    Args:
        folder: the folder.
        source: the folder that has them.
        files: their paths below it.

    Raises:
        OSError: one of them is not there, or cannot be written.
    """
    for name in files:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        link_or_copy(source / name, path)


def link_or_copy(source: Path, path: Path) -> None:
    """Give a file a second name; a copy of it, where the file system has no such names.

    Raises:
        OSError: it is not there, or cannot be written.
    """
    try:
        os.link(source, path, follow_symlinks=False)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, somebody else's file, or one with too many names
        shutil.copy2(source, path, follow_symlinks=False)


def place_run(run: Run, *, source: Path, files: Iterable[str]) -> None:
    """Make a run directory of files that lie elsewhere, unless it is there already.

    Args:
        run: the run, with the folder where it is to lie.
        source: the folder that has its files.
        files: their paths below it.

    Raises:
        OSError: a file has gone, or the folder cannot be written.
    """
    names = list(files)
    text = run.manifest_text()
    if _is_there(run.folder, source=source, files=names, manifest=text):
        return
    run.folder.parent.mkdir(parents=True, exist_ok=True)
    with hidden_folder(run.folder.parent, name=run.name) as folder:
        fill(folder, source=source, files=names)
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        publish(folder, run.folder)


def _is_there(folder: Path, *, source: Path, files: list[str], manifest: str) -> bool:
    try:
        if (folder / MANIFEST).read_text(encoding="utf-8") != manifest:
            return False
        for name in files:
            there, wanted = (folder / name).stat(), (source / name).stat()
            same = (there.st_dev, there.st_ino) == (wanted.st_dev, wanted.st_ino)
            marks = [(one.st_size, one.st_mtime_ns) for one in (there, wanted)]
            if not same and marks[0] != marks[1]:
                return False
    except (OSError, ValueError):
        return False
    return True
