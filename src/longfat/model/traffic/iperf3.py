"""iperf3: bulk TCP or UDP traffic, and the reader of its JSON report.

Both ends write a report (`-J`), because each end knows things that the other cannot:
congestion window, RTT and retransmissions are in the sender's.

The report's fields are those of `longfat.model.traffic.iperf3_json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from longfat.common.decoding import MAX_RAW_BYTES, describe, parse_json, read_json
from longfat.errors import InputError, MachineError
from longfat.model.fields import declare, fields_of, narrowed
from longfat.model.kinds import Flag, Rate, Time
from longfat.model.metric import Metric, MetricSource, Unit, with_sources
from longfat.model.traffic.bulk import (
    DEFAULT_PORT,
    FAIRNESS,
    MAX_TIME_S,
    TCP_METRICS,
    Bulk,
    Interval,
    Rows,
)
from longfat.model.traffic.flow import Process
from longfat.model.traffic.iperf3_json import REPORT, End, EndOfStream, Streams
from longfat.model.traffic.options import OUTPUT, RESERVED, Options, arguments, has_field
from longfat.theory.fairness import jain_index

_ERROR = re.compile(r'^\t"error":\t("(?:[^"\\]|\\.)*")', re.MULTILINE)
_NO_FIRST_REPLY = "unable to read from stream socket: Resource temporarily unavailable"
_FIRST_DATAGRAM = (
    " (its first datagram, or the reply to it, was lost, and iperf3 sends it once: write a `cbr`"
    " flow, which begins without one, or take another seed)"
)
_NO_REPORT = "not a JSON report of iperf3"


# The options that fields become, with their other names, in the order of the command line.
_FIELD_OPTIONS = {
    "udp": ("u", "udp"),
    "bytes": ("n", "bytes", "k", "blockcount"),
    "time": ("t", "time"),
    "parallel": ("P", "parallel"),
    "reverse": ("R", "reverse"),
    "rate": ("b", "bitrate", "bandwidth"),
    "congestion": ("C", "congestion", "linux-congestion"),
    "window": ("w", "window"),
    "mss": ("M", "set-mss"),
    "omit": ("O", "omit"),
    "interval": ("i", "interval"),
}

# Of iperf3(1), version 3.12.
_OPTIONS = Options(
    valued="pfiFABIcsbtnklPwCMSLOTX",
    long_valued=frozenset(
        (
            *("format", "file", "affinity", "bind", "bind-dev", "rcv-timeout", "snd-timeout"),
            *("xbind", "nstreams", "length", "cport", "connect-timeout", "pacing-timer"),
            *("fq-rate", "tos", "dscp", "flowlabel", "title", "extra-data", "username"),
            "rsa-public-key-path",
        )
    ),
    rejected={
        **dict.fromkeys(("c", "client", "s", "server", "p", "port", "J", "json"), RESERVED),
        **dict.fromkeys(("D", "daemon", "1", "one-off", "I", "pidfile"), RESERVED),
        **dict.fromkeys(("logfile", "json-stream", "timestamps", "h", "help"), OUTPUT),
        **dict.fromkeys(("v", "version", "d", "debug"), OUTPUT),
        "bidir": "its two directions are two flows here",
        **has_field(_FIELD_OPTIONS),
    },
)

_CLIENT, _SENDER = "raw/{name}.client.json", "raw/{name}.{sender}.json"
_SOURCES = {
    "sender_bps": MetricSource(file=_CLIENT, path="end.sum_sent.bits_per_second", over="streams"),
    "receiver_bps": MetricSource(
        file=_CLIENT, path="end.sum_received.bits_per_second", over="streams"
    ),
    "sent_bytes": MetricSource(file=_CLIENT, path="end.sum_sent.bytes", over="streams"),
    "received_bytes": MetricSource(file=_CLIENT, path="end.sum_received.bytes", over="streams"),
    "retransmits": MetricSource(file=_SENDER, path="end.sum_sent.retransmits", over="streams"),
    "max_cwnd_bytes": MetricSource(
        file=_SENDER, path="end.streams[*].sender.max_snd_cwnd", take="max", over="streams"
    ),
    "min_rtt_s": MetricSource(
        file=_SENDER, path="end.streams[*].sender.min_rtt", take="min", over="streams", divisor=1e6
    ),
    "mean_rtt_s": MetricSource(
        file=_SENDER,
        path="end.streams[*].sender.mean_rtt",
        take="mean",
        over="streams",
        divisor=1e6,
    ),
    "max_rtt_s": MetricSource(
        file=_SENDER, path="end.streams[*].sender.max_rtt", take="max", over="streams", divisor=1e6
    ),
    "jitter_s": MetricSource(file=_CLIENT, path="end.sum.jitter_ms", over="streams", divisor=1e3),
    "loss": MetricSource(file=_CLIENT, path="end.sum.lost_percent", over="streams", divisor=100),
    "fairness": MetricSource(
        file=_CLIENT,
        path="end.streams[*].receiver.bytes",
        formula="Jain's index, (sum x)^2 / (n sum x^2); over UDP x is "
        "end.streams[*].udp.packets - end.streams[*].udp.lost_packets",
        over="streams",
    ),
}
"""Where metrics are read in the JSON reports; streams without an RTT do not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iperf3(Bulk):
    """Traffic by iperf3.

    Attributes:
        rate_bps: the rate per stream that iperf3 paces itself to, in bit/s;
            None leaves iperf3's own default (TCP: unlimited, UDP: 1 Mbit/s).
        udp: UDP instead of TCP.
        omit_s: how long it runs before it counts, in seconds.

    The other fields are those of `Bulk`.
    """

    tool: ClassVar[str] = "iperf3"
    metrics: ClassVar[tuple[Metric, ...]] = with_sources(
        (
            *TCP_METRICS,
            Metric("jitter_s", Unit.SECONDS, "jitter"),
            Metric("loss", Unit.FRACTION, "loss"),
            FAIRNESS,
        ),
        _SOURCES,
    )

    time_s: float | None = narrowed(
        Bulk, "time", Time(minimum=1, maximum=MAX_TIME_S, whole="iperf3")
    )
    interval_s: float = narrowed(Bulk, "interval", Time(minimum=0.1, maximum=60))
    rate_bps: int | None = narrowed(
        Bulk, "rate", Rate(minimum=1), absent="as fast as it can; over UDP 1 Mbit/s"
    )
    udp: bool = declare(
        Flag(), default=False, label="UDP", help="UDP in place of TCP", phrase="UDP"
    )
    omit_s: float = declare(
        Time(maximum=60, whole="iperf3"),  # MAX_OMIT_TIME of iperf_api.h
        default=0.0,
        label="Omit",
        help="how long it runs before it counts",
        phrase="{} omitted",
    )
    args: tuple[str, ...] = arguments(_OPTIONS)

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject what is TCP's for UDP as well; see `Bulk.conflict`."""
        tcp = next((key for key in ("congestion", "mss") if key in given), None)
        if given.get("udp") and tcp is not None:
            return tcp, f"{tcp} is TCP's, and this flow is UDP"
        return Bulk.conflict(given)

    @property
    def has_control(self) -> bool:
        """Its ends agree over a connection of their own."""
        return True

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return a server that takes one test, and its client."""
        which = () if port == DEFAULT_PORT else ("-p", str(port))
        interval = () if self.interval_s == 1 else ("-i", f"{self.interval_s:g}")
        server = ("iperf3", "-s", "-1", *which, *interval, "-J")
        client = ("iperf3", "-c", address, *which, *self._options(), *interval, "-J", *self.args)
        return (
            Process(host=self.target, argv=server, output=self._server_file, listens=True),
            Process(host=self.source, argv=client, output=self._client_file),
        )

    def _options(self) -> list[str]:
        """Return the client's options: those of fields that differ from iperf3's own defaults."""
        options: list[str] = []
        for key, (letter, *_) in _FIELD_OPTIONS.items():
            field = fields_of(Iperf3)[key]
            value = getattr(self, field.name)
            if key == "interval" or value == field.default:
                continue
            options.append(f"-{letter}")
            if value is not True:
                options.append(value if isinstance(value, str) else f"{value:.15g}")
        return options

    def failure(self, words: str) -> str:
        """Return the error in a report."""
        try:
            data = parse_json(words.encode(errors="replace"), where="", allow_repeated=True)
        except InputError:  # of a long report there is its end only
            errors = _ERROR.findall(words)
            return json.loads(errors[-1]) if errors else words
        return str(data["error"]) if isinstance(data, dict) and "error" in data else words

    def report(self, raw: Path) -> Iperf3Report:
        """Read the sending end's report, which has cwnd and RTT."""
        return read_report(raw / (self._server_file if self.reverse else self._client_file))

    def rows(self, raw: Path) -> Rows:
        """Read the sending end's rows."""
        return self.report(raw).streams

    def received_rows(self, raw: Path) -> Rows:
        """Read the receiving end's rows; the sending end's count what went into its buffer."""
        file = self._client_file if self.reverse else self._server_file
        return read_report(raw / file).streams

    def connections(self, raw: Path) -> list[tuple[int, int]]:
        """Return the client's and the server's port of each stream, in the streams' order."""
        return read_report(raw / self._client_file).connections

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the metrics: totals as the client states them, TCP's view as the sender does."""
        client = read_report(raw / self._client_file)
        found = dict(client.totals)
        if self.reverse:
            found |= read_report(raw / self._server_file).sender_totals
        return found


@dataclass(frozen=True, slots=True)
class Iperf3Report:
    """What one end of a test reported.

    Attributes:
        version: iperf3's version, such as `iperf 3.12`.
        connections: local and remote port of each stream, in the streams' order.
        streams: the rows of each stream, in the order of its sockets.
        totals: metrics by full name, as `Iperf3.metrics` lists them; those
            that this test does not have are left out.
        sender_totals: those of `totals` that only the sending end has.
    """

    version: str
    connections: list[tuple[int, int]]
    streams: Rows
    totals: dict[str, float]

    @property
    def sender_totals(self) -> dict[str, float]:
        """Return the values that only the sending end has."""
        known = ("retransmits", "max_cwnd_bytes", "min_rtt_s", "mean_rtt_s", "max_rtt_s")
        return {name: self.totals[name] for name in known if name in self.totals}


def read_report(path: Path) -> Iperf3Report:
    """Read the JSON that iperf3 writes with `-J`.

    Raises:
        MachineError: the file is missing, or is not iperf3's JSON.
        InputError: iperf3 reports an error.
    """
    where = f"{path.name}: {_NO_REPORT}"
    try:
        data = read_json(
            path, most_bytes=MAX_RAW_BYTES, where=where, error=MachineError, allow_repeated=True
        )
    except OSError as error:
        raise MachineError(f"{where}: {error.strerror}") from None
    return parse_report(data, name=path.name)


def parse_report(data: Any, *, name: str) -> Iperf3Report:
    """Read a decoded report.

    Args:
        data: the decoded JSON.
        name: what to call it in messages.

    Raises:
        MachineError: it lacks what iperf3 writes after a good test.
        InputError: it reports an error.
    """
    if not isinstance(data, dict):
        raise MachineError(f"{name}: {_NO_REPORT}: the top level is no object")
    if "error" in data:
        problem = data["error"]
        words = problem if isinstance(problem, str) else describe(problem)
        why = _FIRST_DATAGRAM if words == _NO_FIRST_REPLY else ""
        raise InputError(f"iperf3 failed: {words}{why}")
    where = f"{name}: not a whole report of iperf3"
    report = REPORT.decode(data, where=where, error=MachineError)
    return Iperf3Report(
        version=report.start.version,
        connections=[(one.local_port, one.remote_port) for one in report.start.connected],
        streams=streams_of(report.intervals),
        totals=_totals(report.end),
    )


def streams_of(intervals: Iterable[Streams]) -> Rows:
    """Return the rows of each stream, in the order of the streams' sockets.

    Args:
        intervals: the report's `intervals`.
    """
    rows: dict[int, list[Interval]] = {}
    for interval in intervals:
        for row in interval.streams:
            rows.setdefault(row.socket, []).append(
                Interval(
                    start_s=row.start,
                    end_s=row.end,
                    bps=row.bits_per_second,
                    retransmits=_whole(row.retransmits),
                    cwnd_bytes=_whole(row.snd_cwnd),
                    rtt_s=_scaled(row.rtt, 1e6),
                    omitted=row.omitted,
                    bytes=int(row.bytes),
                    rttvar_s=_scaled(row.rttvar, 1e6),
                    pmtu_bytes=_whole(row.pmtu),
                    jitter_s=_scaled(row.jitter_ms, 1e3),
                    lost_packets=_whole(row.lost_packets),
                    sender=row.sender,
                    send_window_bytes=_whole(row.snd_wnd),
                )
            )
    return tuple(tuple(stream) for stream in rows.values())


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _scaled(value: float | None, parts: float) -> float | None:
    return None if value is None else value / parts


def _totals(end: End) -> dict[str, float]:
    sent, received = end.sum_sent, end.sum_received
    totals = {
        "sender_bps": float(sent.bits_per_second),
        "receiver_bps": float(received.bits_per_second),
        "sent_bytes": float(sent.bytes),
        "received_bytes": float(received.bytes),
        **_fairness(end.streams),
    }
    if end.sum is not None and end.streams[0].udp is not None:
        totals["jitter_s"] = float(end.sum.jitter_ms) / 1e3
        totals["loss"] = float(end.sum.lost_percent) / 100
        return totals
    if sent.retransmits is not None:
        totals["retransmits"] = float(sent.retransmits)
    # There are zeros where this end did not send.
    senders = [(one.sender, one.sender.mean_rtt) for one in end.streams if one.sender]
    rtts = [(sender, rtt) for sender, rtt in senders if rtt]
    if rtts:
        totals["max_cwnd_bytes"] = float(max(sender.max_snd_cwnd for sender, _ in rtts))
        totals["min_rtt_s"] = min(sender.min_rtt for sender, _ in rtts) / 1e6
        totals["mean_rtt_s"] = sum(rtt for _, rtt in rtts) / len(rtts) / 1e6
        totals["max_rtt_s"] = max(sender.max_rtt for sender, _ in rtts) / 1e6
    return totals


def _fairness(streams: Sequence[EndOfStream]) -> dict[str, float]:
    """Return how evenly parallel streams shared what was received; nothing of a single stream."""
    received = [
        one.udp.packets - one.udp.lost_packets
        if one.udp is not None
        else one.receiver.bytes
        if one.receiver is not None
        else 0
        for one in streams
    ]
    sane = all(value >= 0 for value in received)
    return (
        {"fairness": jain_index(received)} if len(received) > 1 and any(received) and sane else {}
    )
