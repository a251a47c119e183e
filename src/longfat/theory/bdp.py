"""The bandwidth-delay product, and the TCP buffer and window that fill a path.

Sources:

* RFC 1072, section 1: a path is filled by one BDP of unacknowledged data; the
  name *long, fat network*.
* RFC 7323, section 2: the window scale option. The window field has 16 bits,
  the shift is at most 14.
* Linux, Documentation/networking/ip-sysctl.rst, `tcp_adv_win_scale`: how much
  of a socket's receive buffer is offered as window. The option is obsolete
  since Linux 6.6, which measures the overhead of real packets instead.
"""

from __future__ import annotations

import re

from longfat.theory import _checks

MAX_FIELD = 65535
"""The largest number that the window field of a segment holds (16 bits)."""

MAX_SHIFT = 14
"""The largest shift of the window scale option, RFC 7323, section 2.3."""

MAX_WINDOW_BYTES = MAX_FIELD << MAX_SHIFT
"""The largest window that TCP can tell: 65,535 x 2^14 = 1,073,725,440 bytes."""

DEFAULT_ADV_WIN_SCALE = 1
"""Linux's `net.ipv4.tcp_adv_win_scale` before 6.6: half of a buffer is window."""

_FIRST_WITHOUT_HALF_RULE = (6, 6)


def bdp_bits(rate_bps: float, rtt_s: float) -> float:
    """Return the bandwidth-delay product in bits: what a full path holds.

    Source: RFC 1072, section 1.

    Args:
        rate_bps: the rate of the path's bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.

    Raises:
        ValueError: one of them is negative.

    >>> bdp_bits(10e9, 0.020)
    200000000.0
    """
    _checks.not_negative(rate_bps=rate_bps, rtt_s=rtt_s)
    return rate_bps * rtt_s


def bdp_bytes(rate_bps: float, rtt_s: float) -> float:
    """Return the bandwidth-delay product in bytes.

    Source: RFC 1072, section 1.

    Args:
        rate_bps: the rate of the path's bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.

    Raises:
        ValueError: one of them is negative.

    10 Gbit/s and 20 ms make 25 million bytes; 10 Gbit/s and 50 ms make 59.6 MB
    (of 1024^2 bytes):

    >>> bdp_bytes(10e9, 0.020)
    25000000.0
    >>> bdp_bytes(10e9, 0.050)
    62500000.0
    >>> round(bdp_bytes(10e9, 0.050) / 1024**2, 1)
    59.6
    """
    return bdp_bits(rate_bps, rtt_s) / 8


def transmission_time_s(size_bytes: float, rate_bps: float) -> float:
    """Return how long a link takes to put data on the line, in seconds.

    Source: the definition of a rate; RFC 1072, section 1, sets it against the RTT.

    Args:
        size_bytes: the data, in bytes.
        rate_bps: the link's rate, in bit/s.

    Raises:
        ValueError: the size is negative, or the rate is not above 0.

    1 MB (8,388,608 bits) at 10 Gbit/s takes 0.84 ms, 1.68 % of an RTT of 50 ms:

    >>> round(transmission_time_s(1024**2, 10e9) * 1e3, 2)
    0.84
    >>> round(transmission_time_s(1024**2, 10e9) / 0.050 * 100, 2)
    1.68
    """
    _checks.not_negative(size_bytes=size_bytes)
    _checks.positive(rate_bps=rate_bps)
    return size_bytes * 8 / rate_bps


def throughput_bps(window_bytes: float, rtt_s: float) -> float:
    """Return the most that a window lets through on an empty path, in bit/s.

    Source: RFC 1072, section 1: one window is sent each round trip.

    Args:
        window_bytes: the window, in bytes.
        rtt_s: the round-trip time, in seconds.

    Raises:
        ValueError: the window is negative, or the time is not above 0.

    The window of Linux's 16 MB buffer at 20 ms gives 3.36 Gbit/s:

    >>> round(throughput_bps(8_388_608, 0.020) / 1e9, 2)
    3.36
    """
    _checks.not_negative(window_bytes=window_bytes)
    _checks.positive(rtt_s=rtt_s)
    return window_bytes * 8 / rtt_s


def packets_in_flight(*, rate_bps: float, rtt_s: float, packet_bytes: float) -> float:
    """Return how many packets fill a path.

    Source: RFC 3649, abstract. Valid for a path without a queue.

    Args:
        rate_bps: the rate of the path's bottleneck, in bit/s.
        rtt_s: the round-trip time of the idle path, in seconds.
        packet_bytes: the size of a packet, in bytes.

    Raises:
        ValueError: a rate or time is negative, or a packet has no size.

    >>> round(packets_in_flight(rate_bps=10e9, rtt_s=0.100, packet_bytes=1500))
    83333
    """
    _checks.positive(packet_bytes=packet_bytes)
    return bdp_bytes(rate_bps, rtt_s) / packet_bytes


def has_half_rule(release: str) -> bool:
    """Return whether a Linux release offers a fixed part of its buffers as window.

    Source: ip-sysctl.rst, `tcp_adv_win_scale`: obsolete since 6.6.

    Args:
        release: the release, such as `6.1.192`.

    Raises:
        ValueError: it does not begin as a release does.

    >>> has_half_rule("6.1.192"), has_half_rule("6.6.0"), has_half_rule("4.18")
    (True, False, True)
    """
    found = re.match(r"(\d+)\.(\d+)", release)
    if found is None:
        raise ValueError(f"{release!r} is not a Linux release such as 6.1.192")
    return (int(found[1]), int(found[2])) < _FIRST_WITHOUT_HALF_RULE


def window_bytes(buffer_bytes: int, *, adv_win_scale: int = DEFAULT_ADV_WIN_SCALE) -> int:
    """Return the window that Linux before 6.6 offers from a receive buffer, in bytes.

    Source: ip-sysctl.rst, `tcp_adv_win_scale`: the overhead is counted as
    bytes / 2^scale for a scale above 0, as bytes - bytes / 2^-scale otherwise.

    Args:
        buffer_bytes: the buffer (the third number of `tcp_rmem`), in bytes.
        adv_win_scale: the sysctl.

    >>> window_bytes(16_777_216)
    8388608
    >>> window_bytes(52_428_800)
    26214400
    >>> window_bytes(16_777_216, adv_win_scale=2), window_bytes(16_777_216, adv_win_scale=-2)
    (12582912, 4194304)
    """
    if adv_win_scale <= 0:
        return buffer_bytes >> -adv_win_scale
    return buffer_bytes - (buffer_bytes >> adv_win_scale)


def buffer_needed_bytes(
    window_bytes: float, *, adv_win_scale: int = DEFAULT_ADV_WIN_SCALE
) -> float:
    """Return the receive buffer that Linux before 6.6 needs for a window, in bytes.

    Source: as for `window_bytes`, whose inverse it is. With the default scale
    this is the half rule: a buffer of twice the BDP.

    Args:
        window_bytes: the window, in bytes; to fill a path, its BDP.
        adv_win_scale: the sysctl.

    >>> buffer_needed_bytes(25_000_000)
    50000000.0
    >>> buffer_needed_bytes(12_582_912, adv_win_scale=2)
    16777216.0
    """
    if adv_win_scale <= 0:
        return window_bytes * 2.0**-adv_win_scale
    return window_bytes / (1 - 2.0**-adv_win_scale)


def shift_needed(window_bytes: float) -> int:
    """Return the least window scale shift with which a window can be announced.

    Source: RFC 7323, section 2.2.

    Args:
        window_bytes: the window, in bytes.

    Raises:
        ValueError: no shift is enough.

    >>> shift_needed(65_535), shift_needed(65_536), shift_needed(25_000_000)
    (0, 1, 9)
    """
    for shift in range(MAX_SHIFT + 1):
        if scaled_window_bytes(MAX_FIELD, shift) >= window_bytes:
            return shift
    raise ValueError(f"a window of {window_bytes:,.0f} bytes is more than TCP can announce")


def scaled_window_bytes(field: int, shift: int) -> int:
    """Return the window that a segment announces, in bytes.

    Source: RFC 7323, section 2.3: the field, shifted to the left.

    Args:
        field: the segment's window field, 0 to 65535.
        shift: the shift that was agreed on, 0 to 14; 9 multiplies by 512.

    Raises:
        ValueError: a number is out of range.

    >>> scaled_window_bytes(16_129, 9)
    8258048
    >>> scaled_window_bytes(2_049, 9)
    1049088
    >>> scaled_window_bytes(65_535, 14)
    1073725440
    """
    if not 0 <= field <= MAX_FIELD:
        raise ValueError(f"the window field holds 0 to {MAX_FIELD}, not {field}")
    if not 0 <= shift <= MAX_SHIFT:
        raise ValueError(f"the window scale shift is 0 to {MAX_SHIFT}, not {shift}")
    return field << shift
