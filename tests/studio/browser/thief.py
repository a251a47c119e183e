"""A server that has taken the port of a studio, and records all that pages send to it."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import socket
import socketserver
import threading
from collections.abc import Iterator

import httpx

_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Thief(socketserver.ThreadingTCPServer):
    """The server: it takes every request and every WebSocket.

    Args:
        port: the port.
        answer: the body of each response, which has the status 200.
        relay: the origin of a server to which requests for a proof are passed on, and whose
            response is passed back.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, *, answer: bytes, relay: str | None) -> None:
        super().__init__(("127.0.0.1", port), _Request)
        self.answer = answer
        self.relay = relay
        self.received: list[bytes] = []


class _Request(socketserver.StreamRequestHandler):
    server: Thief

    def handle(self) -> None:
        head = b""
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            head += line
        self.server.received.append(head)
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(b":") for line in head.splitlines())
        }
        if (key := fields.get(b"sec-websocket-key")) is not None:
            accept = base64.b64encode(hashlib.sha1(key + _ACCEPT).digest())
            self.wfile.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                b"Connection: Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
            )
            self._record_frames()
            return
        if length := int(fields.get(b"content-length", b"0")):
            self.server.received.append(self.rfile.read(length))
        answer = self.server.answer
        if self.server.relay is not None and b" /api/proof?" in head:
            answer = httpx.get(self.server.relay + head.split()[1].decode()).content
        self.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Access-Control-Allow-Origin: *\r\n"
            + f"Content-Length: {len(answer)}\r\n\r\n".encode()
            + answer
        )

    def _record_frames(self) -> None:
        while len(start := self.rfile.read(2)) == 2:
            length = start[1] & 0x7F
            if length > 125:
                length = int.from_bytes(self.rfile.read(2 if length == 126 else 8), "big")
            mask = self.rfile.read(4)
            data = self.rfile.read(length)
            self.server.received.append(
                bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
            )


def free_port() -> int:
    """Return a port that no other test's studio takes, as it would the usual one."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


@contextlib.contextmanager
def thief_at(port: int, *, answer: bytes = b"{}", relay: str | None = None) -> Iterator[Thief]:
    """Take a port for as long as the context lasts."""
    with Thief(port, answer=answer, relay=relay) as thief:
        threading.Thread(target=thief.serve_forever, args=(0.05,), daemon=True).start()
        yield thief
        thief.shutdown()
