"""Which run directories lie below a folder, and how to detect that one was replaced.

A run directory appears by a rename (law 6), so its manifest is another file
whenever the run is another one. What is noted of that file (its stamp) is
compared with what was noted before; nothing is opened.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from longfat.errors import InputError
from longfat.execution.runs.run import MANIFEST

DEEPEST = 4
"""How many folders below a root a run may lie; `runs/STUDY/RUN` lies two below."""

VERDICT = "verdict.json"
"""What `longfat run` keeps of a study's claims, beside the study's runs."""

# Clocks of file systems are coarse: within this time, a file that was changed
# again could still have the same stamp.
YOUNG_S = 2.0


class Stamp(NamedTuple):
    """What distinguishes a file from its replacement: times are in nanoseconds since 1970."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What lies below a folder.

    Attributes:
        root: the folder.
        runs: the run directories, as paths below it, in order, with their manifests' stamps.
        verdicts: the folders that hold a study's verdict, likewise.
        young: the runs whose stamps cannot be relied on yet.
    """

    root: Path
    runs: dict[str, Stamp]
    verdicts: tuple[str, ...]
    young: frozenset[str]

    @property
    def is_run(self) -> bool:
        """Whether the folder is itself a run directory, in which nothing else may be written."""
        return "." in self.runs


def list_runs(root: Path) -> Listing:
    """List the run directories below a folder; it may be one itself.

    Hidden folders, links to folders, and names that are no UTF-8 are passed over.

    Raises:
        InputError: it is no folder, or cannot be read.
    """
    now_ns = time.time_ns()
    runs: dict[str, Stamp] = {}
    verdicts: list[str] = []
    try:
        next(root.iterdir(), None)
    except FileNotFoundError:
        raise InputError(f"{root}: there is no such folder") from None
    except OSError as error:
        raise InputError(f"{root}: cannot be read: {error.strerror}") from None
    _look(str(root), "", runs=runs, verdicts=verdicts, left=DEEPEST)
    found = dict(sorted(runs.items()))
    old_ns = now_ns - int(YOUNG_S * 1e9)
    young = frozenset(name for name, stamp in found.items() if stamp.ctime_ns > old_ns)
    return Listing(root=root, runs=found, verdicts=tuple(sorted(verdicts)), young=young)


def _look(root: str, below: str, *, runs: dict[str, Stamp], verdicts: list[str], left: int) -> None:
    path = f"{root}/{below}" if below else root
    try:
        # A Path for each of thousands of folders would take longer than the look.
        status = os.stat(f"{path}/{MANIFEST}")  # noqa: PTH116
    except OSError:
        pass
    else:
        runs[below or "."] = Stamp(
            status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )
        return
    try:
        with os.scandir(path) as entries:
            inner = []
            for entry in entries:
                if entry.name == VERDICT:
                    verdicts.append(below or ".")
                elif left and _counts(entry):
                    inner.append(entry.name)
    except OSError:
        return  # it was removed meanwhile, or is not readable
    for name in inner:
        _look(
            root, f"{below}/{name}" if below else name, runs=runs, verdicts=verdicts, left=left - 1
        )


def _counts(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    return not name.startswith(".") and _is_text(name) and entry.is_dir(follow_symlinks=False)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
