"""Tunnels between two hosts, and the lines that make them: GRE, IPIP and WireGuard.

A tunnel is an interface at each end, `NODE-tun0` and so on, that puts packets into packets from
one end's outer address to the other's:

* `gre`: an outer IPv4 header of 20 bytes and GRE's 4 (RFC 2784);
* `ipip`: an outer IPv4 header alone, around IPv4 (RFC 2003);
* `wireguard`: an outer header of 20 bytes (40 with IPv6), UDP's 8, and 32 of WireGuard's message
  (its paper, section 5.4.6); a packet is filled up to a multiple of 16 bytes, but never beyond
  the tunnel's MTU. Keys follow from the names, so they are no secrets.

Sources: ip-link(8), ip-tunnel(8), wg(8).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import OneOf, Size
from longfat.model.network.devices import device_name

GRE, IPIP, WIREGUARD = "gre", "ipip", "wireguard"

_TTL = 64
_FIRST_PORT = 51820
_IPV6_MORE = 20  # the outer header of IPv6 over that of IPv4

HEADER_BYTES: Mapping[str, int] = {GRE: 24, IPIP: 20, WIREGUARD: 60}
"""What the kinds of tunnels add to a packet, with an outer header of IPv4."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunnel:
    """A tunnel between two hosts.

    Attributes:
        a: the host at one end.
        b: the host at the other.
        a_address: the address with prefix length of the tunnel's interface at `a`.
        b_address: likewise at `b`.
        a_endpoint: the outer address at `a`; that from which its packets to `b` are sent, if None.
        b_endpoint: likewise at `b`.
        kind: `gre`, `ipip` or `wireguard`.
        mtu_bytes: the largest packet in the tunnel, in bytes; that of the path less the
            tunnel's headers, if None.
    """

    a: str
    b: str
    a_address: str
    b_address: str
    a_endpoint: str | None = None
    b_endpoint: str | None = None
    kind: str = declare(
        OneOf(what="a kind of tunnel", options=(GRE, IPIP, WIREGUARD)),
        default=REQUIRED,
        label="Kind",
        help="what carries its packets: `gre`, `ipip` (IPv4 alone), or `wireguard`, which needs"
        " the program `wg`",
    )
    mtu_bytes: int | None = declare(
        Size(minimum=68, maximum=65535),
        default=None,
        label="MTU",
        help="the largest packet in the tunnel",
        absent="that of the path less the tunnel's headers",
    )


def overhead_bytes(kind: str, endpoint: str) -> int:
    """Return what a tunnel adds to a packet.

    Args:
        kind: the kind of tunnel.
        endpoint: an outer address.
    """
    return HEADER_BYTES[kind] + (_IPV6_MORE if ":" in endpoint else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TunnelEnd:
    """One end of a tunnel, with all that its lines need.

    Attributes:
        node: the host.
        interface: the tunnel's interface there.
        address: that interface's address with prefix length.
        endpoint: the outer address here.
        peer: the host at the other end.
        peer_interface: the interface there.
        peer_endpoint: the outer address there.
        kind: the kind of tunnel.
        mtu_bytes: the MTU in bytes.
    """

    node: str
    interface: str
    address: str
    endpoint: str
    peer: str
    peer_interface: str
    peer_endpoint: str
    kind: str
    mtu_bytes: int

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that make the interface, without the word `ip`."""
        outer = f" local {self.endpoint} remote {self.peer_endpoint} ttl {_TTL}"
        kind = f"type {self.kind}" + ("" if self.kind == WIREGUARD else outer)
        sure = " nodad" if ":" in self.address else ""
        return (
            f"link add {self.interface} mtu {self.mtu_bytes} {kind}",
            f"addr add {self.address} dev {self.interface}{sure}",
            f"link set {self.interface} up",
        )

    @property
    def key_line(self) -> str | None:
        """The line for a shell that sets keys and peer; None for tunnels without keys."""
        if self.kind != WIREGUARD:
            return None
        own, peer = (_private_key(name) for name in (self.interface, self.peer_interface))
        at = f"[{self.peer_endpoint}]" if ":" in self.peer_endpoint else self.peer_endpoint
        return (
            f"echo {_text(own)} | wg set {self.interface} private-key /dev/stdin "
            f"listen-port {_port(self.interface)} peer {_text(_public_key(peer))} "
            f"allowed-ips 0.0.0.0/0,::/0 endpoint {at}:{_port(self.peer_interface)}"
        )


def tunnel_interface(host: str, number: int) -> str:
    """Return the name of a host's interface of a tunnel, counted from 0."""
    return device_name(host, f"-tun{number}")


def _port(interface: str) -> int:
    return _FIRST_PORT + int(interface.rpartition("-tun")[2])


# Keys of Curve25519 (RFC 7748), which no library of Python's standard ones has.
_P = 2**255 - 19


def _private_key(name: str) -> bytes:
    key = bytearray(hashlib.sha256(f"longfat wireguard {name}".encode()).digest())
    key[0] &= 248
    key[31] = key[31] & 127 | 64
    return bytes(key)


def _public_key(private: bytes) -> bytes:
    """Return X25519 of a clamped private key and the base point (RFC 7748, section 5)."""
    scalar = int.from_bytes(private, "little")
    x1, x2, z2, x3, z3, swap = 9, 1, 0, 9, 1, 0
    for index in reversed(range(255)):
        bit = scalar >> index & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % _P, b * b % _P, d * a % _P, c * b % _P
        e = aa - bb
        x3, z3 = pow(da + cb, 2, _P), x1 * pow(da - cb, 2, _P) % _P
        x2, z2 = aa * bb % _P, e * (aa + 121665 * e) % _P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, _P - 2, _P) % _P).to_bytes(32, "little")


def _text(key: bytes) -> str:
    return base64.b64encode(key).decode("ascii")
