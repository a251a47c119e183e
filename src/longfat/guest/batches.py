"""Building a network in a live machine: many lines by few processes, in one order.

A network of a thousand hosts has a thousand namespaces, and `ip` can run its
lines in one of them only. Starting programs is what a build costs, and a round
trip to the host for each batch. So the host sends all batches in one message and
gets one reply, and the lines that every host needs are done by netlink. Only
their form in `longfat.model.network.build` is understood; `ip` runs all others.

Source of the requests: rtnetlink(7), include/uapi/linux/{rtnetlink,if_link,if_addr}.h,
and what `strace ip` shows.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import time

from longfat.guest import system
from longfat.guest.nodes import Nodes
from longfat.guest.script import ROOT_NAMESPACE, SLAAC_PROGRAM
from longfat.guest.shell import run
from longfat.guest.toolset import SHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NEWLINK, _GETLINK, _NEWADDR = 16, 18, 20
_REQUEST, _ACK, _EXCLUSIVE, _CREATE = 1, 4, 0x200, 0x400
_ERROR = 2
_IFLA_IFNAME, _IFA_ADDRESS, _IFA_LOCAL = 3, 1, 2
_UP, _NODAD = 1, 2

_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_IFINFO = struct.Struct("=BxHiII")  # struct ifinfomsg
_IFADDR = struct.Struct("=BBBBi")  # struct ifaddrmsg
_NDMSG = struct.Struct("=BxxxiHBB")  # struct ndmsg
_NEWNEIGH, _NDA_DST, _NDA_LLADDR, _USE, _REACHABLE = 28, 1, 2, 1, 2
_IFLA_ADDRESS = 1
_MAX_REPLY_BYTES = 16384

_LINK_UP = re.compile(r"link set (\S+) up")
_ADDRESS = re.compile(r"addr add ([0-9a-fA-F.:]+)/(\d+) dev (\S+)( nodad)?")


def are_plain(lines: list[str]) -> bool:
    """Return whether all lines, without the word `ip`, are such as can be done here."""
    return all(_LINK_UP.fullmatch(line) or _ADDRESS.fullmatch(line) for line in lines)


def do_plain(lines: list[str]) -> tuple[str, str] | None:
    """Do plain lines in the network namespace that this process is in.

    Returns:
        The line at which it stopped, and why; None if all went well.
    """
    with _Link() as link:
        for line in lines:
            try:
                if found := _LINK_UP.fullmatch(line):
                    link.set_up(found[1])
                elif found := _ADDRESS.fullmatch(line):
                    link.add_address(found[1], int(found[2]), found[3], sure=bool(found[4]))
            except OSError as error:
                return line, str(error.strerror)
    return None


class _Link:
    """A socket for requests about the interfaces of a namespace."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC)
        self._indices = {"lo": 1}

    def __enter__(self) -> _Link:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def set_up(self, name: str) -> None:
        body = _IFINFO.pack(socket.AF_UNSPEC, 0, self._index(name), _UP, _UP)
        self._ask(_NEWLINK, _ACK, body)

    def add_address(self, address: str, prefix: int, name: str, *, sure: bool) -> None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        packed = socket.inet_pton(family, address)
        body = _IFADDR.pack(family, prefix, _NODAD if sure else 0, 0, self._index(name))
        body += _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed)
        self._ask(_NEWADDR, _ACK | _CREATE | _EXCLUSIVE, body)

    def resolve(self, address: str, name: str) -> None:
        """Look for a neighbour of IPv4 as if there were a packet for it."""
        body = _NDMSG.pack(socket.AF_INET, self._index(name), 0, _USE, 0)
        body += _attribute(_NDA_DST, socket.inet_pton(socket.AF_INET, address))
        self._ask(_NEWNEIGH, _ACK | _CREATE, body)

    def add_neighbour(self, address: str, name: str, link_layer: bytes) -> None:
        """Enter a neighbour of IPv6 as one that was just heard from."""
        body = _NDMSG.pack(socket.AF_INET6, self._index(name), _REACHABLE, 0, 0)
        body += _attribute(_NDA_DST, socket.inet_pton(socket.AF_INET6, address))
        body += _attribute(_NDA_LLADDR, link_layer)
        self._ask(_NEWNEIGH, _ACK | _CREATE, body)

    def link_layer_address(self, name: str) -> bytes:
        """Return the link-layer address of an interface."""
        body = _IFINFO.pack(socket.AF_UNSPEC, 0, self._index(name), 0, 0)
        reply = self._ask(_GETLINK, 0, body)
        offset = _HEADER.size + _IFINFO.size
        while offset < len(reply):
            length, kind = struct.unpack_from("=HH", reply, offset)
            if kind == _IFLA_ADDRESS:
                return reply[offset + 4 : offset + length]
            offset += length + 3 & ~3
        raise OSError(f"{name} has no link-layer address")

    def _index(self, name: str) -> int:
        if name not in self._indices:
            body = _IFINFO.pack(socket.AF_UNSPEC, 0, 0, 0, 0)
            reply = self._ask(_GETLINK, 0, body + _attribute(_IFLA_IFNAME, name.encode() + b"\0"))
            self._indices[name] = _IFINFO.unpack_from(reply, _HEADER.size)[2]
        return self._indices[name]

    def _ask(self, kind: int, flags: int, body: bytes) -> bytes:
        head = _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, 1, 0)
        self._socket.send(head + body)
        reply = self._socket.recv(_MAX_REPLY_BYTES)
        if _HEADER.unpack_from(reply)[1] == _ERROR:
            (number,) = struct.unpack_from("=i", reply, _HEADER.size)
            if number:
                raise OSError(-number, os.strerror(-number))
        return reply


def _attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


_REST_EVERY = 50
_WATCHED_AT_ONCE = 100
_CAUSED = 2  # the carrier of a port may change that of its bridge

_SLAAC = "/run/longfat/guest/longfat/guest/slaac.py"

# What `ip -batch` and `tc -batch` say of the line at which they stop.
_FAILED_LINE = re.compile(r"Command failed -:(\d+)")


def run_batches(
    batches: list[dict[str, Any]], *, nodes: Nodes, rest: Callable[[], object]
) -> dict[str, Any]:
    """Run batches one after the other, as far as they go well.

    Args:
        batches: each has program, node and lines; see `longfat.model.network.build.Batch`.
        nodes: where they can run.
        rest: called now and then; it is to let the kernel's own threads run. One of them
            gives each CPU its memory, which is used up after some hundred hosts.

    Returns:
        times_ns: when each was started, in nanoseconds of virtual time since boot; and
        failed: None, or {line, status, words} of the last one.
    """
    times_ns: list[int] = []
    for number, batch in enumerate(batches, start=1):
        times_ns.append(time.monotonic_ns())
        failed = run_batch(batch, nodes=nodes)
        if failed is not None:
            return {"times_ns": times_ns, "failed": failed}
        if number % _REST_EVERY == 0:
            rest()
    return {"times_ns": times_ns, "failed": None}


def flush_link_watch(interfaces: int) -> None:
    """Let interfaces whose links are up carry packets from now on.

    An interface whose other end comes up is not used before the kernel's link watch has
    processed it, up to a second later, and the watch processes a hundred at a time
    (net/core/link_watch.c). With `sync_link_changes` it runs at the end of each system call
    that changes an interface; to write an empty alias is such a call that changes nothing.

    Args:
        interfaces: how many may be waiting.
    """
    system.sync_link_changes()
    for _ in range(interfaces // _WATCHED_AT_ONCE + _CAUSED):
        system.write_line("/sys/class/net/lo/ifalias", "\n")


def meet_neighbours(
    batches: list[dict[str, Any]], neighbours: list[list[str]], *, nodes: Nodes
) -> None:
    """Let hosts know their neighbours.

    Those of IPv4 are found by ARP, which takes no time as long as nothing delays packets, and by
    which switches learn where they are; one that does not answer is left to be found later.
    IPv6 does not answer before its link-local addresses have been checked, for a second or two,
    so its neighbours are entered.

    Args:
        batches: those that built the network.
        neighbours: host, interface, the neighbour's IP address, the neighbour and its interface.
        nodes: where the hosts are.
    """
    lines = [line for batch in batches if batch["program"] == "ip" for line in batch["lines"]]
    flush_link_watch(2 * sum(line.startswith("link add") for line in lines))
    for host, interface, address, peer, peer_interface in neighbours:
        if ":" not in address:
            with nodes.inside_network(host), _Link() as link, contextlib.suppress(OSError):
                link.resolve(address, interface)
            continue
        with nodes.inside_network(peer), _Link() as link:
            link_layer = link.link_layer_address(peer_interface)
        with nodes.inside_network(host), _Link() as link:
            link.add_neighbour(address, interface, link_layer)


def run_batch(batch: dict[str, Any], *, nodes: Nodes) -> dict[str, Any] | None:
    """Run one batch, as far as it goes well; return what failed, as `run_batches` reports it."""
    program, node, lines = batch["program"], batch["node"], batch["lines"]
    if program in {"sh", "slaac"}:
        for line in lines:
            is_ours = program == "slaac"
            argv = [*_slaac_argv(), *line.split()] if is_ours else [SHELL, "-c", line]
            with nodes.inside(node):
                status, words = run(argv)
            if status != 0:
                typed = f"{SLAAC_PROGRAM} {line}" if is_ours else line
                return {"line": typed, "status": status, "words": words}
        return None
    argv = [program] if node == ROOT_NAMESPACE else [program, "-n", node]
    if program == "ip" and node != ROOT_NAMESPACE and are_plain(lines):
        with nodes.inside_network(node):
            failed = do_plain(lines)
        if failed is None:
            return None
        line, words = failed
        return {"line": " ".join([*argv, line]), "status": 2, "words": words}
    status, words = run([*argv, "-batch", "-"], given="".join(f"{line}\n" for line in lines))
    if status == 0:
        return None
    found = _FAILED_LINE.search(words)
    line = "; ".join(lines)
    if found and 0 < int(found[1]) <= len(lines):
        line = lines[int(found[1]) - 1]
    return {"line": " ".join([*argv, line]), "status": status, "words": words}


def _slaac_argv() -> list[str]:
    """Return what starts `longfat.guest.slaac`, with the interpreter of this process."""
    return [os.readlink("/proc/self/exe"), "-I", "-S", "-B", _SLAAC]
