"""A run as a value, its manifest, and its digest."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat.errors import InputError

RUN_FORMAT = 1
"""The version of the manifest; it changes when the meaning of a field does."""

MANIFEST = "manifest.json"
RAW = "raw"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one case gave.

    Attributes:
        folder: the run directory.
        name: the case's name.
        case: the case as plain data.
        case_digest: the case's digest.
        digest: a hash over all that was measured, not over wall time or
            paths: equal digests mean equal bytes.
        kernel: the kernel's `digest`, `release` and `binary_sha256`.
        tools: the versions of the host's tools, by name.
        seed: the case's seed.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        metrics: numbers by `FLOW.METRIC`, in base units.
    """

    folder: Path
    name: str
    case: dict[str, Any]
    case_digest: str
    digest: str
    kernel: dict[str, str]
    tools: dict[str, str]
    seed: int
    virtual_s: float
    wall_s: float
    metrics: dict[str, float]

    @property
    def raw(self) -> Path:
        """Return the folder of what the tools printed."""
        return self.folder / RAW

    def to_manifest(self) -> dict[str, Any]:
        """Return all but the place of the run as plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del fields["folder"]
        return {"format": RUN_FORMAT, **fields}


def load_run(folder: Path) -> Run:
    """Read a run directory.

    Raises:
        InputError: it is no run directory, or one of another format.
    """
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not a run directory: {error}") from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != RUN_FORMAT:
        raise InputError(f"{path}: its format is {found!r}; this longfat reads {RUN_FORMAT}")
    fields = {name: data.get(name) for name in Run.__dataclass_fields__}
    missing = [name for name, value in fields.items() if value is None and name != "folder"]
    if missing:
        raise InputError(f"{path}: {', '.join(missing)} missing in it")
    return Run(**{**fields, "folder": folder})


def measured_digest(raw: Path) -> str:
    """Return the hash over the names and bytes of all raw files."""
    digest = hashlib.sha256()
    for path in sorted(raw.iterdir()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name}\0{content}\n".encode())
    return digest.hexdigest()
