"""How large a router's buffer should be, and how long a full one holds a packet.

Sources:

* C. Villamizar, C. Song, "High Performance TCP in ANSNET", ACM SIGCOMM CCR
  24(5), 1994: a buffer of one bandwidth-delay product.
* G. Appenzeller, I. Keslassy, N. McKeown, "Sizing Router Buffers", ACM SIGCOMM
  2004: the square root of the number of flows less.
"""

from __future__ import annotations

import math

from longfat.theory import _checks


def router_buffer_bits(*, rate_bps: float, rtt_s: float, flows: int = 1) -> float:
    """Return the buffer that keeps a bottleneck busy, in bits.

    Source: Villamizar and Song 1994: C x RTT. Appenzeller et al. 2004:
    C x RTT / sqrt(N) with N flows.

    Valid for long TCP flows with Reno, which halves its window. The division
    by sqrt(N) holds for many flows (the paper: hundreds and more) that do not
    halve at the same time; a few flows in step need the whole C x RTT.

    Args:
        rate_bps: the rate of the router's outgoing link (C), in bit/s.
        rtt_s: the mean round-trip time of the flows without queues, in seconds.
        flows: the number of long flows (N), 1 or more.

    Returns:
        The buffer, in bits.

    Raises:
        ValueError: an argument is out of its range.

    The papers' and labs' 10 Gbit/s x 250 ms = 2.5 Gbit; with 50,000 flows some
    10 Mbit; and a link with 10,000 flows saves 99 %:

    >>> router_buffer_bits(rate_bps=10e9, rtt_s=0.250) / 1e9
    2.5
    >>> round(router_buffer_bits(rate_bps=10e9, rtt_s=0.250, flows=50_000) / 1e6, 1)
    11.2
    >>> full = router_buffer_bits(rate_bps=2.5e9, rtt_s=0.250)
    >>> 1 - router_buffer_bits(rate_bps=2.5e9, rtt_s=0.250, flows=10_000) / full
    0.99
    """
    _checks.positive(rate_bps=rate_bps, rtt_s=rtt_s)
    _checks.at_least_1(flows=flows)
    return rate_bps * rtt_s / math.sqrt(flows)


def router_buffer_bytes(*, rate_bps: float, rtt_s: float, flows: int = 1) -> float:
    """Return the buffer that keeps a bottleneck busy, in bytes.

    Source and bound: as for `router_buffer_bits`.

    Args:
        rate_bps: the rate of the router's outgoing link (C), in bit/s.
        rtt_s: the mean round-trip time of the flows without queues, in seconds.
        flows: the number of long flows (N), 1 or more.

    Returns:
        The buffer, in bytes.

    Raises:
        ValueError: an argument is out of its range.

    10 Gbit/s and 20 ms, as in the lab on router buffers, which types 25 MB
    (26,214,400 bytes):

    >>> router_buffer_bytes(rate_bps=10e9, rtt_s=0.020)
    25000000.0
    """
    return router_buffer_bits(rate_bps=rate_bps, rtt_s=rtt_s, flows=flows) / 8


def queueing_delay_s(*, queue_bytes: float, rate_bps: float) -> float:
    """Return how long a packet waits behind a queue, in seconds.

    Source: the definition of a rate.

    Valid for a first-in, first-out queue whose link always sends at its rate.

    Args:
        queue_bytes: the bytes that wait before the packet.
        rate_bps: the rate of the outgoing link, in bit/s.

    Returns:
        The waiting time, in seconds.

    Raises:
        ValueError: an argument is out of its range.

    A full buffer of 25 MB before 1 Gbit/s adds 210 ms to the 20 ms of the path
    (the lab's ping had at most 228 ms):

    >>> round(queueing_delay_s(queue_bytes=26_214_400, rate_bps=1e9), 3)
    0.21
    """
    _checks.not_negative(queue_bytes=queue_bytes)
    _checks.positive(rate_bps=rate_bps)
    return queue_bytes * 8 / rate_bps
