"""What limits a TCP socket, by what its kernel knows of it: from ss(8), or from a tcp probe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis, ranked
from longfat.analysis.advice.foreign.socket_findings import socket_findings
from longfat.analysis.advice.foreign.socket_history import SocketHistory, socket_facts
from longfat.analysis.advice.foreign.socket_text import SocketState
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp

TO_LEARN = (
    "Print the sender's sockets some times while it is slow, `ss -tinm` every second, and capture "
    "the packets there: `tcpdump -s 128 -w FILE host PEER`."
)


def diagnose_socket(states: Sequence[SocketState], *, files: tuple[str, ...]) -> ForeignDiagnosis:
    """Return what limits a socket.

    Args:
        states: its states in the order of time; at least one.
        files: the names of the files that they are from.
    """
    history = SocketHistory(states)
    last = history.last
    facts = socket_facts(history)
    findings = socket_findings(history, facts)
    count = f", {len(states)} times" if len(states) > 1 else ""
    role = "sends" if history.sends else "receives"
    title = f"a socket that {role}{f', {last.congestion}' if last.congestion else ''}{count}"
    return ForeignDiagnosis(
        files=files,
        flow=last.name,
        title=title,
        findings=ranked(findings, to_learn=TO_LEARN),
        facts=tuple(facts),
        unknown=tuple(_unknown(history)),
        notes=tuple(_notes(history)),
        duration_s=history.growth("busy"),
    )


def _unknown(history: SocketHistory) -> Iterator[str]:
    last = history.last
    if not history.sends:
        yield (
            "This is the receiving end, which knows neither the congestion window nor losses: add "
            "`ss -tinm` of the sender."
        )
        window, rtt_s = last.get("rcv_wnd"), last.get("rcv_rtt")
        if window and rtt_s:
            most = format_quantity(bdp.throughput_bps(window, rtt_s), Unit.BPS)
            yield f"Its window would let {most} through (window / RTT); what came is not printed."
        return
    if last.get("busy") is None:
        yield (
            "The kernel's clocks (busy, rwnd_limited, sndbuf_limited) are not printed: they need "
            "Linux 4.10 and iproute2 4.10 or later, and a socket that has sent data."
        )
    if len(history.states) == 1:
        yield "One state shows sums since the connection began: print it again to see what is now."
    if last.get("skmem_tb") is None:
        yield "Socket buffers are not printed: `ss -tinm` has them."
    yield "The rate and the load of the slowest link: a socket does not know them."


def _notes(history: SocketHistory) -> Iterator[str]:
    last = history.last
    mss = last.get("mss")
    if mss is not None and mss <= 536:
        yield (
            f"Segments have only {mss:,.0f} bytes: the other end sent no MSS option, the path's "
            "MTU "
            "is small, or MTU probing found a black hole."
        )
    if last.count("rehash") and not last.count("backoff"):
        yield f"The flow changed its hash {last.count('rehash'):,.0f} times, after timeouts."
    if last.state == "CLOSE-WAIT":
        yield "The other end has closed (CLOSE-WAIT); the program here has not."
