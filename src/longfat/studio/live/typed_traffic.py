"""Traffic that is typed at a terminal, as a flow of a run, and what its output says of it.

A typed `iperf3 -c h2` or `ping h2` becomes a flow of any program (`longfat.model.traffic.Program`):
the run that is saved of it has what it printed, metrics read from that, and a study that plays it
again, with a server of its own.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.live.flows import Measured
from longfat.model.traffic import Program
from longfat.model.traffic.extraction import Extraction, unit_of
from longfat.studio.live.replay import CONFIGURING, at_node

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from longfat.model.network import Network
    from longfat.studio.live.terminals import Typed

_IPERF3 = "iperf3"
_PINGS = frozenset(("ping", "ping6", "fping"))
_TOOLS = _PINGS | {_IPERF3, "iperf", "curl", "wget", "nc", "ncat", "netperf", "traceroute", "mtr"}
_SERVERS = frozenset(("-s", "--server", "-l", "--listen"))
_WORDS = re.compile(r"[\s;|&()<>'\"=,/]+|(?<=\w):(?=\d+\b)")
_PORT = re.compile(r"(?:^|\s)(?:-p\s*|--port[= ])(\d{1,5})\b")
_IPERF3_PORT = 5201
_LIMIT_S = 600.0
_MAX_NAME = 60

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\a\x1b]*(?:\a|\x1b\\))")
_BITRATE = re.compile(r"([\d.]{1,20}) ([KMGT]?)bits/sec\s+receiver")
_UNITS = {"": "bit", "K": "kbit", "M": "mbit", "G": "gbit", "T": "tbit"}

_PING = (
    Extraction(name="min", regex=r"min/avg/max\S* = ([\d.]+)/", unit="ms", title="least RTT"),
    Extraction(name="avg", regex=r"min/avg/max\S* = [\d.]+/([\d.]+)/", unit="ms", title="mean RTT"),
    Extraction(
        name="max",
        regex=r"min/avg/max\S* = [\d.]+/[\d.]+/([\d.]+)",
        unit="ms",
        title="largest RTT",
    ),
    Extraction(name="loss", regex=r"([\d.]+)% packet loss", unit="%", title="loss"),
)


def typed_flow(
    typed: Typed, *, network: Network, addresses: Mapping[str, str], taken: Collection[str]
) -> Program | None:
    """Return a typed line as a flow; None if it is not traffic from a host to another.

    Args:
        typed: the line.
        network: the network.
        addresses: the names of hosts by their addresses.
        taken: names that other flows of the run have.
    """
    node, line = at_node(typed, network)
    hosts = {host.name for host in network.hosts}
    words = [word for word in _WORDS.split(line) if word]
    place = next((index for index, word in enumerate(words) if word in _TOOLS), None)
    if place is None or node not in hosts or not words or words[0] in CONFIGURING:
        return None
    tool, rest = words[place], words[place + 1 :]
    named = (addresses.get(word, word) for word in rest)
    target = next((name for name in named if name in hosts and name != node), None)
    if target is None or _SERVERS & set(rest):
        return None
    name = f"{tool}-{node}-{target}"[:_MAX_NAME]
    number = 2
    while name in taken:
        name = f"{tool}-{node}-{target}"[:_MAX_NAME] + f"-{number}"
        number += 1
    line = line.rstrip("& \t")
    if tool != _IPERF3:
        return Program(name=name, source=node, target=target, run=line)
    port = int(found[1]) if (found := _PORT.search(line)) else _IPERF3_PORT
    serve = shlex.join([_IPERF3, "-s", "-1", *(["-p", str(port)] if found else [])])
    reverse = "-R" in rest
    return Program(
        name=name, source=node, target=target, run=line, serve=serve, port=port, reverse=reverse
    )


def is_in_background(line: str) -> bool:
    """Return whether a shell does not wait for the end of a line."""
    return line.rstrip().endswith("&") and not line.rstrip().endswith("&&")


def is_server_of(typed: Typed, flows: Iterable[Program], network: Network) -> bool:
    """Return whether a typed line starts a server that one of the flows brings itself."""
    node, line = at_node(typed, network)
    words = line.split()
    return _IPERF3 in words and any(
        flow.target == node and flow.serve is not None for flow in flows
    )


def measure(flow: Program, output: bytes, *, elapsed_s: float, status: int) -> Measured:
    """Return what a typed flow gave.

    Args:
        flow: the flow.
        output: what its terminal has shown meanwhile.
        elapsed_s: how long it took, in seconds of virtual time.
        status: its exit status.
    """
    text = _ESCAPES.sub("", output.decode(errors="replace")).replace("\r", "")
    metrics: dict[str, float] = {}
    kept: list[Extraction] = []
    for extraction in _extractions(flow, text):
        number = _read(extraction, text)
        if number is not None:
            kept.append(extraction)
            metrics[extraction.metric.name] = number * unit_of(extraction.unit).value
    elapsed_ns = round(max(0.0, elapsed_s) * 1e9)
    report = {
        "program": "longfat program",
        "elapsed_ns": elapsed_ns,
        "status": status,
        "metrics": metrics,
    }
    known = {**metrics, "elapsed_s": elapsed_ns / 1e9, "status": float(status)}
    limit_s = 2 * elapsed_s if 2 * elapsed_s > _LIMIT_S else None
    # What else than 0 it may end with is not known; this was a result.
    statuses = tuple(sorted({0, status}))
    file = f"{flow.name}.client.txt"
    return Measured(
        flow=replace(flow, extractions=tuple(kept), limit_s=limit_s, status=statuses),
        metrics=known,
        raw={file: text, f"{file}.err": json.dumps(report) + "\n"},
    )


def _extractions(flow: Program, text: str) -> tuple[Extraction, ...]:
    tool, *_ = flow.name.split("-")
    if tool in _PINGS:
        return _PING
    if tool != _IPERF3:
        return ()
    if rates := _BITRATE.findall(text):
        prefix = rates[-1][1]
        pattern = rf"([\d.]+) {prefix}bits/sec\s+receiver"
        return (
            Extraction(name="receiver", regex=pattern, unit=_UNITS[prefix], title="receiver"),
            Extraction(name="retransmits", regex=r"(\d+)\s+sender", title="retransmissions"),
        )
    return (
        Extraction(
            name="receiver", json="end.sum_received.bits_per_second", unit="bit", title="receiver"
        ),
        Extraction(name="retransmits", json="end.sum_sent.retransmits", title="retransmissions"),
    )


def _read(extraction: Extraction, text: str) -> float | None:
    """Return the last number that an extraction finds, as the machine reads it in a replay."""
    if extraction.regex is not None:
        numbers = re.findall(extraction.regex, text)
        return float(numbers[-1]) if numbers else None
    try:
        value = json.loads(text[text.index("{") : text.rindex("}") + 1])
        for key in (extraction.json or "").split("."):
            value = value[key]
        return float(value)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
