"""What a path requires of its hosts: the arithmetic behind all tuning advice.

How the kernel accounts for buffers depends on its version:

* Before 6.6 half of a receive buffer is window (ip-sysctl.rst,
  `tcp_adv_win_scale`); since 6.6 the kernel starts from a half, too, and then
  measures what the overhead of real packets is.
* A send buffer counts that overhead in every version.

What is left of a buffer for data was measured (tests/belief/test_buffers.py):
0.76 of it with segmentation offload, 0.50 to 0.62 where every frame has a
buffer of its own. So twice the BDP is right for both buffers of all versions.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from longfat.analysis.advice import arithmetic
from longfat.analysis.advice.arithmetic import Arithmetic
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp, loss

CONGESTIONS = ("bbr", "cubic", "reno")
"""The congestion controls whose behaviour under loss is known here."""

FRAME_BYTES = 1514
"""A full Ethernet frame; what a queue of packets counts."""

MSS_BYTES = 1448
"""The payload of a segment with timestamps, on Ethernet."""

BBR_LOSS_BDPS = 4
"""The labs' rule: with loss, BBR needs room for several BDPs; four of them."""

MOST_STREAMS = 128
"""What iperf3 can start."""

_LARGEST_BUFFER_BYTES = 2**31 - 1
_FIRST_WITH_BBR = (4, 9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a path requires of its hosts.

    Attributes:
        path: the arithmetic of the path.
        version: the first two numbers of the hosts' Linux.
        congestion: the congestion control.
        loss: the share of packets that the path loses; 0 for none.
        flows: the number of long flows through the router.
        buffer_bytes: the largest socket buffer that one stream needs.
        buffer_why: its sum.
        stream_bps: what one stream reaches at that loss, at most the goodput.
        stream_why: its sum; empty where no loss limits it.
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
        return min(self.goodput_bps, min(self.streams, MOST_STREAMS) * each_bps)


def work_out(
    *,
    rate_bps: int,
    rtt_s: float,
    kernel: str,
    congestion: str,
    loss_fraction: float,
    flows: int,
) -> Need:
    """Do the sums of a path.

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
    version = _version(kernel)
    if congestion == "bbr" and version < _FIRST_WITH_BBR:
        raise InputError(f"Linux {kernel} has no bbr: it came with 4.9; take cubic or reno")
    path = arithmetic.compute(
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
    return Need(
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


def _version(kernel: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", kernel)
    if found is None:
        raise InputError(f"{kernel!r} is not a kernel version; one looks like 6.1 or 6.1.158")
    return int(found[1]), int(found[2])


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
    size = min(math.ceil(factor * path.window_bytes), _LARGEST_BUFFER_BYTES)
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
