"""A run that is being made: a partial folder that becomes a run directory by a rename."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.errors import HostError, InputError, MachineError
from longfat.execution.runs.partial_folder import partial_folder, publish, sweep
from longfat.execution.runs.run import (
    DROPS,
    INSTALLED,
    MANIFEST,
    OUTCOME,
    RAW,
    SERIES,
    EventTime,
    FlowFailure,
    FlowTime,
    Run,
    Tool,
    raw_digest,
    sums_of,
)
from longfat.execution.runs.space import check_room, disk_full, has_room, is_full_error, write_error
from longfat.model.flow_path import NotUnderstoodError, flow_path
from longfat.model.probes.samples import UNREADABLE
from longfat.model.traffic.flow import STATUS, SUCCEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.engine.kernel import Kernel
    from longfat.execution.runs.packet_drops import (
        DropSection,
        NodeCount,
        PacketDrop,
        QdiscDrops,
    )
    from longfat.model.case import Case
    from longfat.model.flow_path import FlowPath
    from longfat.model.flow_path.installed import InstalledNode
    from longfat.model.parameter import ParameterValue
    from longfat.model.traffic import Flow

_REPORTED = 1  # the exit status of a flow whose tool reports an error only in its output

pa = lazy("pyarrow")
pq = lazy("pyarrow.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestReport:
    """The guest's report about a case that it ran.

    Attributes:
        virtual_s: virtual time from boot to end, in seconds.
        epoch_s: the time of its clock at the traffic's start, in seconds since 1970.
        flow_times: when each flow began and ended, by its name.
        flow_failures: how flows failed, by their names.
        event_times: when events happened, in the order of their times.
        drops: what the kernel dropped while traffic played; None if it does not count that.
        drop_sections: of a case with events, what was dropped before each of them.
        qdiscs: those of the interfaces at which a qdisc dropped packets.
        counts: counters of nodes that grew while traffic played.
        installed: what the kernel had installed; None if it was not read.
    """

    virtual_s: float
    epoch_s: float
    flow_times: dict[str, FlowTime]
    event_times: tuple[EventTime, ...] = ()
    flow_failures: dict[str, FlowFailure] = field(default_factory=dict)
    drops: tuple[PacketDrop, ...] | None = None
    drop_sections: tuple[DropSection, ...] = ()
    qdiscs: tuple[QdiscDrops, ...] = ()
    counts: tuple[NodeCount, ...] = ()
    installed: tuple[InstalledNode, ...] | None = None


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
        """
        raw = self.folder / RAW
        for path in raw.glob("*.err"):
            if path.stat().st_size == 0:
                path.unlink()
        metrics, failures = measure(
            self._case,
            raw,
            series=self.folder / SERIES,
            epoch_s=report.epoch_s,
            failures=report.flow_failures,
            installed=report.installed,
        )
        for name in (INSTALLED, DROPS):  # likewise
            (self.folder / name).unlink(missing_ok=True)
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
            flow_failures=failures,
            drops=report.drops,
            drop_sections=report.drop_sections,
            qdiscs=report.qdiscs,
            counts=report.counts,
            installed=report.installed,
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


def measure(
    case: Case,
    raw: Path,
    *,
    series: Path,
    epoch_s: float,
    failures: Mapping[str, FlowFailure] = MappingProxyType({}),
    installed: Sequence[InstalledNode] | None = None,
) -> tuple[dict[str, float], dict[str, FlowFailure]]:
    """Read a run's raw files, write the series of its probes, and measure all of them.

    Args:
        case: the case.
        raw: the folder of its raw files.
        series: the folder for the series; created if there are any.
        epoch_s: the time of the guest's clock at the traffic's start, in seconds since 1970.
        failures: how flows failed, by their names; of those the exit status is measured.
        installed: what the kernel had installed; None if it was not read.

    Returns:
        All metrics, and how flows failed, also those of which only the report says so.

    Raises:
        MachineError: a tool's output cannot be read, or a metric is not a finite number.
    """
    flows, failures = measure_flows(case, raw, failures=failures, installed=installed)
    metrics = flows | decode_probes(case, raw, series=series, epoch_s=epoch_s, failures=failures)
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise MachineError(f"{name} is {value}, which is not a valid measurement")
    return metrics, failures


def measure_flows(
    case: Case,
    raw: Path,
    *,
    failures: Mapping[str, FlowFailure] = MappingProxyType({}),
    installed: Sequence[InstalledNode] | None = None,
) -> tuple[dict[str, float], dict[str, FlowFailure]]:
    """Measure a case's flows; arguments and results as of `measure`.

    Raises:
        MachineError: a tool's output cannot be read.
    """
    metrics: dict[str, float] = {}
    failures = dict(failures)
    for flow in case.flows:
        values: Mapping[str, float] = {}
        if flow.name not in failures:
            try:
                values = flow.measure(raw)
            except MachineError as error:
                raise MachineError(f"flow {flow.name!r}: {error}") from error
            except InputError as error:  # iperf3 can exit with 0 after an error
                failures[flow.name] = FlowFailure(line="", status=_REPORTED, reason=str(error))
        failure = failures.get(flow.name)
        status = 0.0 if failure is None else float(failure.status)
        if failure is not None or flow.expect != SUCCEEDS:
            metrics[f"{flow.name}.{STATUS.name}"] = status
        metrics |= {f"{flow.name}.{name}": value for name, value in values.items()}
    for flow in case.flows:
        if flow.name in failures or not flow.has_ideal:
            continue
        if path := _path(case, flow, metrics, installed=installed):
            found = flow.compare(raw, rate_bps=path.rate_bps, rtt_s=path.rtt_s)
            metrics |= {f"{flow.name}.{name}": value for name, value in found.items()}
    return metrics, failures


def _path(
    case: Case,
    flow: Flow,
    metrics: Mapping[str, float],
    *,
    installed: Sequence[InstalledNode] | None,
) -> FlowPath | None:
    try:
        return flow_path(case, flow, metrics, installed=installed)
    except NotUnderstoodError:
        return None


def decode_probes(
    case: Case,
    raw: Path,
    *,
    series: Path,
    epoch_s: float,
    failures: Mapping[str, FlowFailure] = MappingProxyType({}),
) -> dict[str, float]:
    """Decode the probes' raw files, write their series, and return their metrics.

    Arguments are as of `measure`.

    Raises:
        MachineError: a probe's file cannot be read.
    """
    metrics: dict[str, float] = {}
    ports = {name: failure.port for name, failure in failures.items() if failure.port}
    for probe in case.probes:
        series.mkdir(exist_ok=True)
        try:
            table = probe.table(raw, flows=case.flows, epoch_s=epoch_s, failed_ports=ports)
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
