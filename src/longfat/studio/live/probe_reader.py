"""Converts samples of a session's probes to points of series.

What a quantity is: `longfat.analysis.timeseries`. A flow whose ports nobody has reported has those
connections that carry data: a control connection has less.

Probes sample at every node whenever time passes, whether or not Run was pressed: iperf3 may be
started at a terminal. What was sampled is read while time passes, and not kept.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.levels import CLASSFUL, class_rates_bps
from longfat.analysis.timeseries.quantities import rate_bps
from longfat.analysis.timeseries.states import FlowState, QueueState
from longfat.errors import MachineError
from longfat.model.probes import queue, rate, tcp_sockets
from longfat.model.probes.samples import UNREADABLE, SampleStream
from longfat.studio.live.series import SeriesInfo, SeriesUnit, series_info

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping

    from longfat.analysis.timeseries.states import FlowSample
    from longfat.live import Network
    from longfat.live.probes import Series
    from longfat.model.probes.samples import Message
    from longfat.studio.live.sample_log import SampleLog, SamplerLog

EVERY_S = 0.02
"""The sampling interval, in seconds of virtual time."""

MANY_INTERFACES = 32
"""In a network with more interfaces the sampling interval is longer."""

MANY_EVERY_S = 0.1

# States in which a socket's data may still be on its way.
_CARRYING = frozenset(("established", "fin-wait-1", "close-wait", "closing", "last-ack"))

# Connections with less data are ignored: they are control connections.
_MIN_BYTES = 20_000

# After this many missing samples the sampler counts as ended.
_MISSING_SAMPLES = 20

# A series without a sample for this many intervals has a gap.
_GAP_SAMPLES = 1.5

Point = tuple[SeriesInfo, float, float]
"""A series, a time in seconds since boot, and a value; NaN is a gap."""


class ProbeReader:
    """The probes of a session; `begin` starts them, `end` stops them.

    Args:
        network: the network, built; its machine is held at `begin`, `end` and `flush`.
        flow_of: returns the name of the flow to an address and port; "" for none.
        limits: the queue capacity of interfaces, in bytes, if known.

    Attributes:
        limits: likewise.
        installed_bps: the current rate limits of interfaces' qdiscs, in bit/s, without those
            that have none. Classes (htb, hfsc) count by the commands that created them.
        installed_s: when that was last seen to change, in seconds of virtual time since boot.
    """

    def __init__(
        self,
        network: Network,
        *,
        flow_of: Callable[[str, int], str],
        limits: Mapping[str, float],
    ) -> None:
        self._network = network
        self._flow_of = flow_of
        self.limits = limits
        self._streams: list[tuple[str, SampleStream]] = []
        self._log: SampleLog | None = None
        self._logs: dict[str, SamplerLog] = {}
        self._seen: Series | None = None
        self._start_s = 0.0
        self._every_s = EVERY_S
        self._waiting: dict[str, list[Message]] = {}
        self._rates: dict[str, tuple[float, int]] = {}
        self.installed_bps: dict[str, float] = {}
        self.installed_s = 0.0
        self._limits: dict[str, float | None] = {}
        self._class_lines = 0
        self._class_rates: dict[str, float] = {}
        self._queues: dict[str, QueueState] = {}
        self._flows: dict[str, FlowState] = {}
        self._full_names: dict[str, str] = {}
        # Of each series of a flow, when it was last sampled, and the time of its last point.
        self._seen_s: dict[str, tuple[SeriesInfo, float, float]] = {}

    def begin(self) -> None:
        """Start sampling at all nodes of the network.

        Raises:
            InputError: some part of it no longer exists.
        """
        network, model = self._network, self._network.model
        names = [name for pair in model.interfaces() for name in pair]
        self._full_names = model.full_interface_names()
        self._every_s = MANY_EVERY_S if len(names) > MANY_INTERFACES else EVERY_S
        self._start_s = network.clock.now
        self._limits.clear()  # each run reports them from its start
        kinds: dict[str, Any] = {
            "queue": names,
            "rate": names,
            "tcp": [h.name for h in model.hosts],
        }
        given = {kind: of for kind, of in kinds.items() if of}
        if not given:
            return
        seen = network.probe(every=self._every_s, **given)
        seen.__enter__()
        self._seen = seen
        for kind in given:
            if self._log is not None:
                start_ns = network.session.now_ns
                self._logs[kind] = self._log.sampler(kind, start_ns=start_ns)
            self._streams.append((kind, SampleStream(name=f"{kind} samples")))

    def end(self) -> str:
        """Stop sampling; unread samples are lost.

        Returns:
            Why the sampler had already ended by itself; empty if it had not.
        """
        if self._seen is None:
            return ""
        reason = self._seen.drop()
        self._streams.clear()
        self._logs.clear()
        self._waiting.clear()
        self._seen = None
        return reason

    @property
    def every_s(self) -> float:
        """The sampling interval, in seconds."""
        return self._every_s

    def log_to(self, log: SampleLog | None) -> None:
        """Store samples from now on; all earlier ones have been read.

        The sampler is restarted, so that its samples are at multiples of the interval after
        this moment.

        Args:
            log: the log of the samples; None for none.
        """
        self.end()
        self._log = log
        self.begin()

    @property
    def is_blind(self) -> bool:
        """Return whether it has ended by itself, because an interface or node was removed.

        To be called after `flush` and `read`.
        """
        if not self._streams:
            return False
        _, stream = self._streams[0]
        missing_s = self._network.clock.now - self._start_s - stream.time_s
        return missing_s > _MISSING_SAMPLES * self._every_s

    def count_anew(self) -> None:
        """Reset the counts of drops, marks and retransmissions to the last sample."""
        for queue_state in self._queues.values():
            queue_state.restart()
        for flow_state in self._flows.values():
            flow_state.restart()

    def flush(self, *, sample: bool = False) -> None:
        """Flush the guest's samples; the machine is held.

        Args:
            sample: take a sample at this moment, too, so that nothing is missing.
        """
        if self._seen is not None:
            self._network.session.order("flush", samples=self._seen.number, sample=sample)

    def read(self) -> Iterator[Point]:
        """Yield the points that are new.

        Raises:
            MachineError: a file is not what a sampler writes.
        """
        decode = {"queue": self._queue, "rate": self._rate, "tcp": self._tcp}
        if self._seen is None:
            return
        for kind, stream in self._streams:
            if piece := self._seen.take(kind):
                if kind in self._logs:
                    self._logs[kind].feed(piece)
                try:
                    waiting = self._waiting.setdefault(kind, [])
                    waiting += stream.feed(piece)
                    whole = [message for message in waiting if message.time_s <= stream.time_s]
                    del waiting[: len(whole)]
                    yield from decode[kind](whole)
                    if kind == "tcp":
                        yield from self._ended(stream.time_s)
                except UNREADABLE as error:
                    raise MachineError(
                        f"the {kind} samples cannot be read: {type(error).__name__} {error}"
                    ) from error

    def _samples(
        self, rows: Iterator[dict[str, Any]]
    ) -> Iterator[tuple[float, list[dict[str, Any]]]]:
        for time_s, group in itertools.groupby(rows, key=lambda row: row["time_s"]):
            yield self._start_s + time_s, list(group)

    def _rate(self, messages: list[Message]) -> Iterator[Point]:
        for time_s, rows in self._samples(rate.decode(iter(messages))):
            for row in rows:
                name = row["interface"]
                before = self._rates.get(name)
                self._rates[name] = time_s, row["tx_bytes"]
                bps = None if before is None else rate_bps(before, self._rates[name])
                if bps is not None:
                    limit = self.installed_bps.get(name)
                    label = self._full_names.get(name)
                    info = series_info("rate", name, "tx_bps", "bit/s", limit=limit, label=label)
                    yield info, time_s, bps

    def _queue(self, messages: list[Message]) -> Iterator[Point]:
        for time_s, rows in self._samples(queue.decode(iter(messages))):
            of: dict[str, list[dict[str, Any]]] = {}
            for row in rows:
                of.setdefault(row["interface"], []).append(row)
            for name, qdiscs in of.items():
                for info, value in self._queue_points(name, qdiscs, time_s=time_s):
                    yield info, time_s, value

    def _queue_points(
        self, name: str, qdiscs: list[dict[str, Any]], *, time_s: float
    ) -> Iterator[tuple[SeriesInfo, float]]:
        label = self._full_names.get(name)
        rates_bps = [qdisc["rate_bps"] for qdisc in qdiscs]
        if any(qdisc["qdisc"] in CLASSFUL for qdisc in qdiscs):
            rates_bps.append(self._class_rate_bps(name))
        self._note_rate(name, rates_bps, time_s=time_s)
        limit_bps = self.installed_bps.get(name)
        if name not in self._limits or self._limits[name] != limit_bps:
            self._limits[name] = limit_bps
            value = math.nan if limit_bps is None else limit_bps
            yield series_info("rate", name, "limit_bps", "bit/s", label=label), value
        sample = self._queues.setdefault(name, QueueState()).add(qdiscs)
        if sample.qdisc == "noqueue":
            return
        limit = self.limits.get(name)
        info = series_info("queue", name, "backlog_bytes", "bytes", limit=limit, label=label)
        yield info, sample.backlog_bytes
        yield series_info("queue", name, "drops", "packets", label=label), sample.drops
        if sample.marks:
            yield series_info("queue", name, "marks", "packets", label=label), sample.marks

    def _class_rate_bps(self, interface: str) -> float | None:
        record = self._network.record
        if len(record) != self._class_lines:
            self._class_lines = len(record)
            self._class_rates = class_rates_bps(record.text)
        return self._class_rates.get(interface)

    def _note_rate(self, interface: str, rates_bps: list[float | None], *, time_s: float) -> None:
        limit_bps = min((rate for rate in rates_bps if rate is not None), default=None)
        if self.installed_bps.get(interface) == limit_bps:
            return
        self.installed_s = time_s
        if limit_bps is None:
            del self.installed_bps[interface]
        else:
            self.installed_bps[interface] = limit_bps

    def _tcp(self, messages: list[Message]) -> Iterator[Point]:
        for time_s, rows in self._samples(tcp_sockets.decode_sockets(messages)):
            yield from self._ended(time_s - self._start_s)
            flows: dict[str, dict[Hashable, dict[str, Any]]] = {}
            for row in rows:
                is_carrying = row["state"] in _CARRYING or row["state"] == tcp_sockets.ENDED
                if not is_carrying or row["bytes_acked"] < _MIN_BYTES:
                    continue
                key = (row["host"], row["local_port"], row["remote_address"], row["remote_port"])
                flows.setdefault(self._flow_name(row), {})[key] = row
            for name, streams in flows.items():
                state = self._flows.setdefault(name, FlowState())
                sample = state.add(time_s, streams, every_s=self._every_s)
                for info, point_s, value in _flow_points(name, sample, time_s=time_s):
                    self._seen_s[info.key] = info, time_s, point_s
                    yield info, point_s, value

    def _ended(self, now_s: float) -> Iterator[Point]:
        """Add gaps to the series of flows without recent samples.

        Args:
            now_s: the time of the last sample, in seconds since the probes started.
        """
        for key, (info, sample_s, point_s) in list(self._seen_s.items()):
            if self._start_s + now_s > sample_s + _GAP_SAMPLES * self._every_s:
                del self._seen_s[key]
                yield info, point_s + self._every_s, math.nan

    def _flow_name(self, row: dict[str, Any]) -> str:
        """Return the flow that a sending socket belongs to; its peer, for others."""
        # A flow's server may be the one that sends.
        for address, port in (
            (row["remote_address"], row["remote_port"]),
            (row["local_address"], row["local_port"]),
        ):
            if name := self._flow_of(address, port):
                return name
        names = self._network.names_by_address()
        other = names.get(row["remote_address"], row["remote_address"])
        return f"{row['host']} → {other}"


def _flow_points(name: str, sample: FlowSample, *, time_s: float) -> Iterator[Point]:
    """Yield the points of a flow's sample."""
    values: tuple[tuple[str, SeriesUnit, float, float | None], ...] = (
        ("throughput_bps", "bit/s", sample.middle_s, sample.throughput_bps),
        ("throughput_raw_bps", "bit/s", time_s, sample.raw_bps),
        ("rtt_s", "s", time_s, sample.rtt_s),
        ("cwnd_bytes", "bytes", time_s, sample.cwnd_bytes),
        ("retransmits", "packets", time_s, sample.retransmits),
    )
    for quantity, unit, point_s, value in values:
        if value is not None:
            yield series_info("tcp", name, quantity, unit), point_s, value
