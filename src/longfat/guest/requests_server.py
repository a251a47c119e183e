"""The server of requests: it sends as many bytes as it is asked for. See `longfat.guest.requests`.

A request is a header, the size of its response and what to do after it, and bytes that fill it up
to the length that its header says.
"""

from __future__ import annotations

# `socket` brings others in.
import _socket
import os
import select
import struct

from longfat.guest.zeros import open_zeros

HEADER = struct.Struct("<QII")
"""The size of the response, the length of the request, and what to do after it."""

STAY, CLOSE, END = 0, 1, 2
"""What to do: wait for another request, close the connection, end the server."""

_TCP_CONGESTION = 13
_BACKLOG = 4096
_MAX_REQUEST = 1 << 20


class _Connection:
    """A connection, and what is to be sent on it.

    Args:
        socket: the connection.
    """

    def __init__(self, socket: _socket.socket) -> None:
        self.socket = socket
        self.head = b""
        self.left_of_request = 0
        self.left_of_response = 0
        self.then = STAY


def serve(address: str, port: int, *, congestion: str) -> None:
    """Answer requests until one says that it is the last.

    Args:
        address: the address to listen at.
        port: the port to listen at.
        congestion: the congestion control of the connections; that of the host, if empty.

    Raises:
        OSError: the network or the kernel refused.
        ValueError: the kernel has no such congestion control.
    """
    family = _socket.AF_INET6 if ":" in address else _socket.AF_INET
    listening = _socket.socket(family, _socket.SOCK_STREAM | _socket.SOCK_NONBLOCK)
    listening.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    if congestion:
        try:
            listening.setsockopt(_socket.IPPROTO_TCP, _TCP_CONGESTION, congestion.encode())
        except FileNotFoundError:
            raise ValueError(f"this kernel has no congestion control {congestion!r}") from None
    listening.bind((address, port))
    listening.listen(_BACKLOG)
    file, most = open_zeros()
    epoll = select.epoll()
    epoll.register(listening.fileno(), select.EPOLLIN)
    connections: dict[int, _Connection] = {}
    while True:
        for descriptor, _ in epoll.poll():
            if descriptor == listening.fileno():
                _accept(listening, epoll, connections)
                continue
            connection = connections[descriptor]
            try:
                is_open = _advance(connection, file, most)
            except OSError:
                is_open = False  # the client reports it
            if connection.then == END:
                return
            if not is_open:
                del connections[descriptor]
                connection.socket.close()


def _accept(
    listening: _socket.socket, epoll: select.epoll, connections: dict[int, _Connection]
) -> None:
    while True:
        try:
            descriptor, _ = listening._accept()  # type: ignore[attr-defined]
        except BlockingIOError:
            return
        # With all that is known of it, Python asks the kernel for nothing.
        socket = _socket.socket(listening.family, listening.type, listening.proto, descriptor)
        socket.setblocking(False)
        connections[descriptor] = _Connection(socket)
        epoll.register(descriptor, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)


def _advance(connection: _Connection, file: int, most: int) -> bool:
    """Do what can be done now without waiting; return whether the connection stays open.

    Args:
        connection: the connection.
        file: what is sent.
        most: its size in bytes.
    """
    while True:
        if connection.left_of_request or not connection.left_of_response:
            try:
                data = connection.socket.recv(_MAX_REQUEST)
            except BlockingIOError:
                return True
            if not data:
                return False
            _read(connection, data)
            if connection.then == END:
                return False
            continue
        while connection.left_of_response:
            try:
                part = min(connection.left_of_response, most)
                sent = os.sendfile(connection.socket.fileno(), file, 0, part)
            except BlockingIOError:
                return True
            connection.left_of_response -= sent
        # The next request comes after this response, and wakes us.
        return connection.then != CLOSE


def _read(connection: _Connection, data: bytes) -> None:
    """Take in a part of a request."""
    if connection.left_of_request:
        connection.left_of_request -= len(data)
        return
    connection.head += data
    if len(connection.head) >= HEADER.size:
        size, length, connection.then = HEADER.unpack_from(connection.head)
        connection.left_of_request = length - len(connection.head)
        connection.left_of_response = size
        connection.head = b""
