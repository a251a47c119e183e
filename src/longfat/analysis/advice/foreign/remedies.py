"""Lines to paste against causes that several kinds of files can show."""

from __future__ import annotations

from longfat.analysis.advice.recommendation import Line

SENDER, RECEIVER = "the sender", "the receiver"
"""Where lines to paste belong; the hosts have no names here."""

LARGER_BUFFERS_BYTES = 32 << 20
"""The largest receive buffer of Linux since 6.16; what is recommended where no rate is known."""

PROBING = Line(
    node=SENDER,
    text="sysctl -w net.ipv4.tcp_mtu_probing=1",
    why="after timeouts it sends smaller segments, without ICMP (RFC 4821)",
)
"""The line against an MTU black hole."""

SCALING = tuple(
    Line(node=node, text="sysctl -w net.ipv4.tcp_window_scaling=1", why="the default; RFC 7323")
    for node in (SENDER, RECEIVER)
)
"""The lines that switch window scaling on."""

RECEIVE_BUFFER = Line(
    node=RECEIVER,
    text=f"sysctl -w net.ipv4.tcp_rmem='4096 131072 {LARGER_BUFFERS_BYTES}'",
    why="32 MB, as Linux has it since 6.16; with the rate of the path, `longfat tune` is exact",
)
"""The line that lets the receive window grow to that of recent kernels."""

SEND_BUFFER = Line(
    node=SENDER,
    text=f"sysctl -w net.ipv4.tcp_wmem='4096 16384 {LARGER_BUFFERS_BYTES}'",
    why="as large as recent receive buffers; with the rate of the path, `longfat tune` is exact",
)
"""The line that lets the send buffer grow."""
