"""The `flows` field: what each tool may be told, and within which limits.

A flow is read in two steps, because a case may override single fields of a
common flow: first its fields are gathered (`draft_flow`, `merge_flow`), then the
whole is read and checked (`read_flow`). What depends on the other flows and on
the network comes last (`check_flows`).

Limits are those of the tools: iperf3(1) and iperf_api.h of 3.12 (MAX_TIME,
MAX_OMIT_TIME, MAX_STREAMS, MAX_MSS, MAX_TCP_BUFFER, MIN_INTERVAL), whose -t and
-O take whole seconds; tcp(7) for the least TCP_MAXSEG; ping(8) of iputils. Our own
transfer has those of iperf3 where it has no reason to differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.network import Network
from longfat.model.traffic import Flow, Iperf3, Ping, Transfer
from longfat.model.traffic.bulk import DEFAULT_TIME_S
from longfat.model.units import LARGEST_INTEGER
from longfat.study.network import check_host
from longfat.study.node import Node
from longfat.study.options import IPERF3, PING, Options
from longfat.study.reachability import check_reach

_COMMON = ("start", "start_spread", "after")
_FIELDS = {
    "iperf3": (
        *("time", "bytes", "parallel", "reverse", "udp", "rate", "congestion", "window", "mss"),
        *("omit", "interval", *_COMMON, "args"),
    ),
    "transfer": (
        *("time", "bytes", "parallel", "reverse", "rate", "congestion", "window", "mss"),
        *("interval", *_COMMON),
    ),
    "ping": ("count", "interval", "size", *_COMMON, "args"),
}
TOOLS = tuple(_FIELDS)

_ENDS = re.compile(r"(\S+?)\s*->\s*(\S+)")
_LEAST_PACED_BPS = 1000
_CONGESTION = re.compile(r"[a-z][a-z0-9_]{0,14}")  # TCP_CA_NAME_MAX is 16, with the NUL


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A flow whose fields are gathered and not yet read.

    Attributes:
        name: its name.
        tool: its tool.
        node: where it is written.
        fields: the values by field, the tool's among them.
    """

    name: str
    tool: str
    node: Node
    fields: Mapping[str, Node]


def draft_flow(name: str, node: Node) -> Draft:
    """Gather the fields of a flow.

    Args:
        name: the flow's name.
        node: a mapping with the tool among its keys.

    Raises:
        InputError: it names no tool, or more than one, or has unknown fields.
    """
    what = "a flow (such as {ping: h1 -> h2})"
    tools = [key for key, _ in node.items(what) if key.text in TOOLS]
    if len(tools) > 1:
        raise InputError(
            f"the flow has two tools, {tools[0].text} and {tools[1].text}: write two flows",
            place=tools[1].place,
        )
    if not tools:
        raise node.error(f"the flow {name!r} names no tool: write one of {listed(TOOLS)}")
    tool = tools[0].text
    fields = node.fields(what, allowed=(tool, *_FIELDS[tool]))
    return Draft(name=name, tool=tool, node=node, fields=fields)


def merge_flow(name: str, node: Node, common: Draft | None) -> Draft:
    """Gather the fields of a flow of a case.

    Args:
        name: the flow's name.
        node: a whole flow, or, without a tool, the fields that differ from the
            common flow; a field with no value goes back to the tool's own.
        common: the common flow of that name, if there is one.

    Raises:
        InputError: as `draft_flow`, or there is nothing to override.
    """
    keys = [key.text for key, _ in node.items("a flow, or the fields of it that differ")]
    if common is None or any(key in TOOLS for key in keys):
        return draft_flow(name, node)
    given = node.fields("a flow", allowed=_FIELDS[common.tool])
    fields = {**common.fields, **given}
    for field, value in given.items():
        if value.is_null:
            del fields[field]
    return Draft(name=name, tool=common.tool, node=node, fields=fields)


def read_flow(draft: Draft) -> Flow:
    """Read the fields of a flow.

    Raises:
        InputError: a value is wrong, or two fields do not go together.
    """
    fields = draft.fields
    ends = fields[draft.tool]
    found = _ENDS.fullmatch(ends.line("SOURCE -> TARGET (such as h1 -> h2)"))
    if found is None:
        raise ends.expected("SOURCE -> TARGET (such as h1 -> h2)")
    source, target = found.groups()
    if source == target:
        raise ends.error(f"the flow goes from {source} to itself")
    common: dict[str, object] = {"name": draft.name, "source": source, "target": target}
    common |= _read(fields, "start", "start_s", _time(least=0))
    common |= _read(fields, "start_spread", "start_spread_s", _time(least=0))
    common |= _read(fields, "after", "after", lambda node: node.line("a flow's name"))
    options = IPERF3 if draft.tool == "iperf3" else PING
    common |= _read(fields, "args", "args", lambda node: _read_args(node, options))
    read = {"iperf3": _iperf3, "transfer": _transfer, "ping": _ping}[draft.tool]
    return read(fields, common)


Reader = Callable[[Node], object]


def _read(fields: Mapping[str, Node], field: str, name: str, reader: Reader) -> dict[str, object]:
    return {name: reader(fields[field])} if field in fields else {}


def _time(*, least: float, most: float | None = None, whole: str = "") -> Reader:
    def read(node: Node) -> float:
        value = node.time_s()
        if value < least or (most is not None and value > most):
            limits = f"at least {least:g}s" if most is None else f"{least:g}s to {most:.7g}s"
            raise node.error(f"{value:g}s is outside of what is allowed: {limits}")
        if whole and value != int(value):
            raise node.error(f"{value:g}s: {whole} counts in whole seconds")
        return value

    return read


def _size(*, least: int, most: int) -> Reader:
    return lambda node: node.within(node.size_bytes(), least=least, most=most, unit=" bytes")


def _count(*, least: int, most: int) -> Reader:
    return lambda node: node.integer(least=least, most=most)


def _rate(node: Node) -> int:
    value = node.rate_bps()
    if value == 0:
        raise node.error("the rate is 0, which iperf3 takes as unlimited: leave the field out")
    return value


def _congestion(node: Node) -> str:
    name = node.line("the name of a congestion control (such as bbr)")
    if not _CONGESTION.fullmatch(name):
        raise node.error(f"{name!r} cannot be a congestion control: write a name such as bbr")
    return name


def _read_args(node: Node, options: Options) -> tuple[str, ...]:
    nodes = node.sequence('a list of arguments (such as ["-N"])')
    args = tuple(item.text("an argument") for item in nodes)
    if found := options.check(args):
        index, reason = found
        raise nodes[index].error(reason)
    return args


_IPERF3_READERS: dict[str, tuple[str, Reader]] = {
    "time": ("time_s", _time(least=1, most=86400, whole="iperf3")),
    "bytes": ("bytes", _size(least=1, most=LARGEST_INTEGER)),
    "parallel": ("parallel", _count(least=1, most=128)),
    "reverse": ("reverse", Node.boolean),
    "udp": ("udp", Node.boolean),
    "rate": ("rate_bps", _rate),
    "congestion": ("congestion", _congestion),
    "window": ("window_bytes", _size(least=1, most=512 * 1024**2)),
    "mss": ("mss_bytes", _size(least=88, most=9 * 1024)),
    "omit": ("omit_s", _time(least=0, most=60, whole="iperf3")),
    "interval": ("interval_s", _time(least=0.1, most=60)),
}


def _iperf3(fields: Mapping[str, Node], common: Mapping[str, object]) -> Flow:
    values = _bulk(fields, common, _IPERF3_READERS, tool="iperf3")
    if values.get("udp"):
        for field in ("congestion", "mss"):
            if field in fields:
                raise fields[field].error(f"{field} is TCP's, and this flow is UDP")
    return Iperf3(**values)  # type: ignore[arg-type]


def _paced_rate(node: Node) -> int:
    value = node.rate_bps()
    if value < _LEAST_PACED_BPS:
        raise node.error(
            f"the rate is {value} bit/s, and the kernel paces no slower than "
            f"{_LEAST_PACED_BPS}: leave the field out for no limit"
        )
    return value


# Its clock has no steps that matter, and a row costs it little.
_TRANSFER_READERS: dict[str, tuple[str, Reader]] = {
    **{field: _IPERF3_READERS[field] for field in _FIELDS["transfer"] if field not in _COMMON},
    "time": ("time_s", _time(least=0.01, most=86400)),
    "rate": ("rate_bps", _paced_rate),
    "interval": ("interval_s", _time(least=0.01, most=60)),
}


def _transfer(fields: Mapping[str, Node], common: Mapping[str, object]) -> Flow:
    values = _bulk(fields, common, _TRANSFER_READERS, tool="transfer")
    return Transfer(**values)  # type: ignore[arg-type]


def _bulk(
    fields: Mapping[str, Node],
    common: Mapping[str, object],
    readers: Mapping[str, tuple[str, Reader]],
    *,
    tool: str,
) -> dict[str, object]:
    """Read the fields of bulk traffic, which has a time or a size."""
    values = dict(common)
    for field, (name, reader) in readers.items():
        values |= _read(fields, field, name, reader)
    if "time" in fields and "bytes" in fields:
        raise fields["bytes"].error(
            f"time and bytes are both given, and {tool} ends at one of them: leave one out "
            "(in a case, a common field is taken back by writing it without a value)"
        )
    if "time" not in fields and "bytes" not in fields:
        values["time_s"] = DEFAULT_TIME_S  # written out, so that the case says it
    return values


_PING_READERS: dict[str, tuple[str, Reader]] = {
    "count": ("count", _count(least=1, most=2**31 - 1)),
    # ping counts the interval in milliseconds, in an int.
    "interval": ("interval_s", _time(least=0.001, most=2147483)),
    "size": ("size_bytes", _size(least=0, most=65507)),
}


def _ping(fields: Mapping[str, Node], common: Mapping[str, object]) -> Flow:
    values = dict(common)
    for field, (name, reader) in _PING_READERS.items():
        values |= _read(fields, field, name, reader)
    return Ping(**values)  # type: ignore[arg-type]


def check_flows(
    flows: Iterable[tuple[Flow, Draft]], network: Network, setup: Iterable[str]
) -> None:
    """Check what depends on the other flows and on the network.

    Args:
        flows: the flows of a case with their drafts.
        network: the network of the case.
        setup: the set-up lines of the case.

    Raises:
        InputError: an end is no host or cannot be reached, or a flow waits for
            one that is not there or that waits for it.
    """
    flows = list(flows)
    lines = list(setup)
    for flow, draft in flows:
        ends = draft.fields[draft.tool]
        for name in (flow.source, flow.target):
            if reason := check_host(name, network, root=False):
                offset = ends.text().find(name)
                raise InputError(reason, place=ends.place_of(offset))
        if reason := check_reach(network, flow.source, flow.target, lines):
            raise ends.error(f"the flow {flow.name!r} cannot pass: {reason}")
    waits = {flow.name: flow.after for flow, _ in flows}
    for flow, draft in flows:
        if flow.after is None:
            continue
        node = draft.fields["after"]
        if flow.after not in waits:
            others = [name for name in waits if name != flow.name]
            raise node.error(
                f"there is no flow {flow.after!r}{nearest(flow.after, others)} "
                f"(there are: {listed(others)})"
            )
        chain = dict.fromkeys([flow.name])
        after: str | None = flow.after
        while after is not None and after not in chain and after in waits:
            chain[after] = None
            after = waits[after]
        if after == flow.name:
            raise node.error(f"flows wait for each other: {' after '.join([*chain, after])}")
