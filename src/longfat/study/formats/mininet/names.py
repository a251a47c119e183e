"""Gives the nodes and interfaces of a script names that a study allows.

Mininet takes any name. Where one changes, so does each typed line that names the node's
interfaces or, of a switch, its bridge.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.model.network.devices import MAX_INTERFACE_LENGTH, MAX_STEM_LENGTH
from longfat.study.network import name_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.study.formats.mininet.machine import End, NetworkRecord, Typed

TOO_LONG = f"names that would have more than {MAX_INTERFACE_LENGTH} characters are shortened"
TOO_LONG_FOR_BRIDGES = f"names of more than {MAX_STEM_LENGTH} characters are shortened"

# See `longfat.study.formats.mininet.write`.
_WRAPPED = re.compile(r"eval ('(?:[^']|'\"'\"')*'|[\w./:=-]+) < /dev/null")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# Where the name of an interface may stand: in paths of sysctl and /sys, and as a word, also of a
# VLAN. One of digits alone is a number, but after a word that a device follows.
_IN_PATH = r"(?<=conf[./])(?:{names})(?=[./])|(?<=neigh[./])(?:{names})(?=[./])"
_IN_SYS = r"(?<=/sys/class/net/)(?:{names})(?=/|\s|$)"
_AS_WORD = r"(?<![\w./-])(?:{names})(?![\w-]|\.(?!\d))"
_AS_DEVICE = "|".join(
    rf"(?<=\b{before} )(?:{{numbers}})(?![\w.-])"
    for before in ("dev", "master", "link set", "link show", "ifconfig", "addbr", "br")
)


def unwrapped(text: str) -> str:
    """Return the line in the form in which scripts of longfat's type it."""
    match = _WRAPPED.fullmatch(text)
    return shlex.split(match[1])[0] if match else text


def with_interfaces(line: str, names: Mapping[str, str]) -> str:
    """Return a line with other names for interfaces.

    Args:
        line: the line.
        names: the new names by the old ones; all are replaced at once.
    """
    ordered = sorted(names, key=len, reverse=True)
    every = "|".join(map(re.escape, ordered))
    texts = "|".join(re.escape(name) for name in ordered if not name.isdigit())
    numbers = "|".join(name for name in ordered if name.isdigit())
    patterns = [_IN_PATH.replace("{names}", every), _IN_SYS.replace("{names}", every)]
    patterns += [_AS_WORD.replace("{names}", texts)] if texts else []
    patterns += [_AS_DEVICE.replace("{numbers}", numbers)] if numbers else []
    return re.sub("|".join(patterns), lambda match: names[match[0]], line)


def with_safe_names(record: NetworkRecord) -> tuple[NetworkRecord, tuple[str, ...]]:
    """Return a record whose nodes have names that a study allows, and notes on those that changed.

    A study's names have no points: in sysctl's names and in those of VLANs, points part an
    interface from what follows. Others, such as those with blanks, stay as they are.
    """
    changed = _changed_names(record)
    if not changed:
        return record, ()
    switches = {node.name for node in record.nodes if node.is_switch}
    # By the host whose lines name them; bridges and their ports are in the root namespace.
    devices: dict[str | None, dict[str, str]] = {}
    interfaces: dict[str, dict[str, str]] = {name: {} for name in changed}
    for end in (end for link in record.links for end in link.ends):
        if end.node in changed and end.interface.startswith(f"{end.node}-"):
            renamed = changed[end.node] + end.interface.removeprefix(end.node)
            interfaces[end.node][end.interface] = renamed
    for old, new in changed.items():
        at = None if old in switches else old
        devices.setdefault(at, {}).update(interfaces[old])
        if old in switches:
            devices[None][old] = new

    def renamed_line(typed: Typed) -> Typed:
        names = devices.get(None if typed.node in switches else typed.node)
        text = with_interfaces(unwrapped(typed.text), names) if names else typed.text
        node = None if typed.node is None else changed.get(typed.node, typed.node)
        return replace(typed, node=node, text=text)

    def renamed_end(end: End) -> End:
        interface = interfaces.get(end.node, {}).get(end.interface, end.interface)
        return replace(end, node=changed.get(end.node, end.node), interface=interface)

    return (
        replace(
            record,
            nodes=tuple(replace(one, name=changed.get(one.name, one.name)) for one in record.nodes),
            links=tuple(
                replace(link, ends=(renamed_end(link.ends[0]), renamed_end(link.ends[1])))
                for link in record.links
            ),
            commands=tuple(map(renamed_line, record.commands)),
        ),
        tuple(
            f"{old}: it is {new} here, in lines that name its interfaces{bridge}, too: names have"
            " no points"
            for old, new in changed.items()
            for bridge in [" or its bridge" if old in switches else ""]
        ),
    )


def _changed_names(record: NetworkRecord) -> dict[str, str]:
    """Return the new names of nodes whose names a study does not allow."""
    taken = {node.name for node in record.nodes}
    changed: dict[str, str] = {}
    for node in record.nodes:
        if _NAME.fullmatch(node.name) and name_problem(node.name) is not None:
            name = re.sub(r"[^A-Za-z0-9_-]", "_", node.name)
            while name in taken:
                name += "_"
            taken.add(name)
            changed[node.name] = name
    return changed
