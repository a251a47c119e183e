"""The network that a script makes, as it is asked for, and what is typed at its nodes."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE
from longfat.study.formats.miniedit.commands import BACKGROUND, OPENFLOW, split_lines
from longfat.study.formats.mininet.limits import source_text
from longfat.study.formats.mininet.values import NodeRef, Value, is_scalar
from longfat.study.network import name_problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.study.formats.mininet.limits import Course

NO_CONTROLLER = "is left out: switches here are learning bridges, which need none"
NOT_KNOWN = "is not known without running the script: write it out"

_FORWARD = re.compile(
    r"sysctl (-w )?net\.ipv4\.(ip_forward|conf\.all\.forwarding)=1"
    r"( net\.ipv6\.conf\.all\.forwarding=1)?"
    r"|echo 1 ?> ?/proc/sys/net/ipv4/ip_forward"
)
_TRAFFIC = re.compile(
    r"(sudo )?(ping6?|iperf3?|netperf|netserver|wget|curl|tcpdump|kill|killall|pkill|nc|xterm)\b"
)
MININET_PREFIX = 8
"""The prefix length of an address that says none."""

# Asked for after a line, it says that the script depends on that line.
_STATUS = re.compile(r"echo \$\??\w*")

_HOST_REASONS = {
    "mac": "interfaces have Linux's own addresses",
    "cpu": "hosts are infinitely fast",
    "cores": "hosts are infinitely fast",
    "privateDirs": "hosts share one file system",
}


@dataclass(slots=True, kw_only=True)
class DraftNode:
    """A node that was asked for.

    Attributes:
        call: where it was.
        is_switch: whether it is a switch.
        ip: its address as the script says it; none if None; one of Mininet's if `unset`.
        gateway: its default route as the script says it.
        forwards: it passes packets on.
    """

    call: ast.AST
    is_switch: bool = False
    ip: str | None = None
    unset: bool = False
    gateway: str | None = None
    forwards: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftLink:
    """A link that was asked for.

    Attributes:
        call: where it was.
        ends: its nodes.
        options: what was said of both directions, then of the first's and the second's.
        names: what its interfaces are to be called.
        ports: their numbers.
    """

    call: ast.AST
    ends: tuple[str, str]
    options: Mapping[str, Value]
    of_ends: tuple[Mapping[str, Value], Mapping[str, Value]]
    names: tuple[Value, Value]
    ports: tuple[Value, Value]


@dataclass(eq=False, slots=True)
class Draft:
    """A network, as far as the script has come.

    Attributes:
        course: where to tell what is left out.
        is_topo: it is a `Topo`, whose nodes are their names.
        nodes: the nodes by name, in their order.
        links: the links.
        typed: lines to type.
        base: the network of addresses that the script leaves to Mininet.
        controllers: the names of its controllers.
        common_options: what is said of all links.
        host_class: the class of hosts that say none.
        numbered: hosts in the order in which Mininet gives them addresses; those that
            are not in it come after them.
    """

    course: Course
    is_topo: bool = False
    nodes: dict[str, DraftNode] = field(default_factory=dict)
    links: list[DraftLink] = field(default_factory=list)
    typed: list[Command] = field(default_factory=list)
    base: str = "10.0.0.0/8"
    controllers: set[str] = field(default_factory=set)
    common_options: dict[str, Value] = field(default_factory=dict)
    host_class: Value = None
    numbered: tuple[str, ...] = ()
    _doubted: tuple[str, Command, str] | None = None

    def seal(self) -> None:
        """Take what a `Topo` has made for a network: Mininet makes its hosts in natural order."""
        hosts = (name for name, node in self.nodes.items() if not node.is_switch)
        self.numbered = tuple(sorted(hosts, key=_natural))

    def no_node(self, name: str) -> str:
        """Say that there is no node of that name."""
        known = f"(there are: {listed(self.nodes)})"
        return f"there is no node {name!r}{nearest(name, self.nodes)} {known}"

    def add_node(self, call: ast.Call, name: Value, *, is_switch: bool) -> DraftNode:
        """Add a host or a switch.

        Raises:
            InputError: its name is not known, or none.
        """
        if not isinstance(name, str):
            raise self.course.error(call, f"a node's name, in `{source_text(call)}`, {NOT_KNOWN}")
        if reason := name_problem(name):
            raise self.course.error(call, reason)
        if name in self.nodes:
            raise self.course.error(call, f"there are two nodes with the name {name!r}")
        self.nodes[name] = DraftNode(call=call, is_switch=is_switch, unset=not is_switch)
        return self.nodes[name]

    def set_host(self, call: ast.Call, name: str, options: Mapping[str, Value]) -> None:
        """Take the options of a host.

        Raises:
            InputError: an address is not known.
        """
        host = self.nodes[name]
        for option, value in options.items():
            if option in _HOST_REASONS:
                if value:
                    self.course.say(call, f"{name}: {option} is left out: {_HOST_REASONS[option]}")
            elif option == "ip":
                host.ip, host.unset = self.known_text(call, value, f"the ip of {name}"), False
            elif option == "defaultRoute":
                host.gateway = self.known_text(call, value, f"the defaultRoute of {name}")
            elif option not in {"cls", "inNamespace"}:
                self.course.say(call, f"{name}: {option} is not known and is left out")

    def known_text(self, call: ast.AST, value: Value, what: str) -> str | None:
        """Return a text that the network depends on.

        Raises:
            InputError: it is not known.
        """
        if value is None or isinstance(value, str):
            return value
        raise self.course.error(call, f"{what} {NOT_KNOWN}")

    def set_ip(
        self, call: ast.AST, name: str, args: Sequence[Value], named: Mapping[str, Value]
    ) -> None:
        """Give a host, or one of its interfaces, an address.

        Raises:
            InputError: it is not known.
        """
        given = dict(zip(("ip", "prefixLen", "intf"), args, strict=False)) | dict(named)
        ip = self.known_text(call, given.get("ip"), f"the address of {name}")
        length, interface = given.get("prefixLen"), given.get("intf")
        if (
            ip is None
            or not isinstance(length, int | None)
            or not isinstance(interface, str | None)
        ):
            raise self.course.error(call, f"the address of {name} {NOT_KNOWN}")
        if "/" not in ip:
            ip = f"{ip}/{MININET_PREFIX if length is None else length}"
        node = self.nodes.get(name)
        if node is None or node.is_switch:
            self.course.say(call, f"{name}: setIP is left out: switches have no addresses")
        elif interface is None or interface == f"{name}-eth0":
            node.ip, node.unset = ip, False
        else:
            self.typed.append(Command(node=name, line=f"ip addr add {ip} dev {interface}"))

    def add_link(
        self, call: ast.Call, ends: Sequence[Value], options: Mapping[str, Value]
    ) -> DraftLink:
        """Add a link.

        Raises:
            InputError: an end is not known, or there is no such node.
        """
        names: list[str] = []
        for end in ends:
            name = end.name if isinstance(end, NodeRef) else end
            if not isinstance(name, str):
                raise self.course.error(call, f"an end of `{source_text(call)}` {NOT_KNOWN}")
            if name not in self.nodes:
                raise self.course.error(call, self.no_node(name))
            names.append(name)
        if len(names) != 2:
            raise self.course.error(call, f"a link has two ends, and here are {len(names)}")
        if names[0] == names[1]:
            raise self.course.error(call, f"the link leads from {names[0]} to itself")
        own = dict(options)
        of_ends = []
        for number in "12":
            params = own.pop(f"params{number}", None)
            if params is not None and not isinstance(params, dict):
                raise self.course.error(call, f"params{number} of the link {NOT_KNOWN}")
            of_ends.append(params or {})
        link = DraftLink(
            call=call,
            ends=(names[0], names[1]),
            of_ends=(of_ends[0], of_ends[1]),
            names=(own.pop("intfName1", None), own.pop("intfName2", None)),
            ports=(own.pop("port1", None), own.pop("port2", None)),
            options=own,
        )
        self.links.append(link)
        return link

    def type(self, call: ast.AST, name: str, words: Sequence[Value]) -> None:
        """Type a line at a node: what sets the network up is kept, the rest is told."""
        who = "root" if name == ROOT_NAMESPACE else name
        parts = [" ".join(map(str, one)) if isinstance(one, list) else one for one in words]
        if not parts or not all(is_scalar(part) for part in parts):
            self.course.say(call, f"what is typed at {who} is left out: it {NOT_KNOWN}")
            return
        for line in split_lines(" ".join(map(str, parts))):
            self._type_line(call, name, line)

    def _type_line(self, call: ast.AST, name: str, line: str) -> None:
        who = "root" if name == ROOT_NAMESPACE else name
        node = self.nodes.get(name)
        at_root = node is None or node.is_switch
        command = Command(node=ROOT_NAMESPACE if at_root else name, line=line)
        if _STATUS.fullmatch(line):
            if self._doubted is not None and self._doubted[0] == name:
                self.typed.append(self._doubted[1])
                self.course.notes.texts.remove(self._doubted[2])
            self._doubted = None
            return
        self._doubted = None
        if node is not None and not node.is_switch and _FORWARD.fullmatch(line):
            node.forwards = True
        elif OPENFLOW.search(line):
            self.course.say(call, f"{who}: `{line}` is left out: switches are Linux bridges")
        elif _TRAFFIC.match(line):
            told = len(self.course.notes.texts)
            self.course.say(call, f"{who}: `{line}` is left out: a study has flows for traffic")
            if len(self.course.notes.texts) > told:
                self._doubted = (name, command, self.course.notes.texts[-1])
        else:
            if BACKGROUND.search(line) and ">" not in line:
                self.course.say(
                    call,
                    f"{who}: `{line}` runs in the background: send its output away "
                    "(> /dev/null 2>&1 &), or the set-up waits for it",
                )
            self.typed.append(command)


def _natural(name: str) -> list[tuple[int, str | int]]:
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts if part]
