"""CUBIC's throughput at a loss rate, with the region in which it behaves like Reno.

Source: RFC 9438, "CUBIC for Fast and Long-Distance Networks", 2023, sections 4.3
(the Reno-friendly region) and 5 (the response function).

`loss.cubic_window_packets` gives the window as the tables of RFC 8312 have it, with
RFC 3649's rounded 1.2 / sqrt(p) for Reno; here Reno's part is the sqrt(3/2) / sqrt(p) that
RFC 9438 derives, so that the curve meets Mathis' one exactly where Reno rules.
"""

from __future__ import annotations

import math

from longfat.theory import _checks
from longfat.theory.loss import CUBIC_BETA, CUBIC_C


def cubic_bps(
    *, mss_bytes: float, rtt_s: float, loss: float, c: float = CUBIC_C, beta: float = CUBIC_BETA
) -> float:
    """Return the throughput that a loss rate allows CUBIC, in bit/s.

    Source: RFC 9438. Section 5: the average window of the cubic part is
    (C (3 + beta) / (4 (1 - beta)))^(1/4) x RTT^(3/4) / p^(3/4). Section 4.3: in the
    Reno-friendly region CUBIC grows by alpha = 3 (1 - beta) / (1 + beta) a round trip,
    which gives sqrt(alpha (1 + beta) / (2 (1 - beta) p)) = sqrt(3/2) / sqrt(p), as Reno has.
    The larger of the two rules.

    Valid for small losses at equal distances (below about 1 %), windows that no buffer
    limits, and a path that is not full.

    Args:
        mss_bytes: the payload of a segment, in bytes.
        rtt_s: the round-trip time, in seconds.
        loss: the fraction of packets that are lost, above 0 and below 1.
        c: CUBIC's C.
        beta: the share of the window that a loss leaves.

    Returns:
        The throughput, in bit/s.

    Raises:
        ValueError: an argument is out of its range.

    At 100 ms CUBIC is above Reno; at 1 ms and the same loss it is Reno, whose throughput
    is Mathis' with the constant sqrt(3/2):

    >>> round(cubic_bps(mss_bytes=1460, rtt_s=0.1, loss=1e-6) / 1e6)
    692
    >>> from longfat.theory.loss import EVERY_PACKET_ACKED, mathis_bps
    >>> mathis = mathis_bps(mss_bytes=1460, rtt_s=0.001, loss=1e-4, constant=EVERY_PACKET_ACKED)
    >>> math.isclose(cubic_bps(mss_bytes=1460, rtt_s=0.001, loss=1e-4), mathis)
    True
    """
    _checks.positive(mss_bytes=mss_bytes, rtt_s=rtt_s, c=c)
    _checks.between_0_and_1(loss=loss, beta=beta)
    factor = math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25)
    cubic = factor * math.pow(rtt_s / loss, 0.75)
    friendly = math.sqrt(1.5 / loss)
    return max(cubic, friendly) * mss_bytes * 8 / rtt_s
