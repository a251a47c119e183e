"""Packets as bytes: what arrives is made here, what the kernel sends is taken apart.

Sources: RFC 791, 8200, 9293, 768, 792, 4443.
"""

import ipaddress
import struct
from dataclasses import dataclass, field
from typing import Any

TCP, UDP, ICMP4, ICMP6, RAW = 6, 17, 1, 58, 255
FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
_ECHOED_TCP_BYTES = 8
_SACK, _TIMESTAMP = 5, 8


class NotOursError(Exception):
    """A packet that no script can be about."""


@dataclass
class Sent:
    """A packet of the kernel's, taken apart.

    Attributes:
        time_ns: when it was sent.
        options: pairs of kind and data.
        rest: of an ICMP message what follows its checksum; of others their data.
    """

    time_ns: int
    version: int
    tos: int
    ttl: int
    flow_label: int
    protocol: int
    source: str
    target: str
    source_port: int = 0
    target_port: int = 0
    sequence: int = 0
    acknowledged: int = 0
    flags: int = 0
    window: int = 0
    urgent: int = 0
    options: list[tuple[int, bytes]] = field(default_factory=list)
    kind: int = 0
    code: int = 0
    rest: bytes = b""
    wrong: str = ""


def parse(packet: bytes, time_ns: int) -> Sent:
    """Take a packet apart.

    Raises:
        NotOursError: it is cut, or neither TCP, UDP nor ICMP.
    """
    try:
        return _parse(packet, time_ns)
    except (struct.error, IndexError):
        raise NotOursError from None


def _parse(packet: bytes, time_ns: int) -> Sent:
    if packet[0] >> 4 == 4:
        size = (packet[0] & 15) * 4
        tos, ttl, protocol = packet[1], packet[8], packet[9]
        total = int.from_bytes(packet[2:4], "big")
        source, target = (str(ipaddress.IPv4Address(packet[at : at + 4])) for at in (12, 16))
        sent = Sent(time_ns, 4, tos, ttl, 0, protocol, source, target)
        if checksum(packet[:size]):
            sent.wrong = "the checksum of the IP header is wrong"
        body = packet[size : total or None]
    elif packet[0] >> 4 == 6:
        (first,) = struct.unpack_from("!I", packet)
        protocol, ttl = packet[6], packet[7]
        source, target = (str(ipaddress.IPv6Address(packet[at : at + 16])) for at in (8, 24))
        sent = Sent(
            time_ns, 6, first >> 20 & 255, ttl, first & 0xFFFFF, protocol, source, target
        )  # fmt: skip
        body = packet[40:]
    else:
        raise NotOursError
    if protocol == TCP:
        _parse_tcp(sent, body)
    elif protocol == UDP:
        sent.source_port, sent.target_port = struct.unpack_from("!HH", body)
        sent.rest = body[8:]
    elif protocol in (ICMP4, ICMP6):
        sent.kind, sent.code = body[0], body[1]
        sent.rest = body[4:]
    else:
        raise NotOursError
    return sent


def _parse_tcp(sent: Sent, body: bytes) -> None:
    fields = struct.unpack_from("!HHIIHHHH", body)
    sent.source_port, sent.target_port, sent.sequence, sent.acknowledged = fields[:4]
    sent.flags = fields[4] & 0x1FF
    sent.window, sent.urgent = fields[5], fields[7]
    size = (fields[4] >> 12) * 4
    options = body[20:size]
    sent.rest = body[size:]
    at = 0
    while at < len(options):
        kind = options[at]
        if kind in (0, 1):
            sent.options.append((kind, b""))
            at += 1
            continue
        length = options[at + 1]
        if length < 2 or at + length > len(options):
            raise NotOursError
        sent.options.append((kind, options[at + 2 : at + length]))
        at += length


def options_bytes(options: list[tuple[int, bytes]]) -> bytes:
    """Return TCP options as they stand in a segment."""
    return b"".join(
        bytes([kind]) if kind in (0, 1) else bytes([kind, 2 + len(data)]) + data
        for kind, data in options
    )


def checksum(data: bytes) -> int:
    """Return the Internet checksum of some bytes. RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip_packet(ip: dict[str, Any], source: str, target: str, protocol: int, body: bytes) -> bytes:
    """Return a packet with its IP header.

    Args:
        ip: what the script says of it.
        source: the sender's address.
        target: the receiver's.
        protocol: what it holds.
        body: that.
    """
    tos = ip["tos"] if ip["tos"] is not None else ip["ecn"] or 0
    ttl = ip["ttl"] if ip["ttl"] is not None else 255
    sender, receiver = ipaddress.ip_address(source), ipaddress.ip_address(target)
    if sender.version == 6:
        first = 6 << 28 | tos << 20 | (ip["flow_label"] or 0)
        head = struct.pack("!IHBB", first, len(body) & 0xFFFF, protocol, ttl)
        return head + sender.packed + receiver.packed + body
    head = struct.pack("!BBHHHBBH", 0x45, tos, (20 + len(body)) & 0xFFFF, 0, 0, ttl, protocol, 0)
    head += sender.packed + receiver.packed
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def pseudo_header(source: str, target: str, protocol: int, length: int) -> bytes:
    """Return what a checksum covers besides the body."""
    sender, receiver = ipaddress.ip_address(source), ipaddress.ip_address(target)
    packed = sender.packed + receiver.packed
    if sender.version == 6:
        return packed + struct.pack("!II", length, protocol)
    return packed + struct.pack("!HH", protocol, length)


def summed(head: bytes, body: bytes, *, at: int, pseudo: bytes) -> bytes:
    """Return a header and its body, with their checksum at an offset of the header."""
    total = checksum(pseudo + head + body)
    return head[:at] + struct.pack("!H", total) + head[at + 2 :] + body


def tcp_bytes(segment: dict[str, Any], ports: tuple[int, int], numbers: tuple[int, int]) -> bytes:
    """Return a segment's header, without a checksum.

    Args:
        segment: what the script says of it.
        ports: of both ends.
        numbers: sequence and acknowledgement on the wire.
    """
    options = options_bytes(
        [(option["kind"], bytes.fromhex(option["data"])) for option in segment["options"]]
    )
    words = (20 + len(options)) // 4
    return (
        struct.pack(
            "!HHIIHHHH",
            *ports,
            numbers[0],
            numbers[1] if segment["flags"] & ACK else segment["acknowledged"],
            words << 12 | segment["flags"],
            segment["window"] or 0,
            0,
            segment["urgent"],
        )
        + options
    )


def echoed_packet(
    icmp: dict[str, Any], source: str, target: str, ports: tuple[int, int], sequence: int
) -> bytes:
    """Return the packet that an ICMP message is about: of one of ours, the beginning.

    Args:
        icmp: what the script says of the message.
        source: our address.
        target: the remote one.
        ports: ours and the remote one.
        sequence: the sequence number on the wire.
    """
    is_v6 = icmp["version"] == 6
    protocol = {"tcp": TCP, "udp": UDP, "raw": RAW}[icmp["echoes"]]
    length = icmp["length"]
    if protocol == TCP:
        whole, body = 20 + length, struct.pack("!HHI", *ports, sequence)[:_ECHOED_TCP_BYTES]
        if is_v6:
            body += struct.pack("!IHHHH", 0, 5 << 12, 0, 0, 0)
    elif protocol == UDP:
        whole, body = 8 + length, struct.pack("!HHHH", *ports, 8 + length, 0)
    else:
        whole, body = length, bytes(min(length, 8))
    plain = {"tos": None, "ecn": None, "ttl": None, "flow_label": None}
    packet = ip_packet(plain, source, target, protocol, body)
    if is_v6:
        return packet[:4] + struct.pack("!H", whole & 0xFFFF) + packet[6:]
    head = packet[:2] + struct.pack("!H", (20 + whole) & 0xFFFF) + packet[4:10] + b"\0\0"
    head += packet[12:20]
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def icmp_bytes(icmp: dict[str, Any], echoed: bytes) -> bytes:
    """Return an ICMP message, without a checksum."""
    rest = struct.pack("!HH", icmp["echo_id"], 0)
    if icmp["mtu"] is not None:
        rest = struct.pack("!I" if icmp["version"] == 6 else "!xxH", icmp["mtu"])
    return struct.pack("!BBH", icmp["kind"], icmp["code"], 0) + rest + echoed


def sack_shifted(data: bytes, offset: int) -> bytes:
    """Return SACK blocks with an offset added to their numbers."""
    numbers = struct.unpack(f"!{len(data) // 4}I", data[: len(data) // 4 * 4])
    return struct.pack(f"!{len(numbers)}I", *((number + offset) % 2**32 for number in numbers))


def shift_sack(options: list[tuple[int, bytes]], offset: int) -> list[tuple[int, bytes]]:
    """Return options whose SACK blocks are shifted."""
    return [(kind, sack_shifted(data, offset) if kind == _SACK else data) for kind, data in options]


def timestamps(options: list[tuple[int, bytes]]) -> tuple[int, int] | None:
    """Return the value and the echo of a timestamp option, if there is one."""
    for kind, data in options:
        if kind == _TIMESTAMP and len(data) == 8:
            value, echo = struct.unpack("!II", data)
            return value, echo
    return None


def with_timestamps(
    options: list[tuple[int, bytes]], value: int, echo: int
) -> list[tuple[int, bytes]]:
    """Return options with other timestamps."""
    data = struct.pack("!II", value % 2**32, echo % 2**32)
    return [(kind, data if kind == _TIMESTAMP else old) for kind, old in options]
