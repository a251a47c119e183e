"""The guest's report about a case that it ran; it is untrusted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.decoding import decode, parse_json, read_bytes, read_json
from longfat.errors import MachineError
from longfat.execution.compile import server_ports
from longfat.execution.installed_outcome import event_time, read_installed
from longfat.execution.runs import EventTime, FlowFailure, FlowTime, GuestReport
from longfat.execution.runs.packet_drops import DropSection, NodeCount, PacketDrop, QdiscDrops
from longfat.execution.runs.run import DROPS, OUTCOME
from longfat.model.flow_path.installed import InstalledNode
from longfat.model.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.model.case import Case
    from longfat.model.traffic import Flow

_MAX_BYTES = 1 << 22
_MAX_TIME_S = 1e9
_MAX_STATUS = 255
_STEPS = ("files", "network", "setup", "probe", "event")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCommand:
    """A command that failed, and ended the case.

    Attributes:
        step: its purpose: `files`, `network`, `setup`, `probe` or `event`.
        words: what it printed.
        line: the command.
        status: its exit status; None if it was killed.
        path: the file that could not be put into the machine.
        index: which of the case's set-up lines or events it is.
        probe: its probe.
    """

    step: str
    words: str
    line: str = ""
    status: int | None = None
    path: str | None = None
    index: int | None = None
    probe: str | None = None

    def __post_init__(self) -> None:
        if self.step not in _STEPS:
            raise ValueError(f"step is not one of {', '.join(_STEPS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _DropLine:
    """What the guest sends of what was dropped up to a time, since the line before."""

    at_ns: int
    drops: tuple[PacketDrop, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.at_ns <= _MAX_TIME_S * 1e9:
            raise ValueError("it contains an impossible time")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedProcess:
    """The process of a flow that failed.

    Attributes:
        line: its command.
        status: its exit status as a shell has it, also for a signal.
        words: what it printed, or why it was stopped.
    """

    line: str
    status: int
    words: str

    def __post_init__(self) -> None:
        if not 0 <= self.status <= _MAX_STATUS:
            raise ValueError(f"status is not 0 to {_MAX_STATUS}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GuestOutcome:
    """The guest's report.

    Attributes:
        failed: the command that failed, if one did.
        virtual_s: virtual time from boot to end, in seconds.
        epoch_s: the time of its clock at the traffic's start, in seconds since 1970.
        flow_times: when each flow began and ended, in seconds after the traffic's start.
        flow_failures: what failed of each flow that did.
        event_times: when each step of the case's timeline began, likewise; None for one after
            the end of the traffic.
        drops: what the kernel dropped while traffic played; None if it does not count that.
        drop_sections: what was dropped before each moment of events, from a file of its own.
        qdiscs: those of the interfaces at which a qdisc dropped packets.
        counts: counters of nodes that grew while traffic played.
        installed: what the kernel had installed, from a file of its own; None without one.
    """

    failed: FailedCommand | None
    virtual_s: float
    epoch_s: float = 0.0
    flow_times: dict[str, tuple[float, float]] = field(default_factory=dict)
    flow_failures: dict[str, FailedProcess] = field(default_factory=dict)
    event_times: tuple[float | None, ...] = ()
    drops: tuple[PacketDrop, ...] | None = None
    drop_sections: tuple[DropSection, ...] = ()
    qdiscs: tuple[QdiscDrops, ...] = ()
    counts: tuple[NodeCount, ...] = ()
    installed: tuple[InstalledNode, ...] | None = None

    def __post_init__(self) -> None:
        times = [self.virtual_s, *(time for pair in self.flow_times.values() for time in pair)]
        times += [time for time in self.event_times if time is not None]
        if not all(-1.0 <= time <= _MAX_TIME_S for time in times) or self.virtual_s < 0:
            raise ValueError("it contains an impossible time")

    def report(self, case: Case) -> GuestReport:
        """Return the report of a case that was run to its end.

        Args:
            case: the case.
        """
        steps = timeline(case.network, setup=case.setup, events=case.events)
        ports = server_ports(case) if self.flow_failures else {}
        times = [
            EventTime(event=step.event, at_s=at_s, words=step.words)
            for step, at_s in zip(steps, self.event_times, strict=True)
            if at_s is not None
        ]
        return GuestReport(
            virtual_s=self.virtual_s,
            epoch_s=self.epoch_s,
            flow_times={
                name: FlowTime(start_s=round(start_s, 6), end_s=round(end_s, 6))
                for name, (start_s, end_s) in self.flow_times.items()
            },
            flow_failures={
                flow.name: _failure(flow, self.flow_failures[flow.name], port=ports[flow.name])
                for flow in case.flows
                if flow.name in self.flow_failures
            },
            event_times=tuple(sorted(times, key=lambda time: time.at_s)),
            drops=self.drops,
            drop_sections=self.drop_sections,
            qdiscs=self.qdiscs,
            counts=self.counts,
            installed=self.installed,
        )


def read_outcome(folder: Path, case: Case) -> GuestOutcome | None:
    """Read the guest's report.

    Args:
        folder: the run's folder.
        case: the case.

    Returns:
        The outcome; None if there is none.

    Raises:
        MachineError: it is invalid, or does not match the case.
    """
    path = folder / OUTCOME
    try:
        data = read_json(path, most_bytes=_MAX_BYTES, error=_foreign)
    except OSError:
        return None
    found = decode(GuestOutcome, data, where=OUTCOME, error=_foreign)
    flows = {flow.name for flow in case.flows}
    if found.failed is None:
        if found.flow_times.keys() != flows:
            raise _foreign(f"{OUTCOME}: flow_times: not those of the case's flows")
        if not found.flow_failures.keys() <= flows:
            raise _foreign(f"{OUTCOME}: flow_failures: not of the case's flows")
        steps = timeline(case.network, setup=case.setup, events=case.events)
        if len(found.event_times) != len(steps):
            raise _foreign(f"{OUTCOME}: event_times: not those of the case's events")
        events_s = [time_s for time_s in found.event_times if time_s is not None]
        return replace(
            found,
            installed=read_installed(folder, events_s=events_s),
            drop_sections=_read_drop_sections(folder, events_s=events_s),
        )
    known = {
        "probe": found.failed.probe in {probe.name for probe in case.probes},
        "setup": found.failed.index in range(len(case.setup)),
        "event": found.failed.index in range(len(case.events)),
    }
    if not known.get(found.failed.step, True):
        raise _foreign(f"{OUTCOME}: failed: the case has no such {found.failed.step}")
    return found


def _read_drop_sections(folder: Path, *, events_s: Sequence[float]) -> tuple[DropSection, ...]:
    try:
        content = read_bytes(folder / DROPS, most_bytes=_MAX_BYTES)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise _foreign(f"{DROPS}: {error}") from None
    values = (parse_json(line, where=DROPS, error=_foreign) for line in content.splitlines())
    lines = [decode(_DropLine, value, where=DROPS, error=_foreign) for value in values]
    return tuple(
        DropSection(end_s=event_time(line.at_ns / 1e9, events_s), drops=line.drops)
        for line in lines
    )


def _failure(flow: Flow, failed: FailedProcess, *, port: int) -> FlowFailure:
    reason = flow.failure(failed.words) or "it printed nothing"
    return FlowFailure(line=failed.line, status=failed.status, reason=reason, port=port)


def _foreign(message: str) -> MachineError:
    return MachineError(f"the guest's report is invalid: {message}")
