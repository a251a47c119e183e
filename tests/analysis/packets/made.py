"""Captures that are made and not captured: as many packets as a test wants, in order."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import dpkt

from longfat.analysis.packets.capture import Frame

START_NS = 1_700_000_000 * 10**9
STEP_NS = 100_000
PAYLOAD = 1448
_ENDS = (("10.0.0.1", 40000), ("10.0.0.2", 5201))


def transfer(count: int, *, snap: int = 128) -> Iterator[Frame]:
    """Yield a transfer over TCP: a handshake, then data, with each third packet an ACK."""
    seq, ack = 1000, 5000
    for index in range(count):
        options = b"\x02\x04\x05\xb4\x01\x03\x03\x07" if index < 2 else b""
        if index == 0:
            yield _frame(index, 0, snap, options, seq, 0, dpkt.tcp.TH_SYN)
            seq += 1
        elif index == 1:
            yield _frame(index, 1, snap, options, ack, seq, dpkt.tcp.TH_SYN | dpkt.tcp.TH_ACK)
            ack += 1
        elif index == 2:
            yield _frame(index, 0, snap, options, seq, ack, dpkt.tcp.TH_ACK)
        elif index % 4 == 1 and index > 4:
            yield _frame(index, 1, snap, options, ack, seq, dpkt.tcp.TH_ACK)
        else:
            data = f"line {index - 3}\n".encode().ljust(PAYLOAD, b".")
            yield _frame(index, 0, snap, options, seq, ack, dpkt.tcp.TH_ACK, data=data)
            seq += PAYLOAD


def _frame(
    index: int, side: int, snap: int, options: bytes, *segment: int, data: bytes = b""
) -> Frame:
    seq, ack, flags = segment
    (source, source_port), (target, target_port) = _ENDS[side], _ENDS[1 - side]
    tcp = struct.pack(
        ">HHIIBBHHH",
        *(source_port, target_port, seq % 2**32, ack % 2**32),
        *((5 + len(options) // 4) << 4, flags, 500, 0, 0),
    )
    size = 20 + len(tcp) + len(options) + len(data)
    ends = socket.inet_aton(source) + socket.inet_aton(target)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0x4000, 64, 6, 0) + ends
    ethernet = bytes(5) + bytes([2 - side]) + bytes(5) + bytes([1 + side]) + b"\x08\x00"
    whole = ethernet + ip + tcp + options + data
    return Frame(time_ns=START_NS + index * STEP_NS, content=whole[:snap], length=len(whole))
