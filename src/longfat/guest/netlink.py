"""What the kernel is asked by netlink, and its raw replies.

Source of the requests: rtnetlink(7), sock_diag(7), include/uapi/linux/{rtnetlink,
if_link,inet_diag,sock_diag}.h.
"""

import errno
import itertools
import socket
import struct
from collections.abc import Iterator

ROUTE, SOCK_DIAG = 0, 4

_REQUEST, _DUMP = 1, 0x300
_ERROR, _DONE = 2, 3
_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_IFINDEX = struct.Struct("=4xi")  # struct tcmsg and struct ifinfomsg have it at the same place

_RTM_GETLINK, _RTM_GETQDISC, _RTM_GETSTATS, _SOCK_DIAG_BY_FAMILY = 18, 38, 94, 20
_RTM_GETTCLASS, _RTM_GETTFILTER = 42, 46
_IFLA_IFNAME, _IFLA_EXT_MASK = 3, 29
_SKIP_STATISTICS = 1 << 3  # RTEXT_FILTER_SKIP_STATS

_MAX_REPLY_BYTES = 1 << 17
_RECEIVE_BUFFER = 1 << 22
_SO_RCVBUFFORCE = 33

_addresses = itertools.count(1 << 24)

# Every request has this number, and what the kernel sends unasked has 0.
_SEQUENCE = 1

_SOL_NETLINK = 270
_ADD_MEMBERSHIP, _DROP_MEMBERSHIP, _NO_ENOBUFS = 1, 2, 5
_TCP_DESTROY_GROUPS = (1, 3)  # SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY


class Netlink:
    """A netlink socket.

    Args:
        protocol: `ROUTE` or `SOCK_DIAG`.
        buffer: room for replies, which sockets can share; see `reply_buffer`.
        address: its address, which must be unused in the namespace; if None, the next one of
            the agent's or the sampler's.
    """

    def __init__(self, protocol: int, *, buffer: bytearray, address: int | None = None) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        # The kernel would draw an address by lot where ours is taken.
        self._socket.bind((next(_addresses) if address is None else address, 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._ended: list[list[bytes]] = []

    def keep_ended(self) -> list[bytes]:
        """Keep what the kernel sends of each TCP socket that it destroys from now on.

        A socket's last counters are in that message and nowhere else. It comes while
        somebody dumps; none is lost before some thousands have come between two dumps.

        Returns:
            A list that grows by a message for each socket; whoever asked for it takes them.
        """
        kept: list[bytes] = []
        if not self._ended:
            # Beyond the limit for ordinary processes; what has no room is left out.
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _RECEIVE_BUFFER)
            self._socket.setsockopt(_SOL_NETLINK, _NO_ENOBUFS, 1)
            self._set_groups(_ADD_MEMBERSHIP)
        self._ended.append(kept)
        return kept

    def leave_ended(self, kept: list[bytes]) -> None:
        """Keep nothing more in a list that `keep_ended` returned."""
        self._ended = [one for one in self._ended if one is not kept]
        if not self._ended and self._socket.fileno() >= 0:
            self._set_groups(_DROP_MEMBERSHIP)

    def _set_groups(self, option: int) -> None:
        for group in _TCP_DESTROY_GROUPS:
            self._socket.setsockopt(_SOL_NETLINK, option, group)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def dump(self, request: bytes) -> bytes:
        """Return all messages of a dump."""
        self._socket.send(request)
        parts: list[bytes] = []
        while True:
            length = self._socket.recv_into(self._buffer)
            _, kind, _, sequence, _ = _HEADER.unpack_from(self._buffer)
            if sequence != _SEQUENCE:
                for kept in self._ended:
                    kept.append(bytes(self._view[:length]))
                continue
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
        header = _HEADER.pack(_HEADER.size + len(body), _RTM_GETLINK, _REQUEST, _SEQUENCE, 0)
        (index,) = _IFINDEX.unpack_from(self.get(header + body), _HEADER.size)
        assert isinstance(index, int)
        return index

    def _check(self, kind: int) -> None:
        if kind == _ERROR:
            (number,) = struct.unpack_from("=i", self._buffer, _HEADER.size)
            raise OSError(-number, f"netlink: {errno.errorcode.get(-number, '?')}")


def reply_buffer() -> bytearray:
    """Return room for the largest reply."""
    return bytearray(_MAX_REPLY_BYTES)


def queues_request() -> bytes:
    """Return the request for all qdiscs of a namespace."""
    return _dump_request(_RTM_GETQDISC, bytes(20))


def links_request() -> bytes:
    """Return the request for all interfaces of a namespace, without their counters."""
    mask = struct.pack("=HHI", 8, _IFLA_EXT_MASK, _SKIP_STATISTICS)
    return _dump_request(_RTM_GETLINK, bytes(16) + mask)


def classes_request(index: int, qdisc: int) -> bytes:
    """Return the request for the classes of a qdisc.

    Args:
        index: its interface.
        qdisc: its handle.
    """
    return _dump_request(_RTM_GETTCLASS, struct.pack("=4xiIII", index, 0, qdisc, 0))


def filters_request(index: int, parent: int) -> bytes:
    """Return the request for the filters at a qdisc or class.

    Args:
        index: the interface.
        parent: the handle of the qdisc or class, or a place of ingress or clsact.
    """
    return _dump_request(_RTM_GETTFILTER, struct.pack("=4xiIII", index, 0, parent, 0))


def _dump_request(kind: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | _DUMP, _SEQUENCE, 0) + body


def stats_request(index: int) -> bytes:
    """Return the request for the counters of an interface."""
    link_64 = 1
    body = struct.pack("=BxHII", 0, 0, index, link_64)
    return _HEADER.pack(_HEADER.size + len(body), _RTM_GETSTATS, _REQUEST, _SEQUENCE, 0) + body


def sockets_request(family: int) -> bytes:
    """Return the request for all TCP sockets of a namespace that have tcp_info."""
    info, congestion, memory = 1 << 1, 1 << 3, 1 << 6
    states = sum(1 << state for state in (1, 4, 5, 8, 9, 11))  # those that have tcp_info
    head = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, info | congestion | memory, states)
    return _dump_request(_SOCK_DIAG_BY_FAMILY, head + bytes(48))


def messages_of(messages: bytes) -> Iterator[memoryview]:
    """Yield the messages of a dump, without their headers."""
    view = memoryview(messages)
    while len(view) >= _HEADER.size:
        (length,) = struct.unpack_from("=I", view)
        if not _HEADER.size <= length <= len(view):
            return
        yield view[_HEADER.size : length]
        view = view[length + 3 & ~3 :]


def attributes_of(message: memoryview, start: int) -> dict[int, memoryview]:
    """Return the attributes of a message by type.

    Args:
        message: the message, without its header.
        start: where they begin.
    """
    found: dict[int, memoryview] = {}
    view = message[start:]
    while len(view) >= 4:
        length, kind = struct.unpack_from("=HH", view)
        if not 4 <= length <= len(view):
            break
        found[kind & 0x3FFF] = view[4:length]
        view = view[length + 3 & ~3 :]
    return found


def of_interfaces(messages: bytes, wanted: set[int]) -> bytes:
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
