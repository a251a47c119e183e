"""The state of a run while it runs: series that grow with the samplers' files.

A tool reports its connections' ports at its end. Until then the server's host and port are all
that is known: every connection to it is the flow's, and one of them is the control connection,
which iperf3 makes before the streams' and which moves a few hundred bytes in all.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.errors import MachineError
from longfat.model.probes import Queue, Tcp, queue, tcp
from longfat.model.probes.samples import UNREADABLE, SampleStream

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from longfat.model.probes.samples import Message
    from longfat.model.traffic import Bulk
    from longfat.output.watch.plan import Plan

_PIECE_BYTES = 1 << 24  # so that no file can fill the memory at once
_RATE_OVER_S = 1.0


@dataclass(slots=True)
class Series:
    """A quantity over virtual time.

    Attributes:
        times_s: when it was sampled, in seconds after the traffic's start.
        values: its values.
    """

    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    _counter: int | None = None

    def add(self, time_s: float, value: float) -> None:
        """Add a sample that is later than all others."""
        self.times_s.append(time_s)
        self.values.append(value)

    def count(self, time_s: float, counter: int) -> None:
        """Add a sample of a counter: the values are its growth since the first sample.

        A counter that decreases was reset to 0.
        """
        before = counter if self._counter is None else self._counter
        growth = counter - before if counter >= before else counter
        self._counter = counter
        self.add(time_s, (self.values[-1] if self.values else 0) + growth)

    def at(self, time_s: float, *, since_s: float = -math.inf) -> float | None:
        """Return the latest value up to `time_s`; None if there is none after `since_s`."""
        place = bisect.bisect_right(self.times_s, time_s)
        if place == 0 or self.times_s[place - 1] <= since_s:
            return None
        return self.values[place - 1]


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

    def add(self, time_s: float, qdiscs: list[dict[str, Any]]) -> None:
        """Add a sample: the rows of all qdiscs of the interface."""
        if time_s <= (self.backlog.times_s or [-1.0])[-1]:
            return  # two probes may sample one interface
        first, *_ = handles = queue.waiting_handles(qdiscs)
        waiting = next(row for row in qdiscs if row["handle"] == first)
        self.qdisc = waiting["qdisc"]
        self.backlog.add(time_s, waiting["backlog_bytes"])
        self.drops.count(time_s, waiting["drops"])
        # A shaper counts the drops of the qdisc below it as its own, but not its marks.
        marks = sum(row["marks"] or 0 for row in qdiscs if row["handle"] in handles)
        self.marks.count(time_s, marks)


@dataclass(slots=True, kw_only=True)
class FlowSeen:
    """The state of a flow's sending sockets so far.

    Attributes:
        streams: the number of streams in the last sample that had any.
        throughput: the rate that the receiver acknowledged, in bit/s, over the last second;
            sum of all streams.
        rtt: the smoothed RTT in seconds; the mean of the streams.
        cwnd: the congestion window in bytes; sum of all streams.
        acked: acknowledged bytes; sum of all streams, including ended ones.
        retransmits: retransmitted segments, likewise.
    """

    streams: int = 0
    throughput: Series = field(default_factory=Series)
    rtt: Series = field(default_factory=Series)
    cwnd: Series = field(default_factory=Series)
    acked: Series = field(default_factory=Series)
    retransmits: Series = field(default_factory=Series)
    _counts: dict[tuple[str, int], int] = field(default_factory=dict)

    def add(self, time_s: float, streams: list[dict[str, Any]]) -> None:
        """Add a sample: the rows of the streams' sending sockets."""
        if not streams or time_s <= (self.acked.times_s or [-1.0])[-1]:
            return  # two probes may sample one flow
        for name, series in (("bytes_acked", self.acked), ("retransmits", self.retransmits)):
            for row in streams:
                key = name, row["stream"]
                self._counts[key] = max(self._counts.get(key, 0), int(row[name]))
            series.add(time_s, sum(n for (of, _), n in self._counts.items() if of == name))
        if (mean_bps := self.mean_bps(max(0.0, time_s - _RATE_OVER_S), time_s)) is not None:
            self.throughput.add(time_s, mean_bps)
        alive = [row for row in streams if row["state"] != tcp.ENDED]
        if alive:
            self.streams = len(alive)
            self.rtt.add(time_s, sum(row["rtt_s"] for row in alive) / len(alive))
            self.cwnd.add(time_s, sum(row["cwnd_bytes"] for row in alive))

    def mean_bps(self, start_s: float, end_s: float) -> float | None:
        """Return the mean throughput in bit/s; None without any sample after `start_s`."""
        acked = self.acked.at(end_s, since_s=start_s)
        if acked is None:
            return None
        return (acked - (self.acked.at(start_s) or 0)) * 8 / (end_s - start_s)


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
        self._ends: tcp.Ends = {}  # the number of a stream is its client's port
        # When each connection was first seen, and what it has moved, by its client's port.
        self._first_s: dict[str, dict[int, float]] = {flow.name: {} for flow in flows.values()}
        self._moved_bytes: dict[str, dict[int, int]] = {flow.name: {} for flow in flows.values()}
        self.streams: dict[str, list[int]] = {}

    def add(self, time_s: float, messages: list[Message]) -> None:
        """Add a sample: its messages from all hosts."""
        for message in messages:
            local, remote = tcp.ports_of(message)
            flow = self._flows.get((message.source.node, local))
            if flow is not None and remote:  # a listening socket has no client
                self._first_s[flow.name].setdefault(remote, time_s)
                tcp.add_stream(flow, remote, local, stream=remote, ends=self._ends)
        rows = list(tcp.decode(messages, self._ends))
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
        whole = [one for one in self._waiting if one.time_s <= self.stream.time_s]
        del self._waiting[: len(whole)]
        for time_s, sample in itertools.groupby(whole, key=lambda one: one.time_s):
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
        for probe in probes:
            add = self._add_queues
            if isinstance(probe, Tcp):
                flows = {at: flow for at, flow in plan.flows.items() if flow.name in probe.of}
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
