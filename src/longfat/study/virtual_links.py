"""Tunnels and bonds: links of a network that are made over, or of, its other links."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from longfat.common.suggest import listed, nearest
from longfat.model.fields import fields_of, read_fields
from longfat.model.network import Bond, Tunnel
from longfat.study.addresses import read_address, read_ends
from longfat.study.node import Node

_TUNNEL = "a tunnel as [HOST, HOST, {kind: gre, addresses: {HOST: ADDRESS, HOST: ADDRESS}}]"


def read_tunnel(node: Node, hosts: Sequence[str]) -> Tunnel:
    """Read a tunnel.

    Args:
        node: `[HOST, HOST, {PROPERTIES}]`.
        hosts: the hosts that there are.

    Raises:
        InputError: an end is no host, or a property is missing or wrong.
    """
    parts = node.sequence(_TUNNEL)
    if len(parts) != 3 or not parts[2].is_mapping:
        raise node.error(f"a tunnel has two hosts and its properties: write {_TUNNEL}")
    a, b = (_read_end(end, hosts, "host") for end in parts[:2])
    if a == b:
        raise node.error(f"the tunnel leads from {a} to itself")
    declared = fields_of(Tunnel)
    allowed = (*declared, "addresses", "endpoints")
    fields = parts[2].fields("a tunnel's properties", allowed=allowed, collect_errors=True)
    for key in ("kind", "addresses"):
        if key not in fields:
            raise parts[2].error(f"the tunnel has no {key}: write {_TUNNEL}")
    addresses = read_ends(fields["addresses"], (a, b), "addresses by end")
    for name in (a, b):
        if name not in addresses:
            raise fields["addresses"].error(f"{name} has no address in the tunnel: write one")
    given = fields.get("endpoints")
    endpoints = {} if given is None else read_ends(given, (a, b), "outer addresses by end")
    outer = {name: _read_endpoint(endpoint) for name, endpoint in endpoints.items()}
    return Tunnel(
        a=a,
        b=b,
        a_address=read_address(addresses[a]),
        b_address=read_address(addresses[b]),
        a_endpoint=outer.get(a),
        b_endpoint=outer.get(b),
        **read_fields(Tunnel, fields),
    )


_BOND = "a bond as [NODE, NODE, {mode: 802.3ad}], or [HOST, [SWITCH, SWITCH], {mode: ...}]"


def read_bond(node: Node, names: Sequence[str]) -> Bond:
    """Read a bond.

    Args:
        node: `[NODE, NODE, {PROPERTIES}]` or `[HOST, [SWITCH, SWITCH], {PROPERTIES}]`.
        names: the nodes that there are.

    Raises:
        InputError: an end does not exist, or a property is missing or wrong.
    """
    parts = node.sequence(_BOND)
    if len(parts) != 3 or not parts[2].is_mapping:
        raise node.error(f"a bond has two ends and its properties: write {_BOND}")
    several = parts[1].sequence("switches") if parts[1].is_sequence else [parts[1]]
    ends: list[str] = []
    for end in (parts[0], *several):
        name = _read_end(end, names, "node")
        if name in ends:
            raise end.error(f"{name} is written twice: a bond leads from one node to others")
        ends.append(name)
    if len(ends) < 2:
        raise parts[1].error(f"there is no node at the other end: write {_BOND}")
    allowed = fields_of(Bond)
    fields = parts[2].fields("a bond's properties", allowed=allowed, collect_errors=True)
    if "mode" not in fields:
        raise parts[2].error(f"the bond has no mode: write {_BOND}")
    return Bond(a=ends[0], peers=tuple(ends[1:]), **read_fields(Bond, fields))


def _read_endpoint(node: Node) -> str:
    text = node.line("an address of the host, without prefix length")
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise node.error(f"{text!r} is not an address, such as 10.0.0.1") from None


def _read_end(node: Node, names: Sequence[str], kind: str) -> str:
    name = node.line(f"a {kind}'s name")
    if name not in names:
        raise node.error(
            f"there is no {kind} {name!r}{nearest(name, names)} (there are: {listed(names)})"
        )
    return name
