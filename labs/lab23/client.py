"""What asks the server, over plain TCP, TLS or QUIC, and prints what it measured as JSON.

    client.py first PROTOCOL HOST PORT             time to the first byte of an answer
    client.py load PROTOCOL HOST PORT SECONDS      goodput, the first second left out
    client.py page PROTOCOL HOST PORT COUNT BYTES  when each of so many objects was complete
    client.py ticks PROTOCOL HOST PORT COUNT INTERVAL_S   delays of small messages

PROTOCOL is tcp, tls12, tls13, quic or quic-0rtt (a second connection, with the first one's ticket).
"""

import asyncio
import json
import ssl
import struct
import sys
import time
from contextlib import asynccontextmanager

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.client import connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import StreamDataReceived

TICK_BYTES = 200
PIECE_BYTES = 65536
AHEAD = 8


def tls_context(version: str) -> ssl.SSLContext:
    """Return the settings of a client that takes one version of TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the server made its certificate just now
    only = ssl.TLSVersion.TLSv1_2 if version == "tls12" else ssl.TLSVersion.TLSv1_3
    context.minimum_version = context.maximum_version = only
    return context


class Ticks(QuicConnectionProtocol):
    """Takes messages, each on a stream of its own."""

    def __init__(self, *arguments, **named) -> None:
        super().__init__(*arguments, **named)
        self.delays: list[float] = []
        self._parts: dict[int, bytes] = {}

    def quic_event_received(self, event) -> None:
        """Take what came over a stream."""
        if isinstance(event, StreamDataReceived) and event.stream_id % 4 == 3:
            data = self._parts.pop(event.stream_id, b"") + event.data
            if event.end_stream:
                self.delays.append(delay(data))
            else:
                self._parts[event.stream_id] = data
        else:
            super().quic_event_received(event)


def delay(data: bytes) -> float:
    """Return how long ago a message was sent, in seconds: both ends have one clock."""
    return time.time() - struct.unpack_from("!d", data)[0]


@asynccontextmanager
async def quic(host: str, port: int, *, ticket=None, tickets=None, ticks: bool = False):
    """Connect; with a ticket, do not wait for the handshake."""
    configuration = QuicConfiguration(
        alpn_protocols=["lab"], verify_mode=ssl.CERT_NONE, session_ticket=ticket, idle_timeout=600
    )
    async with connect(
        host,
        port,
        configuration=configuration,
        create_protocol=Ticks if ticks else QuicConnectionProtocol,
        session_ticket_handler=None if tickets is None else tickets.append,
        wait_connected=ticket is None,
    ) as connection:
        yield connection


async def tcp(protocol: str, host: str, port: int):
    """Connect over TCP, with TLS or without."""
    if protocol == "tcp":
        return await asyncio.open_connection(host, port + 1)
    return await asyncio.open_connection(host, port, ssl=tls_context(protocol))


async def ask(connection, line: str):
    """Ask over a new stream; return what reads the answer."""
    reader, writer = await connection.create_stream()
    writer.write(f"{line}\n".encode())
    writer.write_eof()
    return reader


async def first(protocol: str, host: str, port: int) -> dict[str, float]:
    """Measure the time until the first byte of an answer."""
    if not protocol.startswith("quic"):
        start = time.time()
        reader, writer = await tcp(protocol, host, port)
        ready = time.time()
        writer.write(b"get 1000\n")
        await reader.read(1)
        end = time.time()
        writer.close()
        return {"first_byte": end - start, "handshake": ready - start}
    ticket = None
    if protocol == "quic-0rtt":
        tickets: list = []
        async with quic(host, port, tickets=tickets) as connection:
            await (await ask(connection, "get 1000")).read()
        ticket = tickets[0]
    start = time.time()
    async with quic(host, port, ticket=ticket) as connection:
        ready = time.time()
        reader = await ask(connection, "get 1000")
        await reader.read(1)
        end = time.time()
    return {"first_byte": end - start, "handshake": ready - start}


async def load(protocol: str, host: str, port: int, seconds: str) -> dict[str, float]:
    """Measure the goodput of a transfer."""
    got, begun, start = 0, 0.0, time.time()

    def count(data: bytes) -> bool:
        """Count what came after a second; tell whether it is enough."""
        nonlocal got, begun
        now = time.time() - start
        if begun:
            got += len(data)
        elif now >= 1:
            begun = now
        return now >= float(seconds) or not data

    if protocol == "quic":
        async with quic(host, port) as connection:
            waiting = [await ask(connection, f"get {PIECE_BYTES}") for _ in range(AHEAD)]
            enough = False
            while not enough:
                reader = waiting.pop(0)
                while not enough and (data := await reader.read(PIECE_BYTES)):
                    enough = count(data)
                waiting.append(await ask(connection, f"get {PIECE_BYTES}"))
            took = time.time() - start - begun
            connection.close()
    else:
        reader, writer = await tcp(protocol, host, port)
        writer.write(b"get 1000000000000\n")
        while not count(await reader.read(PIECE_BYTES)):
            pass
        took = time.time() - start - begun
        writer.transport.abort()
    return {"goodput": 8 * got / took}


async def page(protocol: str, host: str, port: int, count: str, size: str) -> dict[str, float]:
    """Measure when each of several objects was complete."""
    start = time.time()
    done: list[float] = []
    if protocol == "quic":

        async def fetch(connection) -> None:
            reader = await ask(connection, f"get {size}")
            assert len(await reader.read()) == int(size)
            done.append(time.time() - start)

        async with quic(host, port) as connection:
            await asyncio.gather(*(fetch(connection) for _ in range(int(count))))
    else:
        reader, writer = await tcp(protocol, host, port)
        writer.write(f"get {size}\n".encode() * int(count))
        for _ in range(int(count)):
            await reader.readexactly(int(size))
            done.append(time.time() - start)
        writer.close()
    return {"first": min(done), "mean": sum(done) / len(done), "last": max(done)}


async def ticks(protocol: str, host: str, port: int, count: str, interval: str) -> dict[str, float]:
    """Measure the delays of small messages."""
    line = f"ticks {count} {interval}"
    if protocol == "quic":
        async with quic(host, port, ticks=True) as connection:
            await (await ask(connection, line)).read()
            while len(connection.delays) < int(count):
                await asyncio.sleep(0.01)
            delays = connection.delays
    else:
        reader, writer = await tcp(protocol, host, port)
        writer.write(f"{line}\n".encode())
        delays = [delay(await reader.readexactly(TICK_BYTES)) for _ in range(int(count))]
        writer.close()
    least = min(delays)
    ordered = sorted(delays)
    return {
        "least": least,
        "mean": sum(delays) / len(delays),
        "p99": ordered[int(0.99 * len(ordered))],
        "most": ordered[-1],
        "late": 100 * sum(one > least + 0.005 for one in delays) / len(delays),
    }


what, protocol, host, port, *others = sys.argv[1:]
call = {"first": first, "load": load, "page": page, "ticks": ticks}[what]
print(json.dumps(asyncio.run(call(protocol, host, int(port), *others))))
