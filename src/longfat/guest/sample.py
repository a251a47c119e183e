"""The sampler: a process that asks the kernel at a steady interval and keeps its raw replies.

Looking costs nothing (law 3 of the design):

* The sampler is woken by `/dev/sample_clock` of our kernel patch. A timer that
  fires takes others with it, and a clock read, such as every write to a file
  makes, costs everybody virtual time.
* It runs before all other processes, so that none of them waits for it.
* It is there in every run, also without probes, because a new process takes
  random numbers from the kernel; and it takes none itself.

The form of its files is told in `longfat.probe.samples`, which reads them.

Source of the requests: rtnetlink(7), sock_diag(7), include/uapi/linux/{rtnetlink,
if_link,inet_diag}.h.
"""

import contextlib
import errno
import functools
import itertools
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
from longfat.guest.script import ROOT

_NETLINK_ROUTE, _NETLINK_SOCK_DIAG = 0, 4
_REQUEST, _DUMP = 1, 0x300
_ERROR, _DONE = 2, 3
_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_IFINDEX = struct.Struct("=4xi")  # struct tcmsg and struct ifinfomsg have it at the same place
_RECORD = struct.Struct("<III")

_RTM_GETLINK, _RTM_GETQDISC, _RTM_GETSTATS, _SOCK_DIAG_BY_FAMILY = 18, 38, 94, 20
_IFLA_IFNAME = 3

_LARGEST_REPLY = 1 << 17
_RECEIVE_BUFFER = 1 << 22
_FLUSH_EVERY_NS = 100_000_000  # so that a person who watches sees it grow
_PRIORITY = 50

_addresses = itertools.count(1 << 24)

Ask = Callable[[], bytes]
"""Asks the kernel once and returns its messages."""


class Sampler:
    """The sampler, started.

    Args:
        orders: what to sample; `longfat.probe` says what is in each.
        folder: the folder for the files.
        start_s: when sampling begins, in seconds of virtual time since boot; the
            first sample is taken one interval later.
    """

    def __init__(self, orders: list[dict[str, Any]], *, folder: str, start_s: float) -> None:
        # It comes before all others from its first moment, and is ready before we go on.
        ours = os.sched_getparam(0).sched_priority
        system.run_by_turns(_PRIORITY)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                signal.signal(signal.SIGTERM, _end)
                with contextlib.suppress(_EndedError):
                    _sample(orders, folder=folder, start_s=start_s)
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


def _sample(orders: list[dict[str, Any]], *, folder: str, start_s: float) -> None:
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(_Probe(order, folder=folder)) for order in orders]
        if not probes:
            signal.pause()
        every_ns = math.gcd(*(probe.every_ns for probe in probes))
        clock = os.open("/dev/sample_clock", os.O_RDWR)
        first_ns = round((start_s - time.monotonic()) * 1e9) + every_ns
        os.write(clock, struct.pack("=QQ", first_ns, every_ns))
        now_ns = 0
        while True:
            now_ns += every_ns * struct.unpack("=Q", os.read(clock, 8))[0]
            for probe in probes:
                if now_ns % probe.every_ns == 0:
                    probe.look(now_ns // probe.every_ns)


class _Probe:
    """One order, and the file of its samples."""

    def __init__(self, order: dict[str, Any], *, folder: str) -> None:
        self.every_ns: int = order["every_ns"]
        self._flush_after = max(1, _FLUSH_EVERY_NS // self.every_ns)
        self._asks: list[Ask] = []
        sources = []
        for node, names in order["nodes"].items():
            interfaces, ask = _in_node(node, functools.partial(_prepare, order["kind"], names))
            sources.append({"node": node, "interfaces": interfaces})
            self._asks.append(ask)
        self._file = open(f"{folder}/{order['output']}", "wb", buffering=1 << 20)  # noqa: SIM115
        header = {"every_ns": self.every_ns, "sources": sources}
        self._file.write(json.dumps(header).encode() + b"\n")

    def __enter__(self) -> "_Probe":
        return self

    def __exit__(self, *_: object) -> None:
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


def _in_node(node: str, prepare: Callable[[], tuple[dict[str, str], Ask]]) -> Any:
    """Prepare to ask in a node's namespace: a socket stays in the one where it was made."""
    if node == ROOT:
        return prepare()
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{node}", os.O_RDONLY)
    try:
        system.enter_network_namespace(there)
        return prepare()
    finally:
        system.enter_network_namespace(home)
        os.close(there)
        os.close(home)


def _prepare(kind: str, names: list[str]) -> tuple[dict[str, str], Ask]:
    route = _Netlink(_NETLINK_ROUTE)
    interfaces = {route.index_of(name): name for name in names}
    known = {str(index): name for index, name in interfaces.items()}
    if kind == "queue":
        request = _dump_request(_RTM_GETQDISC, bytes(20))
        return known, lambda: _of_interfaces(route.dump(request), set(interfaces))
    if kind == "rate":
        requests = [_stats_request(index) for index in interfaces]
        return known, lambda: b"".join(route.get(one) for one in requests)
    if kind == "tcp":
        sockets = _Netlink(_NETLINK_SOCK_DIAG)
        families = [_sockets_request(family) for family in (socket.AF_INET, socket.AF_INET6)]
        return known, lambda: b"".join(sockets.dump(one) for one in families)
    raise ValueError(f"no sampler for {kind!r}")


class _Netlink:
    """A netlink socket and its buffer."""

    def __init__(self, protocol: int) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        # The kernel would draw an address by lot where ours is taken.
        self._socket.bind((next(_addresses), 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self._buffer = bytearray(_LARGEST_REPLY)
        self._view = memoryview(self._buffer)

    def dump(self, request: bytes) -> bytes:
        """Return all messages of a dump."""
        self._socket.send(request)
        parts: list[bytes] = []
        while True:
            length = self._socket.recv_into(self._buffer)
            kind = _HEADER.unpack_from(self._buffer)[1]
            # The end of a dump comes in a datagram of its own.
            if kind == _DONE:
                return b"".join(parts)
            self._check(kind)
            parts.append(bytes(self._view[:length]))

    def get(self, request: bytes) -> bytes:
        """Return the one message that answers."""
        self._socket.send(request)
        length = self._socket.recv_into(self._buffer)
        self._check(_HEADER.unpack_from(self._buffer)[1])
        return bytes(self._view[:length])

    def index_of(self, name: str) -> int:
        """Return the index of an interface, without the socket of if_nametoindex(3)."""
        label = name.encode() + b"\0"
        attribute = struct.pack("=HH", 4 + len(label), _IFLA_IFNAME) + label
        body = bytes(16) + attribute + bytes(-len(attribute) % 4)
        header = _HEADER.pack(_HEADER.size + len(body), _RTM_GETLINK, _REQUEST, 1, 0)
        (index,) = _IFINDEX.unpack_from(self.get(header + body), _HEADER.size)
        assert isinstance(index, int)
        return index

    def _check(self, kind: int) -> None:
        if kind == _ERROR:
            (number,) = struct.unpack_from("=i", self._buffer, _HEADER.size)
            raise OSError(-number, f"netlink: {errno.errorcode.get(-number, '?')}")


def _dump_request(kind: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | _DUMP, 1, 0) + body


def _stats_request(index: int) -> bytes:
    link_64 = 1
    body = struct.pack("=BxHII", 0, 0, index, link_64)
    return _HEADER.pack(_HEADER.size + len(body), _RTM_GETSTATS, _REQUEST, 1, 0) + body


def _sockets_request(family: int) -> bytes:
    info, congestion, memory = 1 << 1, 1 << 3, 1 << 6
    states = sum(1 << state for state in (1, 4, 5, 8, 9, 11))  # those that have tcp_info to tell
    head = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, info | congestion | memory, states)
    return _dump_request(_SOCK_DIAG_BY_FAMILY, head + bytes(48))


def _of_interfaces(messages: bytes, wanted: set[int]) -> bytes:
    """Keep what speaks of the interfaces that are wanted: a dump has all of the namespace."""
    parts = []
    offset = 0
    while offset < len(messages):
        (length,) = struct.unpack_from("=I", messages, offset)
        (index,) = _IFINDEX.unpack_from(messages, offset + _HEADER.size)
        end = offset + (length + 3 & ~3)
        if index in wanted:
            parts.append(messages[offset:end])
        offset = end
    return b"".join(parts)
