"""From what a script asked for to a network: Mininet's own addresses and its options of links."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.network import Host, Link, LinkImpairments, Network, Route, Switch, problems
from longfat.study.addresses import host_address, router_address
from longfat.study.formats.mininet.draft import MININET_PREFIX, NOT_KNOWN
from longfat.study.formats.tclink import link_shape, link_time_s

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from longfat.model.network import Problem
    from longfat.study.formats.mininet.draft import Draft, DraftLink, DraftNode
    from longfat.study.formats.mininet.values import Value

_NO_ADDRESS = "0.0.0.0"

# What makes no difference here, or what Mininet has by itself.
_IGNORED = frozenset(
    ("key", "fast", "use_htb", "use_tbf", "use_hfsc", "isSwitch", "addr1", "addr2")
)
_LEFT = {
    "speedup": "the rate of a switch's end",
    "latency_ms": "a queue has bytes or packets",
    "gro": "offloads are as Linux has them",
    "txo": "offloads are as Linux has them",
    "rxo": "offloads are as Linux has them",
}
_DEFAULTS = {"speedup": 0, "gro": False, "txo": True, "rxo": True}


def finish(draft: Draft) -> Network:
    """Return the network of a draft.

    Raises:
        InputError: an option is not known or none, or the network cannot be built.
    """
    addresses = _host_addresses(draft)
    links = tuple(_link(draft, link, addresses) for link in draft.links)
    hosts = tuple(
        Host(
            name=name,
            address=addresses[name],
            forwards=node.forwards,
            routes=_routes(draft, name, node, addresses[name]),
        )
        for name, node in draft.nodes.items()
        if not node.is_switch
    )
    switches = tuple(Switch(name=name) for name, node in draft.nodes.items() if node.is_switch)
    network = Network(hosts=hosts, switches=switches, links=links)
    _check_names(draft, network)
    for problem in problems(network):
        raise draft.course.error(_call(draft, problem), problem.message)
    return network


def _call(draft: Draft, problem: Problem) -> ast.AST:
    which = problem.path[1]
    return draft.links[which].call if isinstance(which, int) else draft.nodes[which].call


def _host_addresses(draft: Draft) -> dict[str, str | None]:
    """Return each host's own address; Mininet numbers those that say none, and the others, too."""
    hosts = [name for name, node in draft.nodes.items() if not node.is_switch]
    order = [*draft.numbered, *(name for name in hosts if name not in draft.numbered)]
    found: dict[str, str | None] = {}
    for number, name in enumerate(order, start=1):
        node = draft.nodes[name]
        if node.unset:
            found[name] = _of_base(draft, node, number)
        elif node.ip is None or node.ip.partition("/")[0] == _NO_ADDRESS:
            found[name] = None
        else:
            found[name] = _address(draft, node.call, node.ip)
    return found


def _of_base(draft: Draft, node: DraftNode, number: int) -> str:
    try:
        base = ipaddress.IPv4Network(draft.base, strict=False)
        return host_address(f"{base.network_address + number}/{base.prefixlen}")
    except (ValueError, InputError):
        raise draft.course.error(
            node.call, f"the network {draft.base!r} (ipBase) has no address of number {number}"
        ) from None


def _address(draft: Draft, call: ast.AST, text: str) -> str:
    try:
        return host_address(text if "/" in text else f"{text}/{MININET_PREFIX}")
    except InputError as error:
        raise draft.course.error(call, error.message) from None


def _routes(draft: Draft, name: str, node: DraftNode, address: str | None) -> tuple[Route, ...]:
    if node.gateway is None:
        return ()
    text = node.gateway.removeprefix("via ").strip()
    own = None if address is None else ipaddress.ip_interface(address)
    try:
        via = router_address(text)
    except InputError:
        draft.course.say(node.call, f"{name}: defaultRoute {text} is left out: it is no address")
        return ()
    if own is None or ipaddress.ip_address(via) not in own.network or via == str(own.ip):
        network = "no network" if own is None else own.network
        draft.course.say(
            node.call, f"{name}: defaultRoute {via} is left out: it is no neighbour on {network}"
        )
        return ()
    return (Route(to="default", via=via),)


def _link(draft: Draft, link: DraftLink, addresses: dict[str, str | None]) -> Link:
    a, b = link.ends
    given: list[str | None] = []
    shapes: list[LinkImpairments] = []
    for end, params in zip(link.ends, link.of_ends, strict=True):
        options = {**draft.common_options, **link.options, **params}
        text = draft.known_text(link.call, options.pop("ip", None), f"the ip of {end}")
        address = None if text is None else _address(draft, link.call, text)
        first = next(one for one in draft.links if end in one.ends) is link
        if address is not None and draft.nodes[end].is_switch:
            draft.course.say(link.call, f"{end}: ip {address} is left out: it is of a switch")
            address = None
        elif address is not None and first and addresses[end] is not None:
            if address != addresses[end]:
                draft.course.say(
                    link.call,
                    f"{end}: ip {address} is left out: the first interface has that of the host, "
                    f"{addresses[end]}",
                )
            address = None
        given.append(address)
        shapes.append(_shape(draft, link, f"link {a} - {b}", options))
    return Link(
        a=a, b=b, a_to_b=shapes[0], b_to_a=shapes[1], a_address=given[0], b_address=given[1]
    )


def _shape(
    draft: Draft, link: DraftLink, who: str, options: Mapping[str, Value]
) -> LinkImpairments:
    course, own = draft.course, dict(options)
    megabits = _number(draft, link, who, own, "bw")
    packets = _number(draft, link, who, own, "max_queue_size")
    percent = _number(draft, link, who, own, "loss")
    if percent is not None and percent > 100:
        raise course.error(link.call, f"a loss of {percent:g} % is more than all")
    delay_s = _time_s(draft, link, who, own, "delay")
    jitter_s = _time_s(draft, link, who, own, "jitter")
    red = _red(own, megabits)
    if red is not None and packets is not None:
        course.notes.say(who, "max_queue_size is left out: RED's queue has Mininet's own limit")
        packets = None
    for name, value in own.items():
        if name in _LEFT:
            if value not in {_DEFAULTS.get(name), None}:
                course.notes.say(who, f"{name} is left out: {_LEFT[name]}")
        elif name not in _IGNORED:
            course.notes.say(who, f"the option {name} is not known and is left out")
    shape = link_shape(
        megabits=megabits,
        packets=packets,
        percent=percent,
        delay_s=delay_s,
        jitter_s=jitter_s,
        who=who,
        notes=course.notes,
    )
    return shape if red is None else _with_qdisc(shape, red)


def _with_qdisc(shape: LinkImpairments, qdisc: str) -> LinkImpairments:
    return LinkImpairments(
        rate_bps=shape.rate_bps,
        delay_s=shape.delay_s,
        jitter_s=shape.jitter_s,
        loss=shape.loss,
        qdisc=qdisc,
    )


def _red(options: dict[str, Value], megabits: float | None) -> str | None:
    """Return the RED that Mininet makes of `enable_red` or `enable_ecn`."""
    ecn, red = options.pop("enable_ecn", False), options.pop("enable_red", False)
    if not megabits or not (ecn is True or red is True):
        return None
    words = f"red limit 1000000 min 30000 max 35000 avpkt 1500 burst 20 bandwidth {megabits:f}mbit"
    return f"{words} probability 1{' ecn' if ecn is True else ''}"


def _number(
    draft: Draft, link: DraftLink, who: str, options: dict[str, Value], name: str
) -> float | None:
    value = options.pop(name, None)
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise draft.course.error(
                link.call, f"{who}: {name} is {value!r}, where a number is needed"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise draft.course.error(link.call, f"{who}: {name} {NOT_KNOWN}")
    if not 0 <= value < 1e15:
        raise draft.course.error(link.call, f"{who}: {name} is {value}, which is no such number")
    return float(value)


def _time_s(
    draft: Draft, link: DraftLink, who: str, options: dict[str, Value], name: str
) -> float | None:
    value = options.pop(name, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise draft.course.error(link.call, f"{who}: {name} {NOT_KNOWN}")
    try:
        return link_time_s(str(value), name=name, who=who, notes=draft.course.notes)
    except InputError as error:
        raise draft.course.error(link.call, f"{who}: {error.message}") from None


def _check_names(draft: Draft, network: Network) -> None:
    """Tell of interfaces that Mininet calls otherwise: lines of the script may mean them."""
    for link, pair in zip(draft.links, network.interfaces(), strict=True):
        for end, name, wanted, port in zip(link.ends, pair, link.names, link.ports, strict=True):
            if wanted is None and isinstance(port, int):
                wanted = f"{end}-eth{port}"  # noqa: PLW2901
            if wanted not in {None, name}:
                draft.course.say(
                    link.call,
                    f"the interface {wanted} is {name} here: they are numbered in the links' order",
                )
