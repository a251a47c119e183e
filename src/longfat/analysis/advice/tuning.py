"""What to set on a long, fat path, and why: each line with its arithmetic.

`tune` is the entry point: it derives lines to paste, settings to keep and notes from what
`compute_requirements` says of the path. No host is inspected.

The largest buffer is a bound of the kernel's tuning and no reservation: too large costs memory
only where a receiver reads slowly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice import arithmetic
from longfat.analysis.advice.arithmetic import (
    FRAME_BYTES,
    MAX_STREAMS,
    PathRequirements,
    compute_requirements,
    rate_text,
    time_text,
)
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.analysis.advice.recommendation import Line
from longfat.model.metric import Unit
from longfat.model.network.tc import RATE
from longfat.model.units import format_quantity
from longfat.theory import bdp, buffers, tbf

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What to set for a path.

    Attributes:
        need: what the path requires.
        lines: what to set; lines of one place are adjacent.
        keep: what to leave as it is, each with the reason.
        notes: further remarks.
    """

    need: PathRequirements
    lines: tuple[Line, ...]
    keep: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the advice as plain data, numbers in base units."""
        need = self.need
        return {
            "rate_bps": need.path.rate_bps,
            "rtt_s": need.path.rtt_s,
            "kernel": need.path.kernel,
            "congestion": need.congestion,
            "loss": need.loss,
            "flows": need.flows,
            "bdp_bytes": need.path.bdp_bytes,
            "buffer_bytes": need.buffer_bytes,
            "stream_bps": need.stream_bps,
            "streams": need.streams,
            "goodput_bps": need.goodput_bps,
            "expected_bps": need.expected_bps,
            "lines": [{"at": one.node, "line": one.text, "why": one.why} for one in self.lines],
            "keep": [{"setting": setting, "why": why} for setting, why in self.keep],
            "notes": list(self.notes),
        }


def tune(
    *,
    rate_bps: int,
    rtt_s: float,
    kernel: str,
    congestion: str = "cubic",
    loss_fraction: float = 0.0,
    flows: int = 1,
) -> Tuning:
    """Return what to set for a path.

    Args:
        rate_bps: the rate of the bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        kernel: the Linux version of the hosts, such as `6.1`.
        congestion: one of `longfat.analysis.advice.arithmetic.CONGESTIONS`.
        loss_fraction: the share of packets that the path loses, 0 for none.
        flows: the number of long flows that share the bottleneck.

    Raises:
        InputError: a number is not one of a path, or nothing is known of the
            congestion control.
    """
    need = compute_requirements(
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        kernel=kernel,
        congestion=congestion,
        loss_fraction=loss_fraction,
        flows=flows,
    )
    return Tuning(
        need=need, lines=all_lines(need), keep=tuple(keep(need)), notes=tuple(notes(need))
    )


def all_lines(need: PathRequirements) -> tuple[Line, ...]:
    """Return all lines, those of one place together."""
    return (*_host_lines(need), *_sender_lines(need), *_router_lines(need))


def _host_lines(need: PathRequirements) -> Iterator[Line]:
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


def paces_itself(need: PathRequirements) -> bool:
    """Return whether TCP paces where no fq does: since 4.13, commit 218af599fa63."""
    return need.version >= _FIRST_WITH_OWN_PACING


def _sender_lines(need: PathRequirements) -> Iterator[Line]:
    path, streams = need.path, need.streams
    if need.congestion == "bbr" and not paces_itself(need):
        yield Line(
            node=SENDER,
            text="tc qdisc replace dev DEV root fq",
            why=f"bbr must be paced, and in Linux {path.kernel} only fq does that",
        )
    if 1 < streams <= MAX_STREAMS:
        if need.stream_why:
            rate = rate_text(need.goodput_bps)
            why = f"{need.stream_why}; {rate} of payload / that = {streams}"
        else:
            window = f"{path.window_bytes:,.0f} B"
            why = f"BDP / TCP's largest window = {path.bdp_bytes:,.0f} B / {window} = {streams}"
        yield Line(node=SENDER, text=f"iperf3 -c RECEIVER -P {streams}", why=why)


def _router_lines(need: PathRequirements) -> Iterator[Line]:
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


def keep(need: PathRequirements) -> Iterator[tuple[str, str]]:
    """Yield settings to leave as they are, each with its reason."""
    path, buffer_bytes, lost = need.path, need.buffer_bytes, need.loss
    # At most half of a buffer is window, as far as a version's rule goes.
    window_bytes = min(buffer_bytes / 2, bdp.MAX_WINDOW_BYTES)
    shift = bdp.shift_needed(window_bytes)
    if shift:
        yield (
            "net.ipv4.tcp_window_scaling=1",
            f"a window of {window_bytes:,.0f} B needs a shift of {shift} ("
            f"{bdp.MAX_FIELD:,} x 2^{shift} = "
            f"{bdp.scaled_window_bytes(bdp.MAX_FIELD, shift):,} B)",
        )
    # RFC 7323, section 5: sequence numbers count 2^32 bytes; an old segment may live 2 minutes.
    wrap_s = 2**32 * 8 / path.rate_bps
    if wrap_s < 120:
        yield (
            "net.ipv4.tcp_timestamps=1",
            f"sequence numbers wrap after 2^32 B x 8 / {rate_text(path.rate_bps)} = "
            f"{time_text(wrap_s)}; only timestamps distinguish old segments from new",
        )
    packets = f"{path.bdp_bytes / FRAME_BYTES:,.0f}"
    if lost:
        yield (
            "net.ipv4.tcp_sack=1",
            f"of {packets} packets in flight {path.bdp_bytes / FRAME_BYTES * lost:,.1f} are lost "
            "each round trip: without it, one is repaired a round trip",
        )
    if need.congestion == "bbr" and paces_itself(need):
        yield (
            "the sender's qdisc",
            "since 4.13 TCP paces bbr by itself; fq (tc qdisc replace dev DEV root fq) is not "
            "needed, but takes less CPU with many sockets",
        )
    yield "net.ipv4.tcp_moderate_rcvbuf=1", "it lets a receive buffer grow to its largest size"
    own = arithmetic.receive_buffer_bytes(path.kernel)
    if buffer_bytes <= own:
        yield "net.ipv4.tcp_rmem", f"its largest size, {own:,}, is more than {buffer_bytes:,}"
    if buffer_bytes <= arithmetic.SEND_BUFFER_BYTES:
        yield (
            "net.ipv4.tcp_wmem",
            f"its largest size, {arithmetic.SEND_BUFFER_BYTES:,}, is more than {buffer_bytes:,}",
        )


def notes(need: PathRequirements) -> Iterator[str]:
    """Yield what else is to be known."""
    path, buffer_bytes, congestion = need.path, need.buffer_bytes, need.congestion
    lost, streams = need.loss, need.streams
    if not path.half_rule:
        yield (
            "Since 6.6 the window is what the overhead of the packets leaves of a buffer. Measured "
            "on 6.12: 76 % of a receive buffer with segmentation offload, 62 % without, so 1.3 and "
            "1.6 x BDP; of a send buffer 76 % and 50 %. Twice the BDP does for all."
        )
    if streams > MAX_STREAMS:
        yield (
            f"{streams:,} streams would be needed to fill the path with {congestion} at that loss: "
            "reduce the loss, or take bbr."
        )
    elif lost and congestion not in MODEL_BASED and streams > 1:
        yield "In place of many streams: --cc bbr, which no loss makes slow."
    if lost > 0.01 and congestion not in MODEL_BASED:
        yield "Above a loss of 1 % timeouts dominate, and streams get less than the formula gives."
    # The kernel gives all TCP sockets together about a sixteenth of the memory (tcp_mem, middle).
    memory = 16 * buffer_bytes
    if memory >= 1024**3:
        yield (
            "Memory: all TCP sockets of a host together may take about a sixteenth of it (tcp_mem, "
            f"in pages). One buffer of {buffer_bytes:,} B needs "
            f"{format_quantity(memory, Unit.BYTES)}."
        )
