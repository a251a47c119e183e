"""Root causes in what the sender waited for: windows, buffers, timeouts, and the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import Line, Recommendation, larger_buffers
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from longfat.analysis.advice.flow_evidence import FlowEvidence

_MAX_UNSCALED_BYTES = 65_535
# Retransmissions of which this share is of nothing that was lost are spurious.
_SPURIOUS = 0.5
_MIN_SPURIOUS = 10
# The receiver reports what came twice (DSACK, RFC 2883); some reports are lost, or after the end.
_REPORTED = 0.2
# Of all samples, so many with data that is held back are a pattern.
_HELD = 0.3
_FEW_PACKETS = 4


def windows(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield which of both ends' buffers limited the flow."""
    name, probably = evidence.flow.name, evidence.probably
    if share := evidence.share_of(Limit.RECEIVE_WINDOW):
        if evidence.has_window_scaling is False:
            yield _no_scaling(evidence, share=share)
        else:
            yield Finding(
                cause=RootCause.RECEIVE_WINDOW,
                share=share,
                sentence=f"The receive window of {evidence.receiver} {probably}limited {name} "
                f"{_time(share)}: the receiver let no more be in flight.",
                remedy=larger_buffers(evidence, Limit.RECEIVE_WINDOW),
            )
    if share := evidence.share_of(Limit.SEND_BUFFER):
        yield Finding(
            cause=RootCause.SEND_BUFFER,
            share=share,
            sentence=f"The send buffer of {evidence.sender} {probably}limited {name} "
            f"{_time(share)}: it had no room for more data in flight.",
            remedy=larger_buffers(evidence, Limit.SEND_BUFFER),
        )


def _no_scaling(evidence: FlowEvidence, *, share: float) -> Finding:
    rtt = f" of {format_quantity(evidence.rtt_s, Unit.SECONDS)}" if evidence.rtt_s else ""
    lines = tuple(
        Line(
            node=host,
            text="sysctl -w net.ipv4.tcp_window_scaling=1",
            why="both ends must offer it in their SYN (RFC 7323)",
        )
        for host in (evidence.sender, evidence.receiver)
    )
    return Finding(
        cause=RootCause.NO_WINDOW_SCALING,
        share=share,
        sentence="The connection has no window scaling, so at most "
        f"{_MAX_UNSCALED_BYTES:,} bytes are in flight in a round trip{rtt}: the receive window "
        f"limited {evidence.flow.name} {_time(share)}.",
        remedy=Recommendation(
            words="Window scaling at both ends, and no middlebox that removes the option; larger "
            "buffers change nothing without it.",
            lines=lines,
        ),
    )


def application(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that there was nothing to send."""
    share = evidence.share_of(Limit.APPLICATION)
    if not share:
        return
    words = "Nothing in the network: the program had nothing to send."
    if evidence.own_rate_bps is not None:
        rate = format_quantity(evidence.own_rate_bps, Unit.BPS)
        words = (
            f"Nothing in the network: the flow keeps itself to {rate} a stream (rate). Leave that "
            "out to let it send as fast as it can."
        )
    yield Finding(
        cause=RootCause.APPLICATION,
        share=share,
        sentence=f"The application {evidence.probably}limited {evidence.flow.name} "
        f"{_time(share)}: it had nothing to send.",
        remedy=Recommendation(words=words),
    )


def small_writes(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield that small writes wait for acknowledgements, which the other end delays.

    Nagle's algorithm (RFC 896) keeps less than a segment back while anything is in flight; the
    other end delays its acknowledgement by 40 ms or more (RFC 1122, 4.2.3.2) as it waits for more
    data. In samples there is data that could be sent and is not, with window and buffer open.

    Args:
        evidence: the flow.
        share: the share of its time that neither the link, the windows nor the application claim.
    """
    tables = [table for table in (evidence.table, evidence.receiver_table) if table is not None]
    held = max((_held_back(table) for table in tables), default=0.0)
    if held < _HELD or not share:
        return
    yield Finding(
        cause=RootCause.SMALL_WRITES,
        share=share,
        sentence=f"Small writes of {evidence.flow.name} wait: in {held * 100:.0f} % of the samples "
        "less than a segment was ready and kept back until the other end acknowledged what was "
        "before, which it delays by 40 ms or more (Nagle's algorithm and delayed "
        "acknowledgements).",
        remedy=Recommendation(
            words="Write a message at once, with one call (writev, or a buffered stream that is "
            "flushed at its end), or set TCP_NODELAY at the writing socket."
        ),
    )


def _held_back(table: pa.Table) -> float:
    """Return the share of samples in which less than a segment waits behind few in flight."""
    rows = table.select(["unsent_bytes", "in_flight_packets", "mss_bytes", "cwnd_packets"])
    held = sum(
        0 < row["unsent_bytes"] < row["mss_bytes"]
        and 0 < row["in_flight_packets"] < min(_FEW_PACKETS, row["cwnd_packets"])
        for row in rows.to_pylist()
    )
    return held / rows.num_rows if rows.num_rows else 0.0


def listen_queue(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield that connections waited, since the server's listen queue was full.

    Args:
        evidence: the flow.
        share: the share of its time that neither the link, the windows nor the application claim.
    """
    server = evidence.flow.target
    refused = evidence.counted(server, "ListenOverflows")
    if refused and share:
        yield Finding(
            cause=RootCause.LISTEN_QUEUE,
            share=share,
            sentence=f"The listen queue of {server} was full: it ignored {refused:,} handshakes, "
            "which are tried again after a second, and then after two, four and more.",
            remedy=Recommendation(
                words="A larger backlog in listen(), `net.core.somaxconn` at least as large, and a "
                "server that accepts sooner."
            ),
        )


def timeouts(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that the sender was silent until a timeout fired."""
    share = evidence.share_of(Limit.TIMEOUT)
    if not share:
        return
    seconds = evidence.seconds[Limit.TIMEOUT]
    yield Finding(
        cause=RootCause.TIMEOUTS,
        share=share,
        sentence=f"{evidence.flow.name} waited for retransmission timeouts {_time(share)}, "
        f"{seconds:.3g} s in all: whole windows, or the last packets of one, were lost, and no "
        "acknowledgement could show that sooner.",
        remedy=Recommendation(
            words="A longer queue where many flows meet, fewer of them at once, ECN, or a shorter "
            "least timeout (`ip route change ... rto_min 5ms`) in a network of short RTTs.",
        ),
    )


def outages(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that a link was down while the flow ran."""
    for outage in evidence.outages:
        yield Finding(
            cause=RootCause.OUTAGE,
            share=outage.share,
            sentence=f"Nothing of {evidence.flow.name} came through from {outage.start_s:.3g} to "
            f"{outage.end_s:.3g} s: {outage.reason}.",
            remedy=Recommendation(
                words="Nothing in TCP helps while a link is down. Afterwards it waits for its "
                "timeout, which doubles each time: a second path, or keeping outages short, does."
            ),
        )


def reordering(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield that packets overtook each other, and TCP took that for losses.

    Args:
        evidence: the flow.
        share: the share of its time in which losses may have held it back.
    """
    retransmits = evidence.metric("retransmits")
    if evidence.run.drops is None or not retransmits or not share:
        return
    lost = sum(loss.packets for loss in evidence.losses)
    spurious = retransmits - lost
    if spurious < max(_MIN_SPURIOUS, _SPURIOUS * retransmits):
        return
    reported = evidence.duplicates
    if reported is not None and reported < _REPORTED * spurious:
        return
    yield Finding(
        cause=RootCause.REORDERING,
        share=share * spurious / retransmits,
        sentence=f"Packets overtake each other: of {retransmits:,.0f} retransmissions "
        f"{spurious:,.0f} were of packets that had not been lost, and {evidence.congestion} cut "
        "its window for them.",
        remedy=Recommendation(
            words="Keep the packets of a flow in order: jitter without reordering (netem's `delay` "
            "with `rate`, or a queue below it), one path for each flow. A larger "
            "`net.ipv4.tcp_reordering` and RACK (`tcp_recovery=1`, the default) tolerate more."
        ),
    )


def start_up(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that the window was still growing."""
    share = evidence.share_of(Limit.START_UP)
    if share:
        yield Finding(
            cause=RootCause.START_UP,
            share=share,
            sentence=f"{evidence.flow.name} was {evidence.probably}still starting {_time(share)}: "
            "its window was growing.",
            remedy=Recommendation(
                words="Nothing to set: its window was still growing when it ended. Measure for "
                "longer, or leave out the start (omit)."
            ),
        )


def unknown(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield what no evidence explains, and what would show it."""
    share = evidence.share_of(Limit.UNKNOWN) + evidence.share_of(Limit.LOSS)
    if not share:
        return
    if evidence.share_of(Limit.LOSS) > evidence.share_of(Limit.UNKNOWN):
        sentence = (
            f"The congestion window after losses {evidence.probably}limited {evidence.flow.name} "
            f"{_time(share)}: {evidence.congestion} cut it, and the path was not full again."
        )
    else:
        sentence = (
            f"What limited {evidence.flow.name} {_time(share)} cannot be determined from what was "
            "recorded."
        )
    yield Finding(
        cause=RootCause.UNKNOWN,
        share=share,
        sentence=sentence,
        remedy=Recommendation(
            words="A tcp probe on the flow, a queue probe at each interface of its way, and a "
            "capture at its receiver would show more."
        ),
    )


def _time(share: float) -> str:
    return "all the time" if share > 0.995 else f"{share * 100:.0f} % of the time"
