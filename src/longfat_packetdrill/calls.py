"""The system calls that scripts can make, and what each takes.

An argument's kind says what may stand in its place: the guest gets only what fits, and a
person learns at once, and where, what does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from longfat.common.suggest import nearest
from longfat_packetdrill.expressions import NLA_BYTES, Expression, wrong_kind

if TYPE_CHECKING:
    from longfat_packetdrill.scanner import Scanner

_MAX_BUFFER = 1 << 26


class _Checker:
    """Checks arguments against their kinds.

    Args:
        scanner: the text, for places.
    """

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner

    def check(self, kind: str, found: Expression) -> None:
        """Check an argument.

        Raises:
            InputError: it is of another kind.
        """
        checks: dict[str, Callable[[Expression], None]] = {
            "int": self._int,
            "rest": self._rest,
            "address": self._address,
            "family": self._family,
            "buffer": self._buffer,
            "size": self._size,
            "vector": self._vector,
            "message": self._message,
            "value": self._value,
            "[int]": self._bracketed,
            "[int, int]": self._pair,
            "polled": self._polled,
            "epoll": self._epoll,
            "text": self._text,
        }
        checks[kind](found)

    def _wrong(self, found: Expression, needed: str) -> Exception:
        return wrong_kind(self._scanner, found, needed)

    def _int(self, found: Expression) -> None:
        if not isinstance(found.value, int):
            raise self._wrong(found, "a number or a constant")

    def _size(self, found: Expression) -> None:
        self._int(found)
        if not -(2**31) <= found.value <= _MAX_BUFFER:
            raise self._wrong(found, f"a size in bytes, at most {_MAX_BUFFER}")

    def _rest(self, found: Expression) -> None:
        if found.value is not None:
            raise self._wrong(found, "...")

    def _family(self, found: Expression) -> None:
        if found.value is not None:
            self._int(found)

    _address = _family

    def _buffer(self, found: Expression) -> None:
        if found.value is not None and found.value != 0:
            raise self._wrong(found, "... or 0 for no buffer")

    def _text(self, found: Expression) -> None:
        if not isinstance(found.value, bytes) or 0 in found.value:
            raise self._wrong(found, "a text")

    def _bracketed(self, found: Expression) -> None:
        if not isinstance(found.value, tuple) or len(found.value) != 1:
            raise self._wrong(found, "one number in brackets: [1]")
        self._int(found.value[0])

    def _pair(self, found: Expression) -> None:
        if not isinstance(found.value, tuple) or len(found.value) != 2:
            raise self._wrong(found, "two numbers in brackets: [3, 4]")
        for item in found.value:
            self._int(item)

    def _vector(self, found: Expression) -> None:
        if not isinstance(found.value, tuple):
            raise self._wrong(found, "a list of {..., SIZE}")
        for item in found.value:
            parts = item.value.get("") if isinstance(item.value, dict) else None
            if parts is None or len(parts.value) != 2 or parts.value[0].value is not None:
                raise self._wrong(item, "{..., SIZE}")
            self._size(parts.value[1])

    def _fields(self, found: Expression, needed: str, *shapes: tuple[str, ...]) -> None:
        if not isinstance(found.value, dict) or tuple(found.value) not in shapes:
            raise self._wrong(found, needed)

    def _value(self, found: Expression) -> None:
        if isinstance(found.value, bytes):
            return
        if isinstance(found.value, dict):
            needed = "{onoff=1, linger=0}"
            self._fields(found, needed, ("onoff", "linger"))
            for item in found.value.values():
                self._int(item)
            return
        if not isinstance(found.value, tuple):
            raise self._wrong(found, 'a number in brackets, a text or a structure: [1], "cubic"')
        self._bracketed(found)

    def _polled(self, found: Expression) -> None:
        if not isinstance(found.value, tuple):
            raise self._wrong(found, "a list of {fd=, events=, revents=}")
        for item in found.value:
            shapes = (("fd", "events"), ("fd", "events", "revents"))
            self._fields(item, "{fd=3, events=POLLIN, revents=0}", *shapes)
            for part in item.value.values():
                self._int(part)

    def _epoll(self, found: Expression) -> None:
        shapes = [("events", name) for name in ("fd", "ptr", "u32", "u64")]
        self._fields(found, "{events=EPOLLIN, fd=4}", *shapes)
        for part in found.value.values():
            self._int(part)

    def _message(self, found: Expression) -> None:
        names = ("msg_name()", "msg_name", "msg_iov()", "msg_iov", "msg_flags")
        self._fields(
            found,
            "{msg_name(...)=..., msg_iov(1)=[{..., SIZE}], msg_flags=0, msg_control=[...]}",
            names,
            (*names, "msg_control"),
        )
        parts = found.value
        self._vector(parts["msg_iov"])
        if parts["msg_iov()"].value != len(parts["msg_iov"].value):
            raise self._wrong(parts["msg_iov()"], f"{len(parts['msg_iov'].value)}, as listed")
        self._int(parts["msg_flags"])
        control = parts.get("msg_control")
        if control is None:
            return
        if not isinstance(control.value, tuple):
            raise self._wrong(control, "a list of {cmsg_level=, cmsg_type=, cmsg_data=}")
        for item in control.value:
            shape = ("cmsg_level", "cmsg_type", "cmsg_data")
            self._fields(item, "{cmsg_level=, cmsg_type=, cmsg_data=}", shape)
            self._int(item.value["cmsg_level"])
            self._int(item.value["cmsg_type"])
            self._control_data(item.value["cmsg_data"])

    def _control_data(self, found: Expression) -> None:
        if isinstance(found.value, int):
            return
        errors = tuple(f"ee_{name}" for name in ("errno", "origin", "type", "code", "info", "data"))
        needed = "a number, {scm_sec=, scm_nsec=}, {ee_errno=, ...} or {TCP_NLA_BUSY=, ...}"
        if not isinstance(found.value, dict):
            raise self._wrong(found, needed)
        if "" in found.value or not any(name.startswith("TCP_NLA_") for name in found.value):
            self._fields(found, needed, ("scm_sec", "scm_nsec"), errors)
        else:
            for name, item in found.value.items():
                if name not in _STATISTICS:
                    hint = nearest(name, _STATISTICS)
                    raise self._scanner.error(f"there is no {name}{hint}", at=item.offset)
        for item in found.value.values():
            self._int(item)


_STATISTICS = frozenset(
    f"TCP_NLA_{name}"
    for name in (
        *("PAD", "BUSY", "RWND_LIMITED", "SNDBUF_LIMITED", "DATA_SEGS_OUT", "TOTAL_RETRANS"),
        *("PACING_RATE", "DELIVERY_RATE", "SND_CWND", "REORDERING", "MIN_RTT", "RECUR_RETRANS"),
        *("DELIVERY_RATE_APP_LMT", "SNDQ_SIZE", "CA_STATE", "SND_SSTHRESH", "DELIVERED"),
        *("DELIVERED_CE", "BYTES_SENT", "BYTES_RETRANS", "DSACK_DUPS", "REORD_SEEN", "SRTT"),
    )
)
assert len(_STATISTICS) == len(NLA_BYTES)

CALLS: dict[str, tuple[str, ...]] = {
    "socket": ("family", "int", "int"),
    "bind": ("int", "rest", "rest"),
    "listen": ("int", "int"),
    "accept": ("int", "rest", "rest"),
    "connect": ("int", "address", "rest"),
    "read": ("int", "buffer", "size"),
    "readv": ("int", "vector", "int"),
    "recv": ("int", "buffer", "size", "int"),
    "recvfrom": ("int", "buffer", "size", "int", "rest", "rest"),
    "recvmsg": ("int", "message", "int"),
    "write": ("int", "buffer", "size"),
    "writev": ("int", "vector", "int"),
    "send": ("int", "buffer", "size", "int"),
    "sendto": ("int", "buffer", "size", "int", "address", "rest"),
    "sendmsg": ("int", "message", "int"),
    "fcntl": ("int", "int", "int?"),
    "ioctl": ("int", "int", "[int]?"),
    "close": ("int",),
    "shutdown": ("int", "int"),
    "getsockopt": ("int", "int", "int", "value", "[int]"),
    "setsockopt": ("int", "int", "int", "value", "int"),
    "poll": ("polled", "int", "int"),
    "epoll_create": ("int",),
    "epoll_ctl": ("int", "int", "int", "epoll"),
    "epoll_wait": ("int", "epoll", "int", "int"),
    "pipe": ("[int, int]",),
    "splice": ("int", "int", "int", "int", "size", "int"),
    "open": ("text", "int"),
    "sendfile": ("int", "int", "[int]", "size"),
}
"""The calls, and the kinds of their arguments; what has a `?` may be left out."""

_ELSEWHERE = ("cap_set", "psp_rx_assoc", "psp_tx_assoc")


def check_call(
    scanner: Scanner, name: str, arguments: tuple[Expression, ...], *, start: int
) -> None:
    """Check a call's name and arguments.

    Args:
        scanner: the text, for places.
        name: the call.
        arguments: what it is given.
        start: where it is written.

    Raises:
        InputError: there is no such call, or it takes other arguments.
    """
    if name in _ELSEWHERE:
        raise scanner.error(f"{name}() is not supported", at=start)
    if name not in CALLS:
        raise scanner.error(f"there is no system call {name}(){nearest(name, CALLS)}", at=start)
    kinds = CALLS[name]
    minimum = sum(not kind.endswith("?") for kind in kinds)
    if not minimum <= len(arguments) <= len(kinds):
        number = f"{minimum}" if minimum == len(kinds) else f"{minimum} to {len(kinds)}"
        raise scanner.error(f"{name}() takes {number} arguments, found {len(arguments)}", at=start)
    checker = _Checker(scanner)
    for kind, argument in zip(kinds, arguments, strict=False):
        checker.check(kind.removesuffix("?"), argument)
    for index, kind in enumerate(kinds):
        if kind in ("vector", "polled") and arguments[index + 1].value != len(
            arguments[index].value
        ):
            raise wrong_kind(
                scanner, arguments[index + 1], f"{len(arguments[index].value)}, as listed"
            )
