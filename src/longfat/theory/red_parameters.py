"""What to write behind `tc qdisc add ... red`, and what tc and the kernel make of it.

Sources:

* tc-red(8), "PARAMETERS": the defaults and guidelines.
* iproute2, tc/q_red.c and tc/tc_red.c: tc turns `burst` into the weight
  w = 2^-shift of the average.
* Linux, include/net/red.h, `red_check_params`: which weights the kernel takes.
* S. Floyd, "RED: Discussions of Setting Parameters", 1997
  (icir.org/floyd/REDparameters.txt): max is three times min.

RED's lab, with limit 26,214,400, takes max = limit / 3 and min = max / 4 (the
man page: max = limit / 4 and min = max / 3) and types `burst 2185`, half the
guideline's 4369. 2185 is the least burst that tc accepts with that min, and it
switches the averaging almost off (w = 1/2). 4369 would average well
(w = 2^-12), but no recent kernel takes it with thresholds of that size: it
keeps the average times 2^shift in 32 bits, and answers "Invalid argument".
"""

from __future__ import annotations

import math

from longfat.theory import _checks

AVPKT_BYTES = 1000
"""tc-red(8): a good value of `avpkt`."""

PROBABILITY = 0.02
"""tc's default of `probability`; tc-red(8) suggests 0.01 or 0.02."""

_SHIFTS = range(1, 32)


def default_max_bytes(limit_bytes: int) -> int:
    """Return the max that tc takes for a limit, in bytes.

    Source: tc-red(8): limit / 4.

    Valid where min is not written either; else tc takes three times min.

    Args:
        limit_bytes: the hard limit of the queue, in bytes.

    Raises:
        ValueError: the limit is not above 0.

    The lab's own max for this limit is a third, 8,738,133:

    >>> default_max_bytes(26_214_400)
    6553600
    """
    _checks.positive(limit_bytes=limit_bytes)
    return limit_bytes // 4


def default_min_bytes(max_bytes: int) -> int:
    """Return the min that tc takes for a max, in bytes.

    Source: tc-red(8): max / 3; Floyd 1997: max is three times min.

    Valid where min is not written.

    Args:
        max_bytes: RED's max, in bytes.

    Raises:
        ValueError: max is not above 0.

    >>> default_min_bytes(6_553_600)
    2184533
    """
    _checks.positive(max_bytes=max_bytes)
    return max_bytes // 3


def guideline_burst_packets(
    *, min_bytes: int, max_bytes: int, avpkt_bytes: int = AVPKT_BYTES
) -> int:
    """Return the burst that the man page advises and tc takes by itself, in packets.

    Source: tc-red(8): (min + min + max) / (3 x avpkt).

    Valid for queues whose `weight_shift` the kernel takes, see
    `largest_weight_shift`.

    Args:
        min_bytes: RED's min, in bytes.
        max_bytes: RED's max, in bytes.
        avpkt_bytes: the mean size of a packet, in bytes.

    Raises:
        ValueError: an argument is not above 0.

    The man page's example types 55 where the guideline says 50; the lab types
    2185 where it says 4369:

    >>> guideline_burst_packets(min_bytes=30_000, max_bytes=90_000)
    50
    >>> guideline_burst_packets(min_bytes=2_184_533, max_bytes=8_738_133)
    4369
    """
    _checks.positive(min_bytes=min_bytes, max_bytes=max_bytes, avpkt_bytes=avpkt_bytes)
    return (2 * min_bytes + max_bytes) // (3 * avpkt_bytes)


def least_burst_packets(*, min_bytes: int, avpkt_bytes: int = AVPKT_BYTES) -> int:
    """Return the least burst that tc accepts, in packets.

    Source: iproute2, tc/tc_red.c: burst + 1 - min / avpkt must be at least 1.

    Valid for iproute2 up to 6.x.

    Args:
        min_bytes: RED's min, in bytes.
        avpkt_bytes: the mean size of a packet, in bytes.

    Raises:
        ValueError: an argument is not above 0.

    The lab's burst is just this:

    >>> least_burst_packets(min_bytes=2_184_533)
    2185
    """
    _checks.positive(min_bytes=min_bytes, avpkt_bytes=avpkt_bytes)
    return -(-min_bytes // avpkt_bytes)


def weight_shift(*, min_bytes: int, burst_packets: int, avpkt_bytes: int = AVPKT_BYTES) -> int:
    """Return the shift s of the weight w = 2^-s that tc makes of a burst.

    Source: iproute2, tc/tc_red.c, and the table in Linux, include/net/red.h:
    the least s for which burst + 1 - min / avpkt <= (1 - (1 - w)^burst) / w,
    so that a burst into an empty queue brings the average to min, not further.
    `tc -d qdisc show` prints it as `ewma`; tc warns from 10 on.

    Valid for iproute2 up to 6.x.

    Args:
        min_bytes: RED's min, in bytes.
        burst_packets: the burst, in packets.
        avpkt_bytes: the mean size of a packet, in bytes.

    Raises:
        ValueError: an argument is not above 0, min is not more than a packet,
            or the burst is less than the least or too large for any weight.

    red.h's table for min / avpkt = 32, then the lab's burst and the guideline's:

    >>> [weight_shift(min_bytes=32_000, burst_packets=burst) for burst in (34, 38, 56, 100)]
    [2, 3, 5, 7]
    >>> weight_shift(min_bytes=2_184_533, burst_packets=2185)
    1
    >>> weight_shift(min_bytes=2_184_533, burst_packets=4369)
    12
    """
    _checks.positive(min_bytes=min_bytes, burst_packets=burst_packets, avpkt_bytes=avpkt_bytes)
    if min_bytes <= avpkt_bytes:
        raise ValueError(
            f"min_bytes must be more than avpkt_bytes ({avpkt_bytes}), not {min_bytes}"
        )
    least = least_burst_packets(min_bytes=min_bytes, avpkt_bytes=avpkt_bytes)
    if burst_packets < least:
        raise ValueError(f"burst_packets must be {least} or more for this min, not {burst_packets}")
    above = burst_packets + 1 - min_bytes / avpkt_bytes
    for shift in _SHIFTS:
        weight = 2.0**-shift
        if above <= -math.expm1(burst_packets * math.log1p(-weight)) / weight:
            return shift
    raise ValueError(f"burst_packets is too large for this min: {burst_packets}")


def largest_weight_shift(max_bytes: int) -> int:
    """Return the largest shift that the kernel takes with a max.

    Source: Linux, include/net/red.h, `red_check_params`: the bits of max and
    the shift must be less than 32 together.

    Valid for kernels since 2021; those of some years before allowed a shift of
    one more. In 6.1 it was tried: the lab's red is refused with `burst 4369`.

    Args:
        max_bytes: RED's max, in bytes.

    Raises:
        ValueError: max is not above 0, or too large for any weight.

    The lab's max leaves 7 of the guideline's 12:

    >>> largest_weight_shift(8_738_133)
    7
    >>> largest_weight_shift(90_000)
    14
    """
    _checks.positive(max_bytes=max_bytes)
    shift = 31 - max_bytes.bit_length()
    if shift < 1:
        raise ValueError(f"max_bytes must be less than {2**30}, not {max_bytes}")
    return shift


def least_limit_bytes(*, max_bytes: int, burst_packets: int, avpkt_bytes: int = AVPKT_BYTES) -> int:
    """Return what the limit must be more than, in bytes.

    Source: tc-red(8), `limit`: higher than max + burst, better a few times max.

    Valid as advice: neither tc nor the kernel checks it.

    Args:
        max_bytes: RED's max, in bytes.
        burst_packets: the burst, in packets.
        avpkt_bytes: the mean size of a packet, in bytes.

    Raises:
        ValueError: an argument is not above 0.

    The lab's limit of 26,214,400 is well above:

    >>> least_limit_bytes(max_bytes=8_738_133, burst_packets=2185)
    10923133
    """
    _checks.positive(max_bytes=max_bytes, burst_packets=burst_packets, avpkt_bytes=avpkt_bytes)
    return max_bytes + burst_packets * avpkt_bytes
