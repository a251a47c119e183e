"""The lines to paste that follow from a path's arithmetic: at the hosts, the sender and the router.

The largest buffer is a bound of the kernel's tuning and no reservation: too
large costs memory only where a receiver reads slowly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.analysis.advice import arithmetic
from longfat.analysis.advice.need import FRAME_BYTES, MOST_STREAMS, rate_text, time_text
from longfat.analysis.advice.recommendation import Line
from longfat.model.tc import RATE
from longfat.theory import buffers, tbf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.advice.need import Need

HOSTS = "both hosts"
ASKING_HOSTS = "both hosts, for programs that set a buffer size themselves"
SENDER = "the sender"
SHAPER = "the router, if it shapes to the rate"
ROUTER = "the router, if its own line is the limit"
SHORT_QUEUE = "the router, for a short queue instead"
"""Where lines belong; of the routers', one."""

DEFAULT_BUFFERS = {"rmem": (4096, 131072), "wmem": (4096, 16384)}
"""The kernel's smallest and first sizes of a buffer; tests/belief reads them in a machine."""

MANY_FLOWS = 100
"""From so many flows on they do not fall in step, and a router needs C x RTT / sqrt(N)."""

_ROUTER_HZ = 250
_FIRST_WITH_OWN_PACING = (4, 13)
_CODEL_INTERVAL_S = 0.1


def all_lines(need: Need) -> tuple[Line, ...]:
    """Return all lines, those of one place together."""
    return (*_host_lines(need), *_sender_lines(need), *_router_lines(need))


def _host_lines(need: Need) -> Iterator[Line]:
    path, buffer_bytes, congestion = need.path, need.buffer_bytes, need.congestion
    why = need.buffer_why
    if path.half_rule:
        part = f"Linux {path.kernel} offers half of a receive buffer as window"
    else:
        part = f"Linux {path.kernel} starts with half of a receive buffer as window"
    defaults = {
        "rmem": (arithmetic.receive_buffer_bytes(path.kernel), f"{part}: {why}"),
        "wmem": (
            arithmetic.SEND_BUFFER_BYTES,
            f"what the kernel keeps beside each packet counts, too, up to as much again: {why}",
        ),
    }
    for name, (own, reason) in defaults.items():
        # The kernel's own largest size is never made smaller.
        if buffer_bytes > own:
            low, middle = DEFAULT_BUFFERS[name]
            text = f"sysctl -w net.ipv4.tcp_{name}='{low} {middle} {buffer_bytes}'"
            yield Line(node=HOSTS, text=text, why=reason)
    if congestion != "cubic":
        text = f"sysctl -w net.ipv4.tcp_congestion_control={congestion}"
        yield Line(node=HOSTS, text=text, why=f"the default is cubic; {_character(congestion)}")
    half = math.ceil(buffer_bytes / 2)
    if buffer_bytes > arithmetic.SEND_BUFFER_BYTES:
        for name in ("rmem", "wmem"):
            yield Line(
                node=ASKING_HOSTS,
                text=f"sysctl -w net.core.{name}_max={half}",
                why="such as iperf3 -w; the kernel doubles what they set: "
                f"{buffer_bytes:,} / 2 = {half:,}",
            )


def _character(congestion: str) -> str:
    if congestion == "bbr":
        return "bbr sends at the rate that it measures, and no loss makes it slow"
    return "reno halves its window at each loss and adds one packet a round trip"


def paces_itself(need: Need) -> bool:
    """Return whether TCP paces where no fq does: since 4.13, commit 218af599fa63."""
    return need.version >= _FIRST_WITH_OWN_PACING


def _sender_lines(need: Need) -> Iterator[Line]:
    path, streams = need.path, need.streams
    if need.congestion == "bbr" and not paces_itself(need):
        yield Line(
            node=SENDER,
            text="tc qdisc replace dev DEV root fq",
            why=f"bbr must be paced, and in Linux {path.kernel} only fq does that",
        )
    if 1 < streams <= MOST_STREAMS:
        if need.stream_why:
            rate = rate_text(need.goodput_bps)
            why = f"{need.stream_why}; {rate} of payload / that = {streams}"
        else:
            window = f"{path.window_bytes:,.0f} B"
            why = f"BDP / TCP's largest window = {path.bdp_bytes:,.0f} B / {window} = {streams}"
        yield Line(node=SENDER, text=f"iperf3 -c RECEIVER -P {streams}", why=why)


def _router_lines(need: Need) -> Iterator[Line]:
    path, flows = need.path, need.flows
    many = flows >= MANY_FLOWS
    size = math.ceil(
        buffers.router_buffer_bytes(
            rate_bps=path.rate_bps, rtt_s=path.rtt_s, flows=flows if many else 1
        )
    )
    rtt, rate = time_text(path.rtt_s), rate_text(path.rate_bps)
    terms = f"C x RTT = {rate} x {rtt} / 8"
    if many:
        terms = f"C x RTT / sqrt(N) = {rate} x {rtt} / 8 / sqrt({flows:,})"
    elif flows > 1:
        less = math.ceil(path.router_buffer_flows_bytes or size)
        terms += f" (C x RTT / sqrt({flows}) = {less:,} B only if they do not fall in step)"
    burst = math.ceil(tbf.burst_bytes(rate_bps=path.rate_bps, hz=_ROUTER_HZ))
    # A bucket must hold an offloaded packet.
    burst = max(burst, 65536)
    yield Line(
        node=SHAPER,
        text=f"tc qdisc replace dev DEV root tbf rate {RATE.text(path.rate_bps)} burst {burst} "
        f"limit {max(size, burst)}",
        why=f"limit = {terms} = {size:,} B; burst = rate / HZ = {rate} / 8 / {_ROUTER_HZ}, "
        "and at least 64 KB",
    )
    packets = max(1, math.ceil(size / FRAME_BYTES))
    yield Line(
        node=ROUTER,
        text=f"tc qdisc replace dev DEV root pfifo limit {packets}",
        why=f"{terms} = {size:,} B; / {FRAME_BYTES:,} B = {packets:,} packets",
    )
    long = path.rtt_s > _CODEL_INTERVAL_S
    interval = f" interval {math.ceil(path.rtt_s * 1000)}ms" if long else ""
    why = (
        f"its interval is to be the RTT, {rtt}, and is 100 ms by default"
        if long
        else f"its interval of 100 ms is no less than the RTT, {rtt}, as it should be"
    )
    yield Line(
        node=SHORT_QUEUE,
        text=f"tc qdisc replace dev DEV root fq_codel limit {max(10240, packets)}{interval}",
        why=why,
    )
