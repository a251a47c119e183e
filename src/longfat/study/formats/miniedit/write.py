"""From a network to a `.mn` file of version 2, and what MiniEdit cannot hold of it.

What has no field of its own goes into start commands: routers with addresses,
more than one address, an MTU, and links whose directions differ or that are
faster than Mininet's 1 Gbit/s, whose lines of `tc` are written out. Only a plain
switch of MiniEdit's has a start command and forwards nothing by itself, so there
is a reference controller.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longfat.model.fields import fields_of
from longfat.model.kinds import time_text
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    shape_commands,
    tunnel_commands,
)
from longfat.model.network.build import FORWARD_LINE
from longfat.study.formats.mininet_options import (
    MAX_MBIT,
    PACKET_BYTES,
    Addressing,
    Notes,
    addressing,
    check_writable,
    interface_lines,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.model.case import Command
    from longfat.model.network import Network

_OPTIONS = ("rate_bps", "delay_s", "jitter_s", "loss", "queue_bytes")

_CONTROLLER = "c0"
_NO_BASE = "10.0.0.0/8"


def miniedit_text(
    network: Network,
    *,
    setup: Sequence[Command] = (),
    layout: Mapping[str, tuple[float, float]] | None = None,
) -> tuple[str, tuple[str, ...]]:
    """Return a network as the text of a `.mn` file.

    Args:
        network: the network.
        setup: set-up lines, which become start commands.
        layout: positions of nodes, in pixels; the others are laid out in rows.

    Returns:
        The text, and what MiniEdit cannot hold or holds otherwise.

    Raises:
        InputError: its links have VLANs or are bonded.
    """
    check_writable(network)
    notes = Notes()
    starts: dict[str, list[str]] = {}
    plain = _plain_links(network, starts, notes)
    addresses = addressing(network)
    typed = tunnel_commands(network)
    typed += [(name, line) for name, own in addresses.items() for line in own.lines]
    typed += [(command.node, command.line) for command in (*interface_lines(network), *setup)]
    for node, line in typed:
        starts.setdefault(node, []).append(line)
    places = lay_out(network) | dict(layout or {})
    numbers = _numbers(network)
    hosts, switches = [], []
    for host in network.hosts:
        outer = _outer(host.name, numbers[host.name], places[host.name])
        if _is_legacy_router(host, addresses[host.name], starts):
            switches.append(_with_options(outer, {"switchType": "legacyRouter"}))
            continue
        lines = [*([FORWARD_LINE] if host.forwards else []), *starts.pop(host.name, [])]
        options = _host_options(host, addresses[host.name], lines, notes)
        hosts.append(_with_options(outer, options))
    root = starts.pop(ROOT_NAMESPACE, [])
    for switch in network.switches:
        outer = _outer(switch.name, numbers[switch.name], places[switch.name])
        options = {"switchType": "default", "controllers": [_CONTROLLER]}
        if root:
            # A switch's commands run where all switches' interfaces are.
            options["startCommand"] = _joined(root)
            root = []
        switches.append(_with_options(outer, options))
    if root:
        notes.add(
            ROOT_NAMESPACE, "there is no switch whose start command could hold its set-up lines"
        )
    if network.switches:
        notes.add(_CONTROLLER, "is added: MiniEdit's switches forward nothing without a controller")
    document = {
        "application": _APPLICATION,
        "controllers": [_controller()] if network.switches else [],
        "hosts": hosts,
        "switches": switches,
        "links": [{"src": link.a, "dest": link.b, "opts": opts} for link, opts in plain],
        "version": "2",
    }
    text = json.dumps(document, sort_keys=True, indent=4, separators=(",", ": ")) + "\n"
    return text, tuple(notes.texts)


_APPLICATION = {
    "dpctl": "",
    "ipBase": _NO_BASE,
    "netflow": {"nflowAddId": "0", "nflowTarget": "", "nflowTimeout": "600"},
    "openFlowVersions": {"ovsOf10": "1", "ovsOf11": "0", "ovsOf12": "0", "ovsOf13": "0"},
    "sflow": {
        "sflowHeader": "128",
        "sflowPolling": "30",
        "sflowSampling": "400",
        "sflowTarget": "",
    },
    "startCLI": "0",
    "switchType": "ovs",
    "terminalType": "xterm",
}


def _controller() -> dict[str, Any]:
    return {
        "opts": {
            "controllerProtocol": "tcp",
            "controllerType": "ref",
            "hostname": _CONTROLLER,
            "remoteIP": "127.0.0.1",
            "remotePort": 6633,
        },
        "x": "30.0",
        "y": "30.0",
    }


def _outer(name: str, number: int, place: tuple[float, float]) -> dict[str, Any]:
    x, y = place
    return {
        "number": str(number),
        "opts": {"hostname": name, "nodeNum": number},
        "x": str(x),
        "y": str(y),
    }


def _with_options(outer: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    return outer | {"opts": outer["opts"] | options}


def _numbers(network: Network) -> dict[str, int]:
    """Return a number for each node, that of its name where no other has it."""
    found: dict[str, int] = {}
    kinds = ([h.name for h in network.hosts], [s.name for s in network.switches])
    for names in kinds:
        taken: set[int] = set()
        for name in names:
            digits = re.search(r"[0-9]{1,6}$", name)
            number = int(digits[0]) if digits else 0
            if number and number not in taken:
                taken.add(number)
                found[name] = number
        free = (number for number in range(1, len(names) + 10**6) if number not in taken)
        for name in names:
            if name not in found:
                found[name] = next(free)
    return found


def _is_legacy_router(host: Host, own: Addressing, starts: dict[str, list[str]]) -> bool:
    return host.forwards and own.ip is None and own.gateway is None and not starts.get(host.name)


def _host_options(
    host: Host, own: Addressing, lines: Sequence[str], notes: Notes
) -> dict[str, Any]:
    options: dict[str, Any] = {"sched": "host"}
    if own.ip is not None:
        options["ip"] = own.ip
    else:
        notes.add(host.name, f"has no IPv4 address; Mininet gives it one of {_NO_BASE}")
    if own.gateway is not None:
        options["defaultRoute"] = own.gateway
    if lines:
        options["startCommand"] = _joined(lines)
        if host.forwards:
            notes.add(host.name, "a router with addresses is a host with a start command")
    return options


def _joined(lines: Sequence[str]) -> str:
    """Return lines as one: MiniEdit's field for a command has no second."""
    return " ".join(
        line if line.endswith(("&", ";")) or last else f"{line};"
        for line, last in zip(lines, [False] * (len(lines) - 1) + [True], strict=True)
    )


def _plain_links(
    network: Network, starts: dict[str, list[str]], notes: Notes
) -> list[tuple[Link, dict[str, Any]]]:
    """Return each link with its options, and add the lines for what options cannot express."""
    hosts = {host.name for host in network.hosts}
    pairs = Counter(frozenset((link.a, link.b)) for link in network.links)
    found: list[tuple[Link, dict[str, Any]]] = []
    by_lines: list[Link] = []
    for link in network.links:
        who = f"link {link.a} - {link.b}"
        if link.a in hosts and link.b in hosts:
            notes.add(who, "MiniEdit opens a link between two hosts, but cannot draw one")
        if pairs[frozenset((link.a, link.b))] > 1:
            notes.add(who, "there are several; MiniEdit shows them on top of each other")
        shape = link.a_to_b
        reason = ""
        if shape != link.b_to_a:
            reason = "its directions differ"
        elif (shape.rate_bps or 0) > MAX_MBIT * 10**6:
            reason = f"Mininet ignores a bw of more than {MAX_MBIT}"
        elif beyond := [
            field.key
            for field in fields_of(LinkImpairments).values()
            if field.name not in _OPTIONS and getattr(shape, field.name)
        ]:
            reason = f"Mininet has no {' and no '.join(beyond)}"
        if reason:
            notes.add(who, f"{reason}: its tc lines are start commands")
            by_lines.append(link)
            found.append((link, {}))
        else:
            by_lines.append(replace(link, a_to_b=LinkImpairments(), b_to_a=LinkImpairments()))
            found.append((link, _options(shape, who, notes)))
    for node, line in shape_commands(replace(network, links=tuple(by_lines))):
        starts.setdefault(node, []).append(line)
    return found


def _options(shape: LinkImpairments, who: str, notes: Notes) -> dict[str, Any]:
    """Return a shape as options of Mininet's TCLink."""
    options: dict[str, Any] = {}
    if shape.rate_bps is not None:
        options["bw"] = _whole(shape.rate_bps / 1e6)
    if shape.delay_s:
        options["delay"] = time_text(shape.delay_s)
    if shape.jitter_s:
        options["jitter"] = time_text(shape.jitter_s)
        notes.add(who, "jitter: Mininet draws it evenly from both sides, longfat normally")
    if shape.loss:
        options["loss"] = _whole(float(f"{shape.loss * 100:.12g}"))
    if shape.queue_bytes is not None:
        packets = max(1, round(shape.queue_bytes / PACKET_BYTES))
        options["max_queue_size"] = packets
        if packets * PACKET_BYTES != shape.queue_bytes:
            notes.add(who, f"queue: Mininet counts packets; {packets} of {PACKET_BYTES} bytes")
    for name in ("bw", "loss"):
        if isinstance(options.get(name), float):
            notes.add(who, f"{name} {options[name]}: MiniEdit's own dialogue takes whole numbers")
    return options


def _whole(value: float) -> int | float:
    return int(value) if value == int(value) else value


# Positions: switches and routers in a row, with the hosts of each above and below it.


_LEFT, _STEP = 90.0, 110.0
_ROWS = (90.0, 390.0)
_MIDDLE = 240.0


def lay_out(network: Network) -> dict[str, tuple[float, float]]:
    """Return the place of each node in pixels; all places differ."""
    inner = [switch.name for switch in network.switches]
    inner += [host.name for host in network.hosts if host.forwards]
    near: dict[str, list[str]] = {}
    for link in network.links:
        near.setdefault(link.a, []).append(link.b)
        near.setdefault(link.b, []).append(link.a)
    places: dict[str, tuple[float, float]] = {}
    left = _LEFT
    # A host is placed with the first switch or router that it is linked to.
    for name in _in_order(inner, near):
        hosts = [
            other
            for other in dict.fromkeys(near.get(name, ()))
            if other not in inner and other not in places
        ]
        width = max(1, (len(hosts) + 1) // 2)
        places[name] = (left + (width - 1) * _STEP / 2, _MIDDLE)
        for index, host in enumerate(hosts):
            places[host] = (left + index // 2 * _STEP, _ROWS[index % 2])
        left += width * _STEP
    for lone in network.hosts:
        if lone.name not in places:
            places[lone.name] = (left, _MIDDLE)
            left += _STEP
    return places


def _in_order(inner: list[str], near: dict[str, list[str]]) -> list[str]:
    """Return switches and routers in an order in which linked ones are adjacent."""
    found: dict[str, None] = {}
    # A chain is begun at one of its ends.
    ends = sorted(inner, key=lambda name: sum(other in inner for other in near.get(name, ())))
    for start in ends:
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in inner and name not in found:
                found[name] = None
                waiting += reversed(near.get(name, []))
    return list(found)


# What a TCLink's options can express; the rest of a link becomes lines of tc.
