"""Throughput under loss: what a loss rate allows, and what a throughput asks of a path.

Mathis' formula gives a throughput; a *response function* gives the average
window of a congestion control, in packets, which makes a throughput of
W x packet / RTT. *Loss* counts loss events per packet sent; an event cuts the
window once, however many packets it takes.

Sources:

* M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The Macroscopic Behavior of the TCP
  Congestion Avoidance Algorithm", ACM SIGCOMM CCR 27(3), 1997.
* RFC 3649, "HighSpeed TCP for Large Congestion Windows", 2003: Reno's response
  function, and what it asks of a path of 10 Gbit/s.
* RFC 8312, "CUBIC for Fast Long-Distance Networks", 2018, section 5, which
  RFC 9438 (2023) follows: CUBIC's response function and its tables.
"""

from __future__ import annotations

import math

from longfat.theory import _checks

EVERY_PACKET_ACKED = math.sqrt(3 / 2)
"""Mathis' constant for losses at equal distances and an ACK for every packet."""

CUBIC_C = 0.4
"""CUBIC's C, RFC 9438, section 4.1: how fast it grows."""

CUBIC_BETA = 0.7
"""CUBIC's beta, RFC 9438, section 4.6: the share of the window that a loss leaves."""


def mathis_bps(
    *, mss_bytes: float, rtt_s: float, loss: float, constant: float = 1.0, streams: int = 1
) -> float:
    """Return the throughput that a loss rate allows Reno, in bit/s.

    Source: Mathis et al. 1997: C x MSS / (RTT x sqrt(p)). The labs take C = 1,
    and K parallel streams as K times as much.

    Valid for small losses (below about 1 %, where timeouts are rare), windows
    that no buffer limits, and a path that is not full. A link that drops whole
    offloaded bursts has fewer loss events than lost segments, and more
    throughput than this.

    Args:
        mss_bytes: the payload of a segment, in bytes.
        rtt_s: the round-trip time, in seconds.
        loss: the fraction of packets that are lost, above 0 and below 1.
        constant: C; 1 as the labs do, or `EVERY_PACKET_ACKED`.
        streams: the number of parallel streams, each with that loss.

    Returns:
        The throughput of all streams together, in bit/s.

    Raises:
        ValueError: an argument is out of its range.

    Segments of 1,460 bytes, 20 ms and a loss of 0.01 %, then eight streams:

    >>> mathis_bps(mss_bytes=1460, rtt_s=0.020, loss=0.0001) / 1e6
    58.4
    >>> mathis_bps(mss_bytes=1460, rtt_s=0.020, loss=0.0001, streams=8) / 1e6
    467.2
    >>> round(EVERY_PACKET_ACKED, 2)
    1.22
    """
    _checks.positive(mss_bytes=mss_bytes, rtt_s=rtt_s, constant=constant)
    _checks.between_0_and_1(loss=loss)
    _checks.at_least_1(streams=streams)
    return streams * constant * mss_bytes * 8 / (rtt_s * math.sqrt(loss))


def mathis_loss(*, rate_bps: float, mss_bytes: float, rtt_s: float, constant: float = 1.0) -> float:
    """Return the loss rate up to which one Reno stream reaches a rate.

    Source: as for `mathis_bps`, whose inverse it is. Valid for the same paths; a
    result above about 0.01 is beyond the formula.

    Args:
        rate_bps: the throughput that is wanted, in bit/s.
        mss_bytes: the payload of a segment, in bytes.
        rtt_s: the round-trip time, in seconds.
        constant: C, as for `mathis_bps`.

    Returns:
        The loss as a fraction; above 1 where the window is less than a segment.

    Raises:
        ValueError: an argument is not above 0.

    >>> round(mathis_loss(rate_bps=58.4e6, mss_bytes=1460, rtt_s=0.020), 9)
    0.0001
    """
    _checks.positive(rate_bps=rate_bps, mss_bytes=mss_bytes, rtt_s=rtt_s, constant=constant)
    return (constant * mss_bytes * 8 / (rtt_s * rate_bps)) ** 2


def reno_window_packets(loss: float) -> float:
    """Return the average window of Reno ("Standard TCP") at a loss rate, in packets.

    Source: RFC 3649, section 3 and table 2: W = 1.2 / sqrt(p).

    Valid for losses up to 10^-2, as the RFC's table; beyond it timeouts rule.

    Args:
        loss: the fraction of packets that are lost, above 0 and below 1.

    Returns:
        The average window, in packets.

    Raises:
        ValueError: the loss is out of its range.

    The RFC's table, from 10^-2 to 10^-6:

    >>> [round(reno_window_packets(10**-power)) for power in range(2, 7)]
    [12, 38, 120, 379, 1200]
    """
    _checks.between_0_and_1(loss=loss)
    return 1.2 / math.sqrt(loss)


def cubic_window_packets(
    *, loss: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> float:
    """Return the average window of CUBIC at a loss rate, in packets.

    Source: RFC 8312, section 5, equation 5, and section 4.2: never less than
    Reno would have. With C = 0.4 and beta = 0.7 the cubic part is
    1.054 x RTT^0.75 / p^0.75.

    Valid for losses at equal distances and up to 10^-2. Reno's part is
    RFC 3649's 1.2 / sqrt(p), as in the RFC's tables.

    Args:
        loss: the fraction of packets that are lost, above 0 and below 1.
        rtt_s: the round-trip time, in seconds.
        c: CUBIC's C.
        beta: the share of the window that a loss leaves.

    Returns:
        The average window, in packets.

    Raises:
        ValueError: an argument is out of its range.

    The RFC's tables for 100 ms (10^-2 to 10^-8) and for 10 ms (from 10^-6):

    >>> [round(cubic_window_packets(loss=10**-n, rtt_s=0.1)) for n in range(2, 9)]
    [12, 38, 187, 1054, 5926, 33325, 187400]
    >>> [round(cubic_window_packets(loss=10**-n, rtt_s=0.01)) for n in range(6, 9)]
    [1200, 5926, 33325]
    """
    _checks.between_0_and_1(loss=loss, beta=beta)
    _checks.positive(rtt_s=rtt_s, c=c)
    cubic = _cubic_factor(c, beta) * math.pow(rtt_s / loss, 0.75)
    return max(cubic, reno_window_packets(loss))


def _cubic_factor(c: float, beta: float) -> float:
    return math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25)
