"""Packets as values, in the numbers of scripts; how they are printed, in the words of scripts.

The same values say what a script expects, what is sent into the kernel, and what the kernel
sent: so what differs can be shown side by side.
"""

from __future__ import annotations

import re
import struct
from dataclasses import asdict, dataclass
from typing import Any

_HEX = re.compile(r"(?:[0-9a-f]{2})*")

FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, ".": 16, "U": 32, "E": 64, "W": 128, "A": 256}
"""The bit of each TCP flag, in the order in which they are printed. RFC 9293, RFC 9768."""

ACE_BITS = FLAGS["E"] | FLAGS["W"] | FLAGS["A"]
"""The bits that AccECN counts with."""

EOL, NOP, MSS, WSCALE, SACK_OK, SACK, TIMESTAMP, MD5 = 0, 1, 2, 3, 4, 5, 8, 19
FAST_OPEN, ACCECN_0, ACCECN_1, EXPERIMENT = 34, 172, 174, 254
"""Kinds of TCP options. Source: IANA's TCP parameters."""

FAST_OPEN_MAGIC = bytes.fromhex("f989")
"""What the experimental form of Fast Open's option begins with. RFC 7413."""

ECN = {"noecn": 0, "ect1": 1, "ect0": 2, "ce": 3}
"""The last two bits of TOS or traffic class. RFC 3168."""

ICMP4 = {
    "echo_reply": 0, "unreachable": 3, "source_quench": 4, "redirect": 5, "echo_request": 8,
    "time_exceeded": 11, "parameter_problem": 12, "timestamp_request": 13,
    "timestamp_reply": 14, "information_request": 15, "information_reply": 16,
    "address_mask_request": 17, "address_mask_reply": 18,
}  # fmt: skip
ICMP6 = {
    "unreachable": 1, "packet_too_big": 2, "time_exceeded": 3, "parameter_problem": 4,
    "echo_request": 128, "echo_reply": 129,
}  # fmt: skip
"""The types of ICMP messages. Source: IANA's ICMP and ICMPv6 parameters."""

ICMP_CODES = {
    (4, 3): {
        "net_unreachable": 0, "host_unreachable": 1, "protocol_unreachable": 2,
        "port_unreachable": 3, "frag_needed": 4, "source_route_failed": 5, "net_unknown": 6,
        "host_unknown": 7, "source_host_isolated": 8, "net_prohibited": 9,
        "host_prohibited": 10, "net_unreachable_for_tos": 11, "host_unreachable_for_tos": 12,
        "packet_filtered": 13, "precedence_violation": 14, "precedence_cutoff": 15,
    },
    (6, 1): {
        "net_unreachable": 0, "no_route": 0, "admin_prohibited": 1, "not_neighbour": 2,
        "address_unreachable": 3, "port_unreachable": 4,
    },
    (6, 3): {"exceeded_hop_limit": 0, "exceeded_frag_time": 1},
    (6, 4): {"header_field": 0, "unknown_next_header": 1, "unknown_option": 2},
}  # fmt: skip
"""Their codes, by IP version and type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ip:
    """What a script says of the IP header; None where it says nothing.

    Attributes:
        ecn: the ECN bits.
        any_ect: ECT(0) or ECT(1).
        tos: the whole TOS or traffic class.
        flow_label: the flow label; that of the script, whose numbers are its own.
        ttl: the TTL or hop limit.
    """

    ecn: int | None = None
    any_ect: bool = False
    tos: int | None = None
    flow_label: int | None = None
    ttl: int | None = None

    def text(self) -> str:
        """Return it in the words of scripts, with a blank behind; empty if it says nothing."""
        words = []
        if self.any_ect:
            words.append("ect01")
        if self.ecn is not None:
            words.append({bits: name for name, bits in ECN.items()}[self.ecn & 3])
        if self.tos is not None:
            words.append(f"tos {self.tos:#04x}")
        if self.flow_label is not None:
            words.append(f"flowlabel {self.flow_label:#x}")
        if self.ttl is not None:
            words.append(f"ttl {self.ttl}")
        return f"[{', '.join(words)}] " if words else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpOption:
    """A TCP option: its kind and, in hex, its data."""

    kind: int
    data: str = ""

    def text(self) -> str:
        """Return it in the words of scripts."""
        plain = {EOL: "eol", NOP: "nop", SACK_OK: "sackOK"}
        if self.kind in plain and not self.data:
            return plain[self.kind]
        return self._named(bytes.fromhex(self.data)) or self._raw()

    def _raw(self) -> str:
        return f"option {self.kind} of {len(self.data) // 2} bytes {self.data}".rstrip()

    def _named(self, data: bytes) -> str:
        """Return what is in it; empty, if it has not the size of its kind."""
        number = int.from_bytes(data, "big")
        match self.kind, len(data):
            case 2, 2:
                return f"mss {number}"
            case 3, 1:
                return f"wscale {number}"
            case 5, size if size % 8 == 0:
                blocks = struct.iter_unpack("!II", data)
                return " ".join(["sack", *(f"{left}:{right}" for left, right in blocks)])
            case 8, 8:
                return f"TS val {number >> 32} ecr {number % 2**32}"
            case ((19 | 34), _):
                return f"{'FO' if self.kind == FAST_OPEN else 'md5'} {self.data}".rstrip()
            case ((172 | 174), size) if size % 3 == 0:
                return accecn_text(self.kind, data)
            case 254, _ if data.startswith(FAST_OPEN_MAGIC):
                return f"FOEXP {self.data[4:]}".rstrip()
        return ""


def accecn_text(kind: int, data: bytes) -> str:
    """Return an AccECN option's counters in the words of scripts. RFC 9768."""
    names = ("e0b", "ceb", "e1b") if kind == ACCECN_0 else ("e1b", "ceb", "e0b")
    values = [int.from_bytes(data[at : at + 3], "big") for at in range(0, len(data), 3)]
    return " ".join(["ECN", *(f"{n} {v}" for n, v in zip(names, values, strict=False))])


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp:
    """A TCP segment.

    Attributes:
        source_port: 0 for the connection's.
        target_port: likewise.
        flags: the sum of `FLAGS`.
        counts_ce: its AccECN bits are a number.
        sequence: where it begins.
        length: its bytes of data.
        acknowledged: the acknowledgement number; 0, if there is none.
        window: the window field; not looked at, if None.
        urgent: the urgent pointer.
        options: its options; not looked at, if None.
    """

    source_port: int = 0
    target_port: int = 0
    flags: int
    counts_ce: bool = False
    sequence: int
    length: int
    acknowledged: int = 0
    window: int | None = None
    urgent: int = 0
    options: tuple[TcpOption, ...] | None = ()

    def flags_text(self) -> str:
        """Return the flags in the words of scripts."""
        bits = self.flags & ~ACE_BITS if self.counts_ce else self.flags
        letters = "".join(
            name for name in "FSRPUEWA" if bits & FLAGS[name]
        ) + ("." if bits & FLAGS["."] else "")  # fmt: skip
        if self.counts_ce:
            letters += str((self.flags & ACE_BITS) >> 6)
        return letters or "-"

    def text(self) -> str:
        """Return it in the words of scripts."""
        words = [self.flags_text(), f"{self.sequence}:{_end(self)}({self.length})"]
        if self.source_port or self.target_port:
            words.insert(0, f"{self.source_port} > {self.target_port}")
        if self.flags & FLAGS["."]:
            words.append(f"ack {self.acknowledged}")
        if self.window is not None:
            words.append(f"win {self.window}")
        if self.urgent:
            words.append(f"urg {self.urgent}")
        if self.options is None:
            words.append("<...>")
        elif self.options:
            words.append(f"<{','.join(option.text() for option in self.options)}>")
        return " ".join(words)


def _end(segment: Tcp) -> int:
    return (segment.sequence + segment.length) % 2**32


@dataclass(frozen=True, slots=True, kw_only=True)
class Udp:
    """A datagram; ports as in `Tcp`, its bytes of data."""

    source_port: int = 0
    target_port: int = 0
    length: int

    def text(self) -> str:
        """Return it in the words of scripts."""
        ports = ""
        if self.source_port or self.target_port:
            ports = f" {self.source_port} > {self.target_port}"
        return f"udp{ports} ({self.length})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Icmp:
    """An ICMP message.

    Attributes:
        version: of IP: 4 or 6.
        kind: its type.
        code: its code.
        mtu: the MTU that it announces; None for none.
        echo_id: the identifier of an echo.
        echoes: the protocol of the packet that it is about: `tcp`, `udp` or `raw`; "" if
            it is about none.
        sequence: where that packet's data begins.
        length: its bytes of data.
    """

    version: int
    kind: int
    code: int = 0
    mtu: int | None = None
    echo_id: int = 0
    echoes: str = ""
    sequence: int = 0
    length: int = 0

    def text(self) -> str:
        """Return it in the words of scripts."""
        kinds = ICMP4 if self.version == 4 else ICMP6
        names = {number: name for name, number in kinds.items()}
        codes = ICMP_CODES.get((self.version, self.kind), {})
        words = ["icmp", names.get(self.kind, f"type_{self.kind}")]
        known = {number: name for name, number in codes.items()}
        if known or self.code:
            words.append(known.get(self.code, f"code_{self.code}"))
        if self.mtu is not None:
            words.append(f"mtu {self.mtu}")
        if self.echo_id:
            words.append(f"id {self.echo_id}")
        if self.echoes == "tcp":
            words.append(f"[{self.sequence}:{self.sequence + self.length}({self.length})]")
        elif self.echoes:
            words.append(f"[{self.echoes} ({self.length})]")
        return " ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """A packet: its direction, its IP header, and one of three bodies.

    Attributes:
        outbound: the kernel is to send it.
    """

    outbound: bool
    ip: Ip
    tcp: Tcp | None = None
    udp: Udp | None = None
    icmp: Icmp | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has one body, and options that can be: whoever made it may lie."""
        bodies = [body for body in (self.tcp, self.udp, self.icmp) if body is not None]
        options = (self.tcp.options if self.tcp is not None else None) or ()
        return len(bodies) == 1 and all(_HEX.fullmatch(option.data) for option in options)

    def text(self) -> str:
        """Return it in the words of scripts."""
        body = self.tcp or self.udp or self.icmp
        assert body is not None
        return f"{'>' if self.outbound else '<'} {self.ip.text()}{body.text()}"

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        return asdict(self)
