"""The state of a run that goes on: series that grow with the files of its samplers.

What to watch is planned first (`plan_watch`). Probes do not change a case's results, so those that
are missing are added: what is run is then another case, but its flows give the same figures.

A tool reports its connections' ports at its end. Until then the server's host and port are all
that is known: every connection to it is the flow's, and one of them is the control connection,
which iperf3 makes before the streams' and which moves a few hundred bytes in all.
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import itertools
import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.states import FlowState, QueueState
from longfat.errors import MachineError
from longfat.execution.compile import server_ports
from longfat.model.flow_path import queue_limits
from longfat.model.network import shaped_interfaces
from longfat.model.probes import Queue, Tcp, queue, tcp_sockets
from longfat.model.probes.samples import UNREADABLE, SampleStream

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from pathlib import Path

    from longfat.model.case import Case
    from longfat.model.probes.samples import Message
    from longfat.model.traffic import Bulk

_EVERY_S = 0.1  # of the probes that are added
_PIECE_BYTES = 1 << 24  # so that no file can fill the memory at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A case that can be watched.

    Attributes:
        case: the case with the probes that it needs.
        queues: the interfaces whose queues are watched, with their limits in
            bytes where a set-up line specifies them.
        flows: the flows whose sockets are watched, by the host and the port of their servers.
    """

    case: Case
    queues: dict[str, int | None]
    flows: dict[tuple[str, int], Bulk]


def plan_watch(case: Case) -> Plan:
    """Return what to watch of a case.

    Its own probes are enough for queues, or for sockets, if it has one of that
    kind. Otherwise one is added, every 100 ms: for the queues of all interfaces
    on which a set-up line puts a queueing discipline, and for the sockets of
    all flows of bulk traffic over TCP.
    """
    probes = list(case.probes)
    shaped = _shaped_interfaces(case)
    if shaped and not case.probes_of(Queue):
        probes.append(Queue(name=_free_name(case, "watch-queue"), of=shaped, every_s=_EVERY_S))
    if case.tcp_flows and not case.probes_of(Tcp):
        names = tuple(flow.name for flow in case.tcp_flows)
        probes.append(Tcp(name=_free_name(case, "watch-tcp"), of=names, every_s=_EVERY_S))
    watched = dataclasses.replace(case, probes=tuple(probes))
    sampled = {name for probe in watched.probes_of(Tcp) for name in probe.of}
    limits, ports = queue_limits(case), server_ports(case)
    return Plan(
        case=watched,
        queues={name: limits.get(name) for probe in watched.probes_of(Queue) for name in probe.of},
        flows={
            (flow.target, ports[flow.name]): flow for flow in case.tcp_flows if flow.name in sampled
        },
    )


def _shaped_interfaces(case: Case) -> tuple[str, ...]:
    """Return the interfaces with a queueing discipline; those of one node are adjacent."""
    qdiscs = {shaped.name: shaped.qdiscs for shaped in shaped_interfaces(case.network)}
    by_node = case.network.interfaces_by_node(list(qdiscs))
    return tuple(
        name for names in by_node.values() for name in names if qdiscs[name] or _typed(case, name)
    )


def _typed(case: Case, interface: str) -> bool:
    """Return whether a set-up line configures a queueing discipline of an interface."""
    pattern = re.compile(rf"\btc\b.*\bqdisc\b.*\bdev\s+{re.escape(interface)}(?![\w-])", re.DOTALL)
    return any(pattern.search(command.line) for command in case.setup)


def _free_name(case: Case, name: str) -> str:
    taken = {flow.name for flow in case.flows} | {probe.name for probe in case.probes}
    while name in taken:
        name += "-"
    return name


@dataclass(slots=True)
class Series:
    """A quantity over virtual time.

    Attributes:
        times_s: its times, in seconds after the traffic's start.
        values: its values.
    """

    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, time_s: float, value: float) -> None:
        """Add a value of a time that is later than all others."""
        self.times_s.append(time_s)
        self.values.append(value)

    def at(self, time_s: float, *, since_s: float = -math.inf) -> float | None:
        """Return the latest value up to `time_s`; None if there is none after `since_s`."""
        index = bisect.bisect_right(self.times_s, time_s)
        if index == 0 or self.times_s[index - 1] <= since_s:
            return None
        return self.values[index - 1]


@dataclass(slots=True, kw_only=True)
class QueueSeen:
    """The state of a queue so far.

    Attributes:
        limit_bytes: its limit, where that is known.
        qdisc: its kind; empty before the first sample.
        backlog: its backlog in bytes.
        drops: packets that it dropped since the traffic's start.
        marks: packets that it marked.
    """

    limit_bytes: int | None
    qdisc: str = ""
    backlog: Series = field(default_factory=Series)
    drops: Series = field(default_factory=Series)
    marks: Series = field(default_factory=Series)
    _state: QueueState = field(default_factory=QueueState, compare=False)

    def add(self, time_s: float, qdiscs: list[dict[str, Any]]) -> None:
        """Add a sample: the rows of all qdiscs of the interface."""
        if time_s <= (self.backlog.times_s or [-1.0])[-1]:
            return  # two probes may sample one interface
        sample = self._state.add(qdiscs)
        self.qdisc = sample.qdisc
        self.backlog.add(time_s, sample.backlog_bytes)
        self.drops.add(time_s, sample.drops)
        self.marks.add(time_s, sample.marks)


@dataclass(slots=True, kw_only=True)
class FlowSeen:
    """The state of a flow's sending sockets so far; `longfat.analysis.timeseries` defines it.

    Attributes:
        streams: the number of streams in the last sample that had any.
        throughput: the rate at which data arrives, in bit/s, at the middle of each window.
        rtt: the smoothed RTT in seconds; the mean of the streams.
        cwnd: the congestion window in bytes; sum of all streams.
        arrived: bytes that have arrived; sum of all streams, including ended ones.
        retransmits: retransmitted segments, likewise.
        every_s: the time between two samples, in seconds.
        lag_s: by how much the last throughput is older than its sample, in seconds.
    """

    streams: int = 0
    throughput: Series = field(default_factory=Series)
    rtt: Series = field(default_factory=Series)
    cwnd: Series = field(default_factory=Series)
    arrived: Series = field(default_factory=Series)
    retransmits: Series = field(default_factory=Series)
    every_s: float = _EVERY_S
    lag_s: float = 0.0
    _state: FlowState = field(default_factory=FlowState, compare=False)

    def add(self, time_s: float, streams: list[dict[str, Any]]) -> None:
        """Add a sample: the rows of the streams' sending sockets."""
        if not streams or time_s <= (self.arrived.times_s or [-1.0])[-1]:
            return  # two probes may sample one flow
        rows: dict[Hashable, dict[str, Any]] = {row["stream"]: row for row in streams}
        sample = self._state.add(time_s, rows, every_s=self.every_s)
        self.arrived.add(time_s, sample.arrived_bytes)
        self.retransmits.add(time_s, sample.retransmits)
        if sample.throughput_bps is not None:
            self.throughput.add(sample.middle_s, sample.throughput_bps)
            self.lag_s = time_s - sample.middle_s
        if sample.rtt_s is not None and sample.cwnd_bytes is not None:
            self.streams = sample.streams
            self.rtt.add(time_s, sample.rtt_s)
            self.cwnd.add(time_s, sample.cwnd_bytes)

    def mean_bps(self, start_s: float, end_s: float) -> float | None:
        """Return the mean throughput in bit/s; None without any sample after `start_s`."""
        arrived = self.arrived.at(end_s, since_s=start_s)
        if arrived is None:
            return None
        return (arrived - (self.arrived.at(start_s) or 0)) * 8 / (end_s - start_s)


class FlowSockets:
    """Finds the sockets of flows in samples of a tcp probe.

    Args:
        flows: the flows that the probe samples, by the host and the port of their servers.
        seen: the state of the flows to add to, by name.

    Attributes:
        streams: the clients' ports of the connections that carry each flow's data.
    """

    def __init__(self, flows: Mapping[tuple[str, int], Bulk], seen: Mapping[str, FlowSeen]) -> None:
        self._flows = flows
        self._seen = seen
        self._ends: tcp_sockets.Ends = {}  # the number of a stream is its client's port
        # When each connection was first seen, and what it has moved, by its client's port.
        self._first_s: dict[str, dict[int, float]] = {flow.name: {} for flow in flows.values()}
        self._moved_bytes: dict[str, dict[int, int]] = {flow.name: {} for flow in flows.values()}
        self.streams: dict[str, list[int]] = {}

    def add(self, time_s: float, messages: list[Message]) -> None:
        """Add a sample: its messages from all hosts."""
        for message in messages:
            local, remote = tcp_sockets.ports_of(message)
            flow = self._flows.get((message.source.node, local))
            if flow is not None and remote:  # a listening socket has no client
                self._first_s[flow.name].setdefault(remote, time_s)
                tcp_sockets.add_stream(flow, remote, local, stream=remote, ends=self._ends)
        rows = list(tcp_sockets.decode(messages, self._ends))
        for flow in self._flows.values():
            self._add_flow(flow, time_s, [row for row in rows if row["flow"] == flow.name])

    def _add_flow(self, flow: Bulk, time_s: float, rows: list[dict[str, Any]]) -> None:
        first_s, moved_bytes = self._first_s[flow.name], self._moved_bytes[flow.name]
        for row in rows:
            if row["host"] == flow.target:
                moved_bytes[row["stream"]] = row["bytes_acked"] + row["bytes_received"]
        streams = data_ports(first_s, moved_bytes, has_control=flow.has_control)
        self.streams[flow.name] = streams
        sending = [row for row in rows if row["end"] == "sender" and row["stream"] in streams]
        self._seen[flow.name].add(time_s, sending)


def data_ports(
    first_s: Mapping[int, float], moved_bytes: Mapping[int, int], *, has_control: bool
) -> list[int]:
    """Return the clients' ports of the connections to a flow's server that carry its data.

    The control connection is the one that was seen first. Where several were seen first at
    once, it is the one of them that has moved the fewest bytes.

    Args:
        first_s: when each was first seen, by its client's port.
        moved_bytes: what each has carried so far, in both directions.
        has_control: one of them is the control connection.
    """
    ports = sorted(first_s, key=lambda port: (first_s[port], moved_bytes.get(port, 0), port))
    return ports[1:] if has_control else ports


class _SampleFile:
    """A sampler's file, read as far as it has grown.

    Args:
        name: its name.
        add: takes the time and the messages of each sample.
    """

    def __init__(self, name: str, add: Callable[[float, list[Message]], None]) -> None:
        self._name = name
        self._add = add
        self._offset = 0
        self._waiting: list[Message] = []
        self.stream = SampleStream(name=name)

    def read(self, folder: Path) -> None:
        """Read what is new in the folder's file, if there is one."""
        with (
            contextlib.suppress(FileNotFoundError),
            (folder / "raw" / self._name).open("rb") as file,
        ):
            file.seek(self._offset)
            while piece := file.read(_PIECE_BYTES):
                self._offset += len(piece)
                self._feed(piece)

    def _feed(self, piece: bytes) -> None:
        self._waiting += self.stream.feed(piece)
        # Sample by sample, so that the result does not depend on how the file was read.
        whole = [message for message in self._waiting if message.time_s <= self.stream.time_s]
        del self._waiting[: len(whole)]
        for time_s, sample in itertools.groupby(whole, key=lambda message: message.time_s):
            self._add(time_s, list(sample))


class LiveRun:
    """A run that is being watched.

    Args:
        plan: what to watch.

    Attributes:
        folder: the folder that the run's guest fills; None before the run has one. It is
            renamed when the run has ended.
        queues: the state of the queues, by interface.
        flows: the state of the flows, by name.
        every_s: the longest time between two samples, in seconds.
    """

    def __init__(self, plan: Plan) -> None:
        self.folder: Path | None = None
        self.queues = {name: QueueSeen(limit_bytes=limit) for name, limit in plan.queues.items()}
        self.flows = {flow.name: FlowSeen() for flow in plan.flows.values()}
        probes = (*plan.case.probes_of(Queue), *plan.case.probes_of(Tcp))
        self.every_s = max((probe.every_s for probe in probes), default=0.1)
        self._files = []
        unsampled = {flow.name for flow in plan.flows.values()}
        for probe in probes:
            add = self._add_queues
            if isinstance(probe, Tcp):
                # Of several probes the first counts, as in the curves of a run that has ended.
                names = unsampled & set(probe.of)
                unsampled -= names
                for name in names:
                    self.flows[name].every_s = probe.every_s
                flows = {at: flow for at, flow in plan.flows.items() if flow.name in names}
                add = FlowSockets(flows, self.flows).add
            self._files.append(_SampleFile(probe.samples_file, add))

    def poll(self) -> None:
        """Read new data.

        Raises:
            MachineError: a file is not what a sampler writes.
        """
        try:
            if self.folder is not None:
                for file in self._files:
                    file.read(self.folder)
        except UNREADABLE as error:
            raise MachineError(
                f"a sampler's file cannot be read: {type(error).__name__} {error}"
            ) from error

    @property
    def time_s(self) -> float:
        """Return the virtual time after the traffic's start up to which all samples are read."""
        return min((file.stream.time_s for file in self._files), default=0.0)

    def _add_queues(self, time_s: float, messages: list[Message]) -> None:
        qdiscs: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in queue.decode(iter(messages)):
            qdiscs[row["interface"]].append(row)
        for interface, rows in qdiscs.items():
            if interface in self.queues:
                self.queues[interface].add(time_s, rows)
