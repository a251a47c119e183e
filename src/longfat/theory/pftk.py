"""Throughput under loss with timeouts: the model of Padhye et al., and its short form.

Mathis' formula (`loss`) knows only losses that fast retransmit repairs. This
model adds the retransmission timeouts, which rule when losses are heavy or
windows small, and the receiver's window.

Sources:

* J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP Throughput: A
  Simple Model and its Empirical Validation", ACM SIGCOMM 1998.
* RFC 5348, "TCP Friendly Rate Control", 2008, section 3.1: the short form.
"""

from __future__ import annotations

import math

from longfat.theory import _checks


def pftk_bps(
    *,
    mss_bytes: float,
    rtt_s: float,
    loss: float,
    rto_s: float,
    packets_per_ack: int = 2,
    largest_window_packets: float = math.inf,
) -> float:
    """Return the rate at which Reno sends at a loss rate, in bit/s.

    Source: Padhye et al. 1998, the full model: E[W], the probability Q that a
    loss ends in a timeout, the doubling of timeouts f(p), and the case in
    which the receiver's window limits.

    Valid for long transfers in which, once a packet of a round is lost, the
    rest of that round is lost too (drop-tail), and for an RTT that does not
    grow with the window. It counts what is sent, lost packets included.

    Args:
        mss_bytes: the payload of a segment, in bytes.
        rtt_s: the round-trip time, in seconds.
        loss: the probability that a round loses a packet, above 0 and below 1.
        rto_s: the first retransmission timeout (T0), in seconds.
        packets_per_ack: b; 2 with delayed acknowledgements, else 1.
        largest_window_packets: Wmax, the receiver's window, in packets.

    Returns:
        The rate, in bit/s.

    Raises:
        ValueError: an argument is out of its range.

    20 ms, a loss of 1 % and a timeout of 200 ms: 4 Mbit/s, and less where the
    receiver offers a window of 4 packets:

    >>> path = {"mss_bytes": 1460, "rtt_s": 0.020, "loss": 0.01, "rto_s": 0.2}
    >>> round(pftk_bps(**path) / 1e6, 2)
    4.06
    >>> round(pftk_bps(**path, largest_window_packets=4) / 1e6, 2)
    1.71
    """
    _checks.positive(mss_bytes=mss_bytes, rtt_s=rtt_s, rto_s=rto_s)
    _checks.between_0_and_1(loss=loss)
    _checks.at_least_1(packets_per_ack=packets_per_ack)
    if not largest_window_packets >= 1:
        raise ValueError(f"largest_window_packets must be 1 or more, not {largest_window_packets}")
    kept = (1 - loss) / loss
    window = _unlimited_window(loss, packets_per_ack)
    if window < largest_window_packets:
        rounds = packets_per_ack / 2 * window + 1
    else:
        window = largest_window_packets
        rounds = packets_per_ack / 8 * window + kept / window + 2
    timeouts = _timeout_probability(loss, window) / (1 - loss)
    sent_packets = kept + window + timeouts
    taken_s = rtt_s * rounds + timeouts * rto_s * _backoff(loss)
    return mss_bytes * 8 * sent_packets / taken_s


def tfrc_bps(
    *,
    packet_bytes: float,
    rtt_s: float,
    loss: float,
    rto_s: float | None = None,
    packets_per_ack: int = 1,
) -> float:
    """Return the rate that is fair to TCP at a rate of loss events, in bit/s.

    Source: RFC 5348, section 3.1:
    s / (R sqrt(2bp/3) + t_RTO (3 sqrt(3bp/8) p (1 + 32 p^2))).

    Valid for the full range of loss, as a smooth short form of `pftk_bps`
    without a largest window.

    Args:
        packet_bytes: the size of a packet (s), in bytes.
        rtt_s: the round-trip time (R), in seconds.
        loss: loss events per packet sent (p), above 0 and below 1.
        rto_s: the retransmission timeout, in seconds; 4 RTTs if None, as the
            RFC recommends.
        packets_per_ack: b; the RFC recommends 1.

    Returns:
        The rate, in bit/s.

    Raises:
        ValueError: an argument is out of its range.

    For small losses it is Mathis' formula with the constant sqrt(3/2):

    >>> round(tfrc_bps(packet_bytes=1460, rtt_s=0.020, loss=1e-6) / 1e6, 1)
    715.2
    >>> round(1.2247 * 1460 * 8 / (0.020 * 0.001) / 1e6, 1)
    715.2
    """
    _checks.positive(packet_bytes=packet_bytes, rtt_s=rtt_s)
    _checks.between_0_and_1(loss=loss)
    _checks.at_least_1(packets_per_ack=packets_per_ack)
    rto_s = 4 * rtt_s if rto_s is None else rto_s
    _checks.positive(rto_s=rto_s)
    fast = rtt_s * math.sqrt(2 * packets_per_ack * loss / 3)
    timed_out = 3 * math.sqrt(3 * packets_per_ack * loss / 8) * loss * (1 + 32 * loss**2)
    return packet_bytes * 8 / (fast + rto_s * timed_out)


def _unlimited_window(loss: float, packets_per_ack: int) -> float:
    """E[Wu], equation 13: the mean window at a loss when no receiver limits it."""
    part = (2 + packets_per_ack) / (3 * packets_per_ack)
    return part + math.sqrt(8 * (1 - loss) / (3 * packets_per_ack * loss) + part**2)


def _timeout_probability(loss: float, window: float) -> float:
    """Q(w): the probability that a loss in a window of w ends in a timeout."""
    if window <= 3:  # fewer than three duplicate ACKs can come back
        return 1.0
    kept = 1 - loss
    of_three = 1 - kept**3
    of_window = -math.expm1(window * math.log1p(-loss))
    of_rest = -math.expm1((window - 3) * math.log1p(-loss))
    return min(1.0, of_three * (1 + kept**3 * of_rest) / of_window)


def _backoff(loss: float) -> float:
    """f(p): a sequence of timeouts, each twice as long as the last up to 64 T0."""
    return 1 + sum(math.pow(2 * loss, n) / 2 for n in range(1, 7))
