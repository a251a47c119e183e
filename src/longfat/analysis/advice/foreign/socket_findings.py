"""Root causes by what the kernel knows of a socket: rules over its states.

The kernel's clocks come first: `busy`, and in it `rwnd_limited` and `sndbuf_limited` (tcp(7), Linux
4.10). What remains of the busy time belongs to the network, the congestion control and the
sender's own queueing discipline, which counters distinguish: losses and spurious retransmissions,
timeouts, the RTT against its minimum, the pacing rate, data that was not sent yet.

Of two or more states of a socket the counters' growth between them counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from longfat.analysis.advice.facts import Fact, Facts
from longfat.analysis.advice.foreign.foreign_diagnosis import chosen, finding
from longfat.analysis.advice.foreign.remedies import (
    PROBING,
    RECEIVE_BUFFER,
    SCALING,
    SEND_BUFFER,
    SENDER,
)
from longfat.analysis.advice.foreign.socket_history import SocketHistory
from longfat.analysis.advice.foreign.socket_text import SocketState
from longfat.analysis.advice.limits import MODEL_BASED
from longfat.analysis.advice.recommendation import Line
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp

_MOSTLY = 0.5
_MIN_IDLE_S = 1.0
# Linux's pacing ratio in congestion avoidance (ip-sysctl.rst, tcp_pacing_ca_ratio).
_PACING_RATIO = 1.2
_INITIAL_WINDOW = 10
_SMALL_MSS_BYTES = 536
_SAMPLES_OF_A_START = 100
_TINY_THRESHOLD = 10


def socket_findings(history: SocketHistory, facts: Facts) -> list[Finding]:
    """Return the possible causes of what a socket shows.

    Args:
        history: the socket.
        facts: its facts.
    """
    waiting = list(_waits(history, facts))
    if waiting:
        return waiting
    rules = _SENDER_RULES if history.sends else _RECEIVER_RULES
    return [one for rule in rules for one in rule(history, facts)]


def _percent(share: float) -> str:
    return format_quantity(share, Unit.FRACTION)


def _waits(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    """Return why a socket has not moved any data."""
    last = history.last
    if last.state == "SYN-SENT":
        yield finding(
            RootCause.FIREWALL,
            0.6,
            "The connection is not open: nothing answers its SYN. A firewall drops it, the other "
            "host is down, or there is no route there or back.",
            remedy="Capture at both ends, `tcpdump -n tcp port PORT or icmp`: it shows how far the "
            "SYN and its answer come.",
            certain=True,
        )
        return
    moved = max(
        *(last.count(name) for name in ("bytes_acked", "bytes_received", "bytes_sent")),
        *(last.count(name) for name in ("data_segs_out", "data_segs_in", "unacked")),
    )
    # The kernel counts the SYN as a byte.
    if moved > 1 or last.send_queue_bytes or last.count("notsent") or not last.has_options:
        return
    if last.receive_queue_bytes:
        return
    yield finding(
        RootCause.APPLICATION,
        0.9,
        "The connection is open, and neither end has sent any data: the programs wait.",
        remedy="Nothing in the network: see what the programs at both ends wait for.",
        evidence=chosen(facts, "bytes_acked_bytes", "cwnd_bytes"),
        certain=last.get("bytes_acked") is not None or last.get("segs_out") is not None,
    )


def _rest(history: SocketHistory) -> float:
    """Return the share of the busy time that neither window nor buffer limited."""
    shares = [history.share(name) or 0.0 for name in ("rwnd_limited", "sndbuf_limited")]
    return max(0.0, 1.0 - sum(shares))


def _windows(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last = history.last
    share = history.share("rwnd_limited") or 0.0
    seconds, busy_s = history.growth("rwnd_limited"), history.growth("busy")
    clock = f"{_percent(share)} of the busy time ({seconds:.4g} of {busy_s:.4g} s)"
    evidence = chosen(
        facts,
        "rwnd_limited_fraction",
        "send_window_bytes",
        "in_flight_bytes",
        "cwnd_bytes",
        "rtt_s",
    )
    unscaled = last.has_options and (last.scales is None or last.scales[0] == 0)
    window = last.get("snd_wnd")
    if unscaled and (window is None or window <= bdp.MAX_FIELD):
        yield _no_scaling(history, share, evidence)
    elif history.fills_window and share < _MOSTLY:
        yield finding(
            RootCause.RECEIVE_WINDOW,
            0.8,
            f"The receive window of the other end is full: {history.in_flight_bytes or 0:,.0f} "
            "bytes "
            f"are in flight, it allows {window or 0:,.0f}, and more wait to be sent"
            + (f"; it limited {clock} so far." if share else "."),
            remedy="A larger receive buffer at the receiver; or a faster program there, if it "
            "reads "
            "slowly: `ss -tinm` at the receiver shows which, by Recv-Q and skmem.",
            lines=(RECEIVE_BUFFER,),
            evidence=evidence,
            certain=True,
        )
    elif share:
        yield finding(
            RootCause.RECEIVE_WINDOW,
            share,
            f"The receive window of the other end limited it {clock}, by the kernel's own clock: "
            "the receiver let no more be in flight.",
            remedy="A larger receive buffer at the receiver; or a faster program there, if it "
            "reads "
            "slowly: `ss -tinm` at the receiver shows which, by Recv-Q and skmem.",
            lines=(RECEIVE_BUFFER,),
            evidence=evidence,
            certain=True,
        )
    share = history.share("sndbuf_limited") or 0.0
    full = _full_send_buffer(history)
    if share >= full and share:
        seconds = history.growth("sndbuf_limited")
        sentence = (
            f"The send buffer limited it {_percent(share)} of the busy time ({seconds:.4g} of "
            f"{busy_s:.4g} s), by the kernel's own clock: it had no room for more data."
        )
    elif full:
        sentence = (
            "The send buffer is full, while congestion window and receive window have room: it "
            "limits what can be in flight."
        )
    else:
        return
    yield finding(
        RootCause.SEND_BUFFER,
        max(share, full),
        sentence,
        remedy="A larger send buffer at the sender.",
        lines=(SEND_BUFFER,),
        evidence=chosen(
            facts, "sndbuf_limited_fraction", "send_buffer_bytes", "send_used_bytes",
            "in_flight_bytes", "cwnd_bytes",
        ),
        certain=True,
    )  # fmt: skip


def _full_send_buffer(history: SocketHistory) -> float:
    """Return how sure it is that the send buffer is full, where its clock says little."""
    last = history.last
    used, size = last.get("skmem_w"), last.get("skmem_tb")
    mss, cwnd = last.get("mss") or 0.0, last.get("cwnd") or 0.0
    if not used or not size or not mss:
        return 0.0
    in_flight = history.in_flight_bytes or 0.0
    window = last.get("snd_wnd")
    has_room = last.count("unacked") < 0.8 * cwnd and (window is None or in_flight < 0.8 * window)
    # A program is woken when a third of the buffer is free.
    is_full = used >= 0.6 * size and last.count("notsent") < 2 * mss
    return 0.7 if is_full and has_room else 0.0


def _no_scaling(history: SocketHistory, share: float, evidence: tuple[Fact, ...]) -> Finding:
    last = history.last
    rtt_s = last.get("rtt") or 0.0
    bound_bps = bdp.throughput_bps(bdp.MAX_FIELD, rtt_s) if rtt_s else None
    in_flight = history.in_flight_bytes or 0.0
    delivery = last.get("delivery_rate") or 0.0
    weight = share
    fills = in_flight >= 0.7 * bdp.MAX_FIELD or (bound_bps and delivery >= 0.7 * bound_bps)
    weight = max(weight, 0.8 if fills else 0.2)
    most = f", {format_quantity(bound_bps, Unit.BPS)} at this RTT" if bound_bps else ""
    clock = f"; the receive window limited it {_percent(share)} of the busy time" if share else ""
    return finding(
        RootCause.NO_WINDOW_SCALING,
        weight,
        f"No window scaling was agreed: at most 65,535 bytes can be in flight{most}{clock}.",
        remedy="Switch window scaling on at both ends, or look for a firewall or proxy between "
        "them "
        "that removes the option: compare the SYN packets of captures at both ends.",
        lines=SCALING,
        evidence=evidence,
        certain=share > _MOSTLY,
    )


def _losses(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last, rest = history.last, _rest(history)
    total, spurious = history.growth("total_retrans"), history.growth("dsack_dups")
    evidence = chosen(
        facts, "retransmits", "spurious_retransmits", "reordering_events", "cwnd_bytes",
        "ssthresh_bytes", "rtt_s", "min_rtt_s",
    )  # fmt: skip
    if total >= 3 and spurious >= _MOSTLY * total:
        ratio = total / history.segments
        yield finding(
            RootCause.REORDERING,
            rest * (0.85 if ratio >= 0.001 else 0.3),
            f"{spurious:,.0f} of {total:,.0f} retransmissions were unnecessary: the first copy had "
            "arrived. Packets overtake each other on the path"
            f"{'' if last.count('reord_seen') else ', or its delay jumps'}.",
            remedy="Find what reorders: links that share one flow packet by packet, wireless "
            "retransmissions, a netem with jitter. RACK (on since 4.18) tolerates a quarter of the "
            "RTT.",
            evidence=evidence,
            certain=True,
        )
    elif history.growth("reord_seen") >= max(10, 0.002 * history.segments):
        yield finding(
            RootCause.REORDERING,
            rest * 0.6,
            f"Packets overtake each other: {history.growth('reord_seen'):,.0f} times "
            "acknowledgements "
            f"showed it, of {history.segments:,.0f} segments.",
            remedy="Find what reorders: links that share one flow packet by packet, wireless "
            "retransmissions, a netem with jitter.",
            evidence=evidence,
            certain=True,
        )
    lost, segments = history.losses, history.segments
    ratio = lost / segments
    if lost < 1 or history.queue_s is not None or _backoff(last):
        return
    weight = 0.9 if ratio >= 1e-3 else 0.6 if ratio >= 1e-5 and lost >= 3 else 0.2
    weight *= lost / max(total, lost)
    small = last.get("cwnd") is not None and (last.get("cwnd") or 0) <= _TINY_THRESHOLD
    yield finding(
        RootCause.RANDOM_LOSS,
        rest * weight,
        f"Packets are lost: {lost:,.0f} of {segments:,.0f} segments ({_percent(ratio)}) were sent "
        f"again{', which keeps the congestion window small' if small else ''}, and the RTT shows "
        "no queue: random loss, a policer, or a queue that is too short.",
        remedy="A capture at the sender distinguishes them: a policer and a short queue drop in "
        "bursts, whenever the window passes the same size; random loss does not. BBR and more "
        "streams suffer less from each.",
        evidence=evidence,
    )


def _queues(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    queue_s = history.queue_s
    last = history.last
    # An RTT over one or two segments may be that of a delayed acknowledgement.
    if queue_s is None or last.count("unacked") < 3:
        return
    lost = history.losses
    drops = f", and it overflows: {lost:,.0f} losses" if lost else ""
    yield finding(
        RootCause.STANDING_QUEUE,
        _rest(history) * 0.8,
        f"A queue adds {format_quantity(queue_s, Unit.SECONDS)} to an RTT of "
        f"{format_quantity(last.count('minrtt'), Unit.SECONDS)}{drops}: a link on the path is "
        "full, with this flow or others, in this direction or on the way back.",
        remedy="The link carries no more; a shorter queue, fq_codel or cake at it cut the delay. "
        "Measure the load of both directions at the slowest link.",
        evidence=chosen(facts, "rtt_s", "min_rtt_s", "cwnd_bytes", "delivery_bps", "retransmits"),
    )


def _backoff(state: SocketState) -> float:
    """Return how many retransmission timeouts in a row had no answer.

    A closed window is probed with the same backoff, and nothing is in flight then.
    """
    in_flight = state.count("backoff") if state.count("unacked") else 0.0
    return max(in_flight, state.count("timer_on"))


def _timeouts(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last = history.last
    backoff = _backoff(last)
    # The kernel counts the SYN as a byte that was acknowledged.
    has_answer = last.count("bytes_acked") > 1 or last.get("bytes_sent") is None
    is_silent = not has_answer and history.growth("total_retrans") >= 2
    if not backoff and not is_silent:
        return
    mss = last.get("mss") or 0.0
    waiting = max(last.send_queue_bytes or 0.0, last.count("notsent"), last.count("unacked") * mss)
    evidence = chosen(
        facts, "backoff", "bytes_acked_bytes", "in_flight_bytes", "cwnd_bytes", "retransmits"
    )
    few = last.count("bytes_acked") < _INITIAL_WINDOW * mss
    if (is_silent or (backoff >= 2 and few)) and waiting >= mss > _SMALL_MSS_BYTES:
        yield finding(
            RootCause.MTU_BLACK_HOLE,
            0.92,
            f"Hardly anything was acknowledged, and segments of {mss:,.0f} bytes are sent again "
            "and again without an answer, while the handshake's small packets passed: probably "
            "packets of this size do not fit a link on the path, and no ICMP message comes back.",
            remedy="Compare `ping -M do -s 1472 PEER` with smaller sizes. Let ICMP pass, lower the "
            "MSS at the router (`tcp option maxseg size set rt mtu`), or let the sender probe.",
            lines=(PROBING,),
            evidence=evidence,
        )
    if not backoff:
        return
    yield finding(
        RootCause.TIMEOUTS,
        min(0.9, 0.6 + 0.05 * backoff),
        f"It waits for a retransmission timeout, {backoff:,.0f} times in a row without an "
        "acknowledgement; each wait is twice as long as the one before.",
        remedy="The path loses whole windows, or is cut: `ping PEER`, and a capture at both ends, "
        "show where packets end.",
        evidence=evidence,
        certain=True,
    )


def _shaper(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last, rest = history.last, _rest(history)
    pacing, delivery = last.get("pacing_rate"), last.get("delivery_rate")
    largest = last.get("max_pacing_rate")
    mss, cwnd, rtt_s = last.get("mss"), last.get("cwnd"), last.get("rtt")
    evidence = chosen(
        facts, "pacing_bps", "max_pacing_bps", "delivery_bps", "cwnd_bytes", "rtt_s", "retransmits"
    )
    remedy = (
        "Raise or remove the limit, if it is not intended: the program's own rate "
        "(SO_MAX_PACING_RATE, iperf3 -b or --fq-rate), and `tc -s qdisc show dev DEV` at the "
        "sender."
    )
    if largest and delivery and delivery >= 0.85 * largest:
        yield finding(
            RootCause.SENDER_SHAPER,
            rest * 0.95,
            f"The sender paces to {format_quantity(largest, Unit.BPS)}, the largest rate that the "
            "socket was given, and that is what arrives.",
            remedy=remedy,
            evidence=evidence,
            certain=True,
        )
        return
    if not pacing or not delivery or not mss or not cwnd or not rtt_s:
        return
    own_bps = _PACING_RATIO * cwnd * mss * 8 / rtt_s
    is_close = 0.85 * pacing <= delivery <= 1.15 * pacing
    if last.congestion in MODEL_BASED or history.losses > 0.001 * history.segments:
        return
    if is_close and pacing < 0.9 * own_bps:
        yield finding(
            RootCause.SENDER_SHAPER,
            rest * 0.9,
            f"The sender paces to {format_quantity(pacing, Unit.BPS)}, less than its window allows "
            f"({format_quantity(own_bps, Unit.BPS)}), and that is what arrives: a rate of its own "
            "limits it.",
            remedy=remedy,
            evidence=evidence,
            certain=True,
        )
        return
    waits = last.count("notsent") >= 2 * mss
    has_room = last.count("unacked") < 0.75 * cwnd
    if (
        waits
        and has_room
        and not history.fills_window
        and history.queue_s is None
        and not history.losses
    ):
        yield finding(
            RootCause.SENDER_SHAPER,
            rest * 0.7,
            "Data wait to be sent though congestion window and receive window have room, and "
            "nothing is lost: the sender's own queueing discipline holds them back "
            f"({format_quantity(delivery, Unit.BPS)} arrive).",
            remedy=remedy,
            evidence=evidence,
        )
    elif is_close:
        yield finding(
            RootCause.SENDER_SHAPER,
            rest * 0.35,
            f"What arrives ({format_quantity(delivery, Unit.BPS)}) is close to what the sender "
            "paces "
            f"to ({format_quantity(pacing, Unit.BPS)}).",
            remedy=remedy,
            evidence=evidence,
        )


def _application(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last, rest = history.last, _rest(history)
    unsent, unacked, cwnd = last.count("notsent"), last.count("unacked"), last.get("cwnd")
    idle_s = last.get("lastsnd")
    nothing = not unsent and not unacked and not last.send_queue_bytes
    evidence = chosen(facts, "in_flight_bytes", "unsent_bytes", "cwnd_bytes", "delivery_bps")
    if nothing and idle_s is not None and idle_s >= max(_MIN_IDLE_S, 2 * last.count("rto")):
        sentence = (
            f"The program has sent nothing for {format_quantity(idle_s, Unit.SECONDS)}, and all "
            "before that was acknowledged: it has nothing to send."
        )
        weight, certain = 0.9, True
    elif last.is_app_limited and not unsent and (cwnd is None or unacked < 0.8 * cwnd):
        sentence = (
            "The program has nothing more to send (app_limited, and no data wait): windows and "
            "buffers have room."
        )
        weight, certain = rest * 0.8, True
    else:
        return
    yield finding(
        RootCause.APPLICATION,
        weight,
        sentence,
        remedy="Nothing in the network: the program sends in portions, waits for answers, or is "
        "slow itself.",
        evidence=evidence,
        certain=certain,
    )


def _small_writes(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last, rest = history.last, _rest(history)
    mss, cwnd = last.get("mss"), last.get("cwnd")
    if not mss or not cwnd:
        return
    unsent, unacked = last.count("notsent"), last.count("unacked")
    held = 0 < unsent < mss and 0 < unacked < 0.5 * cwnd
    segments = history.growth("data_segs_out")
    sent = history.growth("bytes_sent") or history.growth("bytes_acked")
    size = sent / segments if segments >= 50 else mss
    if not held and size >= 0.5 * mss:
        return
    each = f"; its segments have {size:,.0f} bytes on average" if size < mss else ""
    weight = 0.9 if held else 0.3
    yield finding(
        RootCause.SMALL_WRITES,
        rest * weight,
        (
            f"{unsent:,.0f} bytes, less than a segment, wait for an acknowledgement (Nagle), while "
            f"the congestion window is open{each}: small writes and delayed acknowledgements."
            if held
            else f"The program writes in small portions{each}, of {mss:,.0f} possible."
        ),
        remedy="Write a message at once, or set TCP_NODELAY in the sending program.",
        evidence=chosen(facts, "unsent_bytes", "in_flight_bytes", "cwnd_bytes", "mss_bytes"),
    )


def _start(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last = history.last
    mss, cwnd = last.get("mss"), last.get("cwnd")
    if not last.has_options or not mss or not cwnd or last.get("ssthresh") is not None:
        return
    busy = last.count("unacked") >= 0.8 * cwnd
    few = last.count("bytes_acked") < _SAMPLES_OF_A_START * cwnd * mss
    if busy and few and not history.growth("total_retrans"):
        yield finding(
            RootCause.START_UP,
            _rest(history) * 0.6,
            "It is still in slow start: no loss has set ssthresh yet, and the congestion window "
            f"({cwnd:,.0f} segments) is full.",
            remedy="Nothing to set: look again later; short transfers end before the window is "
            "large.",
            evidence=chosen(facts, "cwnd_bytes", "in_flight_bytes", "bytes_acked_bytes"),
        )


def _control(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last, rest = history.last, _rest(history)
    name = last.congestion
    evidence = chosen(facts, "delivery_bps", "pacing_bps", "cwnd_bytes", "rtt_s")
    if name in {"dctcp", "prague"} and last.has_timestamps and not last.has_ecn:
        yield finding(
            RootCause.NO_ECN,
            0.5,
            f"{name} needs ECN, and this connection has not agreed on it.",
            remedy="Switch ECN on at both ends; a firewall between them may remove it.",
            lines=(Line(node=SENDER, text="sysctl -w net.ipv4.tcp_ecn=1", why="it requests ECN"),),
            evidence=evidence,
            certain=True,
        )
    if name in MODEL_BASED and last.count("unacked"):
        yield finding(
            RootCause.MODEL,
            rest * 0.3,
            f"{name} sends at the rate that it measures, "
            f"{format_quantity(last.count('delivery_rate'), Unit.BPS)}: whether the path has more "
            "cannot be seen here.",
            remedy="Compare with cubic, and with the rate of the slowest link.",
            evidence=evidence,
        )


def _slow_reader(history: SocketHistory, facts: Facts) -> Iterator[Finding]:
    last = history.last
    used, size = last.get("skmem_r"), last.get("skmem_rb")
    unread = last.receive_queue_bytes or 0.0
    share = used / size if used and size else 0.0
    if share < 0.4 and not (size and unread >= 0.25 * size) and unread < 1e5:
        return
    yield finding(
        RootCause.RECEIVE_WINDOW,
        0.9,
        f"The program here reads too slowly: {unread:,.0f} bytes wait for it"
        f"{f', and its receive buffer is {_percent(share)} full' if share else ''}, so its window "
        "closes and the other end waits.",
        remedy="Make the receiving program read faster (a profile shows what it waits for); larger "
        "buffers only delay the wait.",
        evidence=chosen(
            facts, "receive_queue_bytes", "receive_used_bytes", "receive_buffer_bytes",
            "receive_window_bytes", "socket_drops",
        ),
        certain=True,
        explains=True,
    )  # fmt: skip


_SENDER_RULES = (
    *(_windows, _losses, _queues, _timeouts, _shaper, _application, _small_writes, _start),
    *(_control, _slow_reader),
)
_RECEIVER_RULES = (_slow_reader,)
