"""Random early detection (RED): what it does to a queue, plain and gentle.

Its adaptive mode is in `adaptive_red`, what to write behind `tc qdisc add ...
red` in `red_parameters`.

Sources:

* S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion
  Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993.
* S. Floyd, "Recommendation on using the 'gentle_' variant of RED", 2000
  (icir.org/floyd/red/gentle.html).
* Linux, include/net/red.h: RED without a gentle mode; from max on every
  packet is marked.
"""

from __future__ import annotations

from longfat.theory import _checks


def average_bytes(*, average_bytes: float, queue_bytes: float, weight: float) -> float:
    """Return the average queue after one more packet has come, in bytes.

    Source: Floyd and Jacobson 1993, section 4: avg = (1 - w) avg + w q.

    Valid for packets that find the link busy; after an idle time the paper
    lets the average decay as if small packets had come meanwhile.

    Args:
        average_bytes: the average before, in bytes.
        queue_bytes: the queue that the packet finds, in bytes.
        weight: w, above 0 and at most 1; the paper's is 0.002.

    Returns:
        The new average, in bytes.

    Raises:
        ValueError: an argument is out of its range.

    >>> average_bytes(average_bytes=1_000_000, queue_bytes=2_000_000, weight=0.002)
    1002000.0
    """
    _checks.not_negative(average_bytes=average_bytes, queue_bytes=queue_bytes)
    _checks.above_0_to_1(weight=weight)
    return (1 - weight) * average_bytes + weight * queue_bytes


def mark_probability(
    average_bytes: float,
    *,
    min_bytes: float,
    max_bytes: float,
    max_probability: float,
    gentle: bool = False,
) -> float:
    """Return the probability p_b of marking or dropping a packet, before counting.

    Source: Floyd and Jacobson 1993, section 4; Floyd 2000 for `gentle`, in
    which the probability goes on from max_p at max to 1 at 2 x max.

    Valid for any average; `counted_probability` turns it into the one used.

    Args:
        average_bytes: the average queue, in bytes.
        min_bytes: the average up to which nothing is marked, in bytes.
        max_bytes: the average at which `max_probability` is reached, in bytes.
        max_probability: max_p, above 0 and at most 1.
        gentle: go on growing above `max_bytes` instead of marking everything.

    Returns:
        The probability, from 0 to 1.

    Raises:
        ValueError: an argument is out of its range.

    The lab's queue with tc's probability of 2 %, half way, and at max:

    >>> lab = {"min_bytes": 2_184_533, "max_bytes": 8_738_133, "max_probability": 0.02}
    >>> mark_probability(5_461_333, **lab)
    0.01
    >>> mark_probability(8_738_133, **lab), mark_probability(8_738_133, **lab, gentle=True)
    (1.0, 0.02)
    """
    _checks.not_negative(average_bytes=average_bytes)
    _checks.thresholds(min_bytes, max_bytes)
    _checks.above_0_to_1(max_probability=max_probability)
    if average_bytes < min_bytes:
        return 0.0
    if average_bytes < max_bytes:
        return max_probability * (average_bytes - min_bytes) / (max_bytes - min_bytes)
    if gentle and average_bytes < 2 * max_bytes:
        return max_probability + (1 - max_probability) * (average_bytes - max_bytes) / max_bytes
    return 1.0


def counted_probability(probability: float, count: int) -> float:
    """Return the probability p_a that marks packets at even distances.

    Source: Floyd and Jacobson 1993, section 4: p_a = p_b / (1 - count x p_b).

    Valid for any p_b; the distance between marks is then uniform from 1 to
    1 / p_b packets.

    Args:
        probability: p_b.
        count: the packets since the last marked one, 0 or more.

    Returns:
        The probability, from 0 to 1.

    Raises:
        ValueError: an argument is out of its range.

    >>> [counted_probability(0.02, count) for count in (0, 25, 50, 60)]
    [0.02, 0.04, 1.0, 1.0]
    """
    if not 0 <= probability <= 1:
        raise ValueError(f"probability must be from 0 to 1, not {probability}")
    _checks.not_negative(count=count)
    left = 1 - count * probability
    return 1.0 if left <= probability else probability / left
