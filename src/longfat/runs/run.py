"""A run as a value, its manifest, and its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longfat.case import Case
from longfat.errors import InputError
from longfat.setting import Setting

RUN_FORMAT = 3
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
class Tool:
    """A program that a result depends on.

    Attributes:
        version: what it says of itself.
        digest: the SHA-256 of its bytes, and of those of the libraries that it loads.
    """

    version: str
    digest: str


def told_tools(runs: Iterable[Run]) -> list[str]:
    """Return the tools of runs as a reader is told of them; those of no version are left out."""
    tools = {(name, tool) for run in runs for name, tool in run.tools.items()}
    return sorted(f"{name}: {tool.version}" for name, tool in tools if tool.version)


def result_key(case_digest: str, *, kernel_digest: str, tools: Mapping[str, Tool]) -> str:
    """Return the name of a result: the hash of all that decides it.

    Args:
        case_digest: the case's digest.
        kernel_digest: the kernel's digest.
        tools: the host's tools that the case uses, and longfat itself, by name.
    """
    decides = [case_digest, kernel_digest, sorted((name, t.digest) for name, t in tools.items())]
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()


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
        tools: the host's tools, and longfat itself, by name.
        seed: the case's seed.
        flow_times: when each flow began and ended, by its name.
        epoch_s: what the guest's clock said at the traffic's start, in seconds since 1970.
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: wall time of the same, in seconds.
        peak_bytes: the most memory that the machine's processes held at once.
        metrics: numbers by `FLOW.METRIC` and `PROBE.METRIC`, in base units.
        study: the name of the study whose case it is; empty if it is of none.
        parameters: of a case of a grid, what each parameter is in it.
    """

    folder: Path
    name: str
    case: Case
    case_digest: str
    digest: str
    kernel: dict[str, str]
    tools: dict[str, Tool]
    seed: int
    flow_times: Mapping[str, FlowTime]
    epoch_s: float
    virtual_s: float
    wall_s: float
    peak_bytes: int
    metrics: dict[str, float]
    study: str = ""
    parameters: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return the name of the result, by which it is remembered: see `result_key`."""
        digest = self.kernel["digest"]
        return result_key(self.case_digest, kernel_digest=digest, tools=self.tools)

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
        fields["tools"] = {name: asdict(tool) for name, tool in self.tools.items()}
        fields["parameters"] = {name: one.to_json() for name, one in self.parameters.items()}
        return {"format": RUN_FORMAT, **fields}

    def manifest_text(self) -> str:
        """Return what stands in the run's manifest."""
        return json.dumps(self.to_manifest(), indent=2, sort_keys=True) + "\n"


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
        fields["tools"] = {name: Tool(**tool) for name, tool in fields["tools"].items()}
        fields["parameters"] = {
            name: Setting.from_json(one) for name, one in fields["parameters"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: {error}") from None
    return Run(**{**fields, "folder": folder})


def measured_digest(raw: Path) -> str:
    """Return the hash over the names and bytes of all raw files."""
    digest = hashlib.sha256()
    for path in sorted(raw.iterdir()):
        digest.update(f"{path.name}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
