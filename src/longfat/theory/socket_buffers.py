"""How much data the socket buffers of Linux let be in flight: facts that were measured.

A buffer counts memory, and a packet takes more of it than its data: a head for the kernel's
records and the headers. *Segmentation offload* lets 64 KB of data share one head; without it,
each frame of 1,448 bytes has its own.

**Receive buffer.** Before 6.6 half of it is offered as window, whatever the packets are. Since 6.6
the share is that of the data in the memory of a packet, measured when the first full-sized
segment arrives and not again while segments keep their size. With offload the first packet of a
connection has two segments, 2,896 bytes in 3,800.

**Send buffer.** All that is not acknowledged is in it. A program that waits for room is woken
when a third of the buffer is free, and so the buffer varies between two thirds and full. What is
in flight on average depends on how much a program writes when it is woken:

* It fills the buffer whole, such as by sendfile(2) or large writes: two thirds, since what is
  written in excess of the buffer delays each turn to the acknowledgements of a later one.
* It writes less than a third of the buffer, such as iperf3's ten blocks of 128 KB: as many of
  these as have begun to fit into two thirds of the buffer.

A turn also takes the time in which the link carries one such amount, beside the round trip.

`tests/belief/test_socket_buffers.py` measures all of it on the three kernels, on paths whose rate
is far above.

Sources:

* Linux, include/net/tcp.h, `tcp_win_from_space`; before 6.6 `tcp_adv_win_scale` of ip-sysctl.rst,
  since then `scaling_ratio`, which `tcp_measure_rcv_mss` of net/ipv4/tcp_input.c measures, and
  `tcp_rcv_space_adjust` applies to buffers that grow.
* include/net/sock.h, `sk_stream_min_wspace` (half of what is queued must be free) and
  `sk_stream_memory_free`; net/core/stream.c, `sk_stream_write_space`.
* iperf_api.c of iperf3, `iperf_send`: ten blocks (`multisend`) after each select(2).
* ip-sysctl.rst, `tcp_rmem` and `tcp_wmem`; the commit "tcp: increase tcp_rmem[2] to 32 MB" of 6.16.
"""

from __future__ import annotations

import math

from longfat.theory import _checks

MB = 1024**2

SEND_BUFFER_BYTES = 4 * MB
"""The largest send buffer that Linux gives by itself: the third number of `tcp_wmem`."""

IPERF3_WRITE_BYTES = 10 * 128 * 1024
"""What iperf3 writes to a TCP socket when it is woken."""

WAKE_SHARE = 2 / 3
"""The share of a send buffer that is still used when a waiting program is woken."""

HALF = 0.5
"""The share of a receive buffer that is window before 6.6, with the default `tcp_adv_win_scale`."""

_FIRST_MEASURED = (6, 6)
_FIRST_WITH_32_MB = (6, 16)
_FIRST_WITH_SMALL_HEADS = (6, 3)

_OFFLOADED_BYTES = 64 * 1024
_OFFLOADED_SEND_SHARE = 0.979
_FRAMES_SHARE = 0.617
_LARGE_HEADS_FRAMES_SHARE = 0.54
_OFFLOADED_RECEIVE_SHARE = 0.762


def receive_buffer_bytes(version: tuple[int, int]) -> int:
    """Return the largest receive buffer that Linux gives by itself, in bytes.

    Source: ip-sysctl.rst, `tcp_rmem`. Valid for hosts with 1 GB of memory (4 GB for 32 MB) or more;
    others give a 128th of it.

    Args:
        version: the first two numbers of the release.

    Raises:
        ValueError: a number is negative.

    >>> receive_buffer_bytes((6, 1)), receive_buffer_bytes((6, 16))
    (6291456, 33554432)
    """
    _check_version(version)
    return (32 if version >= _FIRST_WITH_32_MB else 6) * MB


def receive_share(version: tuple[int, int], *, frames: bool = False) -> float:
    """Return the share of a receive buffer that becomes window.

    Source: `tcp_win_from_space`; measured, as this module describes. Valid for Ethernet's frames on
    veth; a network card's driver may take more memory for a frame.

    Args:
        version: the first two numbers of the release.
        frames: packets arrive as single frames, without segmentation offload.

    Raises:
        ValueError: a number is negative.

    >>> receive_share((6, 1)), receive_share((6, 12)), receive_share((7, 2), frames=True)
    (0.5, 0.762, 0.617)
    """
    _check_version(version)
    if version < _FIRST_MEASURED:
        return HALF
    return _FRAMES_SHARE if frames else _OFFLOADED_RECEIVE_SHARE


def send_share(version: tuple[int, int], *, frames: bool = False) -> float:
    """Return the share of a full send buffer that is data.

    Source: measured, as this module describes. Valid for segments of 1,448 bytes. Before 6.3 a
    head had 1 KB of room for headers, where the kernel has tunnels (`MAX_HEADER`).

    Args:
        version: the first two numbers of the release.
        frames: packets are single frames, without segmentation offload.

    Raises:
        ValueError: a number is negative.

    >>> send_share((6, 1)), send_share((6, 1), frames=True), send_share((6, 12), frames=True)
    (0.979, 0.54, 0.617)
    """
    _check_version(version)
    if not frames:
        return _OFFLOADED_SEND_SHARE
    return _FRAMES_SHARE if version >= _FIRST_WITH_SMALL_HEADS else _LARGE_HEADS_FRAMES_SHARE


def send_window_bytes(
    buffer_bytes: float, *, share: float = _OFFLOADED_SEND_SHARE, write_bytes: int | None = None
) -> float:
    """Return how much data a send buffer lets be in flight, in bytes.

    Source: `sk_stream_min_wspace`; measured, as this module describes. Valid where the path's rate
    is far above and nothing is lost.

    Args:
        buffer_bytes: the buffer.
        share: the share of a full buffer that is data, see `send_share`.
        write_bytes: what the program writes when it is woken, such as `IPERF3_WRITE_BYTES`; None
            for a program that fills the buffer, as one does that writes more than a third of it.

    Raises:
        ValueError: a size is not above 0, or the share is not between 0 and 1.

    Linux's 4 MB, with iperf3 and with sendfile(2):

    >>> send_window_bytes(4 * 1024**2, write_bytes=IPERF3_WRITE_BYTES)
    3932160.0
    >>> round(send_window_bytes(4 * 1024**2))
    2868554
    """
    _checks.positive(buffer_bytes=buffer_bytes)
    _checks.between_0_and_1(share=share)
    if write_bytes is not None:
        _checks.positive(write_bytes=write_bytes)
    room_bytes = WAKE_SHARE * share * buffer_bytes
    if write_bytes is None or write_bytes > (1 - WAKE_SHARE) * share * buffer_bytes:
        # The last packet exceeds the buffer, and the first to be acknowledged wakes the program.
        excess_bytes = 2 * _OFFLOADED_BYTES if share >= _OFFLOADED_SEND_SHARE else 0
        return room_bytes + min(excess_bytes, room_bytes)
    return float(write_bytes * (math.floor(room_bytes / write_bytes) + 1))


def _check_version(version: tuple[int, int]) -> None:
    _checks.not_negative(major=version[0], minor=version[1])
