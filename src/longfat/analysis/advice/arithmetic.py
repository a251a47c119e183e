"""The arithmetic of a long, fat path, as done on paper.

`compute` evaluates the formulas of `longfat.theory` for one path, for `longfat bdp`;
`compute_requirements` derives what the path requires of its hosts, for all advice on tuning. No
host is inspected.

How much of a buffer is data in flight is in `longfat.theory.socket_buffers`. It is half or more,
so twice the BDP is right for both buffers of all versions.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from longfat.analysis.advice.limits import MODEL_BASED
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp, buffers, loss, socket_buffers

MB = socket_buffers.MB
SEND_BUFFER_BYTES = socket_buffers.SEND_BUFFER_BYTES

HEADER_BYTES = 40
"""IPv4 and TCP headers without options."""

LAB_BUFFER_BYTES = 16 * MB

# Beyond these a path is a slip of the pen.
_MAX_RATE_BPS = 10**14
_MAX_RTT_S = 3600
_MAX_BDP_BITS = 10**13


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowLimit:
    """What a buffer lets through.

    Attributes:
        name: the buffer, such as `tcp_rmem 6 MB`.
        buffer_bytes: its size.
        is_send: it is a send buffer; otherwise a receive buffer.
        window_bytes: what it lets be in flight; of a send buffer, with iperf3.
        least_window_bytes: the same with a program that fills a send buffer whole.
        turn_s: how long one window takes: the RTT, and of a send buffer the time in which the
            link carries what the program writes at once.
        window_bps: what that window lets through if the rate allows it.
        throughput_bps: the same, at most the rate.
        rate_fraction: the throughput as a fraction of the rate.
    """

    name: str
    buffer_bytes: int
    is_send: bool
    window_bytes: int
    least_window_bytes: int
    turn_s: float
    window_bps: float
    throughput_bps: float
    rate_fraction: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic:
    """The numbers of one path; a number is None where its option was not given.

    Attributes:
        rate_bps: the rate of the bottleneck.
        rtt_s: the round-trip time of the idle path.
        mss_bytes: the payload of a segment.
        kernel: the Linux version.
        half_rule: this kernel offers a fixed half of a receive buffer as window.
        bdp_bits: rate x RTT.
        bdp_bytes: the same in bytes.
        packet_bytes: a segment with its headers.
        packets_in_flight: the packets that fill the path.
        mb_time_s: how long 1 MB takes to leave.
        mb_rtt_fraction: the same as a fraction of the RTT.
        unscaled_bps: what the bare window field of 16 bits lets through.
        window_bytes: one BDP, or the largest window of TCP if that is less.
        window_shift: the least shift with which that window can be advertised.
        connections: the least number of connections whose windows fill the path.
        buffer_bytes: the socket buffers for that window: twice the window.
        limits: what the buffers of a stock Linux, and of the labs, let through.
        router_buffer_bytes: C x RTT.
        flows: the number of flows through the router.
        router_buffer_flows_bytes: C x RTT / sqrt(flows).
        loss_fraction: the fraction of packets that are lost.
        mathis_bps: what one stream of Reno reaches at that loss.
        mathis_streams: the streams of Reno that fill the path at that loss.
        mathis_loss_fraction: the loss up to which one stream of Reno fills the path.
    """

    rate_bps: int
    rtt_s: float
    mss_bytes: int
    kernel: str
    half_rule: bool
    bdp_bits: float
    bdp_bytes: float
    packet_bytes: int
    packets_in_flight: float
    mb_time_s: float
    mb_rtt_fraction: float
    unscaled_bps: float
    window_bytes: float
    window_shift: int
    connections: int
    buffer_bytes: int
    limits: tuple[WindowLimit, ...]
    router_buffer_bytes: float
    flows: int | None = None
    router_buffer_flows_bytes: float | None = None
    loss_fraction: float | None = None
    mathis_bps: float | None = None
    mathis_streams: int | None = None
    mathis_loss_fraction: float | None = None


def compute(
    *,
    rate_bps: int,
    rtt_s: float,
    kernel: str,
    mss_bytes: int = 1460,
    flows: int | None = None,
    loss_fraction: float | None = None,
) -> Arithmetic:
    """Do the arithmetic of a path.

    Args:
        rate_bps: the rate of the bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        kernel: the Linux version of the hosts, such as `6.1`.
        mss_bytes: the payload of a segment, in bytes.
        flows: the number of long flows through the router.
        loss_fraction: the fraction of packets that are lost.

    Returns:
        Every number.

    Raises:
        InputError: a number is not one of a path.
    """
    _check(rate_bps, rtt_s, mss_bytes, flows, loss_fraction)
    try:
        half_rule = bdp.has_half_rule(kernel)
    except ValueError as error:
        raise InputError(str(error)) from None
    bdp_bytes = bdp.bdp_bytes(rate_bps, rtt_s)
    packet_bytes = mss_bytes + HEADER_BYTES
    window_bytes = min(bdp_bytes, float(bdp.MAX_WINDOW_BYTES))
    mb_time_s = bdp.transmission_time_s(MB, rate_bps)
    stream_bps = streams = bearable = None
    if loss_fraction is not None:
        stream_bps = loss.mathis_bps(mss_bytes=mss_bytes, rtt_s=rtt_s, loss=loss_fraction)
        streams = math.ceil(rate_bps / stream_bps)
        bearable = loss.mathis_loss(rate_bps=rate_bps, mss_bytes=mss_bytes, rtt_s=rtt_s)
    return Arithmetic(
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        mss_bytes=mss_bytes,
        kernel=kernel,
        half_rule=half_rule,
        bdp_bits=bdp.bdp_bits(rate_bps, rtt_s),
        bdp_bytes=bdp_bytes,
        packet_bytes=packet_bytes,
        packets_in_flight=bdp.packets_in_flight(
            rate_bps=rate_bps, rtt_s=rtt_s, packet_bytes=packet_bytes
        ),
        mb_time_s=mb_time_s,
        mb_rtt_fraction=mb_time_s / rtt_s,
        unscaled_bps=bdp.throughput_bps(bdp.MAX_FIELD, rtt_s),
        window_bytes=window_bytes,
        window_shift=bdp.shift_needed(window_bytes),
        connections=math.ceil(bdp_bytes / window_bytes),
        buffer_bytes=math.ceil(bdp.buffer_needed_bytes(window_bytes)),
        limits=_limits(release_version(kernel), rate_bps=rate_bps, rtt_s=rtt_s),
        router_buffer_bytes=buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s),
        flows=flows,
        router_buffer_flows_bytes=(
            None
            if flows is None
            else buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s, flows=flows)
        ),
        loss_fraction=loss_fraction,
        mathis_bps=stream_bps,
        mathis_streams=streams,
        mathis_loss_fraction=bearable,
    )


def release_version(kernel: str) -> tuple[int, int]:
    """Return the first two numbers of a Linux version.

    Args:
        kernel: the version, such as `6.1` or `6.1.158`.

    Raises:
        InputError: it is no version.
    """
    found = re.match(r"(\d{1,4})\.(\d{1,4})", kernel)
    if found is None:
        raise InputError(f"{kernel!r} is not a kernel version; one looks like 6.1 or 6.1.158")
    return int(found[1]), int(found[2])


def receive_buffer_bytes(kernel: str) -> int:
    """Return the largest receive buffer that a stock Linux gives by itself, in bytes.

    Args:
        kernel: the version, such as `6.1`.

    Raises:
        InputError: it is no version.
    """
    return socket_buffers.receive_buffer_bytes(release_version(kernel))


def machine_buffer_bytes(memory_bytes: int) -> int:
    """Return the largest buffer of either kind that a virtual machine allows for its memory.

    Linux gives a 128th of the memory that is free at boot, at most `receive_buffer_bytes`
    and `SEND_BUFFER_BYTES`. Of a machine's memory a 64th and 12 MB are not free then:
    measured, see tests/belief.

    Source: tcp_init, net/ipv4/tcp.c.

    Args:
        memory_bytes: the machine's memory.
    """
    return (memory_bytes - memory_bytes // 64 - 12 * MB) // 128


def _limits(
    version: tuple[int, int], *, rate_bps: int, rtt_s: float
) -> tuple[WindowLimit, WindowLimit, WindowLimit]:
    """Return what both stock buffers, and the smaller one of the labs' let through."""
    receive_bytes = socket_buffers.receive_buffer_bytes(version)
    receive_share = socket_buffers.receive_share(version)
    send_share = socket_buffers.send_share(version)
    write_bytes = socket_buffers.IPERF3_WRITE_BYTES

    def limit(name: str, buffer_bytes: int, *, is_send: bool) -> WindowLimit:
        turn_s = rtt_s
        window = least = receive_share * buffer_bytes
        if is_send:
            least = socket_buffers.send_window_bytes(buffer_bytes, share=send_share)
            window = socket_buffers.send_window_bytes(
                buffer_bytes, share=send_share, write_bytes=write_bytes
            )
            turn_s += bdp.transmission_time_s(write_bytes, rate_bps)
        window_bps = bdp.throughput_bps(window, turn_s)
        throughput_bps = min(window_bps, float(rate_bps))
        return WindowLimit(
            name=f"{name} {buffer_bytes // MB} MB",
            buffer_bytes=buffer_bytes,
            is_send=is_send,
            window_bytes=int(window),
            least_window_bytes=int(least),
            turn_s=turn_s,
            window_bps=window_bps,
            throughput_bps=throughput_bps,
            rate_fraction=throughput_bps / rate_bps,
        )

    lab = (limit("with", LAB_BUFFER_BYTES, is_send=is_send) for is_send in (False, True))
    return (
        limit("tcp_rmem", receive_bytes, is_send=False),
        limit("tcp_wmem", SEND_BUFFER_BYTES, is_send=True),
        min(lab, key=lambda one: one.window_bps),
    )


def _check(
    rate_bps: int, rtt_s: float, mss_bytes: int, flows: int | None, loss_fraction: float | None
) -> None:
    for name, value, maximum, unit, example in (
        ("the rate", rate_bps, _MAX_RATE_BPS, Unit.BPS, "10gbit"),
        ("the RTT", rtt_s, _MAX_RTT_S, Unit.SECONDS, "50ms"),
    ):
        if not value > 0:
            raise InputError(f"{name} must be more than 0; write one such as {example}")
        if value > maximum:
            largest = format_quantity(maximum, unit)
            raise InputError(f"{name} is beyond any path: at most {largest}, such as {example}")
    bits = bdp.bdp_bits(rate_bps, rtt_s)
    if not 1 <= bits <= _MAX_BDP_BITS:
        raise InputError(
            f"rate x RTT is {bits:.3g} bits; a path holds 1 bit or more, and at most 1e13 bits"
        )
    if not 1 <= mss_bytes <= bdp.MAX_FIELD - HEADER_BYTES:
        maximum = bdp.MAX_FIELD - HEADER_BYTES
        raise InputError(f"a segment holds 1 to {maximum:,} bytes, not {mss_bytes:,}; mostly 1460")
    if flows is not None and flows < 1:
        raise InputError(f"there must be 1 flow or more, not {flows}")
    if loss_fraction is not None and not 0 < loss_fraction < 1:
        raise InputError("the loss must be more than 0% and less than 100%, such as 0.01%")


CONGESTIONS = ("bbr", "cubic", "reno")
"""The congestion controls whose behaviour under loss is known here."""

FRAME_BYTES = 1514
"""A full Ethernet frame; what a queue of packets counts."""

MSS_BYTES = 1448
"""The payload of a segment with timestamps, on Ethernet."""

BBR_LOSS_BDPS = 4
"""The labs' rule: with loss, BBR needs room for several BDPs; four of them."""

MAX_STREAMS = 128
"""What iperf3 can start."""

_MAX_BUFFER_BYTES = 2**31 - 1
_FIRST_WITH_BBR = (4, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRequirements:
    """What a path requires of its hosts.

    Attributes:
        path: the arithmetic of the path.
        version: the first two numbers of the hosts' Linux.
        congestion: the congestion control.
        loss: the share of packets that the path loses; 0 for none.
        flows: the number of long flows through the router.
        buffer_bytes: the largest socket buffer that one stream needs.
        buffer_why: its equation.
        stream_bps: what one stream reaches at that loss, at most the goodput.
        stream_why: its equation; empty where no loss limits it.
        streams: how many streams fill the path.
        goodput_bps: the payload that the rate carries.
    """

    path: Arithmetic
    version: tuple[int, int]
    congestion: str
    loss: float
    flows: int
    buffer_bytes: int
    buffer_why: str
    stream_bps: float
    stream_why: str
    streams: int
    goodput_bps: float

    @property
    def expected_bps(self) -> float:
        """Return what that many streams, as far as iperf3 can start them, should reach."""
        window_bps = bdp.throughput_bps(self.path.window_bytes, self.path.rtt_s)
        each_bps = min(self.stream_bps, window_bps)
        return min(self.goodput_bps, min(self.streams, MAX_STREAMS) * each_bps)


def compute_requirements(
    *,
    rate_bps: int,
    rtt_s: float,
    kernel: str,
    congestion: str,
    loss_fraction: float,
    flows: int,
) -> PathRequirements:
    """Return what a path requires of its hosts.

    Args:
        rate_bps: the rate of the bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        kernel: the Linux version of the hosts, such as `6.1`.
        congestion: one of `CONGESTIONS`.
        loss_fraction: the share of packets that the path loses, 0 for none.
        flows: the number of long flows that share the bottleneck.

    Raises:
        InputError: a number is not one of a path, or nothing is known of the
            congestion control.
    """
    if congestion not in CONGESTIONS:
        known = ", ".join(CONGESTIONS)
        raise InputError(f"nothing is known here of {congestion!r} under loss; known: {known}")
    version = release_version(kernel)
    if congestion == "bbr" and version < _FIRST_WITH_BBR:
        raise InputError(f"Linux {kernel} has no bbr: it came with 4.9; take cubic or reno")
    path = compute(
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        kernel=kernel,
        mss_bytes=MSS_BYTES,
        flows=flows,
        loss_fraction=loss_fraction or None,
    )
    goodput_bps = rate_bps * MSS_BYTES / FRAME_BYTES
    stream_bps, stream_why = _stream(path, congestion, loss_fraction, goodput_bps)
    buffer_bytes, buffer_why = _buffer(path, congestion, loss_fraction)
    return PathRequirements(
        path=path,
        version=version,
        congestion=congestion,
        loss=loss_fraction,
        flows=flows,
        buffer_bytes=buffer_bytes,
        buffer_why=buffer_why,
        stream_bps=stream_bps,
        stream_why=stream_why,
        streams=max(math.ceil(goodput_bps / stream_bps), path.connections),
        goodput_bps=goodput_bps,
    )


def _stream(
    path: Arithmetic, congestion: str, lost: float, goodput_bps: float
) -> tuple[float, str]:
    """Return what one stream reaches at a loss rate, and the sum."""
    rtt = time_text(path.rtt_s)
    if not lost or congestion in MODEL_BASED:
        return goodput_bps, ""
    if congestion == "reno":
        each_bps = loss.mathis_bps(mss_bytes=MSS_BYTES, rtt_s=path.rtt_s, loss=lost)
        terms = f"MSS / (RTT x sqrt(loss)) = {MSS_BYTES * 8:,} bit / ({rtt} x sqrt({lost:g}))"
    else:
        window = loss.cubic_window_packets(loss=lost, rtt_s=path.rtt_s)
        each_bps = bdp.throughput_bps(window * MSS_BYTES, path.rtt_s)
        terms = f"CUBIC's window at that loss / RTT = {window:,.0f} x {MSS_BYTES:,} B x 8 / {rtt}"
    return min(each_bps, goodput_bps), f"{terms} = {rate_text(each_bps)} a stream"


def _buffer(path: Arithmetic, congestion: str, lost: float) -> tuple[int, str]:
    """Return the largest socket buffer that one stream needs, and the sum."""
    factor = 2 * BBR_LOSS_BDPS if congestion == "bbr" and lost else 2
    window = f"{path.window_bytes:,.0f} B"
    capped = path.window_bytes < path.bdp_bytes
    of_what = "TCP's largest window" if capped else "BDP"
    size = min(math.ceil(factor * path.window_bytes), _MAX_BUFFER_BYTES)
    if factor == 2:
        return size, f"2 x {of_what} = 2 x {window} = {size:,}"
    return size, (
        f"2 x {BBR_LOSS_BDPS} x {of_what}, as bbr keeps sending while it repairs losses = "
        f"{factor} x {window} = {size:,}"
    )


def rate_text(value: float) -> str:
    """Return a rate for people."""
    return format_quantity(value, Unit.BPS)


def time_text(value: float) -> str:
    """Return a time for people."""
    return format_quantity(value, Unit.SECONDS)
