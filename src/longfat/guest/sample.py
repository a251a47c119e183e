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

The form of the files is told in `longfat.probe.samples`, which reads them.
"""

import contextlib
import json
import math
import os
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

from longfat.guest import system
from longfat.guest.netlink import (
    ROUTE,
    SOCK_DIAG,
    of_interfaces,
    queues_request,
    sockets_request,
    stats_request,
)
from longfat.guest.sockets import Sockets

_RECORD = struct.Struct("<III")
_FLUSH_EVERY_NS = 100_000_000  # so that a person who watches sees it grow
_PRIORITY = 50
_CLOCK_STEP_NS = 256

Ask = Callable[[], bytes]
"""Asks the kernel once and returns its messages."""


class Sampler:
    """The sampler, started.

    Args:
        orders: what to sample; `longfat.probe` says what is in each.
        nodes: all nodes of the network, whether they are sampled or not.
        folder: the folder for the files.
        start_s: when sampling begins, in seconds of virtual time since boot; the
            first sample is taken one interval later.
    """

    def __init__(
        self, orders: list[dict[str, Any]], *, nodes: list[str], folder: str, start_s: float
    ) -> None:
        # It comes before all others from its first moment, and is ready before we go on.
        ours = os.sched_getparam(0).sched_priority
        system.run_by_turns(_PRIORITY)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                signal.signal(signal.SIGTERM, _end)
                with contextlib.suppress(_EndedError):
                    _sample(orders, nodes=nodes, folder=folder, start_s=start_s)
                status = 0
            except BaseException:
                traceback.print_exc(file=sys.stdout)
                sys.stdout.flush()
                status = 1
            os._exit(status)
        system.run_by_turns(ours)

    def end(self) -> None:
        """Let it write out what it has, and wait for its end.

        Raises:
            RuntimeError: it failed; the console tells why.
        """
        os.kill(self._pid, signal.SIGTERM)
        _, status = os.waitpid(self._pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise RuntimeError("the sampler failed")


class Samples:
    """The samples of some probes, and the clock that says when to take them.

    Args:
        orders: what to sample; `longfat.probe` says what is in each. At least one.
        folder: the folder for the files.
        sockets: what to ask by.
        start_ns: when sampling begins, in nanoseconds of virtual time since boot; now, if
            None. The first sample is taken one interval later.

    Attributes:
        clock: a descriptor that can be read when it is time to `look`.
    """

    def __init__(
        self,
        orders: list[dict[str, Any]],
        *,
        folder: str,
        sockets: Sockets,
        start_ns: int | None = None,
    ) -> None:
        self._probes = [_Probe(order, folder=folder, sockets=sockets) for order in orders]
        self._every_ns = math.gcd(*(probe.every_ns for probe in self._probes))
        self._now_ns = 0
        self.clock = os.open("/dev/sample_clock", os.O_RDWR | os.O_CLOEXEC)
        # What the clock says now was so up to a step of it ago: a sample that is due at some
        # moment by that reckoning must have been taken when this moment has come.
        left_ns = -_CLOCK_STEP_NS if start_ns is None else start_ns - time.monotonic_ns()
        os.write(self.clock, struct.pack("=QQ", left_ns + self._every_ns, self._every_ns))

    def look(self) -> None:
        """Wait until it is time, and take the samples that are due."""
        self._now_ns += self._every_ns * struct.unpack("=Q", os.read(self.clock, 8))[0]
        for probe in self._probes:
            if self._now_ns % probe.every_ns == 0:
                probe.look(self._now_ns // probe.every_ns)

    def flush(self) -> None:
        """Write out what there is so far."""
        for probe in self._probes:
            probe.flush()

    def close(self) -> None:
        """Write out what there is, and look no more."""
        os.close(self.clock)
        for probe in self._probes:
            probe.close()


def _sample(orders: list[dict[str, Any]], *, nodes: list[str], folder: str, start_s: float) -> None:
    sockets = Sockets()
    for node in nodes:
        sockets.open(node)
    if not orders:
        signal.pause()
    start_ns = round(start_s * 1e9)
    samples = Samples(orders, folder=folder, sockets=sockets, start_ns=start_ns)
    try:
        while True:
            samples.look()
    finally:
        samples.close()


class _Probe:
    """One order, and the file of its samples."""

    def __init__(self, order: dict[str, Any], *, folder: str, sockets: Sockets) -> None:
        self.every_ns: int = order["every_ns"]
        self._flush_after = max(1, _FLUSH_EVERY_NS // self.every_ns)
        self._asks: list[Ask] = []
        sources = []
        for node, names in order["nodes"].items():
            interfaces, ask = _prepare(order["kind"], names, node, sockets)
            sources.append({"node": node, "interfaces": interfaces})
            self._asks.append(ask)
        self._file = open(f"{folder}/{order['output']}", "wb", buffering=1 << 20)  # noqa: SIM115
        header = {"every_ns": self.every_ns, "sources": sources}
        self._file.write(json.dumps(header).encode() + b"\n")

    def flush(self) -> None:
        """Write out what there is so far."""
        self._file.flush()

    def close(self) -> None:
        """Write out what there is."""
        self._file.close()

    def look(self, tick: int) -> None:
        """Ask everywhere and keep the replies."""
        for index, ask in enumerate(self._asks):
            reply = ask()
            self._file.write(_RECORD.pack(tick, index, len(reply)) + reply)
        if tick % self._flush_after == 0:
            self._file.flush()


class _EndedError(Exception):
    """The job has ended."""


def _end(_signal: int, _frame: object) -> None:
    raise _EndedError


def _prepare(
    kind: str, names: list[str], node: str, sockets: Sockets
) -> tuple[dict[str, str], Ask]:
    """Return the names of interfaces by index, and what asks about them."""
    if kind == "tcp":
        diagnosis = sockets.at(node, SOCK_DIAG)
        families = [sockets_request(family) for family in (socket.AF_INET, socket.AF_INET6)]
        return {}, lambda: b"".join(diagnosis.dump(one) for one in families)
    route = sockets.at(node, ROUTE)
    interfaces = {route.index_of(name): name for name in names}
    known = {str(index): name for index, name in interfaces.items()}
    if kind == "queue":
        request = queues_request()
        return known, lambda: of_interfaces(route.dump(request), set(interfaces))
    if kind == "rate":
        requests = [stats_request(index) for index in interfaces]
        return known, lambda: b"".join(route.get(one) for one in requests)
    raise ValueError(f"no sampler for {kind!r}")
