"""Responsiveness under working conditions: round trips per minute.

Source: draft-ietf-ippm-responsiveness-08, section "Aggregating the Measurements", "For the
TCP-Only Case": with the trimmed means TM of the duration of a TCP handshake (tcp_f), of a request
on the same connection (http_f) and of one on a connection that carries the load (http_l), in
seconds,

    foreign = 60 / ((TM(tcp_f) + TM(http_f)) / 2)
    loaded = 60 / TM(http_l)
    responsiveness = (foreign + loaded) / 2

TM is the mean without the largest 5 % (the draft's parameter TMP of 95 %). Where no request can be
sent on a connection that carries the load, the draft takes TCP's own estimate of the round-trip
time for http_l.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from longfat.theory import _checks

TRIMMED_MEAN_SHARE = 0.95
"""The share of the values that a trimmed mean takes, from the least on."""

_ROUND_TRIPS = 2  # the handshake, and the request


def trimmed_mean(ordered: Sequence[float]) -> float:
    """Return the mean of values without the largest 5 % of them.

    Source: draft-ietf-ippm-responsiveness, the single-sided trimmed mean TM, with its default of
    95 % for TMP. Valid for any number of values: of fewer than 20 only the largest is left out,
    and of one value none.

    Args:
        ordered: the values, from the least to the largest.

    Returns:
        The mean, in the unit of the values.

    Raises:
        ValueError: there are no values.

    >>> trimmed_mean([1.0] * 19 + [100.0])
    1.0
    """
    if not ordered:
        raise ValueError("a mean needs at least one value")
    count = max(1, math.floor(len(ordered) * TRIMMED_MEAN_SHARE))
    return math.fsum(ordered[:count]) / count


def foreign_rpm(ordered_s: Sequence[float]) -> float:
    """Return the round trips per minute of requests that each open a connection.

    Source: draft-ietf-ippm-responsiveness, Foreign_Responsiveness of the TCP-only case. Valid
    for connections without TLS, whose handshake and request are one round trip each. Handshake
    and request are measured together, so that the mean of their sum is trimmed and not each of
    them.

    Args:
        ordered_s: how long they took, from the least to the largest, above 0.

    Returns:
        Round trips per minute.

    Raises:
        ValueError: there are no values, or one is not above 0.

    A handshake and a request of 20 ms each:

    >>> foreign_rpm([0.04] * 20)
    3000.0
    """
    if ordered_s:
        _checks.positive(ordered_s=ordered_s[0])
    return 60 / (trimmed_mean(ordered_s) / _ROUND_TRIPS)
