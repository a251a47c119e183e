"""A server over TLS (TCP) and over QUIC, at the same port.

    server.py PORT [--congestion reno|cubic] [--names COUNT]

A request is a line, `get BYTES` or `ticks COUNT INTERVAL_S`. Over QUIC each request has a stream,
and each tick one of its own; over TCP all share the connection. A tick is 200 bytes long and
begins with the time at which it was sent.
"""

import argparse
import asyncio
import contextlib
import datetime
import ssl
import struct
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.tls import SessionTicket
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.x509.oid import NameOID

TICK_BYTES = 200
PIECE = bytes(16384)


def write_certificate(path: str, *, names: int) -> None:
    """Make a key and a certificate for so many names; Ed25519's signatures have one size."""
    key = ed25519.Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "h2")])
    now = datetime.datetime.now(datetime.UTC)
    others = [x509.DNSName("h2"), *(x509.DNSName(f"{n:012}.example") for n in range(names))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(2**127 + 1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(others), critical=False)
        .sign(key, None)
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    Path(path).write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + secret)


def tick() -> bytes:
    """Return a message with the time of now."""
    return struct.pack("!d", time.time()).ljust(TICK_BYTES, b"\0")


async def ticks(count: int, interval_s: float, send) -> None:
    """Send ticks at their times, whatever became of those before."""
    loop = asyncio.get_running_loop()
    start_s = loop.time()
    for number in range(count):
        await asyncio.sleep(start_s + number * interval_s - loop.time())
        send(tick())


async def answer_tcp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of a connection, one after the other."""
    # A client that has measured for long enough ends the connection.
    with contextlib.suppress(ConnectionError):
        while line := await reader.readline():
            what, *numbers = line.decode().split()
            if what == "get":
                left = int(numbers[0])
                while left:
                    writer.write(PIECE[:left])
                    left -= min(left, len(PIECE))
                    await writer.drain()
            else:
                await ticks(int(numbers[0]), float(numbers[1]), writer.write)
    writer.close()


class Quic(QuicConnectionProtocol):
    """A connection whose streams are requests."""

    def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin to answer a request."""
        task = asyncio.ensure_future(self._answer(reader, writer))
        TASKS.add(task)
        task.add_done_callback(TASKS.discard)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        what, *numbers = (await reader.readline()).decode().split()
        if what == "get":
            writer.write(bytes(int(numbers[0])))
        else:
            await ticks(int(numbers[0]), float(numbers[1]), self._send_tick)
        writer.write_eof()

    def _send_tick(self, data: bytes) -> None:
        stream = self._quic.get_next_available_stream_id(is_unidirectional=True)
        self._quic.send_stream_data(stream, data, end_stream=True)
        self.transmit()


TASKS: set[asyncio.Task] = set()
TICKETS: dict[bytes, SessionTicket] = {}


async def main() -> None:
    """Serve until somebody ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--congestion", default="reno")
    parser.add_argument("--names", type=int, default=0)
    options = parser.parse_args()
    path = f"/tmp/server-{options.port}.pem"
    write_certificate(path, names=options.names)

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(path)
    await asyncio.start_server(answer_tcp, "0.0.0.0", options.port, ssl=tls)
    await asyncio.start_server(answer_tcp, "0.0.0.0", options.port + 1)

    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=["lab"],
        congestion_control_algorithm=options.congestion,
        idle_timeout=600,
    )
    configuration.load_cert_chain(path)

    def made(*arguments, **named) -> Quic:
        named["stream_handler"] = None
        protocol = Quic(*arguments, **named)
        protocol._stream_handler = protocol.answer
        return protocol

    await serve(
        "0.0.0.0",
        options.port,
        configuration=configuration,
        create_protocol=made,
        session_ticket_handler=lambda ticket: TICKETS.__setitem__(ticket.ticket, ticket),
        session_ticket_fetcher=lambda label: TICKETS.pop(label, None),
    )
    await asyncio.Event().wait()


asyncio.run(main())
