"""What the lines of live flows are compared with: their path's capacity, BDP and idle RTT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.model.flow_path import NotUnderstoodError, bottleneck, idle_rtt
from longfat.theory import bdp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.case import Case


def path_levels(case: Case) -> Iterator[tuple[str, str, float]]:
    """Yield what the paths of a case's bulk flows have in common, as in a report's figures.

    What differs from flow to flow is left out, and so is what the lines of `tc` do not tell
    with certainty.

    Args:
        case: the case, as its network is now.

    Yields:
        The quantity of a live series, what the level is called, and the level.
    """
    rates, rtts = set(), set()
    for flow in case.bulk_flows:
        try:
            slowest = bottleneck(case, flow)
            # Alone: a ping before it has not measured anything yet.
            rtt_s, _ = idle_rtt(replace(case, flows=(flow,)), flow, {})
        except NotUnderstoodError:
            return
        rates.add(slowest.rate_bps if slowest is not None else None)
        rtts.add(rtt_s)
    rate_bps = rates.pop() if len(rates) == 1 else None
    rtt_s = rtts.pop() if len(rtts) == 1 else 0.0
    if rate_bps is not None:
        yield "throughput_bps", "capacity", rate_bps
        yield "throughput_raw_bps", "capacity", rate_bps
    if rate_bps is not None and rtt_s > 0:
        yield "cwnd_bytes", "BDP", bdp.bdp_bytes(rate_bps, rtt_s)
    if rtt_s > 0:
        yield "rtt_s", "idle path", rtt_s
