"""Arguments and results of system calls: numbers, constants of Linux, texts, lists, structures.

Constants and definitions are looked up while the text is read, so an expression is a plain
value with its place.
"""

from __future__ import annotations

import errno
import fcntl
import functools
import ipaddress
import os
import re
import select
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longfat.common.suggest import nearest
from longfat.errors import InputError
from longfat_packetdrill.scanner import BACK_QUOTED, INTEGER, STRING, WORD, Scanner, whole_number

_PREFIXES = {
    socket: ("AF_", "SOCK_", "SOL_", "SO_", "IPPROTO_", "IP_", "IPV6_", "TCP_", "MSG_", "SHUT_",
             "SCM_", "INADDR_"),
    errno: ("E",),
    select: ("EPOLL", "POLL"),
    os: ("O_", "SPLICE_F_", "SEEK_"),
    fcntl: ("F_", "FD_", "LOCK_"),
}  # fmt: skip

_MORE = {
    "NULL": 0,
    # socket(7), include/uapi/asm-generic/socket.h
    "SO_ZEROCOPY": 60, "SO_TIMESTAMPING": 37, "SO_TIMESTAMP": 29, "SO_TIMESTAMPNS": 35,
    "SO_MAX_PACING_RATE": 47, "SO_INCOMING_CPU": 49, "SO_TXTIME": 61, "SO_PEEK_OFF": 42,
    "SO_BUSY_POLL": 46, "SO_NO_CHECK": 11, "SO_PRIORITY": 12, "SO_LOCK_FILTER": 44,
    "SO_RCVBUFFORCE": 33, "SO_SNDBUFFORCE": 32, "SO_ATTACH_FILTER": 26, "SO_DETACH_FILTER": 27,
    "SO_MEMINFO": 55, "SO_COOKIE": 57, "SO_RXQ_OVFL": 40, "SO_TXREHASH": 74, "SO_BSDCOMPAT": 14,
    "SO_RESERVE_MEM": 73, "SO_BINDTODEVICE": 25, "SO_PEERNAME": 28,
    "SCM_TIMESTAMPING": 37, "SCM_TIMESTAMPING_OPT_STATS": 54,
    "SOF_TIMESTAMPING_TX_HARDWARE": 1, "SOF_TIMESTAMPING_TX_SOFTWARE": 2,
    "SOF_TIMESTAMPING_RX_HARDWARE": 4, "SOF_TIMESTAMPING_RX_SOFTWARE": 8,
    "SOF_TIMESTAMPING_SOFTWARE": 16, "SOF_TIMESTAMPING_SYS_HARDWARE": 32,
    "SOF_TIMESTAMPING_RAW_HARDWARE": 64, "SOF_TIMESTAMPING_OPT_ID": 128,
    "SOF_TIMESTAMPING_TX_SCHED": 256, "SOF_TIMESTAMPING_TX_ACK": 512,
    "SOF_TIMESTAMPING_OPT_CMSG": 1024, "SOF_TIMESTAMPING_OPT_TSONLY": 2048,
    "SOF_TIMESTAMPING_OPT_STATS": 4096, "SOF_TIMESTAMPING_OPT_PKTINFO": 8192,
    "SOF_TIMESTAMPING_OPT_TX_SWHW": 16384, "SOF_TIMESTAMPING_BIND_PHC": 32768,
    "SOF_TIMESTAMPING_OPT_ID_TCP": 65536,
    "SCM_TSTAMP_SND": 0, "SCM_TSTAMP_SCHED": 1, "SCM_TSTAMP_ACK": 2,
    # include/uapi/linux/errqueue.h
    "SO_EE_ORIGIN_NONE": 0, "SO_EE_ORIGIN_LOCAL": 1, "SO_EE_ORIGIN_ICMP": 2,
    "SO_EE_ORIGIN_ICMP6": 3, "SO_EE_ORIGIN_TXSTATUS": 4, "SO_EE_ORIGIN_TIMESTAMPING": 4,
    "SO_EE_ORIGIN_ZEROCOPY": 5, "SO_EE_ORIGIN_TXTIME": 6, "SO_EE_CODE_ZEROCOPY_COPIED": 1,
    # include/uapi/linux/tcp.h
    "TCP_COOKIE_TRANSACTIONS": 15, "TCP_THIN_LINEAR_TIMEOUTS": 16, "TCP_THIN_DUPACK": 17,
    "TCP_USER_TIMEOUT": 18, "TCP_REPAIR": 19, "TCP_TIMESTAMP": 24, "TCP_NOTSENT_LOWAT": 25,
    "TCP_CC_INFO": 26, "TCP_SAVE_SYN": 27, "TCP_SAVED_SYN": 28, "TCP_FASTOPEN": 23,
    "TCP_FASTOPEN_CONNECT": 30, "TCP_ULP": 31, "TCP_MD5SIG_EXT": 32, "TCP_FASTOPEN_KEY": 33,
    "TCP_FASTOPEN_NO_COOKIE": 34, "TCP_ZEROCOPY_RECEIVE": 35, "TCP_INQ": 36, "TCP_CM_INQ": 36,
    "TCP_TX_DELAY": 37, "TCP_RTO_MAX_MS": 44, "TCP_RTO_MIN_US": 45, "TCP_DELACK_MAX_US": 46,
    "TCP_MD5SIG": 14, "TCP_INFINITE_SSTHRESH": 0x7FFFFFFF,
    # enum { TCP_NLA_... } of the same
    "TCP_NLA_PAD": 0, "TCP_NLA_BUSY": 1, "TCP_NLA_RWND_LIMITED": 2, "TCP_NLA_SNDBUF_LIMITED": 3,
    "TCP_NLA_DATA_SEGS_OUT": 4, "TCP_NLA_TOTAL_RETRANS": 5, "TCP_NLA_PACING_RATE": 6,
    "TCP_NLA_DELIVERY_RATE": 7, "TCP_NLA_SND_CWND": 8, "TCP_NLA_REORDERING": 9,
    "TCP_NLA_MIN_RTT": 10, "TCP_NLA_RECUR_RETRANS": 11, "TCP_NLA_DELIVERY_RATE_APP_LMT": 12,
    "TCP_NLA_SNDQ_SIZE": 13, "TCP_NLA_CA_STATE": 14, "TCP_NLA_SND_SSTHRESH": 15,
    "TCP_NLA_DELIVERED": 16, "TCP_NLA_DELIVERED_CE": 17, "TCP_NLA_BYTES_SENT": 18,
    "TCP_NLA_BYTES_RETRANS": 19, "TCP_NLA_DSACK_DUPS": 20, "TCP_NLA_REORD_SEEN": 21,
    "TCP_NLA_SRTT": 22,
    # ip(7), ipv6(7)
    "SOL_IP": 0, "SOL_IPV6": 41, "SOL_TCP": 6, "SOL_UDP": 17, "SOL_ICMPV6": 58,
    "IP_MTU_DISCOVER": 10, "IP_RECVERR": 11, "IP_MTU": 14, "IP_FREEBIND": 15,
    "IP_PMTUDISC_DONT": 0, "IP_PMTUDISC_WANT": 1, "IP_PMTUDISC_DO": 2, "IP_PMTUDISC_PROBE": 3,
    "IP_BIND_ADDRESS_NO_PORT": 24, "IP_LOCAL_PORT_RANGE": 51,
    "IPV6_MTU_DISCOVER": 23, "IPV6_MTU": 24, "IPV6_RECVERR": 25, "IPV6_HOPLIMIT": 52,
    "IPV6_AUTOFLOWLABEL": 70, "IPV6_FLOWLABEL_MGR": 32, "IPV6_FLOWINFO_SEND": 33,
    # send(2), recv(2)
    "MSG_PROXY": 0x10, "MSG_FIN": 0x200, "MSG_SYN": 0x400, "MSG_RST": 0x1000,
    "MSG_FASTOPEN": 0x20000000, "MSG_ZEROCOPY": 0x4000000, "MSG_CMSG_CLOEXEC": 0x40000000,
    "MSG_ERRQUEUE": 0x2000, "MSG_MORE": 0x8000, "MSG_CONFIRM": 0x800, "MSG_EOR": 0x80,
    "MSG_SPLICE_PAGES": 0x8000000,
    # ioctl(2), poll(2), epoll_ctl(2), splice(2)
    "SIOCINQ": 0x541B, "FIONREAD": 0x541B, "SIOCOUTQ": 0x5411, "SIOCOUTQNSD": 0x894B,
    "POLLMSG": 0x400, "POLLREMOVE": 0x1000, "POLLRDHUP": 0x2000,
    "EPOLL_CTL_ADD": 1, "EPOLL_CTL_DEL": 2, "EPOLL_CTL_MOD": 3, "EPOLLEXCLUSIVE": 1 << 28,
    "EPOLLET": 1 << 31, "EPOLLONESHOT": 1 << 30, "EPOLLRDHUP": 0x2000, "EPOLLMSG": 0x400,
    "SPLICE_F_MOVE": 1, "SPLICE_F_NONBLOCK": 2, "SPLICE_F_MORE": 4, "SPLICE_F_GIFT": 8,
    # capabilities(7)
    "CAP_EFFECTIVE": 0, "CAP_PERMITTED": 1, "CAP_INHERITABLE": 2, "CAP_CLEAR": 0, "CAP_SET": 1,
    "CAP_NET_BIND_SERVICE": 10, "CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_IPC_LOCK": 14,
    "CAP_SYS_ADMIN": 21, "CAP_SYS_RESOURCE": 24,
    # fcntl(2)
    "O_ACCMODE": 3, "F_SETSIG": 10, "F_GETSIG": 11,
}  # fmt: skip

NLA_BYTES = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 18, 19), 8),
    **dict.fromkeys((0, 8, 9, 10, 13, 15, 16, 17, 20, 21, 22), 4),
    **dict.fromkeys((11, 12, 14), 1),
}
"""The size of each TCP_NLA_ statistic, in bytes. Source: net/ipv4/tcp.c."""


@functools.cache
def symbols() -> dict[str, int]:
    """Return all constants by their names."""
    found = {
        name: int(value)
        for module, prefixes in _PREFIXES.items()
        for name, value in vars(module).items()
        if name.isupper() and name.startswith(prefixes) and isinstance(value, int)
    }
    return {**found, **_MORE}


_MAX_DEPTH = 30
_NAMED = re.compile(r"([A-Za-z_]\w*)\s*(?=(?:\([^()]*\)\s*)?=(?!=))")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_MAX_VALUE = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Expression:
    """A value in a script.

    Attributes:
        offset: where in the text it begins.
        value: None for `...`, a number, bytes for a text, a tuple for a list, a mapping for
            a structure. A structure without names is a tuple in a mapping, by "".
    """

    offset: int
    value: Any

    def plain(self) -> Any:
        """Return it as JSON can hold it: bytes become `{"bytes": HEX}`."""
        if isinstance(self.value, bytes):
            return {"bytes": self.value.hex()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {name: item.plain() for name, item in self.value.items()}
        return self.value


class ExpressionReader:
    """Reads expressions.

    Args:
        scanner: the text.
        defines: what words stand for, besides the constants.
    """

    def __init__(self, scanner: Scanner, *, defines: Mapping[str, str]) -> None:
        self._scanner = scanner
        self._defines = defines
        self._depth = 0

    def read(self) -> Expression:
        """Read an expression.

        Raises:
            InputError: there is none, or a word in it is not known.
        """
        first = self._term()
        while self._scanner.accept("|"):
            second = self._term()
            for side in (first, second):
                if not isinstance(side.value, int):
                    raise self._scanner.error("| joins numbers", at=side.offset)
            first = Expression(first.offset, first.value | second.value)
        return first

    def arguments(self) -> tuple[Expression, ...]:
        """Read `(expression, ...)`."""
        self._scanner.expect("(")
        return self._list(")")

    def _list(self, end: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        if self._scanner.accept(end):
            return ()
        while True:
            items.append(self.read())
            if self._scanner.accept(end):
                return tuple(items)
            if not self._scanner.accept(","):
                raise self._scanner.wrong(f"',' or {end!r}")

    def _term(self) -> Expression:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise scanner.error(f"this is nested more than {_MAX_DEPTH} deep")
        try:
            if scanner.accept("..."):
                return Expression(start, None)
            if (number := scanner.take(INTEGER)) is not None:
                value = whole_number(number[0])
                if not -(2**63) <= value <= _MAX_VALUE:
                    raise scanner.error("a number has at most 64 bits", at=start)
                return Expression(start, value)
            if scanner.peek(STRING) is not None:
                return Expression(start, self._text())
            if scanner.accept("["):
                return Expression(start, self._list("]"))
            if scanner.accept("{"):
                return Expression(start, self._structure())
            return Expression(start, self._word())
        finally:
            self._depth -= 1

    def _text(self) -> bytes:
        text = b""
        while (match := self._scanner.take(STRING)) is not None:
            text += unescape(match[1])
        self._scanner.accept("...")
        return text

    def _structure(self) -> dict[str, Expression]:
        scanner = self._scanner
        found: dict[str, Expression] = {}
        unnamed: list[Expression] = []
        start = scanner.offset
        if scanner.accept("}"):
            raise scanner.error("a structure has no fields", at=start)
        while True:
            scanner.skip()
            start = scanner.offset
            if (name := scanner.take(_NAMED)) is not None:
                if name[1] in found:
                    raise scanner.error(f"{name[1]} stands there twice", at=start)
                if scanner.accept("("):
                    found[f"{name[1]}()"] = self.read()
                    scanner.expect(")")
                scanner.expect("=")
                found[name[1]] = self.read()
            else:
                unnamed.append(self.read())
            if scanner.accept("}"):
                break
            if not scanner.accept(","):
                raise scanner.wrong("',' or '}'")
        if found and unnamed:
            raise scanner.error("this field has no name", at=unnamed[0].offset)
        return found or {"": Expression(start, tuple(unnamed))}

    def _word(self) -> Any:
        scanner = self._scanner
        start = scanner.offset
        word = scanner.need(WORD, "a value")[0]
        if word in ("htons", "inet_addr", "inet6_addr") and scanner.sees("("):
            return self._function(word, start)
        return self._look_up(word, start, depth=0)

    def _look_up(self, word: str, start: int, *, depth: int) -> Any:
        if word in self._defines and depth < _MAX_DEPTH:
            text = self._defines[word].strip()
            if INTEGER.fullmatch(text):
                return whole_number(text)
            if (match := STRING.fullmatch(text) or BACK_QUOTED.fullmatch(text)) is not None:
                return unescape(match[1])
            if WORD.fullmatch(text):
                return self._look_up(text, start, depth=depth + 1)
        known = symbols()
        if word not in known:
            near = nearest(word, [*known, *self._defines])
            hint = near or "; --define gives a word a value"
            raise self._scanner.error(f"{word} is no constant that is known{hint}", at=start)
        return known[word]

    def _function(self, name: str, start: int) -> Any:
        arguments = self.arguments()
        value = arguments[0].value if len(arguments) == 1 else None
        if name == "htons":
            if isinstance(value, int) and 0 <= value <= 65535:
                return value
            raise self._scanner.error("htons needs a port, 0 to 65535", at=start)
        version = 4 if name == "inet_addr" else 6
        try:
            assert isinstance(value, bytes)
            address = ipaddress.ip_address(value.decode())
            assert address.version == version
        except (AssertionError, ValueError):
            needed = '"192.0.2.1"' if version == 4 else '"2001:db8::1"'
            raise self._scanner.error(f"{name} needs an address, {needed}", at=start) from None
        if version == 4:
            return int.from_bytes(socket.inet_aton(str(address)), "little")
        return address.packed


def unescape(text: str) -> bytes:
    """Return a text's bytes, with what its backslashes stand for."""

    def put(match: re.Match[bytes]) -> bytes:
        word = match[1]
        return bytes([int(word[1:], 16)]) if len(word) == 3 else _ESCAPES.get(word, word)

    return _ESCAPE.sub(put, text.encode("utf-8", "surrogateescape"))


def wrong_kind(scanner: Scanner, found: Expression, needed: str) -> InputError:
    """Return the error that an expression is of another kind."""
    value = found.value
    words = {type(None): "...", bytes: "a text", tuple: "a list", dict: "a structure"}
    return scanner.error(
        f"found {words.get(type(value), str(value))}, expected {needed}", at=found.offset
    )
