"""A run that is being made: a partial folder that becomes a run directory by a rename."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.errors import HostError, InputError, MachineError
from longfat.execution.runs.partial_folder import partial_folder, publish, sweep
from longfat.execution.runs.run import (
    MANIFEST,
    OUTCOME,
    RAW,
    SERIES,
    EventTime,
    FlowTime,
    Run,
    Tool,
    raw_digest,
    sums_of,
)
from longfat.execution.runs.space import check_room, disk_full, has_room, is_full_error, write_error
from longfat.model.flow_path import NotUnderstoodError, flow_path
from longfat.model.probes.samples import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.engine.kernel import Kernel
    from longfat.model.case import Case
    from longfat.model.flow_path import FlowPath
    from longfat.model.parameter import ParameterValue
    from longfat.model.traffic import Flow

pa = lazy("pyarrow")
pq = lazy("pyarrow.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestReport:
    """The guest's report about a case that it ran.

    Attributes:
        virtual_s: virtual time from boot to end, in seconds.
        epoch_s: the time of its clock at the traffic's start, in seconds since 1970.
        flow_times: when each flow began and ended, by its name.
        event_times: when events happened, in the order of their times.
    """

    virtual_s: float
    epoch_s: float
    flow_times: dict[str, FlowTime]
    event_times: tuple[EventTime, ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """A run directory that does not exist yet.

    Attributes:
        folder: the folder that is being filled.
    """

    folder: Path
    _name: str
    _case: Case
    _out: Path
    _study: str
    _parameters: Mapping[str, ParameterValue]

    def publish(
        self,
        *,
        kernel: Kernel,
        tools: dict[str, Tool],
        report: GuestReport,
        wall_s: float,
        peak_bytes: int,
        sandbox: str,
    ) -> Run:
        """Compute the metrics, add the manifest, and publish the run.

        Args:
            kernel: the kernel that ran it.
            tools: the host's tools, and longfat itself, by name.
            report: the guest's report.
            wall_s: wall time from boot to end, in seconds.
            peak_bytes: the peak memory of the machine's processes.
            sandbox: the name of the sandbox that the machine ran in.

        Raises:
            MachineError: a tool's output cannot be read.
            InputError: a tool's output reports a failure.
        """
        raw = self.folder / RAW
        for path in raw.glob("*.err"):
            if path.stat().st_size == 0:
                path.unlink()
        metrics = measure(self._case, raw, series=self.folder / SERIES, epoch_s=report.epoch_s)
        (self.folder / OUTCOME).unlink(missing_ok=True)  # a message, which a live run has none of
        files = sums_of(self.folder)
        run = Run(
            folder=self._out / f"{self._name}-seed{self._case.seed}",
            name=self._name,
            case=self._case,
            case_digest=self._case.digest,
            digest=raw_digest(files),
            kernel={
                "digest": kernel.digest,
                "release": kernel.release,
                "binary_sha256": kernel.binary_sha256,
            },
            tools=tools,
            seed=self._case.seed,
            flow_times=report.flow_times,
            event_times=report.event_times,
            epoch_s=report.epoch_s,
            virtual_s=report.virtual_s,
            wall_s=round(wall_s, 3),
            peak_bytes=peak_bytes,
            sandbox=sandbox,
            metrics=metrics,
            files=files,
            study=self._study,
            parameters=self._parameters,
        )
        (self.folder / MANIFEST).write_text(run.manifest_text(), encoding="utf-8")
        publish(self.folder, run.folder)
        return run


def measure(case: Case, raw: Path, *, series: Path, epoch_s: float) -> dict[str, float]:
    """Read a run's raw files, write the series of its probes, and return all metrics.

    Args:
        case: the case.
        raw: the folder of its raw files.
        series: the folder for the series; created if there are any.
        epoch_s: the time of the guest's clock at the traffic's start, in seconds since 1970.

    Raises:
        MachineError: a tool's output cannot be read, or a metric is not a finite number.
        InputError: a tool's output reports a failure.
    """
    flows = measure_flows(case, raw)
    metrics = flows | decode_probes(case, raw, series=series, epoch_s=epoch_s)
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise MachineError(f"{name} is {value}, which is not a valid measurement")
    return metrics


def measure_flows(case: Case, raw: Path) -> dict[str, float]:
    """Return the metrics of a case's flows, by their full names.

    Raises:
        MachineError: a tool's output cannot be read.
        InputError: a tool's output reports a failure.
    """
    metrics: dict[str, float] = {}
    for flow in case.flows:
        try:
            found = flow.measure(raw)
        except (InputError, MachineError) as error:
            raise type(error)(f"flow {flow.name!r}: {error}") from error
        metrics |= {f"{flow.name}.{name}": value for name, value in found.items()}
    for flow in case.flows:
        if flow.has_ideal and (path := _path(case, flow, metrics)):
            found = flow.compare(raw, rate_bps=path.rate_bps, rtt_s=path.rtt_s)
            metrics |= {f"{flow.name}.{name}": value for name, value in found.items()}
    return metrics


def _path(case: Case, flow: Flow, metrics: Mapping[str, float]) -> FlowPath | None:
    try:
        return flow_path(case, flow, metrics)
    except NotUnderstoodError:
        return None


def decode_probes(case: Case, raw: Path, *, series: Path, epoch_s: float) -> dict[str, float]:
    """Decode the probes' raw files, write their series, and return their metrics.

    Raises:
        MachineError: a probe's file cannot be read.
    """
    metrics: dict[str, float] = {}
    for probe in case.probes:
        series.mkdir(exist_ok=True)
        try:
            table = probe.table(raw, flows=case.flows, epoch_s=epoch_s)
            measured = probe.measure(table)
        except MachineError as error:
            raise MachineError(f"probe {probe.name!r}: {error}") from error
        except (*UNREADABLE, pa.ArrowException) as error:
            raise MachineError(
                f"probe {probe.name!r}: its file cannot be read: {type(error).__name__} {error}"
            ) from error
        # The digest is over raw bytes; the same table compresses to other bytes
        # with another version of the library.
        pq.write_table(table, series / f"{probe.name}.parquet", compression="zstd")
        metrics |= {f"{probe.name}.{name}": value for name, value in measured.items()}
    return metrics


@contextlib.contextmanager
def staged_run(
    out: Path,
    *,
    name: str,
    case: Case,
    study: str = "",
    parameters: Mapping[str, ParameterValue] = MappingProxyType({}),
) -> Iterator[Staged]:
    """Create a partial folder for a run; if the run is not published by the end, it is removed.

    Args:
        out: the folder that will contain the run directory; created if it does not exist.
        name: the case's name.
        case: the case.
        study: the name of its study; empty if it is of none.
        parameters: of a case of a grid, the values of its parameters.

    Raises:
        InputError: `out` cannot be created or written to.
        HostError: the disk is full, before or after.
    """
    try:
        # A sandbox and a guard have other working directories: they need absolute paths.
        out = out.resolve()
        out.mkdir(parents=True, exist_ok=True)
        sweep(out)
        check_room(out)
    except OSError as error:
        raise write_error(out, error) from None
    try:
        with partial_folder(out, name=name) as folder:
            try:
                yield Staged(folder, name, case, out, study, parameters)
            except (MachineError, InputError) as error:
                # Whatever the error: with a full disk, it is not to be trusted.
                if not has_room(folder):
                    raise disk_full(out) from error
                raise
    except BrokenPipeError:
        raise  # of a reader of what is printed while it runs; no file has readers
    except OSError as error:
        if is_full_error(error) or not has_room(out):
            raise disk_full(out) from error
        raise HostError(f"{out}: {error.strerror or error}") from error
