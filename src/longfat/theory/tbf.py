"""The token bucket filter: its burst, its limit, and the delay that they make.

Sources:

* tc-tbf(8), "PARAMETERS" and "EXAMPLE & USAGE".
* iproute2, tc/q_tbf.c: `latency` and `limit` in each other's terms.

tc writes sizes with powers of 1024 and rates with powers of 1000; here
everything is in bytes and bit/s.
"""

from __future__ import annotations

from longfat.theory import _checks


def burst_bytes(*, rate_bps: float, hz: int) -> float:
    """Return the least burst with which a rate is reached, in bytes.

    Source: tc-tbf(8), `burst`: the rate divided by HZ, the ticks of the
    kernel's timer in a second.

    Valid for kernels that wake a queue at timer ticks. Those with
    high-resolution timers (nearly all today) reach the rate with less; there
    it is a safe rule, on which the labs' numbers rest. A burst is never less
    than a packet, offloaded ones (up to 64 KB) included.

    Args:
        rate_bps: the rate, in bit/s.
        hz: the kernel's HZ: 100, 250, 300 or 1000.

    Returns:
        The burst, in bytes.

    Raises:
        ValueError: an argument is not above 0.

    The man page's 10 Mbit/s ("at least 10kbyte") with HZ 100, then the labs'
    10 Gbit/s, 1 Gbit/s and 100 Mbit/s with HZ 250:

    >>> burst_bytes(rate_bps=10e6, hz=100)
    12500.0
    >>> [burst_bytes(rate_bps=rate, hz=250) for rate in (10e9, 1e9, 100e6)]
    [5000000.0, 500000.0, 50000.0]
    """
    _checks.positive(rate_bps=rate_bps, hz=hz)
    return rate_bps / 8 / hz


def limit_bytes(
    *,
    rate_bps: float,
    latency_s: float,
    burst_bytes: float,
    peakrate_bps: float | None = None,
    minburst_bytes: float = 0.0,
) -> float:
    """Return the limit that tc makes of a latency, in bytes.

    Source: iproute2, tc/q_tbf.c: rate x latency + burst, or the same of the
    peak rate if that is less.

    Valid for packets that come while the bucket is full.

    Args:
        rate_bps: the rate, in bit/s.
        latency_s: the longest time that a packet may wait, in seconds.
        burst_bytes: the bucket, in bytes.
        peakrate_bps: the peak rate, in bit/s, if there is one.
        minburst_bytes: the bucket of the peak rate, in bytes.

    Returns:
        The limit, in bytes.

    Raises:
        ValueError: an argument is out of its range.

    The man page's example (0.5mbit, burst 5kb, latency 70ms, peakrate 1mbit,
    minburst 1540):

    >>> limit_bytes(
    ...     rate_bps=0.5e6,
    ...     latency_s=0.070,
    ...     burst_bytes=5 * 1024,
    ...     peakrate_bps=1e6,
    ...     minburst_bytes=1540,
    ... )
    9495.0
    """
    _checks.positive(rate_bps=rate_bps, burst_bytes=burst_bytes)
    _checks.not_negative(latency_s=latency_s, minburst_bytes=minburst_bytes)
    limit = rate_bps / 8 * latency_s + burst_bytes
    if peakrate_bps is None:
        return limit
    _checks.positive(peakrate_bps=peakrate_bps)
    return min(limit, peakrate_bps / 8 * latency_s + minburst_bytes)


def latency_s(*, rate_bps: float, limit_bytes: float, burst_bytes: float) -> float:
    """Return the latency that `tc qdisc show` prints for a limit, in seconds.

    Source: iproute2, tc/q_tbf.c: limit / rate less the time of a burst; the
    inverse of `limit_bytes` without a peak rate.

    Valid for packets that come while the bucket is full. Where traffic keeps
    the bucket empty, packets wait longer: limit x 8 / rate.

    Args:
        rate_bps: the rate, in bit/s.
        limit_bytes: the limit, in bytes.
        burst_bytes: the bucket, in bytes.

    Returns:
        The time, in seconds; negative where the limit is less than the burst.

    Raises:
        ValueError: an argument is not above 0.

    The lab's 1 Gbit/s with burst 500000 and limit 26214400:

    >>> round(latency_s(rate_bps=1e9, limit_bytes=26_214_400, burst_bytes=500_000), 4)
    0.2057
    """
    _checks.positive(rate_bps=rate_bps, limit_bytes=limit_bytes, burst_bytes=burst_bytes)
    return (limit_bytes - burst_bytes) * 8 / rate_bps
