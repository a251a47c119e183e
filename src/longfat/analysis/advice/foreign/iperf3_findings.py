"""Root causes by a report of iperf3: rules over the numbers of one direction.

Windows and buffers are recognised by the sizes that Linux gives them by itself
(`longfat.theory.socket_buffers`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from longfat.analysis.advice.facts import Fact
from longfat.analysis.advice.foreign.foreign_diagnosis import chosen, finding
from longfat.analysis.advice.foreign.iperf3_numbers import MIN_ROWS, Direction
from longfat.analysis.advice.foreign.remedies import PROBING, RECEIVE_BUFFER, SCALING, SEND_BUFFER
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp, socket_buffers

TO_LEARN = (
    "Run `ss -tinm dst PEER` at the sender every second while iperf3 runs, and diagnose its output "
    "together with this file: the kernel's clocks say whether window, buffer or network limited it."
)

_MB = 1024**2
_FLAT = 0.05  # a coefficient of variation below this
_OPEN = 0.75  # of the congestion window in flight
_NEAR = 0.13  # how far throughput x RTT may be from a known window
_ONE_SEGMENT_BYTES = 9000  # cwnd of one segment, jumbo frames included
_FEW_ROUND_TRIPS = 20


def report_findings(test: Direction) -> list[Finding]:
    """Return the possible causes of what one direction of a report shows."""
    if test.is_udp:
        return list(_udp(test))
    rules = _RULES if test.sends or test.cwnd_bytes is not None else (_own_rate,)
    return [one for rule in rules for one in rule(test)]


def _bps(value: float) -> str:
    return format_quantity(value, Unit.BPS)


def _udp(test: Direction) -> Iterator[Finding]:
    loss, report = test.report.loss, test.report
    evidence = chosen(test.facts, "sender_bps", "receiver_bps", "loss", "target_bps")
    target = report.target_bps
    if loss:
        yield finding(
            RootCause.RANDOM_LOSS if loss < 0.01 else RootCause.FULL_LINK,
            0.7,
            f"{format_quantity(loss, Unit.FRACTION)} of the datagrams were lost"
            + (
                f": at {_bps(target or test.bps)} more is sent than a link on the path, or the "
                "receiver's socket buffer, takes."
                if loss >= 0.01
                else ": UDP has no window that could be diagnosed, and few losses may have any "
                "cause."
            ),
            remedy="Halve the rate (-b): if the loss goes, a link or a policer limits; if it "
            "stays, "
            "it is random. `netstat -su` at the receiver counts what its socket dropped.",
            evidence=evidence,
        )
    elif target and test.bps >= 0.9 * target * len(test.streams):
        yield from _own_rate(test)


def _own_rate(test: Direction) -> Iterator[Finding]:
    report = test.report
    for rate, option in ((report.target_bps, "-b"), (report.pacing_bps, "--fq-rate")):
        if rate and test.bps >= 0.93 * rate * len(test.streams):
            yield finding(
                RootCause.APPLICATION if option == "-b" else RootCause.SENDER_SHAPER,
                0.95,
                f"iperf3 kept to the rate that it was given: {option} {_bps(rate)} for each "
                "stream, "
                f"and {_bps(test.bps)} were reached.",
                remedy=f"Nothing in the network: leave {option} out to measure what the path "
                "takes.",
                evidence=chosen(test.facts, "target_bps", "sender_bps", "receiver_bps"),
                certain=True,
            )


def _stopped(test: Direction) -> Iterator[Finding]:
    """Find a test of which no data, or the first packets only, were acknowledged."""
    if len(test.rates) < 2:
        return
    # What the first interval has was only written to the socket.
    later = test.rates[1:]
    windows = [value for stream in test.streams for value in stream.windows[-2:]]
    if any(later) or not windows or max(windows) > _ONE_SEGMENT_BYTES:
        return
    yield finding(
        RootCause.MTU_BLACK_HOLE,
        0.8,
        "No data passed, from the start: the connection opened, cwnd fell to one segment, and "
        f"{test.retransmits:,} retransmissions were not answered. Probably full-size packets do "
        "not "
        "fit a link on the path, and no ICMP message comes back.",
        remedy="Compare `ping -M do -s 1472 PEER` with smaller sizes; a capture shows whether the "
        "same segment is sent again and again. Let ICMP pass, clamp the MSS, or let the sender "
        "probe.",
        lines=(PROBING,),
        evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "retransmits"),
    )


def _gaps(test: Direction) -> Iterator[Finding]:
    """Find intervals without any data, between others."""
    rates = test.rates
    moving = [index for index, rate in enumerate(rates) if rate > 0]
    if not moving:
        return
    silent = [index for index in range(moving[0], len(rates)) if rates[index] == 0]
    if not silent or moving == [0]:
        return
    row = test.streams[0].rows
    every_s = row[0].end_s - row[0].start_s
    longest = _longest_run(silent)
    start_s = row[longest[0]].start_s if longest[0] < len(row) else 0.0
    length_s = len(longest) * every_s
    resumed = longest[-1] < moving[-1]
    cause = RootCause.OUTAGE if length_s >= 2 and test.variation < 2 else RootCause.TIMEOUTS
    share = 0.9 if cause is RootCause.OUTAGE else min(1.0, len(silent) / len(rates) + 0.3)
    sentence = (
        f"Nothing passed for {format_quantity(length_s, Unit.SECONDS)} from {start_s:.3g} s on"
        + (", and then as much as before: the path was cut for a while" if resumed else "")
        + "."
        if cause is RootCause.OUTAGE
        else f"{len(silent)} of {len(rates)} intervals are silent: it waits for retransmission "
        "timeouts."
    )
    yield finding(
        cause,
        share,
        sentence,
        remedy="Look for what happened at that time: a link or a route that changed, Wi-Fi "
        "roaming; "
        "a ping beside the test shows it."
        if cause is RootCause.OUTAGE
        else "Whole windows are lost, such as by a very short queue or many senders at once: a "
        "capture at the sender shows what is lost.",
        evidence=chosen(test.facts, "sender_bps", "variation_fraction", "retransmits"),
    )


def _longest_run(indices: Sequence[int]) -> list[int]:
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return max(runs, key=len)


def _has_room(test: Direction) -> bool:
    """Return whether cwnd is clearly larger than what is in flight, and no loss lowers it."""
    in_flight, cwnd = test.in_flight_bytes, test.cwnd_bytes
    if in_flight is None or cwnd is None or not in_flight:
        return False
    is_free = test.retransmits <= 1e-5 * test.segments or not test.is_cut
    return in_flight < _OPEN * cwnd and is_free


def _no_scaling(test: Direction) -> Iterator[Finding]:
    offered, in_flight = test.offered_bytes, test.in_flight_bytes
    if not in_flight or (test.cwnd_bytes or 0) < in_flight:
        return
    # A scaled window is a multiple of its scale, and so seldom just below the largest field.
    known = offered is not None and 0.97 * bdp.MAX_FIELD <= offered <= bdp.MAX_FIELD
    alike = offered is None and _has_room(test) and abs(in_flight / bdp.MAX_FIELD - 1) < _NEAR
    if not (known or alike) or in_flight < 0.6 * bdp.MAX_FIELD:
        return
    yield finding(
        RootCause.NO_WINDOW_SCALING,
        0.95 if known else 0.8,
        "No more than 65,535 bytes were in flight, the largest window without window scaling: no "
        f"scaling was {'' if known else 'probably '}agreed.",
        remedy="Switch window scaling on at both ends (`sysctl net.ipv4.tcp_window_scaling`), or "
        "look for a firewall that removes the option: the SYN packets of a capture show it.",
        lines=SCALING,
        evidence=chosen(
            test.facts, "mean_in_flight_bytes", "send_window_bytes", "cwnd_bytes", "mean_rtt_s"
        ),
        certain=known,
    )


def _windows(test: Direction) -> Iterator[Finding]:
    in_flight = test.in_flight_bytes
    if in_flight is None or not _has_room(test):
        return
    evidence = chosen(
        test.facts, "mean_in_flight_bytes", "cwnd_bytes", "send_window_bytes", "retransmits",
        "mean_rtt_s",
    )  # fmt: skip
    rtt_s = test.rtt_s or 0.0
    rate = _bps(in_flight * 8 / rtt_s) if rtt_s else "the throughput"
    rtt = format_quantity(rtt_s, Unit.SECONDS)
    flight = f"{rate} x {rtt} = {in_flight / 1e6:.3g} MB in flight"
    again = f"{test.retransmits:,} retransmissions did not lower it"
    room = f"cwnd is above it and {again if test.retransmits else 'nothing is lost'}"
    if test.offered_bytes is not None:
        yield from _by_offered(test, flight, room, evidence)
        return
    own = _by_request(test)
    sizes = own or _KNOWN_SIZES
    for known in sizes:
        distance = abs(math.log(in_flight / known.window_bytes))
        if distance > _NEAR:
            continue
        # Data below a window are more usual than data above it.
        closeness = 1 - distance / _NEAR * (0.5 if in_flight <= known.window_bytes else 1.0)
        is_receive = known.cause is RootCause.RECEIVE_WINDOW
        yield finding(
            known.cause,
            0.5 + 0.4 * closeness,
            f"The {known.name} limits: {flight}, {known.reason}; {room}.",
            remedy="Leave -w out, or make it as large as the path needs: it switches off the "
            "kernel's tuning."
            if own
            else f"A larger {'receive' if is_receive else 'send'} buffer at the "
            f"{'receiver' if is_receive else 'sender'}.",
            lines=() if own else ((RECEIVE_BUFFER if is_receive else SEND_BUFFER),),
            evidence=evidence,
        )


def _by_offered(
    test: Direction, flight: str, room: str, evidence: tuple[Fact, ...]
) -> Iterator[Finding]:
    in_flight, offered = test.in_flight_bytes or 0.0, test.offered_bytes or 0.0
    if 0.97 * bdp.MAX_FIELD <= offered <= bdp.MAX_FIELD:
        return  # see `_no_scaling`
    if in_flight >= 0.8 * offered:
        yield finding(
            RootCause.RECEIVE_WINDOW,
            0.95,
            f"The receive window limits: {flight}, and the receiver offers {offered / 1e6:.3g} MB; "
            f"{room}.",
            remedy="A larger receive buffer at the receiver, or a faster program there.",
            lines=(RECEIVE_BUFFER,),
            evidence=evidence,
            certain=True,
        )
        return
    for known in (size for size in _KNOWN_SIZES if size.cause is RootCause.SEND_BUFFER):
        distance = abs(math.log(in_flight / known.window_bytes))
        if distance <= 2 * _NEAR:
            yield finding(
                RootCause.SEND_BUFFER,
                0.85 - distance,
                f"The send buffer limits: {flight}, {known.reason}; {room}, and the receiver "
                "offers "
                f"{offered / 1e6:.3g} MB.",
                remedy="A larger send buffer at the sender.",
                lines=(SEND_BUFFER,),
                evidence=evidence,
            )
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class _KnownSize:
    """A window that a default or a requested buffer allows."""

    cause: RootCause
    name: str
    window_bytes: float
    reason: str


def _receive(size_bytes: float, share: float, kernels: str) -> _KnownSize:
    return _KnownSize(
        cause=RootCause.RECEIVE_WINDOW,
        name="receive window",
        window_bytes=size_bytes * share,
        reason=f"{_share_text(share)} of tcp_rmem's default maximum ({size_bytes / _MB:.0f} MB) on "
        f"kernels {kernels}",
    )


def _share_text(share: float) -> str:
    return "half" if share == 0.5 else format_quantity(share, Unit.FRACTION)


_SMALL, _LARGE = (
    socket_buffers.receive_buffer_bytes((6, 1)),
    socket_buffers.receive_buffer_bytes((6, 16)),
)
_HALF = socket_buffers.receive_share((6, 1))
_MEASURED = socket_buffers.receive_share((6, 12))
_KNOWN_SIZES = (
    _receive(_SMALL, _HALF, "before 6.6"),
    _receive(_SMALL, _MEASURED, "from 6.6 to 6.15"),
    _receive(_LARGE, _MEASURED, "from 6.16 on"),
    _KnownSize(
        cause=RootCause.SEND_BUFFER,
        name="send buffer",
        window_bytes=0.9 * socket_buffers.SEND_BUFFER_BYTES,
        reason=f"about what tcp_wmem's default maximum "
        f"({socket_buffers.SEND_BUFFER_BYTES / _MB:.0f} MB) holds",
    ),
)


def _by_request(test: Direction) -> tuple[_KnownSize, ...]:
    """Return what the buffers allow that -w requested; the kernel doubles the number."""
    requested = test.report.window_bytes
    if requested is None:
        return ()
    reason = f"about what the {requested:,.0f} bytes of -w allow"
    return (
        _KnownSize(
            cause=RootCause.RECEIVE_WINDOW,
            name="receive window",
            window_bytes=2 * requested * _HALF,
            reason=reason,
        ),
        _KnownSize(
            cause=RootCause.SEND_BUFFER,
            name="send buffer",
            window_bytes=2 * requested * 0.9,
            reason=reason,
        ),
    )


def _queue(test: Direction) -> Iterator[Finding]:
    if not test.has_queue or test.rtt_s is None or test.min_rtt_s is None:
        return
    extra_s = test.rtt_s - test.min_rtt_s
    flat = test.variation < 2 * _FLAT
    lost = f", and it overflows: {test.retransmits:,} retransmissions" if test.retransmits else ""
    yield finding(
        RootCause.STANDING_QUEUE,
        0.85 if flat else 0.65,
        f"A link is full at {_bps(test.bps)} of payload, and its queue adds "
        f"{format_quantity(extra_s, Unit.SECONDS)} to the "
        f"{format_quantity(test.min_rtt_s, Unit.SECONDS)} "
        f"of the idle path{lost}.",
        remedy="The link carries no more. A shorter queue, fq_codel or cake at it cut the delay "
        "and "
        "leave the throughput.",
        evidence=chosen(
            test.facts, "sender_bps", "variation_fraction", "mean_rtt_s", "min_rtt_s", "cwnd_bytes",
            "retransmits",
        ),
    )  # fmt: skip


def _full_link(test: Direction) -> Iterator[Finding]:
    """Find a full link by an RTT that follows cwnd while the throughput stays."""
    if test.has_queue or not test.is_window_full or test.variation > 2 * _FLAT:
        return
    pairs = [
        (row.cwnd_bytes, row.rtt_s)
        for stream in test.streams
        for row in stream.rows[1:]
        if row.cwnd_bytes and row.rtt_s
    ]
    if len(pairs) < MIN_ROWS or len(test.streams) > 1:
        return
    windows, rtts = [float(window) for window, _ in pairs], [rtt_s for _, rtt_s in pairs]
    if max(rtts) < 1.1 * min(rtts) or max(windows) < 1.1 * min(windows):
        return
    if statistics.correlation(windows, rtts) < 0.7:
        return
    yield finding(
        RootCause.FULL_LINK,
        0.8,
        f"A link is full at {_bps(test.bps)} of payload: the throughput stays the same while cwnd "
        "changes, and the RTT follows cwnd, from "
        f"{format_quantity(min(rtts), Unit.SECONDS)} to "
        f"{format_quantity(max(rtts), Unit.SECONDS)}: a "
        "queue grows and shrinks.",
        remedy="Nothing makes that link carry more. How much of the RTT is queue, a `ping` of "
        "the idle "
        "path shows.",
        evidence=chosen(
            test.facts, "sender_bps", "variation_fraction", "cwnd_bytes", "mean_rtt_s", "min_rtt_s",
            "retransmits",
        ),
    )  # fmt: skip


def _losses(test: Direction) -> Iterator[Finding]:
    ratio = test.retransmits / test.segments
    if test.retransmits < 2 or ratio < 1e-6 or test.has_queue or _has_room(test):
        return
    rows = [row for stream in test.streams for row in stream.rows]
    lossy = sum(1 for row in rows if row.retransmits) / len(rows)
    evidence = chosen(
        test.facts, "retransmits", "sender_bps", "variation_fraction", "mean_rtt_s", "min_rtt_s",
        "cwnd_bytes",
    )  # fmt: skip
    counted = (
        f"{test.retransmits:,} of about {test.segments:,.0f} segments "
        f"({format_quantity(ratio, Unit.FRACTION)}) were sent again while the RTT stayed flat"
    )
    remedy = (
        "A capture at the sender distinguishes them. For a policer, shape below its rate at the "
        "sender (`tc qdisc replace dev DEV root fq maxrate RATE`); for a short queue, give it "
        "rate x RTT; for random loss, repair the link. BBR suffers less from all of them."
    )
    # A policer takes the same rate all the time, and drops in each of its bursts.
    if test.variation < 3 * _FLAT and lossy > 0.5 and ratio >= 1e-4:
        yield finding(
            RootCause.POLICER,
            0.6,
            f"{counted}, in most intervals, and the throughput stayed at {_bps(test.bps)}: "
            "probably "
            "a policer, or a queue that is far too short.",
            remedy=remedy,
            evidence=evidence,
        )
    yield finding(
        RootCause.RANDOM_LOSS,
        0.5 if ratio >= 1e-5 else 0.3,
        f"{counted}, each cutting the congestion window: random loss, a policer or a short "
        "queue; a "
        "report of iperf3 does not show which.",
        remedy=remedy,
        evidence=evidence,
    )


def _start_up(test: Direction) -> Iterator[Finding]:
    rates = test.rates
    if test.retransmits:
        return
    trips = max(s.seconds for s in test.streams) / test.rtt_s if test.rtt_s else math.inf
    if trips < _FEW_ROUND_TRIPS:
        yield finding(
            RootCause.START_UP,
            0.6,
            f"The test took only {trips:.3g} round trips, without a loss: most of that is slow "
            "start.",
            remedy="Nothing to set: measure for longer, or leave out the start (-O).",
            evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "mean_rtt_s"),
        )
        return
    if len(rates) < MIN_ROWS:
        return
    first, last = rates[: len(rates) // 2], rates[-max(1, len(rates) // 4) :]
    grows = statistics.fmean(last) > 1.3 * statistics.fmean(first)
    windows = [stream.windows for stream in test.streams if len(stream.windows) >= 2]
    if grows and any(values[-1] > 1.2 * values[len(values) // 2] for values in windows):
        yield finding(
            RootCause.START_UP,
            0.6,
            "Throughput and congestion window were still growing at the end, without a loss.",
            remedy="Nothing to set: measure for longer, or leave out the start (-O).",
            evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "mean_rtt_s"),
        )


def _model(test: Direction) -> Iterator[Finding]:
    if test.report.congestion in MODEL_BASED:
        yield finding(
            RootCause.MODEL,
            0.3,
            f"{test.report.congestion} sends at the rate that it measures, {_bps(test.bps)}: "
            "whether "
            "the path has more cannot be seen here.",
            remedy="Compare with cubic, and with the rate of the slowest link.",
            evidence=chosen(test.facts, "sender_bps", "mean_rtt_s", "min_rtt_s"),
        )


def _unnamed(test: Direction) -> Iterator[Finding]:
    """Say what can be said where no rule names a cause."""
    if test.report.congestion in MODEL_BASED:
        return
    evidence = chosen(
        test.facts, "sender_bps", "variation_fraction", "mean_in_flight_bytes", "cwnd_bytes",
        "mean_rtt_s", "retransmits",
    )  # fmt: skip
    if _has_room(test):
        yield finding(
            RootCause.UNKNOWN,
            0.1,
            f"Neither the path nor losses limit: {(test.in_flight_bytes or 0) / 1e6:.3g} MB are in "
            f"flight where cwnd allows {(test.cwnd_bytes or 0) / 1e6:.3g} MB, and nothing is "
            "lost. A "
            "receive window, a send buffer, a shaper at the sender or the program does.",
            remedy=TO_LEARN,
            evidence=evidence,
        )
    elif not test.has_queue and not test.retransmits and test.is_window_full:
        flat = test.variation < _FLAT
        yield finding(
            RootCause.FULL_LINK if flat else RootCause.UNKNOWN,
            0.3,
            f"A constant {_bps(test.bps)} without a loss or a queue that grows: probably the "
            "rate of "
            "a link or of a shaper."
            if flat
            else "The congestion window is full, without losses and without a queue.",
            remedy=TO_LEARN,
            evidence=evidence,
        )


_RULES = (
    *(_own_rate, _stopped, _gaps, _no_scaling, _windows, _queue, _full_link, _losses, _start_up),
    *(_model, _unnamed),
)
