"""What limited a test of iperf3 on any network, by its JSON report alone.

A report has for each interval the throughput, and at the sending end cwnd, RTT, retransmissions
and, in recent versions, the window of the other end. What was in flight follows from Little's law:
throughput x RTT. If it fills the congestion window, that window limits, and losses or the RTT
show why; if it does not, something else does: a receive window, a send buffer, the program.

Windows and buffers are recognised by the sizes that Linux gives them by itself
(`longfat.theory.socket_buffers`).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from longfat.analysis.advice.facts import Facts
from longfat.analysis.advice.foreign.foreign_diagnosis import (
    SENDER,
    Candidate,
    ConnectionKey,
    ForeignDiagnosis,
    Line,
    candidate,
    chosen,
    ranked,
)
from longfat.analysis.advice.foreign.sockets import receive_buffer_line, send_buffer_line
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.analysis.advice.root_cause import RootCause
from longfat.analysis.timeseries.sources import whole_rows
from longfat.model.metric import Unit
from longfat.model.traffic.bulk import Interval
from longfat.model.traffic.iperf3_any import AnyReport
from longfat.model.units import format_quantity
from longfat.theory import bdp, socket_buffers

_MB = 1024**2
_FLAT = 0.05  # a coefficient of variation below this
_FULL, _OPEN = 0.8, 0.75  # of the congestion window in flight
_NEAR = 0.13  # how far throughput x RTT may be from a known window
_QUEUE_RATIO, _QUEUE_S = 1.25, 0.005
_ONE_SEGMENT_BYTES = 9000  # cwnd of one segment, jumbo frames included
_MIN_ROWS = 4
_FEW_ROUND_TRIPS = 20

TO_LEARN = (
    "Run `ss -tinm dst PEER` at the sender every second while iperf3 runs, and diagnose its output "
    "together with this file: the kernel's clocks say whether window, buffer or network limited it."
)


@dataclass(frozen=True)
class _Stream:
    """One direction of a stream in the time that counts."""

    rows: Sequence[Interval]

    @cached_property
    def seconds(self) -> float:
        return sum(row.end_s - row.start_s for row in self.rows)

    @cached_property
    def bps(self) -> float:
        return sum(row.bytes for row in self.rows) * 8 / self.seconds if self.seconds else 0.0

    @cached_property
    def rates(self) -> list[float]:
        return [row.bps for row in self.rows]

    @cached_property
    def rtts_s(self) -> list[float]:
        return [row.rtt_s for row in self.rows if row.rtt_s]

    @cached_property
    def windows(self) -> list[int]:
        return [row.cwnd_bytes for row in self.rows if row.cwnd_bytes]

    @cached_property
    def offered(self) -> list[int]:
        return [row.send_window_bytes for row in self.rows if row.send_window_bytes]

    @cached_property
    def retransmits(self) -> int:
        return sum(row.retransmits or 0 for row in self.rows)


class _Test:
    """The streams of one direction of a report."""

    def __init__(self, report: AnyReport, *, sends: bool) -> None:
        self.report = report
        streams = (
            [row for row in whole_rows(stream) if row.sender == sends] for stream in report.streams
        )
        self.streams = [_Stream(rows) for rows in streams if rows]
        self.sends = sends

    @cached_property
    def bps(self) -> float:
        return sum(stream.bps for stream in self.streams)

    @cached_property
    def rtt_s(self) -> float | None:
        values = [rtt_s for stream in self.streams for rtt_s in stream.rtts_s]
        return statistics.fmean(values) if values else None

    @cached_property
    def min_rtt_s(self) -> float | None:
        return min((rtt_s for stream in self.streams for rtt_s in stream.rtts_s), default=None)

    @cached_property
    def rates(self) -> list[float]:
        """The throughput of all streams, interval by interval."""
        return [sum(row) for row in zip(*(stream.rates for stream in self.streams), strict=False)]

    @cached_property
    def variation(self) -> float:
        """The coefficient of variation of the throughput, without its start."""
        rates = self.rates[1:] if len(self.rates) >= _MIN_ROWS else self.rates
        mean = statistics.fmean(rates) if rates else 0.0
        return statistics.pstdev(rates) / mean if mean else math.inf

    @cached_property
    def in_flight_bytes(self) -> float | None:
        """Of a stream, on average: throughput x RTT, in the steady part."""
        if self.rtt_s is None:
            return None
        products = [
            row.bps * row.rtt_s / 8
            for stream in self.streams
            for row in (stream.rows[1:] if len(stream.rows) >= _MIN_ROWS else stream.rows)
            if row.rtt_s
        ]
        return statistics.median(products) if products else None

    @cached_property
    def cwnd_bytes(self) -> float | None:
        values = [value for stream in self.streams for value in stream.windows]
        return statistics.median(values) if values else None

    @cached_property
    def offered_bytes(self) -> float | None:
        values = [value for stream in self.streams for value in stream.offered]
        return float(max(values)) if values else None

    @cached_property
    def retransmits(self) -> int:
        return sum(stream.retransmits for stream in self.streams)

    @cached_property
    def segments(self) -> float:
        """About how many segments were sent."""
        return max(1.0, sum(row.bytes for s in self.streams for row in s.rows) / 1448)

    @cached_property
    def has_queue(self) -> bool:
        if self.rtt_s is None or self.min_rtt_s is None:
            return False
        peak_s = max(rtt_s for stream in self.streams for rtt_s in stream.rtts_s)
        extra_s = max(self.rtt_s, 0.8 * peak_s) - self.min_rtt_s
        return extra_s >= _QUEUE_S and extra_s >= (_QUEUE_RATIO - 1) * self.min_rtt_s

    @cached_property
    def is_window_full(self) -> bool:
        if self.in_flight_bytes is None or self.cwnd_bytes is None:
            return False
        return self.in_flight_bytes >= _FULL * self.cwnd_bytes

    @cached_property
    def facts(self) -> Facts:
        facts = Facts()
        facts.put("sender_bps" if self.sends else "receiver_bps", "throughput", self.bps, Unit.BPS)
        if self.variation < math.inf:
            facts.put("variation_fraction", "its variation", self.variation, Unit.FRACTION)
        facts.put("mean_rtt_s", "RTT, mean", self.rtt_s, Unit.SECONDS)
        facts.put("min_rtt_s", "RTT, least", self.min_rtt_s, Unit.SECONDS)
        each = "of each stream, throughput x RTT"
        beside = each if len(self.streams) > 1 else "throughput x RTT"
        in_flight = self.in_flight_bytes
        facts.put("mean_in_flight_bytes", "in flight", in_flight, Unit.BYTES, beside=beside)
        facts.put("cwnd_bytes", "cwnd, median", self.cwnd_bytes, Unit.BYTES)
        facts.put("send_window_bytes", "largest window offered", self.offered_bytes, Unit.BYTES)
        if not self.report.is_udp and self.cwnd_bytes is not None:
            facts.put("retransmits", "retransmissions", self.retransmits, Unit.COUNT)
        facts.put("loss", "lost", self.report.loss if self.report.is_udp else None, Unit.FRACTION)
        facts.put("target_bps", "rate that was set (-b)", self.report.target_bps, Unit.BPS)
        facts.put(
            "window_bytes", "socket buffer that was set (-w)", self.report.window_bytes, Unit.BYTES
        )
        facts.put("cpu_fraction", "CPU of this end", self.report.cpu, Unit.FRACTION)
        return facts


def diagnose_report(report: AnyReport) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited each direction of a test.

    Args:
        report: the report.
    """
    tests = [_Test(report, sends=sends) for sends in (True, False)]
    return tuple(_diagnose(test) for test in tests if test.streams)


def _diagnose(test: _Test) -> ForeignDiagnosis:
    report = test.report
    if report.is_udp or any(row.lost_packets is not None for s in test.streams for row in s.rows):
        candidates = list(_udp(test))
    elif not test.sends and test.cwnd_bytes is None:
        candidates = list(_own_rate(test))
    else:
        rules = (
            *(
                _own_rate,
                _stopped,
                _gaps,
                _no_scaling,
                _windows,
                _queue,
                _full_link,
                _losses,
                _start_up,
            ),
            *(_model, _unnamed),
        )
        candidates = [one for rule in rules for one in rule(test)]
    count = len(test.streams)
    kind = "UDP" if report.is_udp else report.congestion or "TCP"
    direction = "sends" if test.sends else "receives"
    seconds = max(stream.seconds for stream in test.streams)
    return ForeignDiagnosis(
        files=(str(report.path),),
        flow=_name(test),
        title=f"{report.version or 'iperf3'}, this end {direction}, "
        f"{count} stream{'s' if count > 1 else ''}, {kind}",
        candidates=ranked(candidates, to_learn=TO_LEARN),
        facts=tuple(test.facts),
        unknown=tuple(_unknown(test)),
        notes=tuple(_notes(test)),
        connections=tuple(ConnectionKey(ends) for ends in report.connections),
        duration_s=seconds,
    )


def _name(test: _Test) -> str:
    if not test.report.connections:
        return test.report.path.name
    local, remote = test.report.connections[0]
    source, target = (local, remote) if test.sends else (remote, local)
    return f"{source[0]}:{source[1]} -> {target[0]}:{target[1]}"


def _bps(value: float) -> str:
    return format_quantity(value, Unit.BPS)


def _udp(test: _Test) -> Iterator[Candidate]:
    loss, report = test.report.loss, test.report
    evidence = chosen(test.facts, "sender_bps", "receiver_bps", "loss", "target_bps")
    target = report.target_bps
    if loss:
        yield candidate(
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
            remedy="Halve the rate (-b): if the loss goes, a link or a policer limits; if it stays, "
            "it is random. `netstat -su` at the receiver counts what its socket dropped.",
            evidence=evidence,
        )
    elif target and test.bps >= 0.9 * target * len(test.streams):
        yield from _own_rate(test)


def _own_rate(test: _Test) -> Iterator[Candidate]:
    report = test.report
    for rate, option in ((report.target_bps, "-b"), (report.pacing_bps, "--fq-rate")):
        if rate and test.bps >= 0.93 * rate * len(test.streams):
            yield candidate(
                RootCause.APPLICATION if option == "-b" else RootCause.SENDER_SHAPER,
                0.95,
                f"iperf3 kept to the rate that it was given: {option} {_bps(rate)} for each stream, "
                f"and {_bps(test.bps)} were reached.",
                remedy=f"Nothing in the network: leave {option} out to measure what the path takes.",
                evidence=chosen(test.facts, "target_bps", "sender_bps", "receiver_bps"),
                certain=True,
            )


def _stopped(test: _Test) -> Iterator[Candidate]:
    """Nothing arrives from the start: only the first packets, or none, are acknowledged."""
    if len(test.rates) < 2:
        return
    # What the first interval has was only written to the socket.
    later = test.rates[1:]
    windows = [value for stream in test.streams for value in stream.windows[-2:]]
    if any(later) or not windows or max(windows) > _ONE_SEGMENT_BYTES:
        return
    yield candidate(
        RootCause.MTU_BLACK_HOLE,
        0.8,
        "No data passed, from the start: the connection opened, cwnd fell to one segment, and "
        f"{test.retransmits:,} retransmissions were not answered. Probably full-size packets do not "
        "fit a link on the path, and no ICMP message comes back.",
        remedy="Compare `ping -M do -s 1472 PEER` with smaller sizes; a capture shows whether the "
        "same segment is sent again and again. Let ICMP pass, clamp the MSS, or let the sender probe.",
        lines=(
            Line(
                node=SENDER,
                text="sysctl -w net.ipv4.tcp_mtu_probing=1",
                why="after timeouts it sends smaller segments, without ICMP (RFC 4821)",
            ),
        ),
        evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "retransmits"),
    )


def _gaps(test: _Test) -> Iterator[Candidate]:
    """Intervals without any data, between others."""
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
    yield candidate(
        cause,
        share,
        sentence,
        remedy="Look for what happened at that time: a link or a route that changed, Wi-Fi roaming; "
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


def _has_room(test: _Test) -> bool:
    """Whether the congestion window is clearly larger than what is in flight, and nothing is lost."""
    in_flight, cwnd = test.in_flight_bytes, test.cwnd_bytes
    if in_flight is None or cwnd is None or not in_flight:
        return False
    return in_flight < _OPEN * cwnd and test.retransmits <= 1e-5 * test.segments


def _no_scaling(test: _Test) -> Iterator[Candidate]:
    offered, in_flight = test.offered_bytes, test.in_flight_bytes
    if not in_flight or (test.cwnd_bytes or 0) < in_flight:
        return
    # A scaled window is a multiple of its scale, and so seldom just below the largest field.
    known = offered is not None and 0.97 * bdp.MAX_FIELD <= offered <= bdp.MAX_FIELD
    alike = offered is None and _has_room(test) and abs(in_flight / bdp.MAX_FIELD - 1) < _NEAR
    if not (known or alike) or in_flight < 0.6 * bdp.MAX_FIELD:
        return
    yield candidate(
        RootCause.NO_WINDOW_SCALING,
        0.95 if known else 0.8,
        "No more than 65,535 bytes were in flight, the largest window without window scaling: no "
        f"scaling was {'' if known else 'probably '}agreed.",
        remedy="Switch window scaling on at both ends (`sysctl net.ipv4.tcp_window_scaling`), or "
        "look for a firewall that removes the option: the SYN packets of a capture show it.",
        lines=(
            Line(
                node=SENDER,
                text="sysctl -w net.ipv4.tcp_window_scaling=1",
                why="the default, RFC 7323; at the receiver as well",
            ),
        ),
        evidence=chosen(
            test.facts, "mean_in_flight_bytes", "send_window_bytes", "cwnd_bytes", "mean_rtt_s"
        ),
        certain=known,
    )


def _windows(test: _Test) -> Iterator[Candidate]:
    in_flight = test.in_flight_bytes
    if in_flight is None or not _has_room(test):
        return
    evidence = chosen(
        test.facts, "mean_in_flight_bytes", "cwnd_bytes", "send_window_bytes", "retransmits",
        "mean_rtt_s",
    )  # fmt: skip
    flight = f"{format_quantity(test.bps / len(test.streams), Unit.BPS)} x " + (
        f"{format_quantity(test.rtt_s or 0.0, Unit.SECONDS)} = {in_flight / 1e6:.3g} MB in flight"
    )
    room = "cwnd is above it and nothing is lost"
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
        yield candidate(
            known.cause,
            0.5 + 0.4 * closeness,
            f"The {known.name} limits: {flight}, {known.reason}; {room}.",
            remedy="Leave -w out, or make it as large as the path needs: it switches off the "
            "kernel's tuning."
            if own
            else f"A larger {'receive' if is_receive else 'send'} buffer at the "
            f"{'receiver' if is_receive else 'sender'}.",
            lines=() if own else ((receive_buffer_line() if is_receive else send_buffer_line()),),
            evidence=evidence,
        )


def _by_offered(test: _Test, flight: str, room: str, evidence: tuple) -> Iterator[Candidate]:  # type: ignore[type-arg]
    in_flight, offered = test.in_flight_bytes or 0.0, test.offered_bytes or 0.0
    if 0.97 * bdp.MAX_FIELD <= offered <= bdp.MAX_FIELD:
        return  # see `_no_scaling`
    if in_flight >= 0.8 * offered:
        yield candidate(
            RootCause.RECEIVE_WINDOW,
            0.95,
            f"The receive window limits: {flight}, and the receiver offers {offered / 1e6:.3g} MB; "
            f"{room}.",
            remedy="A larger receive buffer at the receiver, or a faster program there.",
            lines=(receive_buffer_line(),),
            evidence=evidence,
            certain=True,
        )
        return
    for known in (size for size in _KNOWN_SIZES if size.cause is RootCause.SEND_BUFFER):
        distance = abs(math.log(in_flight / known.window_bytes))
        if distance <= 2 * _NEAR:
            yield candidate(
                RootCause.SEND_BUFFER,
                0.85 - distance,
                f"The send buffer limits: {flight}, {known.reason}; {room}, and the receiver offers "
                f"{offered / 1e6:.3g} MB.",
                remedy="A larger send buffer at the sender.",
                lines=(send_buffer_line(),),
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


def _by_request(test: _Test) -> tuple[_KnownSize, ...]:
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


def _queue(test: _Test) -> Iterator[Candidate]:
    if not test.has_queue or test.rtt_s is None or test.min_rtt_s is None:
        return
    extra_s = test.rtt_s - test.min_rtt_s
    flat = test.variation < 2 * _FLAT
    lost = f", and it overflows: {test.retransmits:,} retransmissions" if test.retransmits else ""
    yield candidate(
        RootCause.STANDING_QUEUE,
        0.85 if flat else 0.65,
        f"A link is full at {_bps(test.bps)} of payload, and its queue adds "
        f"{format_quantity(extra_s, Unit.SECONDS)} to the {format_quantity(test.min_rtt_s, Unit.SECONDS)} "
        f"of the idle path{lost}.",
        remedy="The link carries no more. A shorter queue, fq_codel or cake at it cut the delay and "
        "leave the throughput.",
        evidence=chosen(
            test.facts, "sender_bps", "variation_fraction", "mean_rtt_s", "min_rtt_s", "cwnd_bytes",
            "retransmits",
        ),
    )  # fmt: skip


def _full_link(test: _Test) -> Iterator[Candidate]:
    """The RTT grows with cwnd while the throughput stays: that is a queue at a full link."""
    if test.has_queue or not test.is_window_full or test.variation > 2 * _FLAT:
        return
    pairs = [
        (row.cwnd_bytes, row.rtt_s)
        for stream in test.streams
        for row in stream.rows[1:]
        if row.cwnd_bytes and row.rtt_s
    ]
    if len(pairs) < _MIN_ROWS or len(test.streams) > 1:
        return
    windows, rtts = [float(window) for window, _ in pairs], [rtt_s for _, rtt_s in pairs]
    if max(rtts) < 1.1 * min(rtts) or max(windows) < 1.1 * min(windows):
        return
    if statistics.correlation(windows, rtts) < 0.7:
        return
    yield candidate(
        RootCause.FULL_LINK,
        0.8,
        f"A link is full at {_bps(test.bps)} of payload: the throughput stays the same while cwnd "
        "changes, and the RTT follows cwnd, from "
        f"{format_quantity(min(rtts), Unit.SECONDS)} to {format_quantity(max(rtts), Unit.SECONDS)}: a "
        "queue grows and shrinks.",
        remedy="Nothing makes that link carry more. How much of the RTT is queue, a `ping` of the idle "
        "path shows.",
        evidence=chosen(
            test.facts, "sender_bps", "variation_fraction", "cwnd_bytes", "mean_rtt_s", "min_rtt_s",
            "retransmits",
        ),
    )  # fmt: skip


def _losses(test: _Test) -> Iterator[Candidate]:
    ratio = test.retransmits / test.segments
    if test.retransmits < 2 or ratio < 1e-6 or test.has_queue:
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
        yield candidate(
            RootCause.POLICER,
            0.6,
            f"{counted}, in most intervals, and the throughput stayed at {_bps(test.bps)}: probably "
            "a policer, or a queue that is far too short.",
            remedy=remedy,
            evidence=evidence,
        )
    yield candidate(
        RootCause.RANDOM_LOSS,
        0.5 if ratio >= 1e-5 else 0.3,
        f"{counted}, each cutting the congestion window: random loss, a policer or a short queue; a "
        "report of iperf3 does not show which.",
        remedy=remedy,
        evidence=evidence,
    )


def _start_up(test: _Test) -> Iterator[Candidate]:
    rates = test.rates
    if test.retransmits:
        return
    trips = max(s.seconds for s in test.streams) / test.rtt_s if test.rtt_s else math.inf
    if trips < _FEW_ROUND_TRIPS:
        yield candidate(
            RootCause.START_UP,
            0.6,
            f"The test took only {trips:.3g} round trips, without a loss: most of that is slow start.",
            remedy="Nothing to set: measure for longer, or leave out the start (-O).",
            evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "mean_rtt_s"),
        )
        return
    if len(rates) < _MIN_ROWS:
        return
    first, last = rates[: len(rates) // 2], rates[-max(1, len(rates) // 4) :]
    grows = statistics.fmean(last) > 1.3 * statistics.fmean(first)
    windows = [stream.windows for stream in test.streams if len(stream.windows) >= 2]
    if grows and any(values[-1] > 1.2 * values[len(values) // 2] for values in windows):
        yield candidate(
            RootCause.START_UP,
            0.6,
            "Throughput and congestion window were still growing at the end, without a loss.",
            remedy="Nothing to set: measure for longer, or leave out the start (-O).",
            evidence=chosen(test.facts, "sender_bps", "cwnd_bytes", "mean_rtt_s"),
        )


def _model(test: _Test) -> Iterator[Candidate]:
    if test.report.congestion in MODEL_BASED:
        yield candidate(
            RootCause.MODEL,
            0.3,
            f"{test.report.congestion} sends at the rate that it measures, {_bps(test.bps)}: whether "
            "the path has more cannot be seen here.",
            remedy="Compare with cubic, and with the rate of the slowest link.",
            evidence=chosen(test.facts, "sender_bps", "mean_rtt_s", "min_rtt_s"),
        )


def _unnamed(test: _Test) -> Iterator[Candidate]:
    """What can be said where no rule names a cause."""
    if test.report.congestion in MODEL_BASED:
        return
    evidence = chosen(
        test.facts, "sender_bps", "variation_fraction", "mean_in_flight_bytes", "cwnd_bytes",
        "mean_rtt_s", "retransmits",
    )  # fmt: skip
    if _has_room(test):
        yield candidate(
            RootCause.UNKNOWN,
            0.1,
            f"Neither the path nor losses limit: {(test.in_flight_bytes or 0) / 1e6:.3g} MB are in "
            f"flight where cwnd allows {(test.cwnd_bytes or 0) / 1e6:.3g} MB, and nothing is lost. A "
            "receive window, a send buffer, a shaper at the sender or the program does.",
            remedy=TO_LEARN,
            evidence=evidence,
        )
    elif not test.has_queue and not test.retransmits and test.is_window_full:
        flat = test.variation < _FLAT
        yield candidate(
            RootCause.FULL_LINK if flat else RootCause.UNKNOWN,
            0.3,
            f"A constant {_bps(test.bps)} without a loss or a queue that grows: probably the rate of "
            "a link or of a shaper."
            if flat
            else "The congestion window is full, without losses and without a queue.",
            remedy=TO_LEARN,
            evidence=evidence,
        )


def _unknown(test: _Test) -> Iterator[str]:
    report = test.report
    if not report.is_udp and test.cwnd_bytes is None:
        yield (
            "This end received, and knows neither cwnd nor RTT nor retransmissions: add the report of "
            "the end that sent (the client's, or with -R the server's: --get-server-output)."
        )
    elif not report.is_udp and test.offered_bytes is None:
        yield (
            "The receiver's window: this version of iperf3 does not report it (snd_wnd); `ss -tinm` "
            "at the sender does."
        )
    yield "The rate and the other traffic of the slowest link."


def _notes(test: _Test) -> Iterator[str]:
    report = test.report
    if report.broken:
        yield f"The test broke off: {report.broken}"
    if report.cpu is not None and report.cpu > 0.9:
        yield (
            f"This end used {format_quantity(report.cpu, Unit.FRACTION)} of a CPU: it may be the "
            "limit itself; compare with -P 2 of iperf3 3.16 or later."
        )
    if len(test.rates) < _MIN_ROWS:
        yield f"Only {len(test.rates)} intervals: a longer test says more."
