"""Reads what ss(8) prints of TCP sockets with `-i`, of any version and with any other options.

ss prints a line with the state, queues and ends of a socket, and behind it or in the next lines
what the kernel knows of it: words such as `cubic`, pairs such as `mss:1448`, and rates such as
`pacing_rate 1079917032bps`. What is missing in a version, or was cut away, is None here.

Source: ss(8), and misc/ss.c of iproute2, versions 4.0 to 6.17: times are in milliseconds, rates in
bit/s with an optional prefix of powers of 1000.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

_STATES = (
    *("ESTAB", "SYN-SENT", "SYN-RECV", "FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "UNCONN"),
    *("CLOSE-WAIT", "LAST-ACK", "LISTEN", "CLOSING", "NEW-SYN-RECV"),
)
_END = r"(?:\[[^\]\s]{1,80}\](?:%[\w.-]{1,20})?|[^\s\[\]]{1,80}):(?:\d{1,5}|\*|[a-z][\w.-]{0,30})"
_HEAD = re.compile(
    rf"^\s*(?:(?:tcp|mptcp|\?\?\?)\s+)?(?P<state>{'|'.join(_STATES)})\s+"
    rf"(?P<recv_q>\d{{1,12}})\s+(?P<send_q>\d{{1,12}})\s+(?P<local>{_END})\s+(?P<peer>{_END})"
    r"(?P<rest>(?:\s.*)?)$"
)
_TOKEN = re.compile(
    r"(?P<group>(?:skmem|bbr|timer|users|vegas|dctcp|tcp-ulp-\w+)):?\((?P<inner>[^\n]{0,300}?)\)+"
    r"(?=\s|$)"
    r"|(?P<rate_name>send|pacing_rate|delivery_rate)\s+(?P<rate>[\d.]{1,20}[KMGT]?bps)"
    r"(?:/(?P<max_rate>[\d.]{1,20}[KMGT]?bps))?"
    r"|(?P<key>[a-z][a-z_]{1,30}):(?P<value>[^\s()]{1,60})(?:\([\d.]{1,8}%\))?"
    r"|(?P<word>\S{1,300})"
)
_RATE = re.compile(r"(\d{1,18}(?:\.\d{0,6})?)([KMGT]?)bps")
_NUMBER = re.compile(r"(\d{1,18}(?:\.\d{0,9})?)")
_POWERS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_CONTROLS = frozenset(
    (
        *("bbr", "bbr1", "bbr2", "bbr3", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp"),
        *("hybla", "illinois", "lp", "nv", "prague", "reno", "scalable", "vegas", "veno"),
        *("westwood", "yeah"),
    )
)
_MARKS = frozenset(("rto", "rtt", "cwnd", "mss", "wscale", "bytes_acked", "bytes_received"))
_MIN_MARKS = 2
MAX_LINES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketState:
    """A TCP socket at one time; what was not printed is None.

    Attributes:
        local: its own end, such as `10.0.1.29:42314`; empty if not printed.
        peer: the other end.
        state: such as `ESTAB`.
        receive_queue_bytes: received and not read by the program.
        send_queue_bytes: written by the program and not acknowledged.
        congestion: the congestion control; empty if not printed.
        has_options: the line has the kernel's tcp_info, so that an option which is not printed
            was not agreed.
        scales: the window scales of the peer and of itself; None if none was agreed.
        has_timestamps: timestamps were agreed.
        has_ecn: ECN was agreed.
        is_app_limited: the last sample of the delivery rate was limited by the program.
        values: the other numbers by the names that ss gives them, in base units: seconds, bytes,
            packets, bit/s.
    """

    local: str = ""
    peer: str = ""
    state: str = "ESTAB"
    receive_queue_bytes: float | None = None
    send_queue_bytes: float | None = None
    congestion: str = ""
    has_options: bool = False
    scales: tuple[int, int] | None = None
    has_timestamps: bool = False
    has_ecn: bool = False
    is_app_limited: bool = False
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its two ends, or that they are not known."""
        return f"{self.local} -> {self.peer}" if self.local else "a socket"

    def get(self, name: str) -> float | None:
        """Return a number by the name that ss gives it; None if it was not printed."""
        return self.values.get(name)

    def count(self, name: str) -> float:
        """Return a counter, which ss does not print while it is 0."""
        return self.values.get(name, 0.0)


def read_sockets(text: str) -> tuple[tuple[SocketState, ...], ...]:
    """Read the output of ss, of one or several calls one after the other.

    Args:
        text: the output.

    Returns:
        The states of each socket in the order of the calls; only sockets of which tcp_info was
        printed, or which wait for an answer to their SYN. Empty if the text has none.
    """
    sockets: dict[tuple[str, str], list[SocketState]] = {}
    head: re.Match[str] | None = None
    details: list[str] = []

    def end() -> None:
        state = _state(head, " ".join(details))
        if state is not None:
            sockets.setdefault((state.local, state.peer), []).append(state)

    for line in text.splitlines()[:MAX_LINES]:
        match = _HEAD.match(line[:4000])
        if match is not None:
            end()
            head, details = match, [match["rest"]]
        elif not line.strip() or (head is None and details and _begins(line)):
            # Without heads, each line is a socket of its own.
            end()
            head, details = None, [line] if line.strip() else []
        else:
            details.append(line[:4000])
    end()
    return tuple(tuple(states) for states in sockets.values())


def _begins(line: str) -> bool:
    """Return whether a line begins the details of another socket."""
    return sum(f"{mark}:" in line for mark in _MARKS) >= _MIN_MARKS


def _state(head: re.Match[str] | None, details: str) -> SocketState | None:
    values: dict[str, float] = {}
    words: set[str] = set()
    scales: tuple[int, int] | None = None
    for match in _TOKEN.finditer(details):
        if match["group"]:
            values |= _GROUPS.get(match["group"], _no_values)(match["inner"])
        elif match["rate_name"]:
            values[match["rate_name"]] = _rate(match["rate"])
            if match["max_rate"]:
                values["max_pacing_rate"] = _rate(match["max_rate"])
        elif match["key"] == "wscale":
            scales = _scales(match["value"])
        elif match["key"]:
            values |= _pair(match["key"], match["value"])
        elif match["word"]:
            words.add(match["word"])
    has_info = sum(mark in values for mark in _MARKS - {"wscale"}) >= _MIN_MARKS
    state = head["state"] if head else "ESTAB"
    if not has_info and state != "SYN-SENT":
        return None
    controls = sorted(words & _CONTROLS)
    return SocketState(
        local=head["local"] if head else "",
        peer=head["peer"] if head else "",
        state=state,
        receive_queue_bytes=float(head["recv_q"]) if head else None,
        send_queue_bytes=float(head["send_q"]) if head else None,
        congestion=controls[0] if controls else "",
        has_options="rto" in values and "cwnd" in values and bool(controls),
        scales=scales,
        has_timestamps="ts" in words,
        has_ecn=bool(words & {"ecn", "ecnseen", "accecn"}),
        is_app_limited="app_limited" in words,
        values=values,
    )


def _rate(text: str) -> float:
    match = _RATE.fullmatch(text)
    return float(match[1]) * _POWERS[match[2]] if match else 0.0


def _scales(text: str) -> tuple[int, int] | None:
    numbers = re.fullmatch(r"(\d{1,2}),(\d{1,2})", text)
    return (int(numbers[1]), int(numbers[2])) if numbers else None


# In milliseconds; the others are counts and bytes.
_TIMES = frozenset(
    (
        *("rto", "rtt", "minrtt", "ato", "busy", "rwnd_limited", "sndbuf_limited", "rcv_rtt"),
        *("lastsnd", "lastrcv", "lastack"),
    )
)
_PAIRS = {"rtt": "rttvar", "retrans": "total_retrans"}


def _pair(key: str, text: str) -> dict[str, float]:
    """Return a number, and the one behind its slash."""
    first, _, second = text.partition("/")
    values = {}
    for name, part in ((key, first), (_PAIRS.get(key, ""), second)):
        number = _NUMBER.match(part)
        if name and number:
            values[name] = float(number[1]) / (1000 if key in _TIMES else 1)
    return values


def _memory(text: str) -> dict[str, float]:
    """Return the memory of a socket: `r4352,rb131072,t0,tb46080,f0,w0,o0,bl0,d0`."""
    return {
        f"skmem_{name}": float(number)
        for name, number in re.findall(r"\b([a-z]{1,2})(\d{1,15})\b", text)
    }


def _timer(text: str) -> dict[str, float]:
    """Return how often a timer has fired: `on,1.2sec,3`."""
    match = re.fullmatch(r"(on|persist),[^,]{1,30},(\d{1,4})", text)
    return {f"timer_{match[1]}": float(match[2])} if match else {}


def _no_values(text: str) -> dict[str, float]:
    del text
    return {}


_GROUPS: Mapping[str, Callable[[str], dict[str, float]]] = {"skmem": _memory, "timer": _timer}
