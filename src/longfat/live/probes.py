"""Sampling a live network while time passes: queues, sockets, counters and packets.

    with net.probe(queue="s1-eth2", tcp=h1, every="10ms") as series:
        net.sleep(5)
    series.queue            # an Arrow table, as that of a study's probe

The kernel's requests and how its replies are decoded are those of the study probes
(`longfat.model.probes`); here the duration and the targets are defined. The first sample is
taken at the probe's start and the last at its end. `time_s` is virtual time since
boot, as that of the clock and of every command, so that tables and outputs can
be compared.

Sampling takes no virtual time and does not change the output of commands. A capture
does, since tcpdump is a process like any other.
"""

from __future__ import annotations

import io
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from longfat import shown_in_notebook
from longfat.common.extras import need
from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.errors import InputError, LongfatError, MachineError
from longfat.live.build import as_line
from longfat.live.process import seconds, size_bytes
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.model.probes import capture as packets
from longfat.model.probes import queue as queues
from longfat.model.probes import rate as rates
from longfat.model.probes import tcp_sockets as sockets
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES
from longfat.model.probes.columns import Column, make_table
from longfat.model.probes.samples import UNREADABLE, Message, parse_samples

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from longfat.live.links import LiveLink
    from longfat.live.nodes import LiveHost
    from longfat.live.process import Duration, Size
    from longfat.live.running import RunningNetwork
    from longfat.live.task import Task

    Interfaces: TypeAlias = str | LiveLink | Iterable[str | LiveLink]
    Hosts: TypeAlias = str | LiveHost | Iterable[str | LiveHost]

MIN_EVERY_S = 1e-5
"""The CPU time of the kernel for a sample, approximately."""

_FOLDER = "/run/output"  # in the machine's memory

_MAX_SAMPLES_BYTES = 1 << 30

_DECODERS: dict[str, tuple[Sequence[Column], Any]] = {
    "queue": (queues.COLUMNS, queues.decode),
    "tcp": (sockets.SOCKET_COLUMNS, sockets.decode_sockets),
    "rate": (rates.COLUMNS, rates.decode),
}


@dataclass(slots=True)
class _Capture:
    """A tcpdump process, and later its output."""

    probe: Capture
    path: str
    task: Task
    line: str
    data: bytes = b""

    def failure(self) -> LongfatError:
        words = bytes(self.task.errors).decode(errors="replace").strip()
        kind = InputError if self.probe.is_refused(words) else MachineError
        return kind(f"`{self.line}` ended: {words}")


class Series:
    """The samples of a probe; use it as a context manager, see `Network.probe`.

    All of it can be read while the probe runs, as far as it has come, and after its
    end, also when the network is closed.

    Attributes:
        number: the number of the probe in its network, counted from 1.
    """

    def __init__(
        self,
        network: RunningNetwork,
        *,
        queue: Interfaces = (),
        tcp: Hosts = (),
        rate: Interfaces = (),
        capture: Interfaces = (),
        every: Duration = 0.1,
        filter: str = "",  # noqa: A002  tcpdump's and the study file's word
        snap: Size = DEFAULT_SNAP_BYTES,
    ) -> None:
        need("series")
        self._network = network
        self._session = network.session
        self._every_s = seconds(every)
        if self._every_s < MIN_EVERY_S:
            raise InputError(f"the minimum interval of a probe is 10us, but this is {every!r}")
        self.number = network.count_probe()
        self._requested: dict[str, tuple[str, ...]] = {
            "queue": _interfaces(network, queue, takes_bonds=False),
            "tcp": _hosts(network, tcp),
            "rate": _interfaces(network, rate),
            "capture": _interfaces(network, capture),
        }
        if not any(self._requested.values()):
            raise InputError("a probe needs a target: queue, tcp, rate or capture")
        self._filter = filter
        self._snap_bytes = size_bytes(snap)
        self._start_ns = 0
        self._runs = False
        self._captures: list[_Capture] = []
        self._samples: dict[str, bytearray] = {}

    # ---------------------------------------------------------- start and end

    def __enter__(self) -> Series:
        """Start to sample.

        Raises:
            InputError: a target cannot be sampled, or tcpdump rejected the filter.
            MachineError: tcpdump failed otherwise.
        """
        self._network.build()
        self._start_ns = self._session.now_ns
        if orders := self._orders():
            kinds = [order["kind"] for order in orders]
            self._samples = {kind: bytearray() for kind in kinds}
            self._session.sample(self.number, orders, partial(self._take_samples, kinds))
        self._runs = True
        try:
            for interface in self._requested["capture"]:
                self._start_capture(interface)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop sampling.

        Raises:
            InputError: a target disappeared before.
        """
        try:
            words = self._end()
        except MachineError:
            if error is None:
                raise
            return  # the earlier exception is to be reported
        if words and error is None:
            raise InputError(f"the probe ended too early: {words}")

    def _orders(self) -> list[dict[str, Any]]:
        model = self._network.model
        orders = []
        for kind, probe in (("queue", Queue), ("rate", Rate), ("tcp", Tcp)):
            of = self._requested[kind]
            if not of:
                continue
            name = f"live{self.number}-{kind}"
            order = probe(name=name, of=of, every_s=self._every_s).order(network=model, flows=())
            if kind == "tcp":  # a study specifies flows, but here are hosts
                order["nodes"] = {host: [] for host in of}
            orders.append(order)
        return orders

    def _start_capture(self, interface: str) -> None:
        probe = Capture(
            name=f"live{self.number}-{interface}",
            of=interface,
            filter=self._filter,
            snap_bytes=self._snap_bytes,
        )
        order = probe.order(network=self._network.model, flows=())
        # Otherwise the last packets would wait in its buffer, and be lost.
        argv = [order["argv"][0], "--immediate-mode", *order["argv"][1:]]
        line = as_line(tuple(argv))
        self._network.record.add(self._session.now_s, order["node"], line, background=True)
        task = self._session.start(argv, node=order["node"], folder=_FOLDER)
        path = f"{_FOLDER}/raw/{order['output']}"
        self._captures.append(_Capture(probe, path, task, line))
        self._session.run_pending()
        if task.status is not None:
            raise self._captures.pop().failure()

    def _end(self) -> str:
        """End it and keep its data; return why it ended before, if it did."""
        if not self._runs:
            return ""
        if self._captures:
            self._session.run_pending()  # packets that are on their way to them at this moment
        self._runs = False
        words = ""
        if any(self._requested[kind] for kind in _DECODERS):
            words = self._session.end_samples(self.number)
        for capture in self._captures:
            if capture.task.status is None:
                self._session.signal(capture.task, signal.SIGTERM)
                self._session.run_until(ended=[capture.task])
            capture.data = self._session.read_file(capture.path)
            self._session.forget(capture.task)
            if capture.task.status != 0:
                words = words or str(capture.failure())
        return words

    def _take_samples(self, kinds: Sequence[str], place: int, data: bytes) -> None:
        if place < len(kinds):
            samples = self._samples[kinds[place]]
            samples += data
            if len(samples) > _MAX_SAMPLES_BYTES:
                raise MachineError(
                    f"the {kinds[place]} samples have more than {_MAX_SAMPLES_BYTES >> 20} MB"
                )

    def take(self, kind: str) -> bytes:
        """Return what was sampled since the last call, and keep it no longer."""
        data = bytes(self._samples[kind])
        self._samples[kind].clear()
        return data

    def drop(self) -> str:
        """Stop sampling, and keep nothing: for a caller that has read the samples meanwhile.

        Not for captures.

        Returns:
            Why it had ended before; empty if it had not.
        """
        self._runs = False
        return self._session.end_samples(self.number)

    # ----------------------------------------------------------- samples

    @property
    def queue(self) -> pa.Table:
        """The samples of queues: a row for each qdisc of each interface at each time.

        Raises:
            InputError: the probe samples none.
        """
        return self._table("queue")

    @property
    def rate(self) -> pa.Table:
        """The counters of interfaces: a row for each interface at each time.

        Raises:
            InputError: the probe samples none.
        """
        return self._table("rate")

    @property
    def tcp(self) -> pa.Table:
        """The samples of TCP sockets: a row for each connected socket at each time.

        Sockets are named by host, addresses and ports.

        Raises:
            InputError: the probe samples none.
        """
        return self._table("tcp")

    @property
    def captures(self) -> dict[str, bytes]:
        """What was captured at each interface: the bytes of a pcap file, for Wireshark."""
        if self._runs:
            self._session.run_pending()
            for capture in self._captures:
                self._session.signal(capture.task, signal.SIGUSR2)  # flush its buffer
            self._session.run_pending()
            for capture in self._captures:
                capture.data = self._session.read_file(capture.path)
        return {capture.probe.of: capture.data for capture in self._captures}

    def _repr_svg_(self) -> str:
        """Return a figure of queues and sockets over time, for a notebook."""
        tables = {kind: self._table(kind) for kind in ("queue", "tcp") if self._requested[kind]}
        return shown_in_notebook("series", tables, hosts=len(self._requested["tcp"]))

    def packets(self, interface: str) -> pa.Table:
        """Return the headers of the TCP and UDP packets captured at an interface.

        Raises:
            InputError: nothing is captured there.
        """
        found = self.captures
        if interface not in found:
            raise InputError(f"this probe captures nothing at {interface!r}: use capture=")
        return packets.table_of(io.BytesIO(found[interface]), epoch_s=START_OF_TIME_S)

    def _table(self, kind: str) -> pa.Table:
        if not self._requested[kind]:
            raise InputError(f"this probe does not sample that: use {kind}=")
        if self._runs:
            self._session.order("flush", samples=self.number)
        content = bytes(self._samples.get(kind, b""))
        columns, decode = _DECODERS[kind]
        if not content:
            return make_table(columns, ())
        messages = map(self._since_boot, parse_samples(content, name=f"{kind} samples"))
        try:
            return make_table(columns, decode(messages))
        except UNREADABLE as error:
            raise MachineError(
                f"the {kind} samples cannot be read: {type(error).__name__} {error}"
            ) from error

    def _since_boot(self, message: Message) -> Message:
        time_ns = self._start_ns + round(message.time_s * 1e9)
        return replace(message, time_s=time_ns / 1e9)


def _interfaces(
    network: RunningNetwork, given: Interfaces, *, takes_bonds: bool = True
) -> tuple[str, ...]:
    model = network.model
    names: list[str] = []
    for one in _each(given):
        names += [one] if isinstance(one, str) else [one.a, one.b]
    there = [name for pair in model.interfaces() for name in pair]
    there += [end.device for end in model.bond_ends() if takes_bonds]
    for name in names:
        if name not in there:
            raise InputError(f"there is no interface {name!r} (there are: {_some(there)})")
    return tuple(dict.fromkeys(names))


def _hosts(network: RunningNetwork, given: Hosts) -> tuple[str, ...]:
    names = [one if isinstance(one, str) else one.name for one in _each(given)]
    there = [host.name for host in network.model.hosts]
    for name in names:
        # The switches have no sockets, but root has.
        if name not in (*there, ROOT_NAMESPACE):
            raise InputError(f"there is no host {name!r} (there are: {_some(there)})")
    return tuple(dict.fromkeys(names))


def _each(given: Any) -> Iterable[Any]:
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else given


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
