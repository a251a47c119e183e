"""An entry: what the memory notes of a result beside the run itself.

The files of a remembered run may be hard links of files that a person can
edit, so their sizes and times are noted, and looked at before a result is
given again: reading them all would take long where packets were captured.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.runs.run import MANIFEST, RAW, file_digest, measured_digest

if TYPE_CHECKING:
    from longfat.runs import Run

NOTE = ".remembered.json"
"""The file of an entry, in the folder of its run."""

_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file of a remembered run as it was noted.

    Attributes:
        size: its size in bytes.
        mtime_ns: when it was written, in nanoseconds since 1970.
        digest: the SHA-256 of its bytes; empty for raw files, which the run's own
            digest covers.
    """

    size: int
    mtime_ns: int
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is noted of a remembered run.

    Attributes:
        key: the name of the result: `Run.key`.
        folder: where it lies.
        study: the name of the study that it was first run for; empty if it is of none.
        name: the case's name in that study.
        seed: the case's seed.
        case_digest: the case's digest.
        kernel_digest: the kernel's digest.
        release: the kernel's release.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        peak_bytes: the most memory that its machine held at once.
        used_s: when it was last remembered or recalled, in seconds since 1970.
        files: its files but the manifest, by their paths below the folder.
    """

    key: str
    folder: Path
    study: str
    name: str
    seed: int
    case_digest: str
    kernel_digest: str
    release: str
    virtual_s: float
    wall_s: float
    peak_bytes: int
    used_s: float
    files: dict[str, File]

    @property
    def disk_bytes(self) -> int:
        """Return the size of its files in bytes."""
        return sum(file.size for file in self.files.values())

    def write(self, folder: Path) -> None:
        """Write the note into a folder that is being filled.

        Raises:
            OSError: it cannot be written.
        """
        data = {name.name: getattr(self, name.name) for name in fields(self)}
        del data["folder"], data["used_s"]
        data["files"] = {path: asdict(file) for path, file in self.files.items()}
        (folder / NOTE).write_text(json.dumps({"format": _FORMAT, **data}), encoding="utf-8")

    def changed_file(self, run: Run) -> str | None:
        """Return a file that is no longer what it was when the run was remembered.

        Args:
            run: the run as its manifest tells of it.

        Raises:
            OSError: a file cannot be read; it may have gone.
        """
        changed = [
            path for path, file in self.files.items() if not _is_at(file, self.folder / path)
        ]
        raw = [path for path in changed if path.startswith(f"{RAW}/")]
        if raw and measured_digest(self.folder / RAW) != run.digest:
            return raw[0]
        for path in changed:
            file = self.files[path]
            if path not in raw and file_digest(self.folder / path) != file.digest:
                return path
        return None


def _is_at(file: File, path: Path) -> bool:
    about = path.stat()
    return (about.st_size, about.st_mtime_ns) == (file.size, file.mtime_ns)


def entry_of(run: Run, *, filled: Path, folder: Path) -> Entry:
    """Return the entry of a run that is being remembered.

    Args:
        run: the run.
        filled: the folder that has its files already.
        folder: where that will lie.

    Raises:
        OSError: a file cannot be read.
    """
    files = {}
    for path in sorted(path for path in filled.rglob("*") if path.is_file()):
        name = path.relative_to(filled).as_posix()
        if name not in (MANIFEST, NOTE):
            about = path.stat()
            digest = "" if name.startswith(f"{RAW}/") else file_digest(path)
            files[name] = File(size=about.st_size, mtime_ns=about.st_mtime_ns, digest=digest)
    return Entry(
        key=run.key,
        folder=folder,
        study=run.study,
        name=run.name,
        seed=run.seed,
        case_digest=run.case_digest,
        kernel_digest=run.kernel["digest"],
        release=run.kernel["release"],
        virtual_s=run.virtual_s,
        wall_s=run.wall_s,
        peak_bytes=run.peak_bytes,
        used_s=0.0,
        files=files,
    )


def read_entry(folder: Path) -> Entry | None:
    """Return the entry of a folder of the memory; None if there is none that can be read."""
    try:
        data: dict[str, Any] = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        if data.pop("format") != _FORMAT:
            return None
        files = {path: File(**file) for path, file in data.pop("files").items()}
        used_s = folder.stat().st_mtime
        return Entry(**data, folder=folder, files=files, used_s=used_s)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
