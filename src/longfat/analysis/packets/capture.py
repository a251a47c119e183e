"""Files of captures: opened with limits, read packet by packet, and written as pcapng.

dpkt's readers and writers of these files are not used: they do not give a packet's original
length, and count the time of a pcapng file in floats, which have no nanoseconds today.

Source of the formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng and, for the types of
links, draft-ietf-opsawg-pcaplinktype.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from longfat.common.decoding import open_regular
from longfat.errors import InputError

MAX_FILE_BYTES = 1 << 30
"""A larger capture is not opened."""

MAX_PACKETS = 300_000
"""What follows in a capture is not decoded, which is reported."""

_MAX_PACKET_LENGTH = 1 << 18  # MAXIMUM_SNAPLEN of libpcap
# The order of bytes, and how many nanoseconds the unit of time stamps has.
_PCAP_MAGIC = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**3),
    b"\xa1\xb2\xc3\xd4": (">", 10**3),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_PCAPNG_MAGIC = b"\x0a\x0d\x0d\x0a"
_SECTION, _INTERFACE, _ENHANCED = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
_MAX_INTERFACES = 1000
_TIME_RESOLUTION = 9  # the option if_tsresol of an interface
_LATEST_NS = 2**63 - 1

ETHERNET = 1
"""The type of link whose packets begin with an Ethernet header."""

RAW_IP = 101
"""The type of link whose packets begin with an IPv4 or IPv6 header, such as a tun device."""


COOKED, COOKED_V2 = 113, 276
"""The types of link of captures at all interfaces (`tcpdump -i any`), LINUX_SLL and LINUX_SLL2."""

HEADER_BYTES = {ETHERNET: 14, RAW_IP: 0, COOKED: 16, COOKED_V2: 20}
"""The size of the first header, by the type of link; these types are read."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A file that holds a capture.

    Attributes:
        path: the file.
        name: what to call it in messages.
        opaque_ports: ports of TCP and UDP whose data is of no protocol, whatever else has them.
    """

    path: Path
    name: str
    opaque_ports: tuple[int, ...] = ()

    @property
    def version(self) -> str:
        """What changes when the file does.

        Raises:
            InputError: it is gone.
        """
        try:
            found = self.path.stat()
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror}") from None
        return f"{found.st_ino}-{found.st_size}-{found.st_mtime_ns}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A packet as it was captured.

    Attributes:
        time_ns: its time stamp, in nanoseconds since 1970.
        content: its bytes, as many as were captured.
        length: how many it had.
        link: the link type, which determines the first header.
    """

    time_ns: int
    content: bytes
    length: int
    link: int = ETHERNET


def open_capture(
    path: Path, *, name: str | None = None, opaque_ports: tuple[int, ...] = ()
) -> Capture:
    """Check whether a file is a capture.

    Args:
        path: the file.
        name: what to call it in messages; by default the path.
        opaque_ports: see `Capture`.

    Raises:
        InputError: there is none, it is too large, or it is something else.
    """
    called = str(path) if name is None else name
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            magic = file.read(4)
    except OSError as error:
        raise InputError(f"{called}: {error.strerror or error}") from None
    if size > MAX_FILE_BYTES:
        raise InputError(f"{called}: it has {size:,} bytes; at most {MAX_FILE_BYTES:,} are read")
    if magic not in _PCAP_MAGIC and magic != _PCAPNG_MAGIC:
        raise InputError(f"{called}: no capture: it begins neither as pcap nor as pcapng does")
    return Capture(path=path, name=called, opaque_ports=opaque_ports)


def frames_of(capture: Capture) -> Iterator[Frame]:
    """Yield a capture's packets, as far as it is whole; at most `MAX_PACKETS`.

    A capture that is being written ends in the middle of a packet.

    Raises:
        InputError: it is no capture of Ethernet or IP.
    """
    try:
        with open_regular(capture.path) as file:
            magic = file.read(4)
            file.seek(0)
            known = _PCAP_MAGIC.get(magic)
            frames = _pcapng(file) if known is None else _pcap(file, *known)
            for _, frame in zip(range(MAX_PACKETS), frames, strict=False):
                yield frame
    except OSError as error:
        raise InputError(f"{capture.name}: {error.strerror or error}") from None
    except (_BrokenError, struct.error) as error:
        raise InputError(f"{capture.name}: no whole capture: {error}") from None


class _BrokenError(Exception):
    """A file does not follow its format."""


def _pcap(file: IO[bytes], order: str, unit_ns: int) -> Iterator[Frame]:
    """Yield the packets of a pcap file, whose units of time have so many nanoseconds."""
    head = file.read(24)
    if len(head) < 24:
        raise _BrokenError("it ends within its head")
    link = _checked_link(struct.unpack_from(f"{order}I", head, 20)[0] & 0xFFFF)
    record = struct.Struct(f"{order}IIII")
    while len(start := file.read(record.size)) == record.size:
        seconds, part, captured, length = record.unpack(start)
        if captured > _MAX_PACKET_LENGTH:
            raise _BrokenError(f"a packet of {captured} bytes")
        content = file.read(captured)
        if len(content) < captured:
            return
        time_ns = seconds * 10**9 + part * unit_ns
        yield Frame(time_ns=time_ns, content=content, length=max(length, captured), link=link)


def _pcapng(file: IO[bytes]) -> Iterator[Frame]:
    """Yield the packets of a pcapng file: of its Enhanced Packet Blocks."""
    order = "<"
    interfaces: list[tuple[int, int, int]] = []
    while len(start := file.read(8)) == 8:
        if start[:4] == _PCAPNG_MAGIC:
            mark = file.read(4)
            order = "<" if mark == struct.pack("<I", _BYTE_ORDER) else ">"
            if mark != struct.pack(f"{order}I", _BYTE_ORDER):
                raise _BrokenError("a section of no known order of bytes")
            interfaces = []
            file.seek(-4, os.SEEK_CUR)
        kind, size = struct.unpack(f"{order}II", start)
        # Besides its content a block has its type and, twice, its length.
        if size < 12 or size % 4 or size > 2 * _MAX_PACKET_LENGTH:
            raise _BrokenError(f"a block of {size} bytes")
        body = file.read(size - 8)
        if len(body) < size - 8:
            return
        if kind == _INTERFACE:
            link = _checked_link(struct.unpack_from(f"{order}H", body)[0])
            interfaces.append((link, *_unit(body[8:-4], order)))
            if len(interfaces) > _MAX_INTERFACES:
                raise _BrokenError(f"more than {_MAX_INTERFACES} interfaces")
        elif kind == _ENHANCED:
            number, high, low, captured, length = struct.unpack_from(f"{order}IIIII", body)
            if number >= len(interfaces) or captured > len(body) - 24:
                raise _BrokenError("a packet of an interface that is not there, or without bytes")
            link, base, power = interfaces[number]
            time_ns = min(((high << 32) | low) * 10**9 // base**power, _LATEST_NS)
            content = body[20 : 20 + captured]
            yield Frame(time_ns=time_ns, content=content, length=max(length, captured), link=link)


def _unit(options: bytes, order: str) -> tuple[int, int]:
    """Return how many time units a second has, as a base and its power."""
    at = 0
    while at + 4 <= len(options):
        code, size = struct.unpack_from(f"{order}HH", options, at)
        if code == 0:
            break
        if code == _TIME_RESOLUTION and size == 1 and at + 4 < len(options):
            value = options[at + 4]
            return (2 if value & 0x80 else 10), value & 0x7F
        at += 4 + (size + 3) // 4 * 4
    return 10, 6


def _checked_link(kind: int) -> int:
    if kind not in HEADER_BYTES:
        known = "neither Ethernet frames nor IP nor Linux cooked packets"
        raise _BrokenError(f"its packets are {known} (link type {kind})")
    return kind


def write_pcapng(frames: Iterable[Frame]) -> Iterator[bytes]:
    """Yield the parts of a pcapng file, with time stamps in nanoseconds."""
    yield _block(_SECTION, struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1))
    resolution = struct.pack("<HHBxxxHH", _TIME_RESOLUTION, 1, 9, 0, 0)
    interfaces: dict[int, int] = {}
    for one in frames:
        if one.link not in interfaces:
            interfaces[one.link] = len(interfaces)
            interface = struct.pack("<HHI", one.link, 0, _MAX_PACKET_LENGTH) + resolution
            yield _block(_INTERFACE, interface)
        high, low = one.time_ns >> 32, one.time_ns & 0xFFFFFFFF
        number = interfaces[one.link]
        head = struct.pack("<IIIII", number, high, low, len(one.content), one.length)
        yield _block(_ENHANCED, head + one.content + b"\0" * (-len(one.content) % 4))


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)
