"""The packets that the kernel dropped while traffic played, and the qdiscs that dropped some.

`/proc/packet_drops` is of a patch (kernel/patches/all/97-packet-drops.patch). Counting takes no
virtual time, and neither does reading, which happens when the traffic has ended.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess

from longfat.guest.netlink import ROUTE, of_interfaces, queues_request
from longfat.guest.output import DROPS, Output
from longfat.guest.script import ROOT_NAMESPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from longfat.guest.nodes import Nodes
    from longfat.guest.sockets import Sockets

FILE = "/proc/packet_drops"

_MAX_DROPS = 1000
_MAX_SECTIONS = 100
_MAX_SECTION_DROPS = 4000  # in all of them
_LOCAL_MULTICAST = ("ff02:", "224.0.0.")
_NETWORK = "/proc/self/ns/net"
# The reasons of qdiscs, and the function by which those of 7.2 drop what has none.
_QDISC_REASONS = ("QDISC_", "FQ_")
_QDISC_FUNCTION = "__tcf_kfree_skb_list"
# netem hands a packet on to the qdisc below it at the end of its delay, without a reason if that
# drops it: in 6.1 by the first of these functions, later by the second.
_OF_NETEM = ("kfree_skb_list_reason", "netem_dequeue")
_NO_REASON = "NOT_SPECIFIED"

MANAGING_FUNCTIONS = (
    *("__fq_codel_dequeue", "fq_codel_dequeue", "codel_qdisc_dequeue", "__codel_qdisc_dequeue"),
    *("drop_func", "cake_dequeue", "pie_qdisc_enqueue", "fq_pie_qdisc_enqueue"),
)
"""The kernel's functions by which queue management drops packets when they leave, or arrive."""

# tbf splits a packet of offload. If the queue takes no part, the parts are dropped for its reason,
# and then the whole once more.
_SPLITTING = "tbf_enqueue"
_UNKNOWN = "-"
_FILE_CHUNK = 65536

_MEASURED = ("packets", "size_bytes", "first_s", "last_s")


def is_of_qdisc(reason: str, function: str) -> bool:
    """Return whether a qdisc dropped, by the kernel's reason and function."""
    return (
        reason.startswith(_QDISC_REASONS)
        or function == _QDISC_FUNCTION
        or function in MANAGING_FUNCTIONS
        or is_below_netem(reason, function)
    )


def is_below_netem(reason: str, function: str) -> bool:
    """Return whether a qdisc below a netem dropped what netem had delayed."""
    return reason == _NO_REASON and function in _OF_NETEM


def begin() -> None:
    """Begin to count, from nothing."""
    # A kernel of the user's own may lack it.
    if os.path.exists(FILE):
        with open(FILE, "w", encoding="ascii") as file:
            file.write("1")


def read(*, names: Sequence[str], nodes: Nodes, start_s: float) -> dict[str, Any]:
    """Return what was dropped since `begin`.

    Args:
        names: the nodes with a network namespace of their own, and the root.
        nodes: where commands run.
        start_s: the traffic's start, in seconds since boot.

    Returns:
        `drops`, the kinds of drops with the most packets first, and `qdiscs`, those of the
        interfaces at which a qdisc dropped; nothing if the kernel does not count.
    """
    if not os.path.exists(FILE):
        return {}
    drops = sorted(_drops(_namespaces(names), start_s=start_s), key=_by_packets)
    places = _dropping_interfaces(drops)
    return {
        "drops": _bounded(drops),
        "qdiscs": [qdisc for place in places for qdisc in _qdiscs(*place, nodes=nodes)],
    }


def read_live(names: Sequence[str], *, sockets: Sockets) -> dict[str, Any]:
    """Return what was dropped since `begin`, by no other process: no virtual time passes.

    Args:
        names: the nodes with a network namespace of their own, and the root.
        sockets: what asks about qdiscs.

    Returns:
        `drops` as `read` does, with times since boot; and `qdiscs`: of each interface at which a
        qdisc dropped `node`, `interface`, `index` and `messages`, those of the kernel in base64;
        nothing if the kernel does not count.
    """
    if not os.path.exists(FILE):
        return {}
    drops = sorted(_drops(_namespaces(names), start_s=0), key=_by_packets)
    qdiscs = []
    for node, interface in _dropping_interfaces(drops):
        route = sockets.at(node, ROUTE)
        try:
            index = route.index_of(interface)
        except OSError:  # it is there no more
            continue
        messages = of_interfaces(route.dump(queues_request()), {index})
        text = base64.b64encode(messages).decode("ascii")
        qdiscs.append({"node": node, "interface": interface, "index": index, "messages": text})
    return {"drops": _bounded(drops), "qdiscs": qdiscs}


def _dropping_interfaces(drops: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the interfaces at which a qdisc dropped, with their nodes."""
    return sorted(
        {
            (drop["node"], drop["interface"])
            for drop in drops
            if drop["node"] and drop["interface"] and is_of_qdisc(drop["reason"], drop["function"])
        }
    )


class DropSections:
    """What was dropped between the events of a run, read by the sampler after each moment of them.

    Args:
        names: the nodes with a network namespace of their own, and the root.
        output: the way to the host.
        start_s: the traffic's start, in seconds since boot.
    """

    def __init__(self, names: Sequence[str], *, output: Output, start_s: float) -> None:
        self._names = names
        self._output = output
        self._start_s = start_s
        self._before: dict[tuple[Any, ...], tuple[int, int]] = {}
        self._at_ns = 0
        self._lines: list[str] = []
        self._count = 0

    def take(self, at_ns: int) -> None:
        """Read what was dropped since the last time.

        Args:
            at_ns: the time, in nanoseconds after the traffic's start.
        """
        if len(self._lines) == _MAX_SECTIONS or self._count >= _MAX_SECTION_DROPS:
            return
        if not os.path.exists(FILE):
            return
        drops = []
        for drop in _drops(_namespaces(self._names), start_s=self._start_s):
            key = tuple(value for name, value in drop.items() if name not in _MEASURED)
            packets, size_bytes = self._before.get(key, (0, 0))
            self._before[key] = drop["packets"], drop["size_bytes"]
            if drop["packets"] > packets:
                drop["packets"] -= packets
                drop["size_bytes"] -= size_bytes
                drop["first_s"] = max(drop["first_s"], self._at_ns / 1e9)
                drops.append(drop)
        self._count += len(drops)
        self._at_ns = at_ns
        drops = _bounded(sorted(drops, key=_by_packets))
        self._lines.append(json.dumps({"at_ns": at_ns, "drops": drops}) + "\n")

    def flush(self) -> None:
        """Send what was read to the host."""
        if self._lines:
            self._output.append(DROPS, "".join(self._lines).encode())
            self._lines.clear()


def _namespaces(names: Sequence[str]) -> dict[int, str]:
    """Return the nodes by the numbers of their network namespaces."""
    namespaces = {
        os.stat(f"/run/netns/{name}").st_ino: name for name in names if name != ROOT_NAMESPACE
    }
    return {**namespaces, os.stat(_NETWORK).st_ino: ROOT_NAMESPACE}


def _drops(namespaces: dict[int, str], *, start_s: float) -> Iterator[dict[str, Any]]:
    # With a size for its buffer: see `longfat.guest.agent`.
    with open(FILE, buffering=_FILE_CHUNK, encoding="ascii", errors="replace") as file:
        for line in file:
            columns = line.rstrip("\n").split("\t")
            # Each host drops what others' neighbour discovery sends to all.
            if columns[8].startswith(_LOCAL_MULTICAST):
                continue
            namespace, interface, reason, function, is_netem_full, network, transport = columns[:7]
            if (reason, function) == (_NO_REASON, _SPLITTING):
                continue
            source, target, source_port, target_port, packets, size, first_ns, last_ns = columns[7:]
            yield {
                "node": namespaces.get(int(namespace), ""),
                "interface": _known(interface),
                "reason": _known(reason),
                "function": _known(function),
                "netem_full": is_netem_full == "1",
                "network": int(network),
                "transport": int(transport),
                "source": _known(source),
                "target": _known(target),
                "source_port": int(source_port),
                "target_port": int(target_port),
                "packets": int(packets),
                "size_bytes": int(size),
                "first_s": round(int(first_ns) / 1e9 - start_s, 9),
                "last_s": round(int(last_ns) / 1e9 - start_s, 9),
            }


def _known(text: str) -> str:
    return "" if text == _UNKNOWN else text


def _by_packets(drop: dict[str, Any]) -> tuple[int, str]:
    return -drop["packets"], json.dumps(drop)


def _bounded(drops: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the first kinds of drops; of the others, those of a place and reason as one."""
    sums: dict[tuple[Any, ...], dict[str, Any]] = {}
    for drop in drops[_MAX_DROPS:]:
        key = tuple(drop[name] for name in ("node", "interface", "reason", "function"))
        if key not in sums:
            flow = {"source": "", "target": "", "source_port": 0, "target_port": 0}
            sums[key] = {**drop, **flow, "transport": 0}
            continue
        total = sums[key]
        total["packets"] += drop["packets"]
        total["size_bytes"] += drop["size_bytes"]
        total["first_s"] = min(total["first_s"], drop["first_s"])
        total["last_s"] = max(total["last_s"], drop["last_s"])
    return drops[:_MAX_DROPS] + list(sums.values())[:_MAX_DROPS]


def _qdiscs(node: str, interface: str, *, nodes: Nodes) -> Iterator[dict[str, Any]]:
    """Yield the qdiscs of an interface with what each of them dropped."""
    with nodes.inside(node):
        done = subprocess.run(
            ["tc", "-s", "-j", "qdisc", "show", "dev", interface],
            capture_output=True,
            text=True,
            check=False,
        )
    try:
        printed = json.loads(done.stdout or "[]")
    except ValueError:  # tc of a distribution that prints no JSON for some qdisc
        return
    for qdisc in printed:
        yield {
            "node": node,
            "interface": interface,
            "kind": qdisc.get("kind", ""),
            "handle": qdisc.get("handle", ""),
            "parent": qdisc.get("parent", ""),
            "drops": qdisc.get("drops", 0),
            "early_drops": qdisc.get("early", 0),
            "burst_bytes": qdisc.get("options", {}).get("burst", 0),
        }
