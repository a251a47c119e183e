"""What to leave as it is on a long, fat path, and further remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice import arithmetic
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.analysis.advice.need import FRAME_BYTES, MOST_STREAMS, rate_text, time_text
from longfat.analysis.advice.tuning_lines import paces_itself
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.advice.need import Need


def keep(need: Need) -> Iterator[tuple[str, str]]:
    """Yield settings to leave as they are, each with its reason."""
    path, buffer_bytes, lost = need.path, need.buffer_bytes, need.loss
    # At most half of a buffer is window, as far as a version's rule goes.
    window_bytes = min(buffer_bytes / 2, bdp.LARGEST_WINDOW_BYTES)
    shift = bdp.shift_needed(window_bytes)
    if shift:
        yield (
            "net.ipv4.tcp_window_scaling=1",
            f"a window of {window_bytes:,.0f} B needs a shift of {shift} ("
            f"{bdp.LARGEST_FIELD:,} x 2^{shift} = "
            f"{bdp.scaled_window_bytes(bdp.LARGEST_FIELD, shift):,} B)",
        )
    # RFC 7323, section 5: sequence numbers count 2^32 bytes; an old segment may live 2 minutes.
    wrap_s = 2**32 * 8 / path.rate_bps
    if wrap_s < 120:
        yield (
            "net.ipv4.tcp_timestamps=1",
            f"sequence numbers wrap after 2^32 B x 8 / {rate_text(path.rate_bps)} = "
            f"{time_text(wrap_s)}; only timestamps distinguish old segments from new",
        )
    packets = f"{path.bdp_bytes / FRAME_BYTES:,.0f}"
    if lost:
        yield (
            "net.ipv4.tcp_sack=1",
            f"of {packets} packets in flight {path.bdp_bytes / FRAME_BYTES * lost:,.1f} are lost "
            "each round trip: without it, one is repaired a round trip",
        )
    if need.congestion == "bbr" and paces_itself(need):
        yield (
            "the sender's qdisc",
            "since 4.13 TCP paces bbr by itself; fq (tc qdisc replace dev DEV root fq) is not "
            "needed, but takes less CPU with many sockets",
        )
    yield "net.ipv4.tcp_moderate_rcvbuf=1", "it lets a receive buffer grow to its largest size"
    own = arithmetic.receive_buffer_bytes(path.kernel)
    if buffer_bytes <= own:
        yield "net.ipv4.tcp_rmem", f"its largest size, {own:,}, is more than {buffer_bytes:,}"
    if buffer_bytes <= arithmetic.SEND_BUFFER_BYTES:
        yield (
            "net.ipv4.tcp_wmem",
            f"its largest size, {arithmetic.SEND_BUFFER_BYTES:,}, is more than {buffer_bytes:,}",
        )


def notes(need: Need) -> Iterator[str]:
    """Yield what else is to be known."""
    path, buffer_bytes, congestion = need.path, need.buffer_bytes, need.congestion
    lost, streams = need.loss, need.streams
    if not path.half_rule:
        yield (
            "Since 6.6 the window is what the overhead of the packets leaves of a buffer. Measured "
            "on 6.12: 76 % of a receive buffer with segmentation offload, 62 % without, so 1.3 and "
            "1.6 x BDP; of a send buffer 76 % and 50 %. Twice the BDP does for all."
        )
    if streams > MOST_STREAMS:
        yield (
            f"{streams:,} streams would be needed to fill the path with {congestion} at that loss: "
            "reduce the loss, or take bbr."
        )
    elif lost and congestion not in MODEL_BASED and streams > 1:
        yield "In place of many streams: --cc bbr, which no loss makes slow."
    if lost > 0.01 and congestion not in MODEL_BASED:
        yield "Above a loss of 1 % timeouts dominate, and streams get less than the formula gives."
    # The kernel gives all TCP sockets together about a sixteenth of the memory (tcp_mem, middle).
    memory = 16 * buffer_bytes
    if memory >= 1024**3:
        yield (
            "Memory: all TCP sockets of a host together may take about a sixteenth of it (tcp_mem, "
            f"in pages). One buffer of {buffer_bytes:,} B needs "
            f"{format_quantity(memory, Unit.BYTES)}."
        )
