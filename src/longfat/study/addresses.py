"""Addresses of interfaces and static routes, as studies write them."""

from __future__ import annotations

import ipaddress
import re

from longfat.errors import InputError
from longfat.model.network import Route
from longfat.model.network.slaac import SLAAC
from longfat.study.node import Node


def read_address(node: Node) -> str:
    """Read the address of an interface, with its prefix length.

    Returns:
        The address in its canonical form.

    Raises:
        InputError: it is none, or none that a host can have.
    """
    text = node.line("an address with its prefix length (such as 10.0.0.1/8)")
    try:
        return host_address(text)
    except InputError as error:
        raise node.error(error.message) from None


def read_interface_address(node: Node) -> str:
    """Read the address of a link's interface: one as `read_address` does, or `slaac`.

    Raises:
        InputError: it is neither.
    """
    text = node.line("an address with its prefix length (such as 10.0.0.1/8), or slaac")
    try:
        return interface_address(text)
    except InputError as error:
        raise node.error(error.message) from None


def interface_address(text: str) -> str:
    """Return an address in its canonical form, or `slaac`; see `read_interface_address`."""
    return text if text == SLAAC else host_address(text)


def host_address(text: str) -> str:
    """Return the address of an interface in its canonical form; see `read_address`."""
    if text == SLAAC:
        raise InputError(
            "only a link's interface without VLANs takes its address by SLAAC: write an address"
        )
    address, slash, prefix = text.partition("/")
    if not slash:
        raise InputError(f"{text!r} has no prefix length: write it as {text}/8 or the like")
    if not re.fullmatch(r"[0-9]{1,3}", prefix) or "%" in address:
        raise InputError(f"{text!r} is not an address with a prefix length, such as 10.0.0.1/8")
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError as error:
        raise InputError(f"{text!r} is not an address: {error}") from None
    ip = interface.ip
    if ip.is_multicast or ip.is_unspecified or ip.is_loopback:
        raise InputError(f"{text!r} cannot be a host's own address")
    single = interface.network.prefixlen >= interface.network.max_prefixlen - 1
    if ip.version == 4 and not single:
        if ip == interface.network.network_address:
            raise InputError(f"{text!r} is the address of the network itself, not of a host")
        if ip == interface.network.broadcast_address:
            raise InputError(f"{text!r} is the network's broadcast address, not a host's")
    return str(interface)


def read_routes(node: Node) -> tuple[Route, ...]:
    """Read static routes: networks, or `default`, with the next router or a list of them.

    Raises:
        InputError: a network or address is none, or a network is written twice.
    """
    routes: dict[str, Route] = {}
    for key, value in node.items("routes (such as {default: 10.0.0.254})"):
        try:
            to = route_target(key.text)
        except InputError as error:
            raise InputError(error.message, place=key.place) from None
        if to in routes:
            raise InputError(f"the network {to} is written twice here", place=key.place)
        routes[to] = _read_route(to, value)
    return tuple(routes.values())


def _read_route(to: str, node: Node) -> Route:
    several = node.sequence("addresses of routers") if node.is_sequence else [node]
    hops: list[str] = []
    for hop in several:
        try:
            address = router_address(hop.line("the address of a router"))
        except InputError as error:
            raise hop.error(error.message) from None
        if address in hops:
            raise hop.error(f"the router {address} is written twice here")
        hops.append(address)
    if not hops:
        raise node.expected("the address of a router, or a list of them")
    return Route(to=to, via=hops[0], others=tuple(hops[1:]))


def route_target(text: str) -> str:
    """Return a network in its canonical form, or `default`.

    Raises:
        InputError: it is neither.
    """
    if text == "default":
        return text
    address, slash, prefix = text.partition("/")
    if not slash or not re.fullmatch(r"[0-9]{1,3}", prefix) or "%" in address:
        raise InputError(f"{text!r} is not a network, such as 10.1.0.0/16, or default")
    try:
        return str(ipaddress.ip_network(text))
    except ValueError as error:
        raise InputError(f"{text!r} is not a network: {error}") from None


def router_address(text: str) -> str:
    """Return the address of a router, without prefix length, in its canonical form.

    Raises:
        InputError: it is no address.
    """
    if "%" not in text and "/" not in text:
        try:
            return str(ipaddress.ip_address(text))
        except ValueError:
            pass
    raise InputError(f"{text!r} is not the address of a router, such as 10.0.0.254")


def read_ends(node: Node, ends: tuple[str, str], what: str) -> dict[str, Node]:
    """Read what is written by the end of a link.

    Args:
        node: a mapping of ends to values.
        ends: the link's nodes.
        what: what the mapping is called.

    Raises:
        InputError: a key is no end.
    """
    values = {}
    for key, value in node.items(what):
        if key.text not in ends:
            raise value.error(f"{key.text!r} is no end of this link: write {ends[0]} or {ends[1]}")
        values[key.text] = value
    return values
