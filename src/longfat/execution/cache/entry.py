"""An entry: metadata that the cache stores beside a run, to be listed quickly.

It is not used when the result is retrieved: then the run's own
manifest and its checksums of every file decide.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.common.checksum import FileSum, sealed, unsealed
from longfat.common.decoding import Decoder, read_json
from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.execution.runs import Run


NOTE = ".cached.json"
"""The file of an entry, in the folder of its run."""

_FORMAT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The metadata of a cached run.

    Attributes:
        key: the name of the result: `Run.key`.
        folder: its folder.
        study: the name of the study that it was first run for; empty if it is of none.
        name: the case's name in that study.
        seed: the case's seed.
        case_digest: the case's digest.
        kernel_digest: the kernel's digest.
        release: the kernel's release.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        peak_bytes: the peak memory of its machine.
        used_s: when it was last cached or taken from the cache, in seconds since 1970.
        files: its files except for the manifest, by their paths below the folder.
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
    files: dict[str, FileSum]

    @property
    def disk_bytes(self) -> int:
        """Return the size of its files in bytes."""
        return sum(file.size_bytes for file in self.files.values())

    def write(self, folder: Path) -> None:
        """Write the entry into a folder that is being filled.

        Raises:
            OSError: it cannot be written.
        """
        data = asdict(self)
        del data["folder"], data["used_s"]
        text = json.dumps(sealed({"format": _FORMAT, **data}))
        (folder / NOTE).write_text(text, encoding="utf-8")


_DECODER = Decoder(Entry, given=("folder", "used_s"))


def entry_of(run: Run, *, folder: Path) -> Entry:
    """Return the entry of a run that is being cached.

    Args:
        run: the run.
        folder: its future folder.
    """
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
        files=dict(run.files),
    )


def read_entry(folder: Path) -> Entry:
    """Return the entry of a folder of the cache.

    Raises:
        InputError: there is none, or it is damaged.
    """
    path = folder / NOTE
    try:
        data: Any = read_json(path)
        used_s = folder.stat().st_mtime
    except FileNotFoundError:
        raise InputError(f"{path}: it is missing") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise InputError(f"{path}: not of the format {_FORMAT} that this longfat reads")
    fields = unsealed(data, where=str(path))
    del fields["format"]
    entry = _DECODER.decode(fields, where=str(path), given={"folder": folder, "used_s": used_s})
    if entry.key != folder.name:
        raise InputError(f"{path}: key: it belongs to another result")
    return entry
