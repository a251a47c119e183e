"""What the kernel has installed on the path of traffic: qdiscs, classes, filters, MTUs, sysctls.

Set-up lines are text, and what they install is known to the kernel alone. It is read at the
traffic's start, after the events of a moment, and at the traffic's end, and sent as netlink
messages, which `longfat.model.flow_path.tc_messages` reads; of a later time only what differs from
the time before.

Reading takes no virtual time and draws no random number:

* At the start and at the end, one socket at a time is open, as for a line of `tc`, and no traffic
  is on its way.
* After an event the sampler reads, by the sockets that it has in any case. It is woken by a second
  `/dev/sample_clock`, so that reading the time is free: dumps of fq, codel and cake do it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import struct
import time

from longfat.guest import system
from longfat.guest.drops import DropSections
from longfat.guest.netlink import (
    ROUTE,
    Netlink,
    attributes_of,
    classes_request,
    filters_request,
    links_request,
    messages_of,
    queues_request,
    reply_buffer,
)
from longfat.guest.output import INSTALLED, Output
from longfat.guest.script import ROOT_NAMESPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from longfat.guest.sockets import Sockets

SYSCTLS = (
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_sack",
    "net.core.rmem_max",
    "net.core.wmem_max",
)

# Its own, so that those of the agent and the sampler have the addresses that they had.
_ADDRESS = 1 << 23
_NEVER_NS = 1 << 61
_NO_INDEX = 0
_IFINFOMSG, _TCMSG = 16, 20
_TCMSG_HEAD = struct.Struct("=4xiIII")  # index, handle, parent and info
_IFLA_IFNAME, _IFLA_MTU, _IFLA_TXQLEN = 3, 4, 13
_KIND, _STATISTICS = 1, (3, 4, 7)  # TCA_STATS, TCA_XSTATS and TCA_STATS2
_INGRESS = {"ingress": (0xFFFF0000,), "clsact": (0xFFFFFFF2, 0xFFFFFFF3)}
_CLASSFUL = ("htb", "hfsc", "drr", "qfq", "ets", "prio")
_FILTERED = (*_CLASSFUL, "fq_codel", "sfq", "cake")
# Those of a class: more are of a generated tree, and its root's say enough.
_MAX_FILTERED_CLASSES = 64
_MAX_BYTES = 4096

_State = dict[str, dict[str, "Any"]]
"""By node, what differs from a kernel's default: `interfaces` and `sysctls` by name."""


class Installed:
    """What is installed, read at the traffic's start, after events, and at its end.

    Args:
        nodes: the nodes with a network namespace of their own, and the root.
        hosts: those whose sysctls are read, beside the root's: where flows have processes. Opening
            files is most of the work of a large network.
        output: the way to the host.
        start_s: the traffic's start, in seconds of virtual time since boot.
        has_events: whether something is read meanwhile, too, and what was dropped until then.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        *,
        hosts: Sequence[str],
        output: Output,
        start_s: float,
        has_events: bool,
    ) -> None:
        self._nodes = nodes
        self._hosts = {ROOT_NAMESPACE, *hosts}
        self._output = output
        self._start_ns = round(start_s * 1e9)
        self._lines: list[str] = []
        self._state: _State = {}
        self._clock = -1
        if has_events:
            self._clock = os.open("/dev/sample_clock", os.O_RDWR | os.O_CLOEXEC)
        self._drops = DropSections(nodes, output=output, start_s=start_s)
        self._take(self._read_all(with_counters=False), at_ns=0)

    @property
    def clock(self) -> int:
        """A descriptor that can be read when something may have changed; -1 without events."""
        return self._clock

    def changed(self) -> None:
        """Let the sampler read: an event has happened."""
        os.write(self._clock, struct.pack("=QQ", 0, _NEVER_NS))

    def look(self, sockets: Sockets) -> None:
        """Read what was changed: by the sampler, when `clock` can be read."""
        os.read(self._clock, 8)
        at_ns = time.monotonic_ns() - self._start_ns
        state = {}
        for node in self._nodes:
            with _inside(node):
                state[node] = self._read(node, sockets.at(node, ROUTE), with_counters=False)
        self._take(state, at_ns=at_ns)
        self._drops.take(at_ns)

    def flush(self) -> None:
        """Send what was read to the host."""
        if self._lines:
            self._output.append(INSTALLED, "".join(self._lines).encode())
            self._lines.clear()
        self._drops.flush()

    def finish(self) -> None:
        """Read a last time, when the traffic has ended, and send it to the host."""
        if self._clock >= 0:
            self._state = {}  # the sampler has seen more than we have
        at_ns = time.monotonic_ns() - self._start_ns
        self._take(self._read_all(with_counters=True), at_ns=at_ns)
        self.flush()

    def _read_all(self, *, with_counters: bool) -> _State:
        """Read all nodes, by one socket at a time."""
        buffer = reply_buffer()
        state = {}
        for node in self._nodes:
            with _inside(node):
                netlink = Netlink(ROUTE, buffer=buffer, address=_ADDRESS)
                try:
                    state[node] = self._read(node, netlink, with_counters=with_counters)
                finally:
                    netlink.close()
        return state

    def _read(self, node: str, netlink: Netlink, *, with_counters: bool) -> dict[str, Any]:
        """Return what the node has at which we are."""
        sysctls = _read_sysctls() if node in self._hosts else {}
        interfaces = _read_interfaces(netlink, with_counters=with_counters)
        return {"interfaces": interfaces, "sysctls": sysctls}

    def _take(self, state: _State, *, at_ns: int) -> None:
        """Keep what differs from the time before."""
        for node, parts in state.items():
            before = self._state.get(node, {"interfaces": {}, "sysctls": {}})
            changed = {
                name: {
                    key: parts[name].get(key)
                    for key in dict.fromkeys((*before[name], *parts[name]))
                    if before[name].get(key) != parts[name].get(key)
                }
                for name in ("interfaces", "sysctls")
            }
            if any(changed.values()):
                line = json.dumps({"at_ns": at_ns, "node": node, **changed})
                self._lines.append(line + "\n")
        self._state = state


@contextlib.contextmanager
def _inside(node: str) -> Iterator[None]:
    """Be in a node's network namespace, and else where we are."""
    if node == ROOT_NAMESPACE:
        yield
        return
    network = os.open(f"/run/netns/{node}", os.O_RDONLY | os.O_CLOEXEC)
    home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        system.enter_namespace(network)
        yield
    finally:
        system.enter_namespace(home)
        os.close(network)
        os.close(home)


def _read_interfaces(netlink: Netlink, *, with_counters: bool) -> dict[str, Any]:
    """Return what the interfaces have of the node at which we are."""
    interfaces: dict[str, Any] = {}
    names: dict[int, str] = {}
    for message in messages_of(netlink.dump(links_request())):
        found = attributes_of(message, _IFINFOMSG)
        (index,) = struct.unpack_from("=4xi", message)
        name = bytes(found[_IFLA_IFNAME]).rstrip(b"\0").decode(errors="replace")
        names[index] = name
        interfaces[name] = {
            "index": index,
            "mtu": struct.unpack("=I", found[_IFLA_MTU])[0],
            "txqlen": struct.unpack("=I", found[_IFLA_TXQLEN])[0],
        }
    for message in messages_of(netlink.dump(queues_request())):
        index, handle, _, _ = _TCMSG_HEAD.unpack_from(message)
        # Of those without a handle no line knows, and an interface of no namespace is not ours.
        if handle and index in names:
            _read_qdisc(netlink, message, interfaces[names[index]], with_counters=with_counters)
    return interfaces


def _read_sysctls() -> dict[str, str]:
    """Return the sysctls of the node at which we are."""
    sysctls = {}
    for name in SYSCTLS:
        # Kernels show limits of sockets' buffers at root only.
        with contextlib.suppress(OSError):
            sysctls[name] = " ".join(_first_bytes(name).split())
    return sysctls


def _read_qdisc(
    netlink: Netlink, message: memoryview, interface: dict[str, Any], *, with_counters: bool
) -> None:
    index, handle, _, _ = _TCMSG_HEAD.unpack_from(message)
    kind = bytes(attributes_of(message, _TCMSG)[_KIND]).rstrip(b"\0").decode(errors="replace")
    interface.setdefault("qdiscs", []).append(_text(_without_counters(message)))
    parents = list(_INGRESS.get(kind, (handle,) if kind in _FILTERED else ()))
    if kind in _CLASSFUL:
        classes = list(messages_of(netlink.dump(classes_request(index, handle))))
        kept = [each if with_counters else _without_counters(each) for each in classes]
        if kept:
            interface.setdefault("classes", []).extend(map(_text, kept))
        if kind in ("htb", "hfsc") and len(classes) <= _MAX_FILTERED_CLASSES:
            parents += [_TCMSG_HEAD.unpack_from(each)[1] for each in classes]
    for parent in dict.fromkeys(parents):
        filters = list(messages_of(netlink.dump(filters_request(index, parent))))
        if filters:
            # Filters of a block that interfaces share do not say of which parent they are.
            interface.setdefault("filters", []).append([parent, [*map(_text, filters)]])


def _without_counters(message: memoryview) -> bytes:
    """Return a message of a qdisc or class without what it counted."""
    kept = bytearray(message[:_TCMSG])
    view = message[_TCMSG:]
    while len(view) >= 4:
        length, kind = struct.unpack_from("=HH", view)
        if not 4 <= length <= len(view):
            break
        end = length + 3 & ~3
        if kind not in _STATISTICS:
            kept += view[:end]
        view = view[end:]
    return bytes(kept)


def _text(message: bytes | memoryview) -> str:
    return base64.b64encode(message).decode("ascii")


def _first_bytes(sysctl: str) -> str:
    path = "/proc/sys/" + sysctl.replace(".", "/")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, _MAX_BYTES).decode(errors="replace")
    finally:
        os.close(descriptor)
