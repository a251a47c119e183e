"""The state of a run while it runs: curves that grow with the samplers' files."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.errors import MachineError
from longfat.model.metric import Unit
from longfat.model.probes import queue, tcp
from longfat.model.probes.columns import make_table
from longfat.model.probes.samples import UNREADABLE, SampleStream
from longfat.output.watch.ends import Connection, sending_ends
from longfat.output.watch.tail import Tail
from longfat.output.watch.track import Counter, Track

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from longfat.model.probes import Queue, Tcp
    from longfat.model.probes.samples import Message
    from longfat.model.probes.tcp import Ends
    from longfat.output.watch.ends import Served
    from longfat.output.watch.plan import Plan


@dataclass(slots=True, kw_only=True)
class QueueSeen:
    """The state of a queue so far.

    Attributes:
        interface: its interface.
        qdisc: its kind; empty before the first sample.
        backlog: its backlog in bytes.
        drops: packets that it dropped since the traffic's start.
        marks: packets that it marked.
    """

    interface: str
    qdisc: str = ""
    backlog: Track
    drops: Counter = field(default_factory=Counter)
    marks: Counter = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class FlowSeen:
    """The state of a flow's sending sockets so far.

    Attributes:
        flow: the flow's name.
        streams: the number of streams in the last sample that had any.
        throughput: the rate that the receiver acknowledged, in bit/s; sum of all streams.
        rtt: the smoothed RTT; the mean of the streams.
        cwnd: the congestion window in bytes; sum of all streams.
        retransmits: retransmitted segments; sum of all streams, including ended ones.
        until_s: the time of the last sample; below 0 before it.
        resent: the retransmitted segments of each stream.
    """

    flow: str
    streams: int = 0
    throughput: Track
    rtt: Track
    cwnd: Track
    retransmits: Counter = field(default_factory=Counter)
    until_s: float = -1.0
    resent: dict[int, int] = field(default_factory=dict)


class QueueReader:
    """Turns the growing file of a queue probe into curves.

    Args:
        name: the name of the file in messages.
        seen: the queues to fill, by interface.
    """

    def __init__(self, name: str, seen: dict[str, QueueSeen]) -> None:
        self.stream = SampleStream(name=name)
        self._seen = seen

    def feed(self, piece: bytes) -> None:
        """Read new data."""
        rows = list(queue.decode(self.stream.feed(piece)))
        if not rows:
            return
        for row in queue.the_queue(make_table(queue.COLUMNS, rows)).to_pylist():
            seen = self._seen.get(row["interface"])
            # Two probes may sample one interface.
            if seen is None or row["time_s"] <= (seen.backlog.times_s or [-1.0])[-1]:
                continue
            seen.qdisc = row["qdisc"]
            seen.backlog.add(row["time_s"], row["backlog_bytes"])
            seen.drops.add(row["time_s"], row["drops"])
            seen.marks.add(row["time_s"], row["marks"] or 0)


class TcpReader:
    """Turns the growing file of a tcp probe into curves.

    Args:
        name: the name of the file in messages.
        flows: the flows that the probe samples.
        seen: the flows to fill, by name.

    Attributes:
        ends: the sockets that send the flows' data, as far as they are known.
    """

    def __init__(self, name: str, flows: Iterable[Served], seen: dict[str, FlowSeen]) -> None:
        self.stream = SampleStream(name=name)
        self._flows = tuple(flows)
        self._seen = seen
        self._connections: dict[Served, dict[int, Connection]] = {one: {} for one in self._flows}
        self.ends: Ends = {}
        self._waiting: list[Message] = []
        self._acked: dict[str, tuple[float, dict[int, int]]] = {}

    def feed(self, piece: bytes) -> None:
        """Read new data."""
        self._waiting += self.stream.feed(piece)
        # Sample by sample, so that the result does not depend on how the file was read.
        whole = [one for one in self._waiting if one.time_s <= self.stream.time_s]
        self._waiting = self._waiting[len(whole) :]
        for time_s, sample in itertools.groupby(whole, key=lambda one: one.time_s):
            self._take(time_s, list(sample))

    def _take(self, time_s: float, messages: list[Message]) -> None:
        sockets: Ends = {}
        for message in messages:
            self._note_server(message, sockets)
        for row in list(tcp.decode(messages, sockets)):
            self._note_moved(row["flow"], row["stream"], row)
        connections = self._connections.items()
        self.ends = sending_ends({one: there.values() for one, there in connections})
        streams: dict[str, dict[int, dict[str, Any]]] = {}
        for row in tcp.decode(messages, self.ends):
            streams.setdefault(row["flow"], {})[row["stream"]] = row
        for flow, rows in streams.items():
            self._add(flow, time_s, rows)

    def _note_server(self, message: Message, sockets: Ends) -> None:
        local, remote = tcp.ports_of(message)
        if not remote:
            return  # a listening socket that has ended
        for served in self._flows:
            if (message.source.node, local) == (served.server, served.port):
                sockets[served.server, local, remote] = tcp.End(served.flow, "receiver", remote)
                new = Connection(client_port=remote, first_s=message.time_s, moved_bytes=0)
                self._connections[served].setdefault(remote, new)

    def _note_moved(self, flow: str, client_port: int, row: dict[str, int]) -> None:
        (served,) = (one for one in self._flows if one.flow == flow)
        there = self._connections[served]
        there[client_port] = Connection(
            client_port=client_port,
            first_s=there[client_port].first_s,
            moved_bytes=row["bytes_acked"] + row["bytes_received"],
        )

    def _add(self, flow: str, time_s: float, streams: dict[int, dict[str, Any]]) -> None:
        seen = self._seen[flow]
        if time_s <= seen.until_s:
            return  # two probes may sample one flow
        seen.until_s = time_s
        acked = {stream: int(row["bytes_acked"]) for stream, row in streams.items()}
        before_s, before = self._acked.get(flow, (0.0, {}))
        if before:
            grown = sum(max(0, now - before.get(stream, 0)) for stream, now in acked.items())
            seen.throughput.add(time_s, grown * 8 / (time_s - before_s))
        self._acked[flow] = time_s, {**before, **acked}
        if not seen.resent:
            seen.retransmits.add(0.0, 0)  # a socket counts from 0
        for stream, row in streams.items():
            seen.resent[stream] = max(seen.resent.get(stream, 0), int(row["retransmits"]))
        seen.retransmits.add(time_s, sum(seen.resent.values()))
        rows = [row for row in streams.values() if row["state"] != tcp.ENDED]
        if rows:
            seen.streams = len(rows)
            seen.rtt.add(time_s, sum(row["rtt_s"] for row in rows) / len(rows))
            seen.cwnd.add(time_s, sum(row["cwnd_bytes"] for row in rows))


class LiveRun:
    """A run that is being watched; use it as a context manager.

    Args:
        plan: what to watch.

    Attributes:
        queues: the state of the queues, by interface.
        flows: the state of the flows, by name.
        every_s: the longest time between two samples, in seconds.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        probes: tuple[Queue | Tcp, ...] = (*plan.queue_probes, *plan.tcp_probes)
        self.every_s = max((probe.every_s for probe in probes), default=0.1)
        self.queues = {
            name: QueueSeen(
                interface=name, backlog=Track(name=name, unit=Unit.BYTES, limit=limit_bytes)
            )
            for name, limit_bytes in plan.queues.items()
        }
        self.flows = {
            one.flow: FlowSeen(
                flow=one.flow,
                throughput=Track(name=one.flow, unit=Unit.BPS),
                rtt=Track(name=one.flow, unit=Unit.SECONDS),
                cwnd=Track(name=one.flow, unit=Unit.BYTES),
            )
            for one in plan.flows
        }
        self._readers: list[tuple[Tail, QueueReader | TcpReader]] = []

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(self, *ending: object) -> None:
        for tail, _ in self._readers:
            tail.close()

    def begin(self, folder: Path) -> None:
        """Start to read from a folder.

        Args:
            folder: the folder that the run's guest writes to.
        """
        for probe in self._plan.queue_probes:
            name = f"{probe.name}.samples"
            self._readers.append((Tail(folder, "raw", name), QueueReader(name, self.queues)))
        for one in self._plan.tcp_probes:
            name = f"{one.name}.samples"
            flows = [flow for flow in self._plan.flows if flow.flow in one.of]
            self._readers.append((Tail(folder, "raw", name), TcpReader(name, flows, self.flows)))

    def finish(self, folder: Path) -> None:
        """Read the rest of the files of a run that has ended.

        Args:
            folder: the folder of the run.

        Raises:
            MachineError: as `poll`.
        """
        for tail, _ in self._readers:
            tail.moved(folder)
        self.poll()

    def poll(self) -> None:
        """Read new data.

        Raises:
            MachineError: a file is not what a sampler writes.
        """
        for tail, reader in self._readers:
            while piece := tail.read():
                try:
                    reader.feed(piece)
                except UNREADABLE as error:
                    raise MachineError(
                        f"a sampler's file cannot be read: {type(error).__name__} {error}"
                    ) from error

    @property
    def time_s(self) -> float:
        """Return the virtual time after the traffic's start up to which all samples are read."""
        return min((reader.stream.time_s for _, reader in self._readers), default=0.0)
