"""What one loss does to a flow: how far it falls, and how long it takes to grow back.

On a long, fat path this time, not the loss itself, is what costs throughput:
Reno adds one packet a round trip, however many packets the window has.

Sources:

* RFC 5681, "TCP Congestion Control", 2009, section 3.1: a loss halves the
  window, and each round trip adds one segment.
* RFC 3649, "HighSpeed TCP for Large Congestion Windows", 2003: what that means
  at 10 Gbit/s.
* RFC 9438, "CUBIC for Fast and Long-Distance Networks", 2023, section 4.2 (and
  RFC 8312, section 4.1, equation 2): CUBIC's time K.
"""

from __future__ import annotations

from longfat.theory import _checks, bdp
from longfat.theory.loss import CUBIC_BETA, CUBIC_C


def throughput_after_loss_bps(
    *, window_bytes: float, rate_bps: float, rtt_s: float, beta: float = 0.5
) -> float:
    """Return the throughput just after one loss has cut the window, in bit/s.

    Source: RFC 5681, section 3.1, equation 4: a loss halves the window. The
    labs put it as: a buffer of one BDP and one loss leave half the bandwidth.

    Valid for the round trips after the loss, on a path without a queue; the
    window then grows back.

    Args:
        window_bytes: the window before the loss, in bytes.
        rate_bps: the rate of the path's bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        beta: the share of the window that the loss leaves; 0.7 for CUBIC.

    Returns:
        The throughput, in bit/s, at most the rate.

    Raises:
        ValueError: an argument is out of its range.

    10 Gbit/s and 20 ms: a window of one BDP falls to half the rate, one of two
    BDPs keeps the path full:

    >>> throughput_after_loss_bps(window_bytes=25e6, rate_bps=10e9, rtt_s=0.020) / 1e9
    5.0
    >>> throughput_after_loss_bps(window_bytes=50e6, rate_bps=10e9, rtt_s=0.020) / 1e9
    10.0
    """
    _checks.not_negative(window_bytes=window_bytes)
    _checks.positive(rate_bps=rate_bps, rtt_s=rtt_s)
    _checks.between_0_and_1(beta=beta)
    return min(rate_bps, bdp.throughput_bps(beta * window_bytes, rtt_s))


def reno_recovery_s(*, window_packets: float, rtt_s: float, packets_per_ack: int = 1) -> float:
    """Return how long Reno takes to regain its window after one loss, in seconds.

    Source: RFC 5681, section 3.1: half a window at one segment a round trip is
    W / 2 round trips; a receiver that acknowledges every second segment, to a
    sender that counts ACKs, doubles the time.

    Valid for a loss that fast retransmit repairs, an RTT that stays the same
    and no second loss meanwhile. Linux counts the segments that an ACK covers
    (RFC 3465), so there `packets_per_ack` is 1 even with delayed ACKs.

    Args:
        window_packets: the window just before the loss, in packets.
        rtt_s: the round-trip time, in seconds.
        packets_per_ack: segments for each growth step of an ACK; 1, or 2 with
            delayed acknowledgements.

    Returns:
        The time, in seconds.

    Raises:
        ValueError: an argument is out of its range.

    10 Gbit/s at 100 ms with packets of 1,500 bytes: a window of 83,333 takes
    1 h 9 min, twice that with delayed ACKs. (RFC 3649's 1 2/3 hours are from
    loss to loss with an *average* window of 83,333; see
    `loss.time_between_losses_s`.)

    >>> round(reno_recovery_s(window_packets=83_333, rtt_s=0.1))
    4167
    >>> round(reno_recovery_s(window_packets=83_333, rtt_s=0.1, packets_per_ack=2) / 3600, 1)
    2.3
    """
    _checks.positive(window_packets=window_packets, rtt_s=rtt_s)
    _checks.at_least_1(packets_per_ack=packets_per_ack)
    return window_packets / 2 * packets_per_ack * rtt_s


def cubic_recovery_s(
    *, window_packets: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> float:
    """Return CUBIC's K: how long it takes to regain its window after one loss, in seconds.

    Source: RFC 9438, section 4.2: K = cbrt((W_max - W_max x beta) / C).

    Valid outside the Reno-friendly region (large windows or long RTTs), for
    one loss without fast convergence. The RTT plays no part.

    Args:
        window_packets: the window just before the loss (W_max), in packets.
        c: CUBIC's C.
        beta: the share of the window that a loss leaves.

    Returns:
        The time, in seconds.

    Raises:
        ValueError: an argument is out of its range.

    The same window of 83,333 packets is back in 40 s:

    >>> round(cubic_recovery_s(window_packets=83_333), 1)
    39.7
    """
    _checks.positive(window_packets=window_packets, c=c)
    _checks.between_0_and_1(beta=beta)
    return float((window_packets * (1 - beta) / c) ** (1 / 3))
