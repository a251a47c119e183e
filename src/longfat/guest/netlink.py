"""What the kernel is asked by netlink, and its raw replies.

Source of the requests: rtnetlink(7), sock_diag(7), include/uapi/linux/{rtnetlink,
if_link,inet_diag}.h.
"""

import errno
import itertools
import socket
import struct

ROUTE, SOCK_DIAG = 0, 4

_REQUEST, _DUMP = 1, 0x300
_ERROR, _DONE = 2, 3
_HEADER = struct.Struct("=IHHII")  # struct nlmsghdr
_IFINDEX = struct.Struct("=4xi")  # struct tcmsg and struct ifinfomsg have it at the same place

_RTM_GETLINK, _RTM_GETQDISC, _RTM_GETSTATS, _SOCK_DIAG_BY_FAMILY = 18, 38, 94, 20
_IFLA_IFNAME = 3

_LARGEST_REPLY = 1 << 17
_RECEIVE_BUFFER = 1 << 22

_addresses = itertools.count(1 << 24)


class Netlink:
    """A netlink socket.

    Args:
        protocol: `ROUTE` or `SOCK_DIAG`.
        buffer: room for replies, which sockets can share; see `reply_buffer`.
    """

    def __init__(self, protocol: int, *, buffer: bytearray) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        # The kernel would draw an address by lot where ours is taken.
        self._socket.bind((next(_addresses), 0))
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        self._buffer = buffer
        self._view = memoryview(buffer)

    def close(self) -> None:
        """Close it."""
        self._socket.close()

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


def reply_buffer() -> bytearray:
    """Return room for the largest reply."""
    return bytearray(_LARGEST_REPLY)


def queues_request() -> bytes:
    """Return the request for all qdiscs of a namespace."""
    return _dump_request(_RTM_GETQDISC, bytes(20))


def _dump_request(kind: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | _DUMP, 1, 0) + body


def stats_request(index: int) -> bytes:
    """Return the request for the counters of an interface."""
    link_64 = 1
    body = struct.pack("=BxHII", 0, 0, index, link_64)
    return _HEADER.pack(_HEADER.size + len(body), _RTM_GETSTATS, _REQUEST, 1, 0) + body


def sockets_request(family: int) -> bytes:
    """Return the request for all TCP sockets of a namespace that have tcp_info to tell."""
    info, congestion, memory = 1 << 1, 1 << 3, 1 << 6
    states = sum(1 << state for state in (1, 4, 5, 8, 9, 11))  # those that have tcp_info to tell
    head = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, info | congestion | memory, states)
    return _dump_request(_SOCK_DIAG_BY_FAMILY, head + bytes(48))


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
