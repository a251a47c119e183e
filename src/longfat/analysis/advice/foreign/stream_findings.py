"""Root causes by the packets of a connection: rules over `stream_evidence`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from longfat.analysis.advice.facts import Fact, Facts
from longfat.analysis.advice.foreign.foreign_diagnosis import chosen, finding
from longfat.analysis.advice.foreign.remedies import PROBING, RECEIVE_BUFFER, SCALING
from longfat.analysis.advice.foreign.stream_evidence import Side, StreamEvidence
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp

_QUEUE_RATIO, _QUEUE_S = 1.25, 0.005
_MIN_BIG_BYTES = 600
_FLAT = 0.1
_MANY_RTTS = 15
_MOSTLY = 0.5
_MANY_LATE = 0.01
_RISEN = 1.15
_MIN_OUTAGE_S = 1.5

TO_LEARN = (
    "Print the sender's sockets every second beside the capture, `ss -tinm dst PEER`: congestion "
    "window, pacing and the kernel's clocks are in no packet."
)


def stream_facts(evidence: StreamEvidence) -> Facts:
    """Return what the packets of a connection show."""
    facts = Facts()
    facts.put("sender_bps", "throughput", evidence.bps, Unit.BPS)
    facts.put("data_bytes", "data", evidence.data_bytes, Unit.BYTES)
    facts.put("min_rtt_s", "RTT, least", evidence.rtt_s, Unit.SECONDS, beside=evidence.side)
    facts.put("median_rtt_s", "RTT, median", evidence.typical_rtt_s, Unit.SECONDS)
    facts.put("return_queue_s", "queue on the way back", evidence.return_queue_s, Unit.SECONDS)
    if evidence.segments:
        unscaled = "the SYN packets are missing, so its scale is not known"
        beside = unscaled if evidence.is_scaled is None else ""
        window = evidence.window_bytes
        facts.put("window_bytes", "largest window offered", window, Unit.BYTES, beside=beside)
        facts.put("in_flight_bytes", "largest in flight", evidence.in_flight_bytes, Unit.BYTES)
        facts.put("mss_bytes", "MSS that was agreed", evidence.mss, Unit.BYTES)
        beside = f"of {evidence.segments:,} segments"
        again = evidence.retransmits
        facts.put("retransmits", "retransmissions", again, Unit.COUNT, beside=beside)
        for key, label, count in (
            ("fast_retransmits", "after duplicate ACKs", evidence.fast),
            ("timeouts", "after timeouts", evidence.timeouts),
            ("spurious_retransmits", "unnecessary (DSACK)", evidence.spurious),
            ("out_of_order", "segments out of order", evidence.late),
            ("zero_windows", "times that the window closed", evidence.zero_windows),
            ("window_full", "segments that filled the window", evidence.window_fulls),
            ("delayed_acks", "waits of a small segment for an ACK", evidence.delayed_acks),
            ("marked", "packets with congestion marks", evidence.marked),
            ("unseen", "gaps in the capture", evidence.unseen),
        ):
            facts.put(key, label, count or None, Unit.COUNT)
    for wait, label in _WAITS.items():
        share = evidence.share(wait)
        if share >= 0.005:
            key = f"{wait.replace(' ', '_')}_fraction"
            beside = f"{evidence.waits[wait]:.3g} s"
            facts.put(key, f"waits for {label}", share, Unit.FRACTION, beside=beside)
    return facts


_WAITS = {
    "window": "room in the receive window",
    "zero window": "a closed window to open",
    "idle": "its program",
    "timeout": "a retransmission timeout",
    "delayed ack": "a delayed acknowledgement",
    "network": "the network",
    "between data": "what is not visible here",
}


def stream_findings(evidence: StreamEvidence, facts: Facts) -> list[Finding]:
    """Return the possible causes of what a connection shows.

    Args:
        evidence: the connection.
        facts: its facts.
    """
    opened = list(_opening(evidence, facts))
    if opened or not evidence.segments:
        return opened
    return [one for rule in _RULES for one in rule(evidence, facts)]


def _percent(share: float) -> str:
    return format_quantity(share, Unit.FRACTION)


def _opening(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    target = f"{evidence.receiver.address}:{evidence.receiver.port}"
    if evidence.is_refused:
        yield finding(
            RootCause.FIREWALL,
            0.8,
            f"The connection was refused: a reset answered the SYN to {target}. No program listens "
            "there, or a firewall rejects it.",
            remedy="`ss -tln` at the other end shows what listens; `nft list ruleset` what is "
            "rejected.",
            certain=True,
        )
    elif evidence.has_syn == 1 and not evidence.is_answered:
        yield finding(
            RootCause.FIREWALL,
            0.7,
            f"Nothing answers the SYN to {target}: a firewall drops it, the host is down, or "
            "there is "
            "no route there or back.",
            remedy="Capture at the other end, too: it shows whether the SYN arrives and an answer "
            "leaves.",
            certain=True,
        )
    elif not evidence.segments and evidence.is_answered and not evidence.resets:
        yield finding(
            RootCause.APPLICATION,
            0.6,
            "The connection is open, and neither end sends data in this capture.",
            remedy="Nothing in the network: see what the programs at both ends wait for.",
            evidence=chosen(facts, "data_bytes"),
        )


def _windows(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    share = evidence.share("window") + evidence.share("zero window")
    rtt_s = evidence.typical_rtt_s or evidence.rtt_s
    if evidence.side is not Side.SENDER and rtt_s and evidence.window_bytes:
        # What is in flight cannot be seen here; by Little's law it is throughput x RTT.
        filled = evidence.bps * rtt_s / 8 / evidence.window_bytes
        least = 0.75 if evidence.is_scaled else 0.65
        if least <= filled <= 1.3 and evidence.is_scaled is not None:
            share = max(share, min(0.9, filled))
    shown = chosen(
        facts, "window_fraction", "zero_window_fraction", "window_bytes", "in_flight_bytes",
        "zero_windows", "window_full", "min_rtt_s",
    )  # fmt: skip
    if evidence.is_scaled is None and evidence.in_flight_bytes > evidence.window_bytes:
        return  # the window is scaled, by a number that is not in the capture
    closed = evidence.share("zero window")
    if evidence.is_scaled is False and share - closed > 0.1:
        yield _no_scaling(evidence, share - closed, shown)
        share = closed
    if closed > 0.02 and closed >= 0.2 * share:
        yield finding(
            RootCause.RECEIVE_WINDOW,
            max(share, min(1.0, 0.3 + share)),
            f"The receiver's program reads too slowly: its window closed {evidence.zero_windows:,} "
            f"times, {_percent(closed)} of the time, and the sender waited.",
            remedy="Make the receiving program read faster; larger buffers only delay the wait.",
            evidence=shown,
            certain=True,
            explains=True,
        )
    elif share:
        yield finding(
            RootCause.RECEIVE_WINDOW,
            share,
            f"The receive window limits: for {_percent(share)} of the time all that it allows "
            f"({evidence.window_bytes:,} bytes at most) was in flight.",
            remedy="A larger receive buffer at the receiver.",
            lines=(RECEIVE_BUFFER,),
            evidence=shown,
            certain=evidence.is_scaled is not None,
        )


def _no_scaling(evidence: StreamEvidence, share: float, shown: tuple[Fact, ...]) -> Finding:
    rtt_s = evidence.typical_rtt_s or evidence.rtt_s
    most = (
        f", {format_quantity(bdp.throughput_bps(bdp.MAX_FIELD, rtt_s), Unit.BPS)} at this RTT"
        if rtt_s
        else ""
    )
    return finding(
        RootCause.NO_WINDOW_SCALING,
        max(share, 0.5),
        "No window scaling was agreed in the SYN packets: at most 65,535 bytes can be in flight"
        f"{most}, and for {_percent(share)} of the time they were.",
        remedy="Switch window scaling on at the end whose SYN lacks the option, or look for a "
        "firewall that removes it: compare captures at both ends.",
        lines=SCALING,
        evidence=shown,
        certain=True,
    )


def _black_hole(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    if not evidence.repeats:
        return
    big = evidence.repeat_bytes
    if big < _MIN_BIG_BYTES or evidence.largest_acked >= 0.9 * min(big, evidence.segment_bytes):
        return
    yield finding(
        RootCause.MTU_BLACK_HOLE,
        0.95,
        f"A segment of {big:,} bytes was sent {evidence.repeats:,} times and never acknowledged, "
        f"while smaller ones passed (up to {evidence.largest_acked:,} bytes): packets of this size "
        "do not fit a link on the path, and no ICMP message arrives that says so.",
        remedy="Let ICMP (type 3 code 4, ICMPv6 type 2) pass, lower the MSS at the router (`tcp "
        "option "
        "maxseg size set rt mtu`), or let the sender probe.",
        lines=(PROBING,),
        evidence=chosen(facts, "retransmits", "timeouts", "mss_bytes", "timeout_fraction"),
        certain=True,
    )


def _outage(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    if evidence.outage_s < _MIN_OUTAGE_S:
        return
    yield finding(
        RootCause.OUTAGE,
        min(1.0, 0.5 + evidence.outage_s / evidence.duration_s),
        f"Nothing was acknowledged for {format_quantity(evidence.outage_s, Unit.SECONDS)} from "
        f"{evidence.outage_start_s:.3g} s on, whatever was sent again, and then all went on: the "
        "path was cut for a while.",
        remedy="Look for what happened at that time: a link or a route that changed, Wi-Fi "
        "roaming; a ping beside the transfer shows it.",
        evidence=chosen(facts, "timeout_fraction", "timeouts", "sender_bps"),
        certain=True,
    )


def _timeouts(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    share = evidence.share("timeout")
    if evidence.timeouts and share:
        yield finding(
            RootCause.TIMEOUTS,
            share,
            f"For {_percent(share)} of the time the sender waited for retransmission timeouts "
            f"({evidence.timeouts:,}): losses that no acknowledgement reported.",
            remedy="Find what loses whole windows or the last packets of a burst: a very short "
            "queue, "
            "many senders at once (incast), a link that is cut.",
            evidence=chosen(
                facts, "timeout_fraction", "timeouts", "retransmits", "fast_retransmits"
            ),
            certain=True,
        )


def _application(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    share = evidence.share("idle")
    if share:
        yield finding(
            RootCause.APPLICATION,
            share,
            f"For {_percent(share)} of the time all data were acknowledged, and the sender's "
            "program "
            "had sent no more.",
            remedy="Nothing in the network: the program thinks, waits for an answer, or has a rate "
            "of its own.",
            evidence=chosen(facts, "idle_fraction", "sender_bps", "window_bytes"),
            certain=evidence.side is not Side.RECEIVER,
        )


def _small_writes(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    share = evidence.share("delayed ack")
    if evidence.delayed_acks >= 2 and share:
        each = evidence.waits["delayed ack"] / evidence.delayed_acks
        yield finding(
            RootCause.SMALL_WRITES,
            share,
            f"{evidence.delayed_acks:,} times a small segment waited for an acknowledgement that "
            "came "
            f"{format_quantity(each, Unit.SECONDS)} later, {_percent(share)} of the time: Nagle's "
            "algorithm at the sender and delayed acknowledgements at the receiver.",
            remedy="Write a message at once, or set TCP_NODELAY in the sending program.",
            evidence=chosen(facts, "delayed_acks", "delayed_ack_fraction", "min_rtt_s"),
            certain=True,
        )


def _network(evidence: StreamEvidence) -> float:
    """Return the share of the time that belongs to the network or the sender's own window."""
    visible = evidence.share("network")
    return visible + evidence.share("between data")


def _queue_s(evidence: StreamEvidence) -> float | None:
    least, middle = evidence.rtt_s, evidence.typical_rtt_s
    if not least or not middle:
        return None
    extra_s = middle - least
    return extra_s if extra_s >= _QUEUE_S and middle >= _QUEUE_RATIO * least else None


def _queue(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    extra_s = _queue_s(evidence)
    if extra_s is None:
        return
    # A program that pauses does not keep a queue full.
    share = _network(evidence) * max(0.0, 1 - 2 * evidence.share("idle"))
    shown = chosen(
        facts, "sender_bps", "min_rtt_s", "median_rtt_s", "return_queue_s", "retransmits"
    )
    back_s = evidence.return_queue_s
    if back_s is not None and back_s >= 0.6 * extra_s:
        yield finding(
            RootCause.ACK_PATH,
            0.9 * share,
            f"Acknowledgements wait {format_quantity(back_s, Unit.SECONDS)} on the way back, by "
            "the "
            "receiver's timestamps, and nearly all of the RTT's increase "
            f"({format_quantity(extra_s, Unit.SECONDS)}) is there: another flow fills that "
            "direction.",
            remedy="Give the other direction a fair queue (fq_codel, cake), or shape what fills "
            "it.",
            evidence=shown,
            certain=True,
        )
        return
    yield finding(
        RootCause.STANDING_QUEUE,
        0.85 * share,
        f"A link is full at {format_quantity(evidence.bps, Unit.BPS)} of payload, and its queue "
        "adds "
        f"{format_quantity(extra_s, Unit.SECONDS)} to the "
        f"{format_quantity(evidence.rtt_s or 0.0, Unit.SECONDS)} of the idle path.",
        remedy="The link carries no more. A shorter queue, fq_codel or cake at it cut the delay.",
        evidence=shown,
    )


def _losses(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    again, share = evidence.retransmits, _network(evidence)
    late = evidence.late / max(evidence.segments, 1)
    if late >= _MANY_LATE and evidence.late > again:
        yield finding(
            RootCause.REORDERING,
            0.6 * share,
            f"{_percent(late)} of the segments ({evidence.late:,}) came out of order: packets "
            "overtake "
            "each other.",
            remedy="Find what reorders: links that share one flow packet by packet, wireless "
            "retransmissions, a netem with jitter.",
            evidence=chosen(facts, "out_of_order", "retransmits", "spurious_retransmits"),
            certain=True,
        )
        return
    if not again:
        return
    shown = chosen(
        facts, "retransmits", "fast_retransmits", "timeouts", "spurious_retransmits",
        "out_of_order", "min_rtt_s", "median_rtt_s",
    )  # fmt: skip
    if evidence.spurious >= max(3, again // 2):
        yield finding(
            RootCause.REORDERING,
            0.85 * share,
            f"{evidence.spurious:,} of {again:,} retransmissions were unnecessary: the receiver "
            "had "
            "the data already (DSACK). Packets overtake each other, or the delay jumps.",
            remedy="Find what reorders: links that share one flow packet by packet, wireless "
            "retransmissions, a netem with jitter.",
            evidence=shown,
            certain=True,
        )
        return
    frames = max(evidence.data_bytes / evidence.segment_bytes, evidence.segments, 1)
    ratio = again / frames
    if _queue_s(evidence) is not None or (ratio < 1e-5 and again < 3):
        return
    rise = sorted(evidence.rises)[len(evidence.rises) // 2] if evidence.rises else None
    together = evidence.lost_together / evidence.lost if evidence.lost else 0.0
    weight = share * (0.1 if again < 3 else 0.85 if ratio >= 1e-4 else 0.4)
    counted = f"{again:,} segments ({_percent(ratio)}) were sent again"
    if evidence.side is not Side.SENDER:
        yield finding(
            RootCause.POLICER if together >= _MOSTLY else RootCause.RANDOM_LOSS,
            min(weight, 0.5 * share),
            f"{counted}, mostly {'several in a row' if together >= _MOSTLY else 'single ones'}: a "
            + ("policer or a full queue" if together >= _MOSTLY else "lossy link or a full queue")
            + "; whether a queue grows before cannot be seen here.",
            remedy="Capture at the sender: there the RTT before each loss shows whether a queue is "
            "full.",
            evidence=shown,
        )
    elif rise is not None and rise >= _RISEN:
        yield finding(
            RootCause.SHORT_QUEUE,
            weight,
            f"{counted}, each time after the RTT had risen to {rise:.2g} times its least: a short "
            "queue on the path overflows.",
            remedy="Give the queue rate x RTT, or use a congestion control that does not go by "
            "losses.",
            evidence=shown,
        )
    elif together >= _MOSTLY:
        yield finding(
            RootCause.POLICER,
            weight,
            f"{counted}, mostly several in a row, while the RTT stays flat: a policer, or a "
            "queue of a "
            "few packets.",
            remedy="Shape below its rate at the sender (`tc qdisc replace dev DEV root fq maxrate "
            "RATE`), or raise the policer's burst.",
            evidence=shown,
        )
    else:
        yield finding(
            RootCause.RANDOM_LOSS,
            weight,
            f"{counted}, one here and one there while the RTT stays flat: packets are lost at "
            "random, "
            "and not by a full queue.",
            remedy="Repair the link (cable, optics, radio); BBR and more streams suffer less.",
            evidence=shown,
        )


def _constant(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    """Find a rate that is constant, without losses, a queue or a window that limits."""
    rates, share = evidence.rates_bps, _network(evidence)
    if len(rates) < 5 or evidence.retransmits or share < 0.5 or _queue_s(evidence) is not None:
        return
    middle = rates[2:-1]
    mean = statistics.fmean(middle)
    if not mean or statistics.pstdev(middle) > _FLAT * mean:
        return
    at_sender = evidence.side is Side.SENDER
    yield finding(
        RootCause.SENDER_SHAPER if at_sender else RootCause.FULL_LINK,
        (0.5 if at_sender else 0.4) * share,
        f"A constant {format_quantity(mean, Unit.BPS)} of payload, without losses"
        + (
            ", without a queue and with room in the receive window: a shaper at the sender, its "
            "send "
            "buffer, or a link that is just full."
            if at_sender
            else ": the rate of a link on the path, of a shaper, or of the sender's own buffer."
        ),
        remedy="`tc -s qdisc show dev DEV` and `ss -tinm` at the sender tell a shaper from a full "
        "send buffer.",
        evidence=chosen(facts, "sender_bps", "min_rtt_s", "median_rtt_s", "window_bytes",
                        "in_flight_bytes"),
    )  # fmt: skip


def _start_up(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    rtt_s = evidence.typical_rtt_s or evidence.rtt_s
    if evidence.retransmits or not evidence.has_syn or not rtt_s or not evidence.duration_s:
        return
    trips = evidence.duration_s / rtt_s
    if 1 < trips < _MANY_RTTS and evidence.in_flight_bytes > 10 * evidence.segment_bytes:
        yield finding(
            RootCause.START_UP,
            0.6 * _network(evidence),
            f"It took only {trips:.2g} round trips, without a loss: most of that is slow start, in "
            "which the congestion window doubles each round trip.",
            remedy="Nothing to set: short transfers end before the window is large. Keep "
            "connections "
            "open, or start with a larger window (`ip route change ... initcwnd`).",
            evidence=chosen(facts, "data_bytes", "min_rtt_s", "in_flight_bytes"),
        )


def _no_ecn(evidence: StreamEvidence, facts: Facts) -> Iterator[Finding]:
    if evidence.ecn_requested and evidence.has_syn == 2 and not evidence.ecn_agreed:
        yield finding(
            RootCause.NO_ECN,
            0.06,
            "The SYN requests ECN, and the answer does not agree to it.",
            remedy="Switch ECN on at the other end, `sysctl -w net.ipv4.tcp_ecn=1`, or find what "
            "clears the bits.",
            evidence=chosen(facts, "marked"),
            certain=True,
        )


_RULES = (
    *(
        _black_hole,
        _windows,
        _outage,
        _timeouts,
        _small_writes,
        _application,
        _queue,
        _losses,
        _constant,
    ),
    *(_start_up, _no_ecn),
)
