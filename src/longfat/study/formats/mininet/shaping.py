"""The lines of tc by which Mininet shapes a link that has a rate or a limit of packets, or changes.

Mininet's queue is not that of a link in a study: its netem stands below its rate, so that packets
on the line count in `max_queue_size`, and it counts packets, of which one may be of many segments.
A study that shall measure what the script does needs the same lines.

Source: Mininet 2.3, link.py (`TCIntf.bwCmds`, `TCIntf.delayCmds`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE, LinkImpairments, Network
from longfat.study.formats.mininet_options import MAX_MBIT

if TYPE_CHECKING:
    from longfat.study.formats.mininet.machine import End, NetworkRecord, Scalar

LIMITS_LINE = "sysctl -w net.core.rmem_max=16777216 net.core.wmem_max=16777216"
"""The limits of sockets' buffers that Mininet sets as it begins."""

_BUFFERS_LINE = (
    "sysctl -w 'net.ipv4.tcp_rmem=10240 87380 16777216' 'net.ipv4.tcp_wmem=10240 87380 16777216'"
)


def buffer_limits(network: Network) -> tuple[Command, ...]:
    """Return the lines by which Mininet sets the buffers of TCP, at root and so at its hosts.

    Linux's own maximum for sending, 4 MB, limits a flow over a long fat link to less.

    Source: Mininet 2.3, util.py (`fixLimits`).
    """
    return (
        Command(node=ROOT_NAMESPACE, line=LIMITS_LINE),
        *(Command(node=host.name, line=_BUFFERS_LINE) for host in network.hosts),
    )


def as_mininet_shapes(
    network: Network, record: NetworkRecord
) -> tuple[Network, tuple[Command, ...]]:
    """Return a network without what Mininet's lines do to links with a rate, and those lines.

    Args:
        network: the network of the record.
        record: the record.
    """
    links = list(network.links)
    commands: list[Command] = []
    hosts = {host.name for host in network.hosts}
    pairs = network.interfaces()
    for index, (link, pair) in enumerate(zip(record.links, pairs, strict=True)):
        for end, name in zip(link.ends, pair, strict=True):
            lines = _lines(end, name)
            if lines:
                own = links[index]
                links[index] = (
                    replace(own, a_to_b=LinkImpairments())
                    if end is link.ends[0]
                    else replace(own, b_to_a=LinkImpairments())
                )
                node = end.node if end.node in hosts else ROOT_NAMESPACE
                commands += [Command(node=node, line=line) for line in lines]
    return replace(network, links=tuple(links)), tuple(commands)


def change_lines(
    before: Mapping[str, Scalar], options: Mapping[str, Scalar], device: str
) -> list[str]:
    """Return the lines by which Mininet gives an interface another shape, in place of the former.

    Args:
        before: what TCLink's options said of the interface.
        options: what they say from now on.
        device: the interface's name.
    """
    remove = f"tc qdisc del dev {device} root"
    return [*([remove] if _shape_lines(before, device) else []), *_shape_lines(options, device)]


def _lines(end: End, device: str) -> list[str]:
    options = end.options
    rate = _number(options, "bw")
    if not end.shapes or (rate and rate > MAX_MBIT):
        return []
    # With a delay and a loss alone, the link's own are the same.
    if not rate and (not options.get("delay") or options.get("max_queue_size") is None):
        return []
    return _shape_lines(options, device)


def _shape_lines(options: Mapping[str, Scalar], device: str) -> list[str]:
    rate = _number(options, "bw")
    lines = []
    parent = "parent 5:1"
    if not rate or rate > MAX_MBIT:
        rate, parent = None, "root"
    elif options.get("use_hfsc"):
        lines.append(f"tc qdisc add dev {device} root handle 5:0 hfsc default 1")
        sc = f"sc rate {rate:f}Mbit ul rate {rate:f}Mbit"
        lines.append(f"tc class add dev {device} parent 5:0 classid 5:1 hfsc {sc}")
    elif options.get("use_tbf"):
        latency_ms = _number(options, "latency_ms") or 15.0 * 8 / rate
        tbf = f"tbf rate {rate:f}Mbit burst 15000 latency {latency_ms:f}ms"
        lines.append(f"tc qdisc add dev {device} root handle 5: {tbf}")
    else:
        lines.append(f"tc qdisc add dev {device} root handle 5:0 htb default 1")
        htb = f"htb rate {rate:f}Mbit burst 15k"
        lines.append(f"tc class add dev {device} parent 5:0 classid 5:1 {htb}")
    if rate and (options.get("enable_ecn") or options.get("enable_red")):
        red = "red limit 1000000 min 30000 max 35000 avpkt 1500 burst 20"
        ecn = " ecn" if options.get("enable_ecn") else ""
        line = f"tc qdisc add dev {device} {parent} handle 6: {red}"
        lines.append(f"{line} bandwidth {rate:f}mbit probability 1{ecn}")
        parent = "parent 6:"
    netem = [
        f"{word} {options[name]}" if word else str(options[name])
        for word, name in (("delay", "delay"), ("", "jitter"))
        if options.get(name) is not None
    ]
    if loss := _number(options, "loss"):
        netem.append(f"loss {loss:.5f}")
    if (size := _number(options, "max_queue_size")) is not None:
        netem.append(f"limit {round(size)}")
    if netem:
        line = f"tc qdisc add dev {device} {parent} handle 10: netem"
        lines.append(" ".join([line, *netem]))
    return lines


def _number(options: Mapping[str, Scalar], name: str) -> float | None:
    value = options.get(name)
    # The reader has checked that they are numbers.
    return None if value is None else float(value)
