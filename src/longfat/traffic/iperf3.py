"""iperf3: bulk TCP or UDP traffic, and what its JSON report says.

Both ends write a report (`-J`), because each end knows things that the other
cannot: congestion window, RTT and retransmissions stand in the sender's.

Source of the report's fields: the iperf3(1) manual and reports captured from
3.12, kept under tests/data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from longfat.errors import InputError, MachineError
from longfat.metric import Metric, Unit
from longfat.theory.fairness import jain_index
from longfat.traffic.bulk import (
    DEFAULT_PORT,
    DEFAULT_TIME_S,
    FAIRNESS,
    TCP_METRICS,
    Bulk,
    Interval,
    Rows,
)
from longfat.traffic.flow import Process

_SHIM = "iperf3_lean"


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
    needs: ClassVar[tuple[str, ...]] = ("iperf3",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        *TCP_METRICS,
        Metric("jitter_s", Unit.SECONDS, "jitter"),
        Metric("loss", Unit.FRACTION, "loss"),
        FAIRNESS,
    )

    udp: bool = False
    omit_s: float = 0.0

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
            Process(
                host=self.target,
                argv=server,
                output=self._server_file,
                listens=True,
                shim=_SHIM,
            ),
            Process(host=self.source, argv=client, output=self._client_file, shim=_SHIM),
        )

    def _options(self) -> list[str]:
        options: list[str] = []
        if self.udp:
            options += ["-u"]
        if self.bytes is not None:
            options += ["-n", str(self.bytes)]
        else:
            options += ["-t", f"{DEFAULT_TIME_S if self.time_s is None else self.time_s:g}"]
        if self.parallel != 1:
            options += ["-P", str(self.parallel)]
        if self.reverse:
            options += ["-R"]
        if self.rate_bps is not None:
            options += ["-b", str(self.rate_bps)]
        if self.congestion is not None:
            options += ["-C", self.congestion]
        if self.window_bytes is not None:
            options += ["-w", str(self.window_bytes)]
        if self.mss_bytes is not None:
            options += ["-M", str(self.mss_bytes)]
        if self.omit_s:
            options += ["-O", f"{self.omit_s:g}"]
        return options

    def failure(self, words: str) -> str:
        """Return the error that a report tells of."""
        try:
            return str(json.loads(words)["error"])
        except (ValueError, KeyError, TypeError):
            return words

    def report(self, raw: Path) -> Iperf3Report:
        """Read the sending end's report, which knows cwnd and RTT."""
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
        sender_totals: those of `totals` that only the sending end knows.
    """

    version: str
    connections: list[tuple[int, int]]
    streams: Rows
    totals: dict[str, float]

    @property
    def sender_totals(self) -> dict[str, float]:
        """Return what only the sending end knows."""
        known = ("retransmits", "max_cwnd_bytes", "min_rtt_s", "mean_rtt_s", "max_rtt_s")
        return {name: self.totals[name] for name in known if name in self.totals}


def read_report(path: Path) -> Iperf3Report:
    """Read the JSON that iperf3 writes with `-J`.

    Raises:
        MachineError: the file is missing, or is not iperf3's JSON.
        InputError: iperf3 reports an error.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MachineError(f"{path.name}: not a JSON report of iperf3: {error}") from None
    return parse_report(data, name=path.name)


def parse_report(data: Any, *, name: str) -> Iperf3Report:
    """Read a decoded report.

    Args:
        data: the decoded JSON.
        name: what to call it in messages.

    Raises:
        MachineError: it lacks what iperf3 writes after a good test.
        InputError: it tells of an error.
    """
    if not isinstance(data, dict):
        raise MachineError(f"{name}: not a JSON report of iperf3: the top level is no object")
    if "error" in data:
        raise InputError(f"{name}: iperf3 failed: {data['error']}")
    try:
        return Iperf3Report(
            version=str(data["start"]["version"]),
            connections=[
                (int(one["local_port"]), int(one["remote_port"]))
                for one in data["start"].get("connected", [])
            ],
            streams=parse_streams(data["intervals"]),
            totals=_totals(data["end"]),
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise MachineError(
            f"{name}: not a whole report of iperf3: {type(error).__name__} {error}"
        ) from None


def parse_streams(intervals: list[dict[str, Any]]) -> Rows:
    """Read the rows of each stream, in the order of the streams' sockets.

    Args:
        intervals: the report's `intervals`.

    Raises:
        KeyError, TypeError, AttributeError: a row lacks what every version writes, or
            has something else in its place.
    """
    rows: dict[int, list[Interval]] = {}
    for interval in intervals:
        for row in interval["streams"]:
            rows.setdefault(row["socket"], []).append(
                Interval(
                    start_s=row["start"],
                    end_s=row["end"],
                    bps=row["bits_per_second"],
                    retransmits=row.get("retransmits"),
                    cwnd_bytes=row.get("snd_cwnd"),
                    rtt_s=_scaled(row.get("rtt"), 1e6),
                    omitted=bool(row.get("omitted", False)),
                    bytes=row["bytes"],
                    rttvar_s=_scaled(row.get("rttvar"), 1e6),
                    pmtu_bytes=row.get("pmtu"),
                    jitter_s=_scaled(row.get("jitter_ms"), 1e3),
                    lost_packets=row.get("lost_packets"),
                    sender=bool(row.get("sender", True)),
                )
            )
    return tuple(tuple(stream) for stream in rows.values())


def _scaled(value: float | None, parts: float) -> float | None:
    return None if value is None else value / parts


def _totals(end: dict[str, Any]) -> dict[str, float]:
    sent, received = end["sum_sent"], end["sum_received"]
    totals = {
        "sender_bps": float(sent["bits_per_second"]),
        "receiver_bps": float(received["bits_per_second"]),
        "sent_bytes": float(sent["bytes"]),
        "received_bytes": float(received["bytes"]),
        **_fairness(end["streams"]),
    }
    if "udp" in end["streams"][0]:
        totals["jitter_s"] = float(end["sum"]["jitter_ms"]) / 1e3
        totals["loss"] = float(end["sum"]["lost_percent"]) / 100
        return totals
    if "retransmits" in sent:
        totals["retransmits"] = float(sent["retransmits"])
    # Zeros stand where this end did not send.
    senders = [stream["sender"] for stream in end["streams"] if stream["sender"].get("mean_rtt")]
    if senders:
        totals["max_cwnd_bytes"] = float(max(s["max_snd_cwnd"] for s in senders))
        totals["min_rtt_s"] = min(s["min_rtt"] for s in senders) / 1e6
        totals["mean_rtt_s"] = sum(s["mean_rtt"] for s in senders) / len(senders) / 1e6
        totals["max_rtt_s"] = max(s["max_rtt"] for s in senders) / 1e6
    return totals


def _fairness(streams: list[dict[str, Any]]) -> dict[str, float]:
    """Return how evenly parallel streams shared what was received; nothing of a single stream."""
    received = [
        stream["udp"]["packets"] - stream["udp"]["lost_packets"]
        if "udp" in stream
        else stream["receiver"]["bytes"]
        for stream in streams
    ]
    return {"fairness": jain_index(received)} if len(received) > 1 and any(received) else {}
