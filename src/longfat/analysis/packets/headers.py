"""Decodes packets by dpkt, into the lines that tshark would print for the same fields.

It decodes Ethernet, Linux cooked headers, ARP, IPv4 and IPv6, ICMP, UDP, TCP and the chunks of
SCTP, and no protocol above them; others are named.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.packets.capture import COOKED, COOKED_V2, ETHERNET, HEADER_BYTES
from longfat.analysis.packets.columns import COLUMNS, SEPARATOR, Form
from longfat.analysis.packets.tcp_analysis import Segment, Stream, Verdict
from longfat.common.extras import lazy
from longfat.errors import InputError

if TYPE_CHECKING:
    import dpkt

    from longfat.analysis.packets.capture import Frame
else:
    dpkt = lazy("dpkt")

_LETTERS = ((2, "SYN"), (16, "ACK"), (1, "FIN"), (4, "RST"), (8, "PSH"), (64, "ECE"), (128, "CWR"))
_TIMESTAMP, _SACK, _SCALE, _MSS = 8, 5, 3, 2
_MARK_WORDS = {one.key: one.label for one in COLUMNS if one.form is Form.PRESENT}
_MAC_BYTES = 6
# As Wireshark names them. Sources: IANA's protocol numbers, IEEE 802 numbers and SCTP chunk types.
_ETHERNET_TYPES = {
    0x8100: "VLAN", 0x8847: "MPLS", 0x8863: "PPPoED", 0x8864: "PPPoES", 0x888E: "EAPOL",
    0x88A8: "VLAN", 0x88CC: "LLDP", 0x88F7: "PTPv2", 0x8809: "LACP",
}  # fmt: skip
_SCTP = 132
_IP_PROTOCOLS = {
    2: "IGMP", 4: "IPIP", 33: "DCCP", 41: "IPv6", 47: "GRE", 50: "ESP", 51: "AH", 89: "OSPF",
    103: "PIM", 112: "VRRP", 115: "L2TP", _SCTP: "SCTP", 136: "UDP-Lite",
}  # fmt: skip
_SCTP_HEAD, _CHUNK_HEAD = struct.Struct(">HHII"), struct.Struct(">BBH")
_CHUNKS = {
    0: "DATA", 1: "INIT", 2: "INIT_ACK", 3: "SACK", 4: "HEARTBEAT", 5: "HEARTBEAT_ACK",
    6: "ABORT", 7: "SHUTDOWN", 8: "SHUTDOWN_ACK", 9: "ERROR", 10: "COOKIE_ECHO",
    11: "COOKIE_ACK", 12: "ECNE", 13: "CWR", 14: "SHUTDOWN_COMPLETE", 15: "AUTH",
    64: "I_DATA", 128: "ASCONF_ACK", 130: "RE_CONFIG", 132: "PAD", 192: "FORWARD_TSN",
    193: "ASCONF", 194: "I_FORWARD_TSN",
}  # fmt: skip
_IPV6_HEADER_BYTES = 40  # RFC 8200, section 3
_UNREADABLE = (ArithmeticError, LookupError, ValueError, AttributeError, TypeError)
_MAX_STREAMS = 200_000


def lines_of(frames: Iterable[Frame]) -> Iterator[str]:
    """Yield a line for each packet: the fields of `columns.COLUMNS`."""
    decoder = _Decoder()
    for number, frame in enumerate(frames, 1):
        row = decoder.row(frame)
        row["number"] = number
        row["time"] = f"{frame.time_ns // 10**9}.{frame.time_ns % 10**9:09}"
        row["length"], row["captured"] = frame.length, len(frame.content)
        yield SEPARATOR.join(_words(row.get(one.key)) for one in COLUMNS)


def _words(value: Any) -> str:
    return "" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class Data:
    """A segment's data.

    Attributes:
        direction: which end sent it: 0 is the one whose packet came first.
        seq: its number from the stream's start.
        payload: how many bytes it has.
        content: those of them that were captured.
    """

    direction: int
    seq: int
    payload: int
    content: bytes


class Streams:
    """The TCP connections of a capture, by the numbers that Wireshark gives them."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[int, Stream, Any]] = {}
        self._count = 0

    def take(self, ends: Any, segment: Segment) -> tuple[int, int, Verdict]:
        """Return a segment's stream, its direction, and what it is."""
        key = frozenset(ends)
        number, stream, first = self._known.get(key, (-1, None, ends))
        direction = int(first != ends)
        if stream is None or stream.restarts(direction, segment):
            number, stream, first, direction = self._count, Stream(), ends, 0
            self._count += 1
            if len(self._known) >= _MAX_STREAMS:
                self._known.clear()
            self._known[key] = number, stream, first
        return number, direction, stream.take(direction, segment)

    def data_of(self, frames: Iterable[Frame], wanted: int) -> Iterator[tuple[int, Data]]:
        """Yield the data of one stream, with the numbers of the packets."""
        for number, frame in enumerate(frames, 1):
            try:
                packet = _internet_layer(_outer_layer(frame))
                tcp = packet.data
                if not isinstance(tcp, dpkt.tcp.TCP):
                    continue
                ends = ((packet.src, tcp.sport), (packet.dst, tcp.dport))
                payload = max(0, _size_of(packet, frame) - tcp.off * 4)
                segment = _segment_of(tcp, payload, frame.time_ns)
                stream, direction, found = self.take(ends, segment)
            except (dpkt.Error, *_UNREADABLE):
                continue
            if stream == wanted and payload and "keep_alive" not in found.marks:
                content = bytes(tcp.data)[:payload]
                yield number, Data(direction, found.seq, payload, content)


def _outer_layer(frame: Frame) -> Any:
    """Return the outermost header of a packet, with all that it carries.

    Raises:
        dpkt.UnpackError: it cannot be read.
    """
    if frame.link == ETHERNET:
        return dpkt.ethernet.Ethernet(frame.content)
    if frame.link == COOKED:
        return dpkt.sll.SLL(frame.content)
    if frame.link == COOKED_V2:
        return dpkt.sll2.SLL2(frame.content)
    is_ipv6 = bool(frame.content) and frame.content[0] >> 4 == 6
    return (dpkt.ip6.IP6 if is_ipv6 else dpkt.ip.IP)(frame.content)


def _internet_layer(outer: Any) -> Any:
    links = (dpkt.ethernet.Ethernet, dpkt.sll.SLL, dpkt.sll2.SLL2)
    return outer.data if isinstance(outer, links) else outer


def _size_of(packet: Any, frame: Frame) -> int:
    """Return how many bytes follow the headers of IP."""
    # A packet of more than 64 KB, before it is cut up (GSO), has no length, or that of a jumbogram
    # (RFC 2675), which stands in a header of its own.
    whole = frame.length - HEADER_BYTES[frame.link]
    if isinstance(packet, dpkt.ip.IP):
        return int((packet.len or whole) - packet.hl * 4)
    extensions = sum(header.length for header in packet.all_extension_headers)
    return int((packet.plen or whole - _IPV6_HEADER_BYTES) - extensions)


class _Decoder:
    """Decode packets in order, and keep track of streams."""

    def __init__(self) -> None:
        self._tcp = Streams()
        self._udp: dict[Any, int] = {}

    def row(self, frame: Frame) -> dict[str, Any]:
        try:
            return self._link(frame)
        except (dpkt.Error, *_UNREADABLE):
            return {"protocol": _link_name(frame), "info": "its headers cannot be read"}

    def _link(self, frame: Frame) -> dict[str, Any]:
        try:
            outer = _outer_layer(frame)
        except dpkt.UnpackError:
            return self._cut(frame)
        row: dict[str, Any] = {}
        if isinstance(outer, dpkt.ethernet.Ethernet):
            row |= {
                "source": _mac(outer.src),
                "target": _mac(outer.dst),
                "protocol": _ETHERNET_TYPES.get(outer.type, "Ethernet"),
                "info": f"type 0x{outer.type:04x}",
            }
        elif isinstance(outer, dpkt.sll.SLL | dpkt.sll2.SLL2):
            row |= {
                "source": _mac(outer.hdr[:_MAC_BYTES]) if outer.hlen == _MAC_BYTES else None,
                "protocol": _ETHERNET_TYPES.get(outer.ethtype, _link_name(frame)),
                "info": f"type 0x{outer.ethtype:04x}",
            }
        inner = _internet_layer(outer)
        if isinstance(inner, dpkt.arp.ARP):
            request = f"who has {_address(inner.tpa)}? tell {_address(inner.spa)}"
            reply = f"{_address(inner.spa)} is at {_mac(inner.sha)}"
            row |= {"protocol": "ARP", "info": request if inner.op == 1 else reply}
        elif isinstance(inner, dpkt.ip.IP | dpkt.ip6.IP6):
            row |= self._internet(inner, frame)
        return row

    def _cut(self, frame: Frame) -> dict[str, Any]:
        return {
            "protocol": _link_name(frame),
            "info": f"cut within its headers: {len(frame.content)} bytes of {frame.length}",
        }

    def _internet(self, packet: Any, frame: Frame) -> dict[str, Any]:
        row: dict[str, Any] = {"source": _address(packet.src), "target": _address(packet.dst)}
        last = packet.p
        if isinstance(packet, dpkt.ip.IP):
            row |= {"ecn": packet.tos & 3, "info": f"protocol {last}"}
            row["protocol"] = _IP_PROTOCOLS.get(last, "IPv4")
            if packet.offset:
                return row | {"protocol": "IPv4", "info": f"fragment at {packet.offset}"}
        else:
            row |= {"ecn6": (packet.fc >> 4) & 3, "info": f"next header {last}"}
            row["protocol"] = _IP_PROTOCOLS.get(last, "IPv6")
        inner = packet.data
        if isinstance(inner, dpkt.tcp.TCP):
            ends = ((packet.src, inner.sport), (packet.dst, inner.dport))
            return row | self._segment(inner, ends, _size_of(packet, frame), frame)
        if isinstance(inner, dpkt.udp.UDP):
            ends = ((packet.src, inner.sport), (packet.dst, inner.dport))
            stream = self._udp.setdefault(frozenset(ends), len(self._udp))
            info = f"{inner.sport} → {inner.dport}, {max(0, inner.ulen - 8)} bytes"
            ports = {"udp_source_port": inner.sport, "udp_target_port": inner.dport}
            return row | {"protocol": "UDP", "udp_stream": stream, "info": info, **ports}
        if isinstance(inner, dpkt.icmp.ICMP | dpkt.icmp6.ICMP6):
            is_v4 = isinstance(inner, dpkt.icmp.ICMP)
            key = "icmp" if is_v4 else "icmp6"
            numbers = {f"{key}_type": inner.type, f"{key}_code": inner.code}
            name = "ICMP" if is_v4 else "ICMPv6"
            return row | {"protocol": name, "info": _icmp(inner), **numbers}
        if last == _SCTP:
            return row | {"info": _chunks(bytes(inner))}
        return row

    def _segment(self, tcp: Any, ends: Any, size: int, frame: Frame) -> dict[str, Any]:
        payload = max(0, size - tcp.off * 4)
        segment = _segment_of(tcp, payload, frame.time_ns)
        number, _, found = self._tcp.take(ends, segment)
        words = ", ".join(word for bit, word in _LETTERS if tcp.flags & bit)
        marks = ", ".join(_MARK_WORDS[mark] for mark in found.marks)
        info = f"{tcp.sport} → {tcp.dport} [{words}] Seq={found.seq}"
        info += f" Ack={found.ack}" if tcp.flags & 16 else ""
        info += f" Win={found.window} Len={payload}"
        info += "".join(f" SACK={left}-{right}" for left, right in found.sack)
        return {
            "protocol": "TCP",
            "tcp_stream": number,
            "tcp_source_port": tcp.sport,
            "tcp_target_port": tcp.dport,
            "flags": f"0x{tcp.flags:04x}",
            "seq": found.seq,
            "ack": found.ack,
            "payload": payload,
            "window_raw": tcp.win,
            "window": found.window,
            "mss": segment.mss,
            "shift": segment.shift,
            "stamp": segment.stamp,
            "sack_left": ",".join(str(left) for left, _ in found.sack),
            "sack_right": ",".join(str(right) for _, right in found.sack),
            "ack_rtt": _seconds(found.ack_rtt_ns),
            "in_flight": found.in_flight,
            "info": f"[{marks}] {info}" if marks else info,
            **dict.fromkeys(found.marks, 1),
        }


def _seconds(time_ns: int | None) -> str | None:
    return None if time_ns is None or time_ns < 0 else f"{time_ns // 10**9}.{time_ns % 10**9:09}"


def _segment_of(tcp: Any, payload: int, time_ns: int) -> Segment:
    shift: int | None = None
    stamp: int | None = None
    mss: int | None = None
    sack: list[tuple[int, int]] = []
    for option in dpkt.tcp.parse_opts(tcp.opts):
        if option is None:  # in dpkt: the rest is not an option
            break
        kind, value = option
        if kind == _SCALE and len(value) == 1:
            shift = value[0]
        elif kind == _MSS and len(value) == 2:
            mss = int.from_bytes(value, "big")
        elif kind == _TIMESTAMP and len(value) == 8:
            stamp = int.from_bytes(value[:4], "big")
        elif kind == _SACK:
            edges = [int.from_bytes(value[at : at + 4], "big") for at in range(0, len(value), 4)]
            sack = list(zip(edges[::2], edges[1::2], strict=False))
    return Segment(
        time_ns=time_ns,
        seq=tcp.seq,
        ack=tcp.ack,
        flags=tcp.flags,
        payload=payload,
        window=tcp.win,
        shift=shift,
        sack=tuple(sack),
        stamp=stamp,
        mss=mss,
    )


def describe(frames: Iterable[Frame], number: int) -> Iterator[str]:
    """Yield all that is known of a packet, as lines that are indented by four blanks a level.

    Raises:
        InputError: there is no such packet.
    """
    decoder = _Decoder()
    for index, frame in enumerate(frames, 1):
        if index < number:
            decoder.row(frame)
            continue
        row = decoder.row(frame)
        yield f"Frame {number}: {frame.length} bytes, {len(frame.content)} of them captured"
        yield f"    Time stamp: {frame.time_ns // 10**9}.{frame.time_ns % 10**9:09} s since 1970"
        yield from _layers(frame)
        yield "In its stream"
        for one in COLUMNS:
            if one.key in row and one.key not in ("source", "target", "protocol", "info"):
                yield f"    {one.name}: {row[one.key]}"
        yield from _dump(frame.content)
        return
    raise InputError(f"there is no packet {number}")


def _layers(frame: Frame) -> Iterator[str]:
    """Yield the headers of a packet, each with its fields as dpkt has them."""
    try:
        layer = _outer_layer(frame)
    except (dpkt.Error, *_UNREADABLE):
        return
    for _ in range(8):
        if not isinstance(layer, dpkt.Packet):
            return
        yield f"{type(layer).__name__}"
        for name in layer.__hdr_fields__:
            value = getattr(layer, name)
            text = _bytes_words(value) if isinstance(value, bytes) else str(value)
            yield f"    {name.lstrip('_')}: {text}"
        layer = layer.data


def _bytes_words(value: bytes) -> str:
    return {4: _address, 16: _address, 6: _mac}.get(len(value), bytes.hex)(value)


def _dump(content: bytes) -> Iterator[str]:
    """Yield bytes as Wireshark's hex dump has them."""
    yield ""
    for at in range(0, min(len(content), 4096), 16):
        part = content[at : at + 16]
        shown = "".join(chr(one) if 32 <= one < 127 else "." for one in part)
        yield f"{at:04x}  {part.hex(' '):<47}   {shown}"


_ECHO = {0: "echo reply", 8: "echo request", 128: "echo request", 129: "echo reply"}
_ICMP = {3: "unreachable", 11: "time exceeded", 5: "redirect", 135: "neighbor solicitation"}


def _icmp(message: Any) -> str:
    kind = int(message.type)
    words = _ECHO.get(kind)
    echo = message.data
    if words is not None and hasattr(echo, "seq"):
        return f"{words}, id {echo.id}, seq {echo.seq}"
    return words or _ICMP.get(kind, f"type {kind}") + f", code {int(message.code)}"


def _chunks(content: bytes) -> str:
    """Return the ports and chunks of a packet of SCTP (RFC 9260, section 3), as far as captured."""
    if len(content) < _SCTP_HEAD.size:
        return "cut within its headers"
    source, target, _, _ = _SCTP_HEAD.unpack_from(content)
    names = []
    at = _SCTP_HEAD.size
    while at + _CHUNK_HEAD.size <= len(content):
        kind, _, size = _CHUNK_HEAD.unpack_from(content, at)
        name = _CHUNKS.get(kind, f"chunk {kind}")
        if kind == 0 and at + 8 <= len(content):
            name += f" TSN={int.from_bytes(content[at + 4 : at + 8], 'big')}"
        names.append(name)
        if size < _CHUNK_HEAD.size:
            break
        at += (size + 3) // 4 * 4
    return f"{source} → {target} {', '.join(names)}".rstrip()


def _link_name(frame: Frame) -> str:
    return {ETHERNET: "Ethernet", COOKED: "SLL", COOKED_V2: "SLL"}.get(frame.link, "IP")


def _mac(packed: bytes) -> str:
    return packed.hex(":")


def _address(packed: bytes) -> str:
    return socket.inet_ntop(socket.AF_INET if len(packed) == 4 else socket.AF_INET6, packed)
