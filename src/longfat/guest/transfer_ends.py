"""A transfer's two ends: their options, and how they connect.

See `longfat.guest.transfer`. Source of the options of sockets: tcp(7) and socket(7).
"""

from __future__ import annotations

# `socket` brings others in, and importing them takes as long as the interpreter's own start.
import _socket
import errno
import itertools
import os
import select
import struct

_TCP_MAXSEG, _TCP_CONGESTION = 2, 13
_SO_MAX_PACING_RATE = 47


class TransferError(Exception):
    """Why there was no transfer, in words."""


class Options:
    """What the command line says; `longfat.guest.transfer` lists the options.

    Args:
        words: its words.

    Raises:
        TransferError: it is not whole, or a word is unknown.
    """

    def __init__(self, words: list[str]) -> None:
        if (
            len(words) < 4
            or words[0] not in ("listen", "connect")
            or (words[3] not in ("send", "receive"))
        ):
            raise TransferError("usage: listen|connect ADDRESS PORT send|receive [--OPTION VALUE]")
        self.listens = words[0] == "listen"
        self.address, self.port = words[1], int(words[2])
        self.sends = words[3] == "send"
        self.parallel = 1
        self.interval_s = 1.0
        self.time_s = 10.0
        self.bytes = self.window_bytes = self.mss_bytes = self.rate_bps = 0
        self.congestion = ""
        names = {
            "--parallel": ("parallel", int),
            "--interval": ("interval_s", float),
            "--time": ("time_s", float),
            "--bytes": ("bytes", int),
            "--window": ("window_bytes", int),
            "--mss": ("mss_bytes", int),
            "--rate": ("rate_bps", int),
            "--congestion": ("congestion", str),
        }
        for word, value in itertools.zip_longest(words[4::2], words[5::2]):
            if word not in names or value is None:
                raise TransferError(f"{word}: no such option, or it has no value")
            name, kind = names[word]
            setattr(self, name, kind(value))


def accept(options: Options) -> list[_socket.socket]:
    """Listen, and return as many connections as there are to be streams."""
    server = new_socket(options)
    server.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    server.bind((options.address, options.port))
    server.listen(options.parallel)
    # The class in C has no other way to accept.
    descriptors = [server._accept()[0] for _ in range(options.parallel)]  # type: ignore[attr-defined]
    return [_socket.socket(fileno=descriptor) for descriptor in descriptors]


def connect(options: Options) -> list[_socket.socket]:
    """Open all connections, at once."""
    connections = []
    unready = select.poll()
    for _ in range(options.parallel):
        connection = new_socket(options)
        connection.setblocking(False)
        error = connection.connect_ex((options.address, options.port))
        if error not in (0, errno.EINPROGRESS):
            raise OSError(error, os.strerror(error))
        unready.register(connection.fileno(), select.POLLOUT)
        connections.append(connection)
    for _ in connections:
        ((descriptor, _),) = unready.poll()[:1]
        unready.unregister(descriptor)
    for connection in connections:
        if error := connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR):
            raise OSError(error, os.strerror(error))
        connection.setblocking(True)
    return connections


def first_readable(connections: list[_socket.socket]) -> _socket.socket:
    """Wait until something has come on a connection, and return it.

    The server's first connection may be another than ours: over paths of different delays they
    arrive in another order than they were opened in.
    """
    if len(connections) == 1:
        return connections[0]
    readable = select.poll()
    for connection in connections:
        readable.register(connection.fileno(), select.POLLIN)
    ((descriptor, _),) = readable.poll()[:1]
    return next(one for one in connections if one.fileno() == descriptor)


def new_socket(options: Options) -> _socket.socket:
    """Return a socket with its options; those that a server sets, its connections have, too."""
    found = _socket.socket(_socket.AF_INET6 if ":" in options.address else _socket.AF_INET)
    if options.window_bytes:
        found.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDBUF, options.window_bytes)
        found.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, options.window_bytes)
    if options.mss_bytes:
        found.setsockopt(_socket.IPPROTO_TCP, _TCP_MAXSEG, options.mss_bytes)
    if options.congestion and options.sends:
        name = options.congestion.encode()
        try:
            found.setsockopt(_socket.IPPROTO_TCP, _TCP_CONGESTION, name)
        except FileNotFoundError:
            raise TransferError(
                f"this kernel has no congestion control {options.congestion!r}"
            ) from None
    if options.rate_bps and options.sends:
        pace = struct.pack("=Q", options.rate_bps // 8)
        found.setsockopt(_socket.SOL_SOCKET, _SO_MAX_PACING_RATE, pace)
    return found
