"""How often ping really sends, since what it waits with ends at a tick.

Ping (iputils 20221126) waits for replies until the next request is due. Where a whole interval is
left, it does so by a receive timeout, which the kernel ends with the tick after the next full one;
where less is left, by poll(2), which is exact, or, up to 10 ms before, by turning without a wait,
unless a reply is expected. `tests/belief/test_ping_intervals.py` measures this.

Source: main_loop(), pinger() and setup() of iputils' ping/ping_common.c.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.model.flow_path.flow_path import flow_interfaces, interface_lines
from longfat.model.flow_path.setup_lines import shaping
from longfat.model.traffic import Ping
from longfat.model.typed_line import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.case import Case

TICK_S = 0.01
"""HZ is 100 in all kernels for User-Mode Linux."""

_SHORT_S = 0.01  # MININTERVAL of ping
_CLOCK_S = 0.001  # ping counts whole milliseconds
_MAX_EXCESS = 0.1
_ROUNDING = 1e-9
_HEADER_BYTES = 42  # of Ethernet, IPv4 and ICMP


def real_interval_s(interval_s: float, *, rtt_s: float) -> tuple[float, float]:
    """Return the least and the largest mean time between two requests, in seconds.

    Args:
        interval_s: the interval that ping is given, in seconds.
        rtt_s: after which time replies come, in seconds.
    """
    ticks = math.ceil(interval_s / TICK_S - _ROUNDING) * TICK_S + TICK_S
    if interval_s < _SHORT_S:
        return (interval_s, interval_s) if rtt_s <= interval_s else (min(rtt_s, _SHORT_S),) * 2
    if rtt_s < _CLOCK_S:
        return ticks, ticks
    return (interval_s, interval_s) if rtt_s < interval_s else (interval_s, ticks)


def slow_pings(case: Case) -> Iterator[tuple[int, str]]:
    """Yield the pings of a case whose requests come slower than written, by number, and how."""
    for index, flow in enumerate(case.flows):
        if not isinstance(flow, Ping) or flow.count == 1:
            continue
        try:
            rtt_s = _idle_rtt_s(case, flow)
        except NotUnderstoodError:
            continue
        low_s, high_s = real_interval_s(flow.interval_s, rtt_s=rtt_s)
        if high_s <= flow.interval_s * (1 + _MAX_EXCESS) + _ROUNDING:
            continue
        every = f"{1000 * low_s:g} ms"
        if high_s > low_s:
            every = f"{1000 * low_s:g} to {1000 * high_s:g} ms"
        yield (
            index,
            f"its requests come every {every}, not every {1000 * flow.interval_s:g} ms, with an"
            f" idle RTT of {1000 * rtt_s:.3g} ms: ping's timeouts end at ticks of 10 ms",
        )


def _idle_rtt_s(case: Case, flow: Ping) -> float:
    """Return the delays and the transmission times of the way there and back, in seconds."""
    rtt_s = 0.0
    for is_back in (False, True):
        for _, interface in flow_interfaces(case.network, flow, is_back=is_back) or []:
            link = shaping(interface_lines(case, interface))
            rtt_s += link.delay_s
            if link.rate_bps:
                rtt_s += 8 * (flow.size_bytes + _HEADER_BYTES) / link.rate_bps
    return rtt_s
