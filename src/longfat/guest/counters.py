"""What nodes counted while traffic played, of what no dropped packet shows.

Bytes that interfaces sent show traffic of programs, whose rate nobody reports. A connection that a
full listen queue refuses leaves no dropped packet in Linux before 6.7, and a table of connections
that is full drops as a rule of the firewall does. A reply that is never made, since there is no
route for it, is no packet, either. Sources: Linux,
Documentation/networking/snmp_counter.rst and nf_conntrack-sysctl.rst.
"""

from __future__ import annotations

from longfat.guest.script import ROOT_NAMESPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from longfat.guest.nodes import Nodes

_TCP = "/proc/self/net/netstat"
_IP = "/proc/self/net/snmp"
_CONNECTIONS = "/proc/sys/net/netfilter/nf_conntrack"
_FULL = 0.95
_TCP_GROUP = "TcpExt:"
_TCP_NAMES = ("ListenOverflows", "TCPTimeouts", "TCPSpuriousRTOs", "TCPDSACKRecv")

# With more nodes than these, reading all would take time that can be noticed.
_MAX_NODES = 100

SENT_BYTES = "sent bytes"
"""The name of the count of what an interface sent, with Ethernet's header."""

_DEVICES = "/proc/self/net/dev"
_SENT = 8  # its column, behind the name and the eight of what was received
_MIN_SENT_BYTES = 100_000

UNANSWERED_ECHOES = "UnansweredEchoes"
"""The name of the count of ICMP echo requests to a node for which it made no reply."""

_PING = "ping"
_ICMP_GROUP = "Icmp:"
_FILE_CHUNK = 65536

CONNECTION_TABLE = "ConnectionTableFull"
"""The name of the count of a full table's entries at the end."""


class Counters:
    """The counters of some nodes, as they are now.

    Args:
        names: the nodes.
        nodes: where they are read.
        has_pings: also count the echo requests that were not answered.
    """

    def __init__(self, names: Sequence[str], *, nodes: Nodes, has_pings: bool) -> None:
        self._nodes = nodes
        self._has_pings = has_pings
        self._before = {name: self._read(name) for name in names}

    def growth(self) -> list[dict[str, Any]]:
        """Return what was counted since: `node`, `interface`, `name` and `count`.

        Counters that did not grow are left out, and interfaces that sent little.
        """
        counts = []
        for node, before in self._before.items():
            with self._nodes.inside(node):
                now = {**self._counts(), ("", CONNECTION_TABLE): _table_use()}
            for (interface, name), count in now.items():
                grown = count - before.get((interface, name), 0)
                if grown > (_MIN_SENT_BYTES if interface else 0):
                    counts.append(
                        {"node": node, "interface": interface, "name": name, "count": grown}
                    )
        return counts

    def _read(self, node: str) -> dict[tuple[str, str], int]:
        with self._nodes.inside(node):
            return self._counts()

    def _counts(self) -> dict[tuple[str, str], int]:
        """Return counters by interface, empty for the node itself, and name."""
        counts = {("", name): count for name, count in _tcp_counts().items()}
        if self._has_pings:
            counts["", UNANSWERED_ECHOES] = _unanswered_echoes()
        return {**counts, **{(name, SENT_BYTES): count for name, count in _sent_bytes().items()}}


def has_pings(flows: Sequence[dict[str, Any]]) -> bool:
    """Return whether one of a job's flows is that of ping."""
    commands = [process["argv"] for flow in flows for process in flow["processes"]]
    return any(word.rpartition("/")[2] == _PING for words in commands for word in words)


def counted_nodes(flows: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    """Return the nodes whose counters matter: the ends of flows, and others if they are few.

    Args:
        flows: the job's flows.
        names: all nodes with a network namespace of their own, and the root.
    """
    if len(names) <= _MAX_NODES:
        return list(names)
    ends = {process["host"] for flow in flows for process in flow["processes"]}
    return [name for name in names if name in ends and name != ROOT_NAMESPACE]


def _sent_bytes() -> dict[str, int]:
    with open(_DEVICES, encoding="ascii", errors="replace") as file:
        lines = [line.rpartition(":") for line in file.readlines()[2:]]
    return {name.strip(): int(values.split()[_SENT]) for name, _, values in lines}


def _unanswered_echoes() -> int:
    # With a size for its buffer: see `longfat.guest.agent`.
    with open(_IP, buffering=_FILE_CHUNK, encoding="ascii") as file:
        lines = [line.split() for line in file]
    for titles, values in zip(lines[::2], lines[1::2], strict=False):
        if titles[0] == _ICMP_GROUP:
            counts = dict(zip(titles, values, strict=False))
            return max(0, int(counts["InEchos"]) - int(counts["OutEchoReps"]))
    return 0


def _tcp_counts() -> dict[str, int]:
    with open(_TCP, encoding="ascii") as file:
        lines = [line.split() for line in file]
    for titles, values in zip(lines[::2], lines[1::2], strict=False):
        if titles[0] == _TCP_GROUP:
            counts = dict(zip(titles, values, strict=False))
            return {name: int(counts[name]) for name in _TCP_NAMES if name in counts}
    return {}


def _table_use() -> int:
    """Return how many entries the table of connections has if it is nearly full; else 0."""
    try:
        entries, most = (_number(f"{_CONNECTIONS}_{name}") for name in ("count", "max"))
    except FileNotFoundError:  # this kernel, or this namespace, has no such table
        return 0
    return entries if entries >= _FULL * most else 0


def _number(path: str) -> int:
    with open(path, encoding="ascii") as file:
        return int(file.read())
