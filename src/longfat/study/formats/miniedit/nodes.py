"""The hosts, switches and routers of a `.mn` file, and the commands that they start with."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE, Host, Route, Switch
from longfat.model.network.devices import device_stem
from longfat.study.addresses import host_address, router_address
from longfat.study.document import Scalar
from longfat.study.node import Node

if TYPE_CHECKING:
    from longfat.study.formats.mininet_options import Notes

_BRIDGES = ("default", "ovs", "ivs", "user", "userns", "legacySwitch")
_ROUTER = "legacyRouter"

# Mininet's prefix length for an address without one.
_MININET_PREFIX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A node of the drawing.

    Attributes:
        name: its name.
        node: what it becomes.
        source: where it is written.
        setup: the lines that it brings with it.
        position: its position, in pixels.
    """

    name: str
    node: Host | Switch
    source: Node
    setup: tuple[Command, ...] = ()
    position: tuple[float, float] | None = None


class _Element:
    """What hosts and switches have in common: number, place and options."""

    def __init__(self, node: Node, *, letter: str, notes: Notes) -> None:
        self.source = node
        self._outer = Fields(node, "a node")
        self._notes = notes
        inner = self._outer.get("opts")
        number = self._outer.text("number")
        self.opts = None if inner is None else Fields(inner, "a node's options")
        name = self.text("hostname") or (f"{letter}{number}" if number else None)
        if name is None:
            raise node.error("the node has neither a hostname nor a number")
        self.name = name
        x, y = self._coordinate("x"), self._coordinate("y")
        self.position = None if x is None or y is None else (x, y)
        given = None if self.opts is None else self.opts.number("nodeNum")
        self.number = given if given is not None else self._outer.number("number")

    def _coordinate(self, name: str) -> float | None:
        text = self._outer.text(name)
        try:
            value = None if text is None else float(text)
        except ValueError:
            return None
        return value if value is not None and abs(value) < 1e6 else None

    def text(self, name: str) -> str | None:
        return None if self.opts is None else self.opts.text(name)

    def items(self, name: str) -> list[Node]:
        return [] if self.opts is None else self.opts.items(name, f"a list ({name})")

    def add(self, what: str) -> None:
        self._notes.add(self.name, what)

    def leave(self, **reasons: str) -> None:
        """Note fields that have a value and cannot be converted."""
        for name, reason in reasons.items():
            if self.opts is not None and self.opts.get(name) is not None:
                self.add(f"{name} is left out: {reason}")

    def commands(self, node: str) -> list[Command]:
        """Return the lines of the start command."""
        self.leave(stopCommand="a machine has no end at which it could run")
        found = []
        for line in split_lines(self.text("startCommand") or ""):
            if OPENFLOW.search(line):
                self.add(f"startCommand `{line}` is left out: switches are Linux bridges")
                continue
            if BACKGROUND.search(line) and ">" not in line:
                self.add(
                    f"startCommand `{line}` runs in the background: send its output away "
                    "(> /dev/null 2>&1 &), or the set-up waits for it"
                )
            found.append(Command(node=node, line=line))
        return found

    def end(self) -> None:
        """Note the unknown fields."""
        for fields in (self._outer, self.opts):
            for name in [] if fields is None else fields.unknown():
                self.add(f"the field {name} is not known and is left out")


def read_host(node: Node, *, base: str, notes: Notes) -> Drawn:
    """Read a host.

    Args:
        node: the host.
        base: the network of addresses that are left out.
        notes: collects what is left out.

    Raises:
        InputError: it has no name, or its address is none.
    """
    element = _Element(node, letter="h", notes=notes)
    address = _address(element, base)
    if element.text("sched") not in {None, "host"}:
        element.add("sched is left out: hosts are infinitely fast")
    element.leave(
        cpu="hosts are infinitely fast",
        cores="hosts are infinitely fast",
        privateDirectory="hosts share one file system",
        externalInterfaces="a machine has no network of its own",
    )
    routes = _default_route(element, address)
    setup = _vlans(element) + element.commands(element.name)
    element.end()
    return Drawn(
        name=element.name,
        node=Host(name=element.name, address=address, routes=routes),
        source=node,
        setup=tuple(setup),
        position=element.position,
    )


def read_switch(node: Node, *, notes: Notes) -> Drawn:
    """Read a switch or a legacy router; see `read_host`."""
    element = _Element(node, letter="s", notes=notes)
    kind = element.text("switchType") or "default"
    controllers = element.items("controllers")  # noted once, with the controllers
    is_listed = element.opts is not None and element.opts.get("controllers") is not None
    if kind in ("default", "ovs") and is_listed and not controllers:
        element.add(
            "it forwards nothing in Mininet: it has no controller; here it is a learning bridge"
        )
    if kind not in (*_BRIDGES, _ROUTER):
        element.add(f"switchType {kind} is not known: it is taken as a switch")
    elif kind in {"ivs", "user", "userns"}:
        element.add(f"switchType {kind} is left out: switches are Linux bridges")
    element.leave(
        dpid="switches are no OpenFlow switches",
        dpctl="switches are no OpenFlow switches",
        externalInterfaces="a machine has no network of its own",
    )
    for name in ("sflow", "netflow"):
        if element.text(name) not in {None, "0"}:
            element.add(f"{name} is left out: sample with probes instead")
    setup: list[Command] = []
    made: Host | Switch = Switch(name=element.name)
    if kind == _ROUTER:
        made = Host(name=element.name, address=None, forwards=True)
        element.add("the router has no addresses: a .mn file has none; set them with ip lines")
    elif (address := element.text("switchIP")) is not None:
        setup.append(
            _add_address(element, address, device=device_stem(element.name), node=ROOT_NAMESPACE)
        )
    setup += element.commands(element.name if kind == _ROUTER else ROOT_NAMESPACE)
    element.end()
    return Drawn(
        name=element.name, node=made, source=node, setup=tuple(setup), position=element.position
    )


def _address(element: _Element, base: str) -> str:
    text = element.text("ip")
    if text is None:
        try:
            network = ipaddress.IPv4Network(base, strict=False)
            number = int(element.number or 0)
            if not 0 < number < network.num_addresses:
                raise ValueError
            text = str(network.network_address + number)
        except ValueError:
            raise element.source.error(
                f"{element.name} has no ip, and ipBase {base!r} has none with its number"
            ) from None
    if "/" not in text:
        text += f"/{_MININET_PREFIX}"
    try:
        return host_address(text)
    except InputError as error:
        raise element.source.error(f"ip: {error.message}") from None


def _default_route(element: _Element, address: str) -> tuple[Route, ...]:
    text = element.text("defaultRoute")
    if text is None:
        return ()
    text = text.removeprefix("via ").strip()
    try:
        via = router_address(text)
    except InputError:
        element.add(f"defaultRoute {text} is left out: it is not an address")
        return ()
    own = ipaddress.ip_interface(address)
    gateway = ipaddress.ip_address(via)
    if gateway not in own.network or gateway == own.ip:
        element.add(f"defaultRoute {via} is left out: it is no neighbour on {own.network}")
        return ()
    return (Route(to="default", via=via),)


def _vlans(element: _Element) -> list[Command]:
    """Return the lines that make VLAN interfaces: pairs of address and VLAN."""
    lines = []
    for entry in element.items("vlanInterfaces"):
        pair = entry.sequence("a VLAN interface as [ADDRESS, VLAN]")
        if len(pair) != 2:
            raise entry.expected("a VLAN interface as [ADDRESS, VLAN]")
        number = pair[1].integer(minimum=1, maximum=4094)
        base = f"{device_stem(element.name)}-eth0"
        device = f"{base}.{number}"
        address = _add_address(
            element, pair[0].text("an address"), device=device, node=element.name
        )
        lines += [
            Command(
                node=element.name,
                line=f"ip link add link {base} name {device} type vlan id {number}",
            ),
            address,
            Command(node=element.name, line=f"ip link set {device} up"),
        ]
    return lines


def _add_address(element: _Element, text: str, *, device: str, node: str) -> Command:
    """Return the line that does what MiniEdit's `ifconfig DEVICE ADDRESS` does."""
    try:
        if "/" not in text:
            text += f"/{class_prefix(text)}"
        address = host_address(text)
    except (InputError, ValueError):
        raise element.source.error(f"{text!r} is not an address for {device}") from None
    return Command(node=node, line=f"ip addr add {address} dev {device}")


# Elements' fields, and start commands as lines of a study.


OPENFLOW = re.compile(r"\b(ovs-[a-z]+|dpctl)\b")
"""Commands of Open vSwitch, which is not here."""

BACKGROUND = re.compile(r"(?<!&)&\s*$")
"""A command in the background."""

_PIECE = r"(?:[^;'\"\\]|'[^']*'|\"[^\"]*\")"
_PIECES = re.compile(f"{_PIECE}+")
_WHOLE = re.compile(f"(?:{_PIECE}|;)*")  # quotes in pairs, and no backslash
_PLAIN = re.compile(r"(?:sudo )?(tc|ip|sysctl|ethtool|ifconfig|route)\s[^&|<>`$(){}\\]*$")


def split_lines(text: str) -> list[str]:
    """Return the lines of a start command.

    One line may hold several commands; they are split if each is simple and has no effect
    on the shell. Then an error names the command that failed.
    """
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = [part.strip() for part in _PIECES.findall(line) if part.strip(" ;\t")]
        if _WHOLE.fullmatch(line) and all(_PLAIN.match(part) for part in parts):
            found += parts
        else:
            found.append(line)
    return found


def class_prefix(text: str) -> int:
    """Return the prefix length of an address's class, which ifconfig takes."""
    first = int(ipaddress.IPv4Address(text)) >> 24
    return 8 if first < 128 else 16 if first < 192 else 24


_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?")


class Fields:
    """The fields of an object, and which of them were read.

    Args:
        node: the object.
        what: what it is, for messages.

    Raises:
        InputError: it is no object.
    """

    def __init__(self, node: Node, what: str) -> None:
        self.node = node
        self._values = {key.text: value for key, value in node.items(what)}
        self._read: set[str] = set()

    def get(self, name: str) -> Node | None:
        """Return the value of a field; None where it is missing or empty."""
        self._read.add(name)
        value = self._values.get(name)
        if value is None or value.is_null:
            return None
        if isinstance(value.raw, Scalar) and not value.raw.text.strip():
            return None
        return value

    def text(self, name: str) -> str | None:
        """Return the text of a field, without white space around it."""
        value = self.get(name)
        return None if value is None else value.text(f"the text of {name}").strip()

    def number(self, name: str) -> float | None:
        """Return a number, also one in quotes.

        Raises:
            InputError: it is none, or a negative one.
        """
        text = self.text(name)
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            raise self._values[name].expected(f"a number ({name})")
        return float(text)

    def items(self, name: str, what: str) -> list[Node]:
        """Return the values of a list; none where there is no such field."""
        value = self.get(name)
        return [] if value is None else value.sequence(what)

    def missing(self, *names: str) -> list[str]:
        """Return those of the names that are no fields."""
        return [name for name in names if name not in self._values]

    def unknown(self) -> list[str]:
        """Return the fields that were not read."""
        return [name for name in self._values if name not in self._read]
