"""What the lines of live flows are compared with: their path's capacity, BDP and idle RTT.

The capacity is that of the qdiscs as they are now. A dump of qdiscs, which the sampler takes, has
no classes (htb, hfsc): their rates are parsed from the commands that created them, which are
set-up lines and commands typed at terminals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.flow_path import (
    NotUnderstoodError,
    flow_interfaces,
    idle_rtt,
)
from longfat.model.units import parse_rate_bps
from longfat.theory import bdp

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.model.case import Case
    from longfat.model.traffic import Bulk


def path_levels(
    case: Case, *, installed_bps: Mapping[str, float], knows_delays: bool
) -> Iterator[tuple[str, str, float]]:
    """Yield what the paths of a case's bulk flows have in common, as in a report's figures.

    What differs from flow to flow is left out, and so is what is not known with certainty.

    Args:
        case: the case, as its network is now.
        installed_bps: what interfaces are limited to now, in bit/s; others are not.
        knows_delays: the delays are those of the case: no event has changed any.

    Yields:
        The quantity of a live series, what the level is called, and the level.
    """
    rates = {capacity_bps(case, flow, installed_bps) for flow in case.bulk_flows}
    rtts = {_idle_rtt_s(case, flow) for flow in case.bulk_flows} if knows_delays else set()
    rate_bps = rates.pop() if len(rates) == 1 else None
    rtt_s = rtts.pop() if len(rtts) == 1 else 0.0
    if rate_bps is not None:
        yield "throughput_bps", "capacity", rate_bps
        yield "throughput_raw_bps", "capacity", rate_bps
    if rate_bps is not None and rtt_s > 0:
        yield "cwnd_bytes", "BDP", bdp.bdp_bytes(rate_bps, rtt_s)
    if rtt_s > 0:
        yield "rtt_s", "idle path", rtt_s


def capacity_bps(case: Case, flow: Bulk, installed_bps: Mapping[str, float]) -> float | None:
    """Return the least rate on a flow's path, in bit/s; None where nothing limits it.

    Args:
        case: the case, as its network is now.
        flow: one of its flows.
        installed_bps: what interfaces are limited to now, in bit/s; others are not.
    """
    ends = flow_interfaces(case.network, flow) or []
    known = [installed_bps[name] for _, name in ends if name in installed_bps]
    return min(known, default=None)


def _idle_rtt_s(case: Case, flow: Bulk) -> float:
    try:
        # Alone: a ping before it has not measured anything yet.
        rtt_s, _ = idle_rtt(replace(case, flows=(flow,)), flow, {})
    except NotUnderstoodError:
        return 0.0
    return rtt_s


CLASSFUL = ("htb", "hfsc")

_CLASS = re.compile(r"\bclass\s+(add|replace|change|del|delete)\s+dev\s+(\S+)\s+([^\n;|&'\"]*)")
_FRESH = re.compile(r"\bqdisc\s+(?:add|replace|del|delete)\s+dev\s+(\S+)\s+root\b")
# A class's maximum rate: htb's ceil, hfsc's upper limit; else its assured rate.
_MAX_RATE = (r"\bceil\s+(\S+)", r"\bul\s+(?:rate|m2)\s+(\S+)", r"\brate\s+(\S+)", r"\bm2\s+(\S+)")


@dataclass(frozen=True, slots=True)
class _Class:
    parent: str
    rate_bps: float


def class_rates_bps(script: str) -> dict[str, float]:
    """Return the total rate of the classes of interfaces, in bit/s, by interface.

    Args:
        script: the commands in order, one or several in each line.
    """
    known: dict[str, dict[str, _Class]] = {}
    for line in script.splitlines():
        for interface in _FRESH.findall(line):
            known.pop(interface, None)
        for verb, interface, options in _CLASS.findall(line):
            classes = known.setdefault(interface, {})
            name = re.search(r"\bclassid\s+(\S+)", options)
            if name is None:
                continue
            if verb in ("del", "delete"):
                classes.pop(name[1], None)
                continue
            parent = re.search(r"\bparent\s+(\S+)", options)
            rate = _rate_bps(options)
            if rate is not None:
                before = classes.get(name[1])
                above = parent[1] if parent else before.parent if before else "root"
                classes[name[1]] = _Class(above, rate)
    return {name: sum(_topmost(classes)) for name, classes in known.items() if classes}


def _topmost(classes: dict[str, _Class]) -> Iterable[float]:
    """Return the rates of the topmost classes."""
    return (cls.rate_bps for cls in classes.values() if cls.parent not in classes)


def _rate_bps(options: str) -> float | None:
    for pattern in _MAX_RATE:
        if match := re.search(pattern, options):
            try:
                return float(parse_rate_bps(match[1]))
            except InputError:
                return None
    return None
