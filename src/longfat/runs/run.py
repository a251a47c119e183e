"""A run as a value, its manifest, and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longfat.case import Case
from longfat.errors import InputError

RUN_FORMAT = 2
"""The version of the manifest; it changes when the meaning of a field does."""

MANIFEST = "manifest.json"
RAW = "raw"
SERIES = "series"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTime:
    """When a flow began and ended, in seconds of virtual time after the traffic's start."""

    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What one case gave.

    Attributes:
        folder: the run directory.
        name: the case's name.
        case: the case.
        case_digest: the case's digest.
        digest: a hash over all that was measured, not over wall time or
            paths: equal digests mean equal bytes.
        kernel: the kernel's `digest`, `release` and `binary_sha256`.
        tools: the versions of the host's tools, by name.
        seed: the case's seed.
        flow_times: when each flow began and ended, by its name.
        epoch_s: what the guest's clock said at the traffic's start, in seconds since 1970.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        metrics: numbers by `FLOW.METRIC` and `PROBE.METRIC`, in base units.
    """

    folder: Path
    name: str
    case: Case
    case_digest: str
    digest: str
    kernel: dict[str, str]
    tools: dict[str, str]
    seed: int
    flow_times: Mapping[str, FlowTime]
    epoch_s: float
    virtual_s: float
    wall_s: float
    metrics: dict[str, float]

    @property
    def raw(self) -> Path:
        """Return the folder of what the tools printed."""
        return self.folder / RAW

    def series(self, probe: str) -> pa.Table:
        """Return what a probe saw.

        Args:
            probe: the probe's name.

        Returns:
            A table as `longfat.probe` describes it; units stand in the schema.

        Raises:
            InputError: the case has no such probe, or the file is missing or broken.
        """
        names = [one.name for one in self.case.probes]
        if probe not in names:
            there = f"its probes: {', '.join(names)}" if names else "it has none"
            raise InputError(f"{self.folder}: no probe {probe!r} in this run; {there}")
        path = self.folder / SERIES / f"{probe}.parquet"
        try:
            return pq.read_table(path)
        except FileNotFoundError:
            raise InputError(f"{path}: missing: the run directory is not whole") from None
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{path}: not a whole Parquet file: {error}") from None

    def to_manifest(self) -> dict[str, Any]:
        """Return all but the place of the run as plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del fields["folder"]
        fields["case"] = self.case.to_json()
        fields["flow_times"] = {name: asdict(time) for name, time in self.flow_times.items()}
        return {"format": RUN_FORMAT, **fields}


def load_run(folder: Path) -> Run:
    """Read a run directory.

    Raises:
        InputError: it is no run directory, or one of another format.
    """
    path = folder / MANIFEST
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder}: not a run directory: no {MANIFEST} in it") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: not a run directory: {error}") from None
    found = data.get("format") if isinstance(data, dict) else None
    if found != RUN_FORMAT:
        raise InputError(f"{path}: its format is {found!r}; this longfat reads {RUN_FORMAT}")
    fields = {name: data.get(name) for name in Run.__dataclass_fields__}
    missing = [name for name, value in fields.items() if value is None and name != "folder"]
    if missing:
        raise InputError(f"{path}: {', '.join(missing)} missing in it")
    try:
        fields["case"] = Case.from_json(fields["case"])
        fields["flow_times"] = {
            name: FlowTime(**times) for name, times in fields["flow_times"].items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: {error}") from None
    return Run(**{**fields, "folder": folder})


def measured_digest(raw: Path) -> str:
    """Return the hash over the names and bytes of all raw files."""
    digest = hashlib.sha256()
    for path in sorted(raw.iterdir()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.name}\0{content}\n".encode())
    return digest.hexdigest()
