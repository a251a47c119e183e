"""A run in the making: a hidden folder that becomes a run directory by a rename."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from longfat.errors import InputError, MachineError, SurroundingsError
from longfat.probe.samples import UNREADABLE
from longfat.runs.run import MANIFEST, RAW, SERIES, FlowTime, Run, Tool, measured_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.case import Case
    from longfat.kernel import Kernel
    from longfat.setting import Setting

_SUFFIX = ".partial"

# A folder this young may belong to somebody who is just about to lock it.
_SWEEP_AFTER_S = 60.0

# What host and guest tell each other is no result.
_EXCHANGE = ("job.json", "outcome.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What the guest tells of a case that it played.

    Attributes:
        virtual_s: virtual time from boot to end, in seconds.
        epoch_s: what its clock said at the traffic's start, in seconds since 1970.
        flow_times: when each flow began and ended, by its name.
    """

    virtual_s: float
    epoch_s: float
    flow_times: dict[str, FlowTime]


@dataclass(frozen=True, slots=True)
class Staged:
    """A run directory that is not there yet.

    Attributes:
        folder: where it is filled.
    """

    folder: Path
    _name: str
    _case: Case
    _out: Path
    _study: str
    _parameters: Mapping[str, Setting]

    def check(self) -> None:
        """Check what the guest left, before anything is read or written there.

        The guest's root could leave a link, and we would follow it with our own
        rights. To be called when the machine has ended and can change no more.

        Raises:
            MachineError: there is something other than files and folders.
        """
        for folder, names, files in os.walk(self.folder):
            for name in (*names, *files):
                mode = Path(folder, name).lstat().st_mode
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    kind = "a link" if stat.S_ISLNK(mode) else "a special file"
                    raise MachineError(f"the guest left {kind} in its run folder: {name}")

    def keep(
        self,
        *,
        kernel: Kernel,
        tools: dict[str, Tool],
        played: Played,
        wall_s: float,
        peak_bytes: int,
    ) -> Run:
        """Measure what was written, add the manifest, and put the run in its place.

        Args:
            kernel: the kernel that ran it.
            tools: the host's tools, and longfat itself, by name.
            played: what the guest tells.
            wall_s: wall time from boot to end, in seconds.
            peak_bytes: the most memory that the machine's processes held at once.

        Raises:
            MachineError: a tool's output cannot be read.
            InputError: a tool's output tells that it failed.
        """
        raw = self.folder / RAW
        for path in raw.glob("*.err"):
            if path.stat().st_size == 0:
                path.unlink()
        run = Run(
            folder=self._out / f"{self._name}-seed{self._case.seed}",
            name=self._name,
            case=self._case,
            case_digest=self._case.digest,
            digest=measured_digest(raw),
            kernel={
                "digest": kernel.digest,
                "release": kernel.release,
                "binary_sha256": kernel.binary_sha256,
            },
            tools=tools,
            seed=self._case.seed,
            flow_times=played.flow_times,
            epoch_s=played.epoch_s,
            virtual_s=played.virtual_s,
            wall_s=round(wall_s, 3),
            peak_bytes=peak_bytes,
            metrics=_measure(self._case, raw)
            | _decode(self._case, raw, series=self.folder / SERIES, epoch_s=played.epoch_s),
            study=self._study,
            parameters=self._parameters,
        )
        for name in _EXCHANGE:
            (self.folder / name).unlink()
        manifest = json.dumps(run.to_manifest(), indent=2, sort_keys=True)
        (self.folder / MANIFEST).write_text(manifest + "\n", encoding="utf-8")
        self._publish(run.folder)
        return run

    def _publish(self, place: Path) -> None:
        self.folder.chmod(0o755)
        if place.exists():
            # A folder cannot be renamed onto a full one: the old one steps aside first.
            aside = tempfile.mkdtemp(dir=self._out, prefix=f".{place.name}-", suffix=_SUFFIX)
            place.rename(f"{aside}/old")
            self.folder.rename(place)
            shutil.rmtree(aside)
        else:
            self.folder.rename(place)


def _measure(case: Case, raw: Path) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for flow in case.flows:
        try:
            found = flow.measure(raw)
        except (InputError, MachineError) as error:
            raise type(error)(f"flow {flow.name!r}: {error}") from error
        metrics |= {f"{flow.name}.{name}": value for name, value in found.items()}
    return metrics


def _decode(case: Case, raw: Path, *, series: Path, epoch_s: float) -> dict[str, float]:
    """Decode what the probes kept, write their series, and return their metrics."""
    metrics: dict[str, float] = {}
    for probe in case.probes:
        series.mkdir(exist_ok=True)
        try:
            table = probe.table(raw, flows=case.flows, epoch_s=epoch_s)
        except MachineError as error:
            raise MachineError(f"probe {probe.name!r}: {error}") from error
        except (*UNREADABLE, pa.ArrowException) as error:
            raise MachineError(
                f"probe {probe.name!r}: what it kept cannot be read: {type(error).__name__} {error}"
            ) from error
        # Raw bytes are what counts; the same table compresses to other bytes
        # with another version of the library.
        pq.write_table(table, series / f"{probe.name}.parquet", compression="zstd")
        metrics |= {f"{probe.name}.{name}": value for name, value in probe.measure(table).items()}
    return metrics


@contextlib.contextmanager
def staged_run(
    out: Path,
    *,
    name: str,
    case: Case,
    study: str = "",
    parameters: Mapping[str, Setting] = MappingProxyType({}),
) -> Iterator[Staged]:
    """Make a hidden folder for a run; what is not kept by the end is removed.

    Args:
        out: the folder that takes the run directory; made if it is not there.
        name: the case's name.
        case: the case.
        study: the name of its study; empty if it is of none.
        parameters: of a case of a grid, what each parameter is in it.

    Raises:
        InputError: `out` cannot be made or written to.
    """
    try:
        # A sandbox and a guard do not stand where we stand: they need whole paths.
        out = out.resolve()
        out.mkdir(parents=True, exist_ok=True)
        _sweep(out)
        folder = Path(tempfile.mkdtemp(dir=out, prefix=f".{name}-", suffix=_SUFFIX))
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}") from None
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Staged(folder, name, case, out, study, parameters)
    except OSError as error:
        raise SurroundingsError(f"{folder}: {error.strerror}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(out: Path) -> None:
    """Remove what a power failure or the like left behind: hidden folders that nobody holds."""
    for folder in out.glob(f".*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime < _SWEEP_AFTER_S:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
