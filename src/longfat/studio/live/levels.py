"""What the lines of live flows are compared with: their path's capacity, BDP and idle RTT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.model.flow_path import (
    NotUnderstoodError,
    egress_interfaces,
    idle_rtt,
    sender_and_receiver,
)
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
    ends = egress_interfaces(case.network, *sender_and_receiver(flow)) or []
    known = [installed_bps[name] for _, name in ends if name in installed_bps]
    return min(known, default=None)


def _idle_rtt_s(case: Case, flow: Bulk) -> float:
    try:
        # Alone: a ping before it has not measured anything yet.
        rtt_s, _ = idle_rtt(replace(case, flows=(flow,)), flow, {})
    except NotUnderstoodError:
        return 0.0
    return rtt_s
