"""From a record to a network: addresses, what links do to packets, and set-up lines."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
    problems,
)
from longfat.model.network.devices import device_stem
from longfat.model.typed_line import without_sudo
from longfat.study.addresses import host_address, router_address
from longfat.study.formats.miniedit.nodes import BACKGROUND, OPENFLOW, split_lines
from longfat.study.formats.mininet.machine import (
    At,
    NetworkRecord,
    Node,
    Scalar,
    Typed,
    at,
    printable,
)
from longfat.study.formats.mininet.names import (
    TOO_LONG,
    TOO_LONG_FOR_BRIDGES,
    unwrapped,
    with_interfaces,
)
from longfat.study.formats.mininet_options import Notes, link_shape, link_time_s
from longfat.study.network import name_problem

if TYPE_CHECKING:
    from longfat.study.formats.mininet import machine

_NO_ADDRESS = "0.0.0.0"
_MININET_PREFIX = 8  # of an address without one

_FORWARD = re.compile(
    r"sysctl (-w )?net\.ipv4\.(ip_forward|conf\.all\.forwarding)=1"
    r"( net\.ipv6\.conf\.all\.forwarding=1)?"
    r"|echo 1 ?> ?/proc/sys/net/ipv4/ip_forward"
)
_TRAFFIC = re.compile(
    r"(ping6?|iperf3?|netperf|netserver|wget|curl|tcpdump|kill|killall|pkill|nc|xterm)\b"
)
_PAUSE = re.compile(r"sleep [0-9.]+[smh]?")
# Read after a line, it shows that the script depends on that line.
_STATUS = re.compile(r"echo \$\??\w*")

# What makes no difference here, or what Mininet has by itself.
_IGNORED = frozenset(("fast", "use_htb", "use_tbf", "use_hfsc", "isSwitch"))
_OFFLOADS = "offloads are as Linux has them"
# Options that are left out: why, and values that mean nothing.
_LEFT: Mapping[str, tuple[str, Scalar]] = {
    "speedup": ("the rate of a switch's end", 0),
    "latency_ms": ("a queue has bytes or packets", None),
    "gro": (_OFFLOADS, False),
    "txo": (_OFFLOADS, True),
    "rxo": (_OFFLOADS, True),
}
_SHAPING = ("bw", "delay", "jitter", "loss", "max_queue_size")


class Reader:
    """Makes a network of a record.

    Args:
        record: the record of the network; `names.with_safe_names` makes its names those of a study.
        file: the script, as the user named it.

    Attributes:
        notes: what is left out, or taken otherwise.
        setup: the lines to type, once `network` has been built.
        typed: all lines that were typed at hosts, traffic too, likewise.
        notes_on_lines: those of the notes that are on what a line does.
        commands: all that was typed, with the names that interfaces have in the network.
        own_lines: the numbers of those that a script written by longfat types to set up nodes.
    """

    def __init__(self, record: NetworkRecord, file: str) -> None:
        self.notes = Notes()
        self.setup: list[Command] = []
        self.typed: list[Typed] = []
        self.notes_on_lines: set[str] = set()
        self.commands: tuple[Typed, ...] = ()
        self.own_lines: set[int] = set()
        self._record = record
        self._file = file
        self._nodes: dict[str, Node] = {}
        self._addresses: dict[str, str | None] = {}
        self._forwards: set[str] = set()
        self._first: dict[str, machine.Link] = {}

    def network(self) -> Network:
        """Return the network.

        Raises:
            InputError: a name, an address or an option is none, or it cannot be built.
        """
        for node in self._record.nodes:
            if reason := name_problem(node.name):
                raise self._error(node.at, reason)
            if node.name in self._nodes:
                raise self._error(node.at, f"there are two nodes with the name {node.name!r}")
            self._nodes[node.name] = node
        hosts = [node for node in self._record.nodes if not node.is_switch]
        for host in hosts:
            none = host.ip is None or host.ip.partition("/")[0] == _NO_ADDRESS
            self._addresses[host.name] = None if none else self._address(host.at, host.ip)
        first, self.notes = self.notes, Notes()
        links = tuple(self._link(link) for link in self._record.links)
        of_links, self.notes = self.notes, first
        switches = tuple(Switch(name=node.name) for node in self._record.nodes if node.is_switch)
        self._rename(
            Network(
                hosts=tuple(Host(name=host.name, address=None) for host in hosts),
                switches=switches,
                links=tuple(Link(a=link.a, b=link.b) for link in links),
            )
        )
        before = set(self.notes.texts)
        self._type()
        self.notes_on_lines = set(self.notes.texts) - before
        self.notes.texts += of_links.texts
        network = Network(
            hosts=tuple(
                Host(
                    name=host.name,
                    address=self._addresses[host.name],
                    forwards=host.name in self._forwards,
                    routes=self._routes(host),
                )
                for host in hosts
            ),
            switches=switches,
            links=links,
        )
        for problem in problems(network):
            which = problem.path[1]
            link = self._record.links[which] if isinstance(which, int) else self._nodes[which]
            raise self._error(link.at, problem.message)
        return network

    def forwards(self, command: Command) -> bool:
        """Return whether a line is a host's `forwards`, once `network` has been built."""
        is_host = command.node in self._forwards
        return is_host and _FORWARD.fullmatch(without_sudo(command.line)) is not None

    def _error(self, where: At, message: str) -> InputError:
        return InputError(printable(message), place=at(self._file, where))

    def _note(self, where: At, what: str) -> None:
        self.notes.add(f"line {where[0]}", what)

    # --------------------------------------------------------------- addresses

    def _address(self, where: At, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            return host_address(text if "/" in text else f"{text}/{_MININET_PREFIX}")
        except InputError as error:
            raise self._error(where, error.message) from None

    def _routes(self, host: Node) -> tuple[Route, ...]:
        if host.gateway is None:
            return ()
        text = host.gateway.removeprefix("via ").strip()
        address = self._addresses[host.name]
        own = None if address is None else ipaddress.ip_interface(address)
        left = f"{host.name}: defaultRoute {text} is left out: it is"
        try:
            via = router_address(text)
        except InputError:
            self._note(host.at, f"{left} no address")
            return ()
        if own is None or ipaddress.ip_address(via) not in own.network or via == str(own.ip):
            network = "no network" if own is None else own.network
            self._note(host.at, f"{left} no neighbour on {network}")
            return ()
        return (Route(to="default", via=via),)

    # ------------------------------------------------------------------- links

    def _link(self, link: machine.Link) -> Link:
        a, b = (end.node for end in link.ends)
        for name in (a, b):
            if name not in self._nodes:
                known = f"{nearest(name, self._nodes)} (there are: {listed(self._nodes)})"
                raise self._error(link.at, f"there is no node {name!r}{known}")
        if a == b:
            raise self._error(link.at, f"the link leads from {a} to itself")
        for name in (a, b):
            self._first.setdefault(name, link)
        given: list[str | None] = []
        shapes: list[LinkImpairments] = []
        for end in link.ends:
            given.append(self._end_address(link, end))
            shapes.append(_Shape(self, link.at, f"link {a} - {b}", end).read())
        return Link(
            a=a, b=b, a_to_b=shapes[0], b_to_a=shapes[1], a_address=given[0], b_address=given[1]
        )

    def _end_address(self, link: machine.Link, end: machine.End) -> str | None:
        address, node = self._address(link.at, end.ip), end.node
        if address is None:
            return None
        left = f"{node}: ip {address} is left out:"
        if self._nodes[node].is_switch:
            self._note(link.at, f"{left} it is of a switch")
            return None
        of_host = self._addresses[node]
        if self._first[node] is not link or of_host is None:
            return address
        if address != of_host:
            words = "the first interface has that of the host"
            self._note(link.at, f"{left} {words}, {of_host}")
        return None

    def _rename(self, network: Network) -> None:
        """Give lines the names that interfaces have here, and note those that differ."""
        renamed: dict[str, dict[str, str]] = {}
        for link, pair in zip(self._record.links, network.interfaces(), strict=True):
            for end, name in zip(link.ends, pair, strict=True):
                if end.interface == name:
                    continue
                at_root = self._nodes[end.node].is_switch
                renamed.setdefault("" if at_root else end.node, {})[end.interface] = name
                is_long = name.rpartition("-")[0] != end.node == end.interface.rpartition("-")[0]
                why = TOO_LONG if is_long else "they are numbered in the links' order"
                self._note(
                    link.at,
                    f"the interface {end.interface} is {name} here, in lines that name it, too: "
                    f"{why}",
                )
        bridges = {switch.name: device_stem(switch.name) for switch in network.switches}
        if short := {name: stem for name, stem in bridges.items() if stem != name}:
            renamed.setdefault("", {}).update(short)
        commands = []
        for typed in self._record.commands:
            text, where = unwrapped(typed.text), self._where(typed.node)
            if text != typed.text:
                self.own_lines.add(typed.number)
            if where in renamed:
                text = with_interfaces(text, renamed[where])
            if where == "" and short and with_interfaces(typed.text, short) != typed.text:
                names = ", ".join(f"{name} is {stem}" for name, stem in short.items())
                self._note(typed.at, f"of the bridges, {names} here: {TOO_LONG_FOR_BRIDGES}")
            commands.append(typed if text == typed.text else replace(typed, text=text))
        self.commands = tuple(commands)

    def _where(self, name: str | None) -> str:
        node = None if name is None else self._nodes.get(name)
        return "" if node is None or node.is_switch else node.name

    # ------------------------------------------------------------------- lines

    def _type(self) -> None:
        """Read the commands that were typed: keep those that set up the network, note the rest."""
        # A line that is left out, and its note, until the script reads how it ended.
        doubted: tuple[str, Command, str] | None = None
        for typed in self.commands:
            if typed.kind != "line":
                if typed.is_of_test:
                    self._note(typed.at, f"{typed.kind} is left out: a study has flows for traffic")
                continue
            if typed.awaits is not None:
                self.typed.append(typed)
                continue
            for line in split_lines(typed.text):
                who = typed.node or "root"
                waits = typed.waits and not BACKGROUND.search(line)
                self.typed.append(replace(typed, text=line, waits=waits))
                if not typed.waits:
                    self._note_traffic(typed.at, who, line)
                    continue
                if _STATUS.fullmatch(line):
                    if doubted is not None and doubted[0] == who:
                        self.setup.append(doubted[1])
                        self.notes.texts.remove(doubted[2])
                    doubted = None
                    continue
                doubted = self._type_line(typed, who, line)

    def _note_traffic(self, where: At, who: str, line: str) -> None:
        self._note(where, f"{who}: `{line}` is left out: a study has flows for traffic")

    def _type_line(self, typed: Typed, who: str, line: str) -> tuple[str, Command, str] | None:
        node = self._nodes.get(who)
        is_host = node is not None and not node.is_switch
        line = without_sudo(line)
        command = Command(node=who if is_host else ROOT_NAMESPACE, line=line)
        if is_host and _FORWARD.fullmatch(line):
            self._forwards.add(who)
        elif _PAUSE.fullmatch(line) and not any(BACKGROUND.search(one.line) for one in self.setup):
            pass  # nothing runs that it could wait for
        elif OPENFLOW.search(line):
            self._note(typed.at, f"{who}: `{line}` is left out: switches are Linux bridges")
        elif _TRAFFIC.match(line):
            before = len(self.notes.texts)
            self._note_traffic(typed.at, who, line)
            if len(self.notes.texts) > before:
                return who, command, self.notes.texts[-1]
        else:
            if BACKGROUND.search(line) and ">" not in line:
                self._note(
                    typed.at,
                    f"{who}: `{line}` runs in the background: send its output away "
                    "(> /dev/null 2>&1 &), or the set-up waits for it",
                )
            self.setup.append(command)
        return None


class _Shape:
    """A link's options for one direction."""

    def __init__(self, reader: Reader, where: At, who: str, end: machine.End) -> None:
        self._reader, self._at, self._who = reader, where, who
        self._shapes, self._options = end.shapes, dict(end.options)

    def read(self) -> LinkImpairments:
        """Return what it does to packets.

        Raises:
            InputError: an option is none.
        """
        notes, who = self._reader.notes, self._who
        shapes = [name for name in _SHAPING if self._options.get(name) is not None]
        if shapes and not self._shapes:
            notes.add(who, f"{listed(shapes)}: Mininet ignores that without TCLink; here it counts")
        megabits, packets, percent = map(self._number, ("bw", "max_queue_size", "loss"))
        if percent is not None and percent > 100:
            raise self._error(f"a loss of {percent:g} % is more than all")
        delay_s, jitter_s = self._time_s("delay"), self._time_s("jitter")
        red = self._red(megabits)
        if red is not None and packets is not None:
            notes.add(who, "max_queue_size is left out: RED's queue has Mininet's own limit")
            packets = None
        for name, value in self._options.items():
            if name in _LEFT:
                if value not in (_LEFT[name][1], None):
                    notes.add(who, f"{name} is left out: {_LEFT[name][0]}")
            elif name not in _IGNORED:
                notes.add(who, f"the option {name} is not known and is left out")
        return link_shape(
            megabits=megabits,
            packets=packets,
            percent=percent,
            delay_s=delay_s,
            jitter_s=jitter_s,
            who=who,
            notes=notes,
            qdisc=red,
        )

    def _error(self, words: str) -> InputError:
        return self._reader._error(self._at, f"{self._who}: {words}")

    def _red(self, megabits: float | None) -> str | None:
        """Return the RED that Mininet makes of `enable_red` or `enable_ecn`."""
        ecn, red = (self._options.pop(name, False) for name in ("enable_ecn", "enable_red"))
        if not megabits or not (ecn or red):
            return None
        return (
            "red limit 1000000 min 30000 max 35000 avpkt 1500 burst 20 "
            f"bandwidth {megabits:f}mbit probability 1{' ecn' if ecn else ''}"
        )

    def _number(self, name: str) -> float | None:
        value = self._options.pop(name, None)
        if value is None:
            return None
        try:
            number = float("x") if isinstance(value, bool) else float(value)
        except ValueError:
            raise self._error(f"{name} is {value!r}, where a number is needed") from None
        if not 0 <= number < 1e15:
            raise self._error(f"{name} is {value}, which is no such number")
        return number

    def _time_s(self, name: str) -> float | None:
        value = self._options.pop(name, None)
        if value is None:
            return None
        try:
            return link_time_s(str(value), name=name, who=self._who, notes=self._reader.notes)
        except InputError as error:
            raise self._error(error.message) from None
