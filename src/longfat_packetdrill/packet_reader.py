"""The packets of a script, read: `> [ect0] P. 1:1001(1000) ack 1 win 65535 <nop,nop,...>`."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Any

from longfat.common.suggest import nearest
from longfat_packetdrill.packets import (
    ACCECN_0,
    ACCECN_1,
    ECN,
    EOL,
    EXPERIMENT,
    FAST_OPEN,
    FAST_OPEN_MAGIC,
    FLAGS,
    ICMP4,
    ICMP6,
    ICMP_CODES,
    MD5,
    MSS,
    NOP,
    SACK,
    SACK_OK,
    TIMESTAMP,
    WSCALE,
    Icmp,
    Ip,
    Packet,
    Tcp,
    TcpOption,
    Udp,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat_packetdrill.scanner import Scanner

_KEYWORD = re.compile(r"[A-Za-z_]\w*")
_BODY = re.compile(r"(?:udp|icmp|ipv4|ipv6|gre|GREv0|mpls|encap)\b")
_PORTS = re.compile(r"(\d{1,5})\s*>\s*(\d{1,5})(?=\s)")
_FLAGS = re.compile(r"-(?=\s)|(?=[^\s\d])[A-Za-z]*(?:[0-9]?\.?|\.[0-9])(?=\s)")
_SEQUENCE = re.compile(r"(\d{1,10})\s*:\s*(\d{1,10})\s*\(\s*(\d{1,6})\s*\)")
_BLOCK = re.compile(r"(\d{1,10})\s*:\s*(\d{1,10})")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+(?![0-9a-zA-Z])")
_OPTIONS = ("mss", "wscale", "sackOK", "sack", "TS", "nop", "eol", "md5", "FO", "FOEXP", "ECN")
_MAX_OPTION_BYTES = 40
# RFC 7413 has 4 to 16 bytes; tests send others.
_MAX_COOKIE = 36
_32_BITS = 2**32 - 1
_ERRORS4, _ERRORS6 = (3, 4, 5, 11, 12), (1, 2, 3, 4)


class PacketReader:
    """Reads packets.

    Args:
        scanner: the text.
        wire_version: the version of IP: 4 or 6.
        defines: what words stand for, in cookies and codes.
    """

    def __init__(self, scanner: Scanner, *, wire_version: int, defines: Mapping[str, str]) -> None:
        self._scanner = scanner
        self._version = wire_version
        self._defines = defines

    def read(self) -> Packet:
        """Read a packet, which begins with `<` or `>`.

        Raises:
            InputError: it is none, or of a kind that is not supported.
        """
        scanner = self._scanner
        outbound = scanner.accept(">")
        if not outbound:
            scanner.expect("<")
        ip = self._ip(outbound=outbound)
        body = scanner.peek(_BODY)
        if body is None:
            return Packet(outbound=outbound, ip=ip, tcp=self._tcp(outbound=outbound))
        if body[0] == "udp":
            if ip.ecn is not None and outbound:
                raise scanner.error("ECN marks are for TCP packets; for others: [tos 0x..]")
            return Packet(outbound=outbound, ip=ip, udp=self._udp())
        if body[0] == "icmp":
            return Packet(outbound=outbound, ip=ip, icmp=self._icmp())
        raise scanner.error(f"{body[0]} headers (tunnels, MPLS, PSP) are not supported")

    def _ip(self, *, outbound: bool) -> Ip:
        scanner = self._scanner
        if not (bracket := scanner.sees("[")) and not scanner.sees("("):
            return Ip()
        scanner.accept("[" if bracket else "(")
        ip: dict[str, Any] = {}
        while True:
            ip |= self._ip_word(outbound=outbound)
            if not scanner.accept(","):
                break
        scanner.expect("]" if bracket else ")")
        return Ip(**ip)

    def _ip_word(self, *, outbound: bool) -> dict[str, int | bool]:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        word = scanner.need(_KEYWORD, "ect0, ect1, ce, noecn, ect01, tos, flowlabel or ttl")[0]
        if word in ECN:
            return {"ecn": ECN[word]}
        match word:
            case "ect01" if outbound:
                return {"any_ect": True}
            case "ect01":
                raise scanner.error("[ect01] is for packets that the kernel sends", at=start)
            case "tos":
                return {"tos": scanner.integer("a TOS byte such as 0x10", maximum=255)}
            case "flowlabel" if self._version == 4:
                raise scanner.error("only IPv6 has flow labels", at=start)
            case "flowlabel":
                value = scanner.integer("a flow label such as 0x1", maximum=2**20 - 1)
                return {"flow_label": value}
            case "ttl":
                return {"ttl": scanner.integer("a TTL", maximum=255)}
        known = [*ECN, "ect01", "tos", "flowlabel", "ttl"]
        raise scanner.error(f"found {word!r}{nearest(word, known)}", at=start)

    def _ports(self) -> tuple[int, int]:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        match = scanner.take(_PORTS)
        if match is None:
            return 0, 0
        if max(int(match[1]), int(match[2])) > 65535:
            raise scanner.error("a port is at most 65535", at=start)
        return int(match[1]), int(match[2])

    def _tcp(self, *, outbound: bool) -> Tcp:
        scanner = self._scanner
        source_port, target_port = self._ports()
        flags, counts_ce = self._flags()
        sequence, length = self._sequence()
        acknowledged = urgent = 0
        window = None
        options: tuple[TcpOption, ...] | None = ()
        if self._keyword("ack"):
            acknowledged = scanner.integer("an acknowledgement number", maximum=_32_BITS)
        if self._keyword("win"):
            window = scanner.integer("a window", maximum=65535)
        if self._keyword("urg"):
            urgent = scanner.integer("an urgent pointer", maximum=65535)
        scanner.skip()
        start = scanner.offset
        if scanner.accept("<"):
            if scanner.accept("..."):
                if not outbound:
                    raise scanner.error("<...> is for packets that the kernel sends", at=start)
                options = None
                scanner.expect(">")
            else:
                options = self._options(start)
        return Tcp(
            source_port=source_port,
            target_port=target_port,
            flags=flags,
            counts_ce=counts_ce,
            sequence=sequence,
            length=length,
            acknowledged=acknowledged,
            window=window,
            urgent=urgent,
            options=options,
        )

    def _keyword(self, word: str) -> bool:
        match = self._scanner.peek(_KEYWORD)
        if match is None or match[0] != word:
            return False
        self._scanner.take(_KEYWORD)
        return True

    def _flags(self) -> tuple[int, bool]:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        text = scanner.need(_FLAGS, "TCP flags such as S, S., P. or . (or udp, icmp)")[0]
        digits = "".join(filter(str.isdigit, text))
        letters = text.replace(digits, "")
        if letters == "-":
            return 0, False
        flags = 0
        for letter in letters:
            if letter not in FLAGS:
                raise scanner.error(
                    f"{letter!r} is no TCP flag, expected some of F S R P U E W A .", at=start
                )
            flags |= FLAGS[letter]
        if not digits:
            return flags, False
        if int(digits) > 7 or set("EWA") & set(letters):
            raise scanner.error("a count of CE marks is 0 to 7, without E, W and A", at=start)
        return flags | int(digits) << 6, True

    def _sequence(self) -> tuple[int, int]:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        match = scanner.need(_SEQUENCE, "a sequence such as 1:1001(1000)")
        first, last, length = (int(number) for number in match.groups())
        if max(first, last) > _32_BITS or length > 65535:
            raise scanner.error("a sequence number has 32 bits, a length 16", at=start)
        if (first + length) & _32_BITS != last:
            message = f"{first} and {length} bytes end at {(first + length) & _32_BITS}, not {last}"
            raise scanner.error(message, at=start)
        return first, length

    def _options(self, start: int) -> tuple[TcpOption, ...]:
        scanner = self._scanner
        found = []
        while True:
            found.append(self._option())
            if scanner.accept(">"):
                break
            if not scanner.accept(","):
                raise scanner.wrong("',' or '>'")
        one_byte = (EOL, NOP)
        size = sum(1 if one.kind in one_byte else 2 + len(one.data) // 2 for one in found)
        if size % 4 or size > _MAX_OPTION_BYTES:
            raise scanner.error(
                f"these options have {size} bytes, expected a multiple of 4, at most 40:"
                " nop fills up",
                at=start,
            )
        return tuple(found)

    def _option(self) -> TcpOption:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        word = scanner.need(_KEYWORD, "a TCP option such as mss 1460")[0]
        plain = {"nop": NOP, "eol": EOL, "sackOK": SACK_OK}
        if word in plain:
            return TcpOption(kind=plain[word])
        if word == "ECN":
            return self._accecn()
        if word not in _OPTIONS:
            raise scanner.error(f"{word} is no TCP option{nearest(word, _OPTIONS)}", at=start)
        readers: dict[str, tuple[int, Callable[[], str]]] = {
            "mss": (MSS, lambda: f"{scanner.integer('an MSS', maximum=65535):04x}"),
            "wscale": (WSCALE, lambda: f"{scanner.integer('a shift', maximum=255):02x}"),
            "sack": (SACK, self._blocks),
            "TS": (TIMESTAMP, self._timestamp),
            "md5": (MD5, lambda: self._hex(start, minimum=16, maximum=16)),
            "FO": (FAST_OPEN, lambda: self._hex(start, minimum=0, maximum=_MAX_COOKIE)),
            "FOEXP": (
                EXPERIMENT,
                lambda: FAST_OPEN_MAGIC.hex() + self._hex(start, minimum=0, maximum=_MAX_COOKIE),
            ),
        }
        kind, read = readers[word]
        return TcpOption(kind=kind, data=read())

    def _blocks(self) -> str:
        blocks = []
        while (match := self._scanner.take(_BLOCK)) is not None:
            left, right = int(match[1]), int(match[2])
            if max(left, right) > _32_BITS:
                raise self._scanner.error("a sequence number has 32 bits")
            blocks.append(struct.pack("!II", left, right).hex())
        if not blocks:
            raise self._scanner.wrong("a block such as 1001:2001")
        return "".join(blocks)

    def _timestamp(self) -> str:
        numbers = []
        for word in ("val", "ecr"):
            if not self._keyword(word):
                raise self._scanner.wrong(word)
            numbers.append(self._scanner.integer("a timestamp", maximum=_32_BITS))
        return struct.pack("!II", *numbers).hex()

    def _hex(self, start: int, *, minimum: int, maximum: int) -> str:
        word = self._scanner.peek(_KEYWORD)
        if word is not None and word[0] in self._defines:
            self._scanner.take(_KEYWORD)
            match = _HEX.fullmatch(self._defines[word[0]])
        else:
            match = self._scanner.take(_HEX)
        data = match[0].lower() if match is not None else ""
        if not minimum <= len(data) // 2 <= maximum:
            needed = f"{minimum} bytes" if minimum == maximum else f"{minimum} to {maximum} bytes"
            raise self._scanner.error(f"this option needs {needed} in hex", at=start)
        return data

    def _accecn(self) -> TcpOption:
        values: dict[str, int] = {}
        while (match := self._scanner.peek(_KEYWORD)) is not None and match[0] in (
            *("e0b", "ceb", "e1b"),
        ):
            self._scanner.take(_KEYWORD)
            values[match[0]] = self._scanner.integer("a counter of 24 bits", maximum=2**24 - 1)
        orders = {ACCECN_0: ("e0b", "ceb", "e1b"), ACCECN_1: ("e1b", "ceb", "e0b")}
        for kind, order in orders.items():
            if values and tuple(values) == order[: len(values)]:
                data = b"".join(value.to_bytes(3, "big") for value in values.values())
                return TcpOption(kind=kind, data=data.hex())
        raise self._scanner.wrong("e0b N, ceb N, e1b N in this order, or e1b, ceb, e0b")

    def _udp(self) -> Udp:
        scanner = self._scanner
        scanner.take(_BODY)
        source_port, target_port = self._ports()
        scanner.expect("(")
        length = scanner.integer("a size in bytes", maximum=65507)
        scanner.expect(")")
        return Udp(source_port=source_port, target_port=target_port, length=length)

    def _icmp(self) -> Icmp:
        scanner = self._scanner
        scanner.take(_BODY)
        kinds = ICMP4 if self._version == 4 else ICMP6
        scanner.skip()
        start = scanner.offset
        word = scanner.need(_KEYWORD, "a type of ICMP messages such as unreachable")[0]
        kind = kinds.get(word, _numbered(word, "type_"))
        if kind is None:
            version = f"ICMP for IPv{self._version} has no type"
            raise scanner.error(f"{version} {word}{nearest(word, kinds)}", at=start)
        codes = ICMP_CODES.get((self._version, kind), {})
        code = 0
        scanner.skip()
        start = scanner.offset
        match = scanner.peek(_KEYWORD)
        if match is not None and match[0] not in ("mtu", "id"):
            scanner.take(_KEYWORD)
            name = self._defines.get(match[0], match[0])
            number = codes.get(name, _numbered(name, "code_"))
            if number is None:
                message = (
                    f"{word} has no code {name}{nearest(name, codes)}; write code_N for another"
                )
                raise scanner.error(message, at=start)
            code = number
        mtu = scanner.integer("an MTU", maximum=_32_BITS) if self._keyword("mtu") else None
        echo_id = scanner.integer("an identifier", maximum=65535) if self._keyword("id") else 0
        # An error message holds the beginning of the packet that it is about.
        is_error = kind in (_ERRORS4 if self._version == 4 else _ERRORS6)
        echoes, sequence, length = self._echoed("tcp" if is_error else "")
        return Icmp(
            version=self._version,
            kind=kind,
            code=code,
            mtu=mtu,
            echo_id=echo_id,
            echoes=echoes,
            sequence=sequence,
            length=length,
        )

    def _echoed(self, default: str) -> tuple[str, int, int]:
        scanner = self._scanner
        if not scanner.accept("["):
            return default, 0, 0
        echoes, sequence = "tcp", 0
        for word in ("udp", "raw"):
            if self._keyword(word):
                echoes = word
        if echoes == "tcp":
            sequence, length = self._sequence()
        else:
            scanner.expect("(")
            length = scanner.integer("a size in bytes", maximum=65507)
            scanner.expect(")")
        scanner.expect("]")
        return echoes, sequence, length


def _numbered(word: str, prefix: str) -> int | None:
    """Return the number of a word such as `code_7`, of 8 bits; None if it is none."""
    digits = word.removeprefix(prefix)
    is_number = digits != word and digits.isdecimal() and len(digits) <= 3
    return int(digits) if is_number and int(digits) <= 255 else None
