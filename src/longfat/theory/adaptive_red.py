"""Adaptive RED: RED that finds its own max_p, and its own thresholds for a delay.

Source: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for
Increasing the Robustness of RED's Active Queue Management", 2001. Linux has
the adaptation of max_p (`tc ... red ... adaptive`; include/net/red.h), not the
choice of thresholds and weight.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from longfat.theory import _checks

LEAST_PROBABILITY = 0.01
"""Adaptive RED lowers max_p while it is at least this."""

MOST_PROBABILITY = 0.5
"""Adaptive RED raises max_p while it is at most this."""

ADAPT_INTERVAL_S = 0.5
"""Adaptive RED looks at the average this often, in seconds."""

ADAPT_ALPHA = 0.01
"""Adaptive RED's step upwards: this, or a quarter of max_p if that is less."""

ADAPT_BETA = 0.9
"""Adaptive RED's factor downwards."""


class Target(NamedTuple):
    """Where adaptive RED keeps the average queue.

    Attributes:
        low_bytes: below it, max_p is lowered.
        high_bytes: above it, max_p is raised.
    """

    low_bytes: float
    high_bytes: float


def adaptive_target(*, min_bytes: float, max_bytes: float) -> Target:
    """Return the range in which adaptive RED keeps the average queue.

    Source: Floyd, Gummadi and Shenker 2001: from min + 0.4 (max - min) to
    min + 0.6 (max - min). (tc-red(8) names "(max - min) / 2" as the target;
    Linux does as the paper.)

    Valid for queues whose flows slow down when packets are marked.

    Args:
        min_bytes: RED's min, in bytes.
        max_bytes: RED's max, in bytes.

    Returns:
        The range, in bytes.

    Raises:
        ValueError: max is not above min.

    The lab's min and max ask for a queue of 4.8 to 6.1 million bytes, 38 to
    49 ms at 1 Gbit/s:

    >>> target = adaptive_target(min_bytes=2_184_533, max_bytes=8_738_133)
    >>> round(target.low_bytes), round(target.high_bytes)
    (4805973, 6116693)
    """
    _checks.thresholds(min_bytes, max_bytes)
    span = max_bytes - min_bytes
    return Target(min_bytes + 0.4 * span, min_bytes + 0.6 * span)


def adapted_probability(max_probability: float, average_bytes: float, target: Target) -> float:
    """Return max_p after one look of adaptive RED, taken every 0.5 s.

    Source: Floyd, Gummadi and Shenker 2001, figure 1, and Linux,
    include/net/red.h: above the target max_p grows by min(0.01, max_p / 4)
    while it is at most 0.5; below, it shrinks to nine tenths while it is at
    least 0.01. The bounds can be passed by the last step.

    Valid for averages that follow the queue within a few looks.

    Args:
        max_probability: max_p before, above 0 and at most 1.
        average_bytes: the average queue, in bytes.
        target: where the average should be.

    Returns:
        The new max_p.

    Raises:
        ValueError: an argument is out of its range.

    >>> target = Target(4e6, 6e6)
    >>> adapted_probability(0.02, 7e6, target), adapted_probability(0.1, 7e6, target)
    (0.025, 0.11)
    >>> round(adapted_probability(0.2, 3e6, target), 3), adapted_probability(0.2, 5e6, target)
    (0.18, 0.2)
    """
    _checks.above_0_to_1(max_probability=max_probability)
    _checks.not_negative(average_bytes=average_bytes)
    if average_bytes > target.high_bytes and max_probability <= MOST_PROBABILITY:
        return max_probability + min(ADAPT_ALPHA, max_probability / 4)
    if average_bytes < target.low_bytes and max_probability >= LEAST_PROBABILITY:
        return max_probability * ADAPT_BETA
    return max_probability


def adaptive_min_packets(*, rate_bps: float, delay_s: float, packet_bytes: float) -> float:
    """Return the min that adaptive RED takes for a delay; max is three times as much.

    Source: Floyd, Gummadi and Shenker 2001: half the packets that the link
    sends in the wanted delay, but at least 5. The average then stays about
    2 x min.

    Valid for queues counted in packets of one size.

    Args:
        rate_bps: the link's rate, in bit/s.
        delay_s: the mean queueing delay that is wanted, in seconds.
        packet_bytes: the mean size of a packet, in bytes.

    Returns:
        The threshold, in packets.

    Raises:
        ValueError: an argument is not above 0.

    5 ms at 1 Gbit/s, and at 10 Mbit/s:

    >>> round(adaptive_min_packets(rate_bps=1e9, delay_s=0.005, packet_bytes=1000), 1)
    312.5
    >>> adaptive_min_packets(rate_bps=10e6, delay_s=0.005, packet_bytes=1000)
    5.0
    """
    _checks.positive(rate_bps=rate_bps, delay_s=delay_s, packet_bytes=packet_bytes)
    return max(5.0, delay_s * rate_bps / (8 * packet_bytes) / 2)


def adaptive_weight(*, rate_bps: float, packet_bytes: float) -> float:
    """Return the weight w that adaptive RED takes for a link.

    Source: Floyd, Gummadi and Shenker 2001: w = 1 - exp(-1 / C) with C in
    packets a second, so that the average looks back over about a second.

    Valid for round-trip times of about 100 ms, of which that is ten.

    Args:
        rate_bps: the link's rate, in bit/s.
        packet_bytes: the mean size of a packet, in bytes.

    Returns:
        The weight.

    Raises:
        ValueError: an argument is not above 0.

    >>> f"{adaptive_weight(rate_bps=1e9, packet_bytes=1000):.1e}"
    '8.0e-06'
    """
    _checks.positive(rate_bps=rate_bps, packet_bytes=packet_bytes)
    return -math.expm1(-8 * packet_bytes / rate_bps)
