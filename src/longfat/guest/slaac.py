"""SLAAC: a router's advertisements, and the wait until a host has its address; a program.

    slaac.py advertise INTERFACE PREFIX/64
    slaac.py await INTERFACE ADDRESS

`advertise` does what RFC 4861, section 6.2, requires of a router, with the values that it has
without configuration, and goes into the background once it can receive solicitations. It sends
advertisements to all nodes, as soon as the interface's link-local address can be used, then two
more within 16 s each, then at random times 200 to 600 s apart. It answers solicitations to all
nodes, too, up to 0.5 s later and at least 3 s after its last advertisement.

`await` ends when the kernel has formed the address from an advertisement and found no other host
with it (duplicate address detection), or fails after a minute.

Source of the formats: RFC 4861, sections 4.1, 4.2 and 4.6; of the calls: RFC 3542, raw(7), ipv6(7).
"""

import _socket
import os
import select
import struct
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# RFC 4861, section 6.2.1 (the defaults of a router's variables) and section 10.
_MAX_INTERVAL_S = 600.0
_MIN_INTERVAL_S = 0.33 * _MAX_INTERVAL_S
_HOP_LIMIT = 64
_ROUTER_LIFETIME_S = round(3 * _MAX_INTERVAL_S)
_VALID_LIFETIME_S, _PREFERRED_LIFETIME_S = 2_592_000, 604_800
_MAX_INITIAL_INTERVAL_S, _INITIAL_COUNT = 16.0, 3
_MIN_DELAY_S, _MAX_RESPONSE_DELAY_S = 3.0, 0.5

_SOLICITATION, _ADVERTISEMENT = 133, 134
_MIN_SOLICITATION_BYTES = 8
_SOURCE_LINK_LAYER, _PREFIX = 1, 3
_ON_LINK, _AUTONOMOUS = 0x80, 0x40
_MAX_HOP_LIMIT = 255  # no router has forwarded it
_ALL_NODES, _ALL_ROUTERS = "ff02::1", "ff02::2"

_ICMPV6_FILTER = 1
_INTERFACES = "/proc/net/if_inet6"
_LINK_SCOPE = 0x20
_TENTATIVE, _DUPLICATE = 0x40, 0x08
_CHECK_EVERY_S = 0.1
_MAX_WAIT_S = 60.0


def main(arguments: list[str]) -> None:
    """Do what the command line says; `arguments` are those after the program's name."""
    try:
        role, interface, address = arguments
        do = {"advertise": advertise, "await": await_address}[role]
    except (ValueError, KeyError):
        raise SystemExit("usage: slaac.py advertise|await INTERFACE ADDRESS") from None
    do(interface, address)


def await_address(interface: str, address: str) -> None:
    """Wait until an address of an interface can be used.

    Raises:
        SystemExit: it cannot after a minute, or another host has it.
    """
    packed = _socket.inet_pton(_socket.AF_INET6, address)
    end_s = time.monotonic() + _MAX_WAIT_S
    while True:
        flags = {at: flags for at, _, flags in _addresses(interface)}.get(packed)
        if flags is not None and flags & _DUPLICATE:
            raise SystemExit(f"another host has the address {address} of {interface}")
        if flags is not None and not flags & _TENTATIVE:
            return
        if time.monotonic() > end_s:
            why = "no router advertisement arrived" if flags is None else "it is still tentative"
            raise SystemExit(f"{interface} has no address {address} after {_MAX_WAIT_S:g} s: {why}")
        time.sleep(_CHECK_EVERY_S)


def advertise(interface: str, prefix: str) -> None:
    """Advertise a prefix, in a child of this process.

    Raises:
        OSError: there is no such interface.
    """
    link = _socket.socket(_socket.AF_INET6, _socket.SOCK_RAW, _socket.IPPROTO_ICMPV6)
    index = _socket.if_nametoindex(interface)
    link.setsockopt(_socket.SOL_SOCKET, _socket.SO_BINDTODEVICE, interface.encode())
    # A bit for each type that does not pass.
    passed = bytearray(b"\xff" * 32)
    passed[_SOLICITATION // 8] &= ~(1 << _SOLICITATION % 8)
    link.setsockopt(_socket.IPPROTO_ICMPV6, _ICMPV6_FILTER, bytes(passed))
    group = _socket.inet_pton(_socket.AF_INET6, _ALL_ROUTERS) + struct.pack("=I", index)
    for option, value in (
        (_socket.IPV6_JOIN_GROUP, group),
        (_socket.IPV6_MULTICAST_IF, struct.pack("=I", index)),
        (_socket.IPV6_MULTICAST_HOPS, struct.pack("=i", _MAX_HOP_LIMIT)),
        (_socket.IPV6_MULTICAST_LOOP, struct.pack("=i", 0)),
        (_socket.IPV6_RECVHOPLIMIT, struct.pack("=i", 1)),
    ):
        link.setsockopt(_socket.IPPROTO_IPV6, option, value)
    message = advertisement(prefix, link_layer=_link_layer(interface))

    def send() -> bool:
        if not _can_send(interface):
            return False
        try:
            link.sendto(message, (_ALL_NODES, 0, 0, index))
        except OSError:  # the interface went down meanwhile
            return False
        return True

    if os.fork() == 0:
        _serve(link, send)


def advertisement(prefix: str, *, link_layer: bytes) -> bytes:
    """Return an advertisement, whose checksum the kernel computes.

    Args:
        prefix: the prefix, such as `2001:db8:1::/64`.
        link_layer: the link-layer address of the router's interface.
    """
    network, _, length = prefix.partition("/")
    return b"".join(
        (
            struct.pack("!BBHBBHII", _ADVERTISEMENT, 0, 0, _HOP_LIMIT, 0, _ROUTER_LIFETIME_S, 0, 0),
            struct.pack(
                "!BBBBIII",
                *(_PREFIX, 4, int(length), _ON_LINK | _AUTONOMOUS),
                *(_VALID_LIFETIME_S, _PREFERRED_LIFETIME_S, 0),
            ),
            _socket.inet_pton(_socket.AF_INET6, network),
            struct.pack("!BB", _SOURCE_LINK_LAYER, 1),
            link_layer,
        )
    )


def _serve(link: _socket.socket, send: "Callable[[], bool]") -> None:
    """Send advertisements for ever, by themselves and as answers."""
    poll = select.poll()
    poll.register(link, select.POLLIN)
    count, sent_s, next_s = 0, -_MIN_DELAY_S, time.monotonic()
    while True:
        left_s = next_s - time.monotonic()
        if left_s > 0 and poll.poll(left_s * 1000):
            if _is_solicitation(link):
                earliest_s = max(time.monotonic(), sent_s + _MIN_DELAY_S)
                next_s = min(next_s, earliest_s + _random(0, _MAX_RESPONSE_DELAY_S))
        elif left_s <= 0:
            now_s = time.monotonic()
            if not send():
                next_s = now_s + _CHECK_EVERY_S
                continue
            count, sent_s = count + 1, now_s
            interval_s = _random(_MIN_INTERVAL_S, _MAX_INTERVAL_S)
            if count < _INITIAL_COUNT:
                interval_s = min(interval_s, _MAX_INITIAL_INTERVAL_S)
            next_s = now_s + interval_s


def _is_solicitation(link: _socket.socket) -> bool:
    """Read a message; return whether it is a valid solicitation (RFC 4861, section 6.1.1)."""
    data, ancillary, _, _ = link.recvmsg(2048, 64)
    limits = [
        struct.unpack("=i", value)[0]
        for level, kind, value in ancillary
        if (level, kind) == (_socket.IPPROTO_IPV6, _socket.IPV6_HOPLIMIT)
    ]
    return len(data) >= _MIN_SOLICITATION_BYTES and data[1] == 0 and limits == [_MAX_HOP_LIMIT]


def _random(low: float, high: float) -> float:
    """Return a random number; importing `random` takes longer than all else."""
    return low + (high - low) * int.from_bytes(os.urandom(4), "big") / (1 << 32)


def _can_send(interface: str) -> bool:
    """Return whether an interface has a link-local address that is not tentative."""
    return any(
        scope == _LINK_SCOPE and not flags & _TENTATIVE for _, scope, flags in _addresses(interface)
    )


def _addresses(interface: str) -> list[tuple[bytes, int, int]]:
    """Return address, scope and flags of an interface's IPv6 addresses."""
    with open(_INTERFACES, encoding="ascii") as file:
        rows = [line.split() for line in file]
    return [
        (bytes.fromhex(at), int(scope, 16), int(flags, 16))
        for at, _, _, scope, flags, name in rows
        if name == interface
    ]


def _link_layer(interface: str) -> bytes:
    with open(f"/sys/class/net/{interface}/address", encoding="ascii") as file:
        return bytes.fromhex(file.read().strip().replace(":", ""))


if __name__ == "__main__":
    main(sys.argv[1:])
