"""Sampling: asking the kernel at a steady interval and keeping its raw replies.

Looking costs nothing (law 3 of the design):

* Who samples is woken by `/dev/sample_clock` of our kernel patch. A timer that
  fires takes others with it, and a clock read, such as every write to a file
  makes, costs everybody virtual time.
* It runs before all other processes, so that none of them waits for it.
* It is there in every run, also without probes, because a new process takes
  random numbers from the kernel; and it takes none itself. So are the sockets by
  which it asks (`longfat.guest.sockets`). In a played case it is a process of its
  own, the sampler; in a live machine the agent samples.

Counters are differences of two samples, so the first sample is taken at the start,
the last at the end, and between them one at each multiple of the interval. What a TCP
socket counted between its last sample and its end the kernel sends when it destroys
the socket, and it stands with the next sample.

The format of the files is documented in `longfat.model.probes.samples`, which reads them.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable

from longfat.guest import system
from longfat.guest.netlink import (
    ROUTE,
    SOCK_DIAG,
    Netlink,
    of_interfaces,
    queues_request,
    sockets_request,
    stats_request,
)
from longfat.guest.output import Growing, Output
from longfat.guest.sockets import Sockets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    from longfat.guest.installed import Installed

    class Sink(Protocol):
        """What takes the samples of a probe."""

        def write(self, data: bytes, /) -> object:
            """Take a part of them."""

        def flush(self) -> object:
            """Let the host have what there is so far."""


_RECORD = struct.Struct("<QII")
_FLUSH_EVERY_NS = 100_000_000  # so that a person who watches sees it grow
_PRIORITY = 50
_CLOCK_STEP_NS = 256
_NEVER_NS = 1 << 61

_FOLLOW_EVERY_NS = 100_000_000

Ask = Callable[[], bytes]
"""Asks the kernel once and returns its messages."""


class Sampler:
    """The sampler, started.

    Args:
        orders: what to sample; `longfat.model.probes` says what is in each.
        captures: the files of captures, which it sends to the host as they grow.
        nodes: all nodes of the network, whether they are sampled or not.
        output: the way to the host.
        start_s: when the first sample is taken, in seconds of virtual time since boot.
        installed: what it reads when events have changed something.
    """

    def __init__(
        self,
        orders: list[dict[str, Any]],
        *,
        captures: list[str],
        nodes: list[str],
        output: Output,
        start_s: float,
        installed: Installed,
    ) -> None:
        # It comes before all others from its first moment, and is ready before we go on.
        ours = os.sched_getparam(0).sched_priority
        system.run_by_turns(_PRIORITY)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                signal.signal(signal.SIGUSR1, _finish)
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
                _sample(
                    orders,
                    captures,
                    nodes=nodes,
                    output=output,
                    start_s=start_s,
                    installed=installed,
                )
                status = 0
            except BaseException:
                system.print_error(sys.stdout)
                status = 1
            os._exit(status)
        system.run_by_turns(ours)

    def finish(self) -> None:
        """Let it take the last sample now; it still hears of sockets that end."""
        os.kill(self._pid, signal.SIGUSR1)

    def end(self) -> None:
        """Let it write out what it has, after `finish`, and wait for its end.

        Raises:
            RuntimeError: it failed; the console says why.
        """
        os.kill(self._pid, signal.SIGTERM)
        _, status = os.waitpid(self._pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise RuntimeError("the sampler failed")


class Samples:
    """The samples of some probes, and the clock that says when to take them.

    Args:
        orders: what to sample; `longfat.model.probes` says what is in each.
        sink: returns what takes the samples of an order.
        sockets: what to ask by.
        files: files that are sent to the host as they grow, if there is no order, too.
        start_ns: when the first sample is taken, in nanoseconds of virtual time since
            boot; if None, it is taken here and now.

    Attributes:
        clock: a descriptor that can be read when it is time to `look`.
    """

    def __init__(
        self,
        orders: list[dict[str, Any]],
        *,
        sink: Callable[[dict[str, Any]], Sink],
        sockets: Sockets,
        files: Callable[[], list[Growing]] = list,
        start_ns: int | None = None,
    ) -> None:
        self._probes = [_Probe(order, sink=sink(order), sockets=sockets) for order in orders]
        self._every_ns = math.gcd(*(probe.every_ns for probe in self._probes)) or _FOLLOW_EVERY_NS
        self._files: list[Growing] | None = None
        self._open_files = files
        self._follow_ns = max(1, _FOLLOW_EVERY_NS // self._every_ns) * self._every_ns
        now_ns = time.monotonic_ns()
        self._start_ns = now_ns if start_ns is None else start_ns
        # When the next tick is due: after the start, as all times of samples.
        self._due_ns = 0
        if start_ns is None:
            self._take(0)
            self._due_ns = self._every_ns
        # What the clock says now was so up to a step of it ago: a sample that is due at some
        # moment by that count must have been taken when this moment has come.
        left_ns = self._start_ns + self._due_ns - now_ns - _CLOCK_STEP_NS
        self.clock = os.open("/dev/sample_clock", os.O_RDWR | os.O_CLOEXEC)
        self._set_clock(max(0, left_ns))

    def _set_clock(self, left_ns: int) -> None:
        os.write(self.clock, struct.pack("=QQ", left_ns, self._every_ns))

    def look(self) -> None:
        """Wait until it is time, and take the samples that are due."""
        # After an interval in which nobody could look, only the last tick's sample is taken.
        ticks = struct.unpack("=Q", os.read(self.clock, 8))[0]
        time_ns = self._due_ns + self._every_ns * (ticks - 1)
        self._due_ns = time_ns + self._every_ns
        self._take(time_ns)

    def _take(self, time_ns: int) -> None:
        for probe in self._probes:
            if time_ns % probe.every_ns == 0 and time_ns > probe.last_ns:
                probe.look(time_ns)
        if time_ns % self._follow_ns == 0:
            self.follow()

    def follow(self) -> None:
        """Send to the host what files have grown by."""
        if self._files is None:
            # Now, since the clock is open and this costs no time. What writes them creates them
            # later, or has done so.
            self._files = self._open_files()
        for file in self._files:
            file.take()

    def wake(self) -> None:
        """Tick now and never again: from here on, reading the time costs none."""
        self._every_ns = _NEVER_NS
        self._set_clock(0)
        os.read(self.clock, 8)

    def keep_ended(self) -> None:
        """Keep what TCP sockets had counted that have ended since the last sample.

        The kernel destroys a socket only when its last packet has left the last queue.
        """
        time_ns = time.monotonic_ns() - self._start_ns
        for probe in self._probes:
            probe.keep_ended(time_ns)

    def finish(self) -> None:
        """Take the last sample of each probe, now; none where one was just taken.

        Only for who reads the time for nothing.
        """
        time_ns = time.monotonic_ns() - self._start_ns
        for probe in self._probes:
            if time_ns > probe.last_ns:
                probe.look(time_ns)

    def flush(self) -> None:
        """Write out what there is so far."""
        for probe in self._probes:
            probe.flush()

    def close(self) -> None:
        """Write out what there is, and look no more."""
        os.close(self.clock)
        for probe in self._probes:
            probe.close()


# With more nodes than these, a process's usual 1,024 descriptors are too few.
_MANY_NODES = 400
_SOCKETS_OF_A_NODE = 2
_OTHER_DESCRIPTORS = 1024


def _sample(
    orders: list[dict[str, Any]],
    captures: list[str],
    *,
    nodes: list[str],
    output: Output,
    start_s: float,
    installed: Installed,
) -> None:
    if len(nodes) > _MANY_NODES:
        import resource  # noqa: PLC0415  it takes time to load

        most = _SOCKETS_OF_A_NODE * len(nodes) + _OTHER_DESCRIPTORS
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    sockets = Sockets()
    for node in nodes:
        sockets.open(node)
    samples = None
    if orders or captures:
        samples = Samples(
            orders,
            sink=lambda order: output.stream(f"raw/{order['output']}"),
            sockets=sockets,
            files=lambda: [Growing(output, name) for name in captures],
            start_ns=round(start_s * 1e9),
        )
    try:
        if installed.clock >= 0:
            _look_at_changes(samples, installed=installed, sockets=sockets)
        while True:
            samples.look() if samples else signal.pause()
    except _FinishedError:
        if samples:
            samples.wake()
            samples.finish()
    signal.sigwait({signal.SIGTERM})
    if samples:
        samples.keep_ended()
        samples.follow()
        samples.close()
    installed.flush()


def _look_at_changes(samples: Samples | None, *, installed: Installed, sockets: Sockets) -> None:
    """Take samples as they are due, and read what is installed whenever it may have changed."""
    poll = select.poll()
    poll.register(installed.clock, select.POLLIN)
    if samples is not None:
        poll.register(samples.clock, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == installed.clock:
                installed.look(sockets)
            elif samples is not None:
                samples.look()


class _Probe:
    """One order, and what takes its samples."""

    def __init__(self, order: dict[str, Any], *, sink: Sink, sockets: Sockets) -> None:
        self.every_ns: int = order["every_ns"]
        self.last_ns = -1
        self._flush_ns = max(1, _FLUSH_EVERY_NS // self.every_ns) * self.every_ns
        self._asks: list[Ask] = []
        self._tcp: list[_TcpSockets] = []
        sources = []
        for node, names in order["nodes"].items():
            interfaces: dict[str, str] = {}
            if order["kind"] == "tcp":
                self._tcp.append(_TcpSockets(sockets.at(node, SOCK_DIAG)))
                ask = self._tcp[-1].ask
            else:
                interfaces, ask = _prepare(order["kind"], names, sockets.at(node, ROUTE))
            sources.append({"node": node, "interfaces": interfaces})
            self._asks.append(ask)
        self._sink = sink
        header = {"every_ns": self.every_ns, "sources": sources}
        self._sink.write(json.dumps(header).encode() + b"\n")

    def flush(self) -> None:
        """Write out what there is so far."""
        self._sink.flush()

    def close(self) -> None:
        """Write out what there is."""
        self._sink.flush()
        for sockets in self._tcp:
            sockets.close()

    def look(self, time_ns: int) -> None:
        """Ask everywhere and keep the replies, as those of a time after the start."""
        self.last_ns = time_ns
        self._keep(time_ns, (ask() for ask in self._asks))

    def keep_ended(self, time_ns: int) -> None:
        """Keep what TCP sockets had counted that have ended since the last sample."""
        replies = [sockets.ask_ended() for sockets in self._tcp]
        if any(replies):
            self._keep(time_ns, replies)

    def _keep(self, time_ns: int, replies: Iterable[bytes]) -> None:
        for index, reply in enumerate(replies):
            self._sink.write(_RECORD.pack(time_ns, index, len(reply)) + reply)
        if time_ns % self._flush_ns == 0:
            self._sink.flush()


class _FinishedError(Exception):
    """The traffic has ended."""


def _finish(_signal: int, _frame: object) -> None:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    raise _FinishedError


class _TcpSockets:
    """The TCP sockets of a node."""

    def __init__(self, diagnosis: Netlink) -> None:
        self._diagnosis = diagnosis
        self._requests = [sockets_request(one) for one in (socket.AF_INET, socket.AF_INET6)]
        self._ended = diagnosis.keep_ended()

    def ask(self) -> bytes:
        """Ask about those that are there, after those that have ended since the last time."""
        there = [self._diagnosis.dump(one) for one in self._requests]
        return self._take_ended() + b"".join(there)

    def ask_ended(self) -> bytes:
        """Ask about those only that have ended since the last time."""
        self._diagnosis.dump(self._requests[0])
        return self._take_ended()

    def close(self) -> None:
        """Keep nothing more of those that end."""
        self._diagnosis.leave_ended(self._ended)

    def _take_ended(self) -> bytes:
        ended = b"".join(self._ended)
        self._ended.clear()
        return ended


def _prepare(kind: str, names: list[str], route: Netlink) -> tuple[dict[str, str], Ask]:
    """Return the names of interfaces by index, and what asks about them."""
    interfaces = {route.index_of(name): name for name in names}
    known = {str(index): name for index, name in interfaces.items()}
    if kind == "queue":
        request = queues_request()
        return known, lambda: of_interfaces(route.dump(request), set(interfaces))
    if kind == "rate":
        requests = [stats_request(index) for index in interfaces]
        return known, lambda: b"".join(route.get(one) for one in requests)
    raise ValueError(f"no sampler for {kind!r}")
