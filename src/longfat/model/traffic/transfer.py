"""transfer: bulk TCP traffic by a program of our own, and what its two ends report.

A machine's time goes into its programs' system calls, and `longfat.guest.transfer`
makes few: it is two to four times as quick as iperf3, and moves the same data at the
same times. Its docstring defines a transfer and its times. Where it
differs from iperf3:

* There is no control connection; the streams are open after one round trip.
* What was written within the time arrives, and counts as received, also what arrives later.
  The receiver's rate is that of the time itself: what arrives later is not in it.
* A rate is kept by the kernel, which spaces packets (SO_MAX_PACING_RATE), and not
  by a block every now and then.
* The rows of the sending end count what was acknowledged, not what was written.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from longfat.errors import MachineError
from longfat.model.fields import narrowed
from longfat.model.kinds import Rate
from longfat.model.metric import Metric, MetricSource, with_sources
from longfat.model.traffic.bulk import COMPLETION, FAIRNESS, TCP_METRICS, Bulk, Interval, Rows
from longfat.model.traffic.flow import Process, our_process, read_report
from longfat.theory.fairness import jain_index

MODULE = "longfat.guest.transfer"
"""What does it in a machine."""

_ROW_DELAY_S = 1e-3
"""How much later than its interval's end a row may be: where the host's CPU takes time."""

_SENDER, _RECEIVER = "raw/{name}.{sender}.json", "raw/{name}.{receiver}.json"
_ROWS = "streams[*].rows[*]"
_SOURCES = {
    "sender_bps": MetricSource(
        file=_SENDER,
        path="streams[*].sent_bytes",
        formula="sum * 8 / (sending_us / 1e6)",
        over="streams",
    ),
    "receiver_bps": MetricSource(
        file=_RECEIVER,
        path=f"{_ROWS}.received_bytes",
        formula="sum of the last rows within `time` * 8 / (their end_us / 1e6); of a transfer with"
        " `bytes`, streams[*].received_bytes * 8 / (receiving_us / 1e6)",
        over="streams",
    ),
    "completion_s": MetricSource(file=_RECEIVER, path="receiving_us", divisor=1e6),
    "sent_bytes": MetricSource(
        file=_SENDER, path="streams[*].sent_bytes", take="sum", over="streams"
    ),
    "received_bytes": MetricSource(
        file=_RECEIVER, path="streams[*].received_bytes", take="sum", over="streams"
    ),
    "retransmits": MetricSource(
        file=_SENDER, path="streams[*].retransmits", take="sum", over="streams"
    ),
    "max_cwnd_bytes": MetricSource(
        file=_SENDER, path=f"{_ROWS}.cwnd_bytes", take="max", over="rows"
    ),
    "min_rtt_s": MetricSource(
        file=_SENDER,
        path=f"{_ROWS}.rtt_us",
        formula="least that is not 0, / 1e6",
        over="streams",
    ),
    "mean_rtt_s": MetricSource(
        file=_SENDER,
        path=f"{_ROWS}.rtt_us",
        formula="mean of each stream's rows that are not 0, then of the streams, / 1e6",
        over="streams",
    ),
    "max_rtt_s": MetricSource(
        file=_SENDER, path=f"{_ROWS}.rtt_us", take="max", over="rows", divisor=1e6
    ),
    "fairness": MetricSource(
        file=_RECEIVER,
        path="streams[*].received_bytes",
        formula="Jain's index, (sum x)^2 / (n sum x^2)",
        over="streams",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Bulk):
    """Bulk TCP traffic that costs little to run. Its fields are those of `Bulk`."""

    tool: ClassVar[str] = "transfer"
    metrics: ClassVar[tuple[Metric, ...]] = with_sources(
        (*TCP_METRICS, COMPLETION, FAIRNESS), _SOURCES
    )
    stream_cpu_s: ClassVar[Sequence[tuple[float, float]]] = (
        (1e6, 0.003),
        (1e7, 0.004),
        (1e8, 0.008),
        (1e9, 0.017),
        (1e10, 0.13),
    )
    start_cpu_s: ClassVar[float] = 0.08

    rate_bps: int | None = narrowed(Bulk, "rate", Rate(minimum=1000))  # as slow as the kernel paces

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the end that listens, and the one that connects to it."""
        sends, receives = self._words(sends=True), self._words(sends=False)
        server = [
            "listen",
            self.bound_address(address),
            str(port),
            *(sends if self.reverse else receives),
        ]
        client = ["connect", address, str(port), *(receives if self.reverse else sends)]
        return (
            our_process(MODULE, server, host=self.target, output=self._server_file, listens=True),
            our_process(MODULE, client, host=self.source, output=self._client_file),
        )

    def _words(self, *, sends: bool) -> list[str]:
        """Return the arguments of an end after its address."""
        words = ["send" if sends else "receive"]
        if sends and self.bytes is not None:
            words += ["--bytes", str(self.bytes)]
        elif sends:
            words += ["--time", f"{self.time_s:.9g}"]
        if self.parallel != 1:
            words += ["--parallel", str(self.parallel)]
        if sends and self.rate_bps is not None:
            words += ["--rate", str(self.rate_bps)]
        if sends and self.congestion is not None:
            words += ["--congestion", self.congestion]
        if self.window_bytes is not None:
            words += ["--window", str(self.window_bytes)]
        if self.mss_bytes is not None:
            words += ["--mss", str(self.mss_bytes)]
        if self.interval_s != 1:
            words += ["--interval", f"{self.interval_s:g}"]
        return words

    def rows(self, raw: Path) -> Rows:
        """Read the sending end's rows."""
        return self._sent(raw).rows

    def received_rows(self, raw: Path) -> Rows:
        """Read the receiving end's rows, in the order of the sending end's streams."""
        received = self._received(raw)
        places = {(there, here): at for at, (here, there) in enumerate(received.connections)}
        found = []
        for ports in self._sent(raw).connections:
            if ports not in places:
                raise MachineError(f"transfer {self.name!r}: its ends report different connections")
            found.append(received.rows[places[ports]])
        return tuple(found)

    def connections(self, raw: Path) -> list[tuple[int, int]]:
        """Return the client's and the server's port of each stream, in the sender's order."""
        pairs = self._sent(raw).connections
        return [(remote, local) for local, remote in pairs] if self.reverse else pairs

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the metrics from the reports of both ends."""
        sent, received = self._sent(raw), self._received(raw)
        found = {
            "sender_bps": sent.bps,
            "receiver_bps": received.bps if self.bytes else received.bps_within(self.time_s),
            "sent_bytes": float(sum(sent.bytes)),
            "received_bytes": float(sum(received.bytes)),
            "retransmits": float(sum(sent.retransmits)),
        }
        if self.bytes:
            found["completion_s"] = received.duration_s
        samples = [row for rows in sent.rows for row in rows]
        if windows := [row.cwnd_bytes for row in samples if row.cwnd_bytes is not None]:
            found["max_cwnd_bytes"] = float(max(windows))
        times = [[row.rtt_s for row in rows if row.rtt_s] for rows in sent.rows]
        if all(times):
            found["min_rtt_s"] = min(map(min, times))
            found["mean_rtt_s"] = sum(sum(each) / len(each) for each in times) / len(times)
            found["max_rtt_s"] = max(map(max, times))
        if len(received.bytes) > 1 and any(received.bytes):
            found["fairness"] = jain_index(received.bytes)
        return found

    def _sent(self, raw: Path) -> EndReport:
        return read_end(raw / (self._server_file if self.reverse else self._client_file))

    def _received(self, raw: Path) -> EndReport:
        return read_end(raw / (self._client_file if self.reverse else self._server_file))


@dataclass(frozen=True, slots=True)
class EndReport:
    """What one end of a transfer reported.

    Attributes:
        sends: it is the sending end.
        duration_s: for how long it sent or received, in seconds.
        connections: local and remote port of each stream, in the streams' order.
        bytes: what each stream moved.
        retransmits: the segments that each stream sent again; all 0 at the receiving end.
        rows: the rows of each stream.
    """

    sends: bool
    duration_s: float
    connections: list[tuple[int, int]]
    bytes: list[int]
    retransmits: list[int]
    rows: Rows

    @property
    def bps(self) -> float:
        """Return the rate of all streams together, in bit/s; 0 if no time went by."""
        return sum(self.bytes) * 8 / self.duration_s if self.duration_s else 0.0

    def bps_within(self, time_s: float | None) -> float:
        """Return the rate of all streams together up to the last row within a time, in bit/s.

        Args:
            time_s: the time in seconds; all of it, if None.
        """
        limit_s = math.inf if time_s is None else time_s + _ROW_DELAY_S
        ends = [
            max((row.end_s for row in rows if row.end_s <= limit_s), default=0.0)
            for rows in self.rows
        ]
        end_s = min(ends, default=0.0)
        if not end_s:
            return self.bps
        moved = sum(row.bytes for rows in self.rows for row in rows if row.end_s <= end_s)
        return moved * 8 / end_s


def read_end(path: Path) -> EndReport:
    """Read what one end printed.

    Raises:
        MachineError: the file is missing, or is no whole report.
    """
    return _end(read_report(path, _Printed, what="a transfer"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """What an end saw at a moment, counted from the start; the sending end sees more."""

    end_us: int
    acked_bytes: int = 0
    received_bytes: int = 0
    retransmits: int = 0
    cwnd_bytes: int | None = None
    rtt_us: int = 0
    rttvar_us: int = 0
    pmtu_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stream:
    local_port: int
    remote_port: int
    rows: list[_Sample]
    congestion: str = ""
    sent_bytes: int = 0
    received_bytes: int = 0
    retransmits: int = 0

    def __post_init__(self) -> None:
        if min(self.sent_bytes, self.received_bytes) < 0:
            raise ValueError("fewer bytes than none")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Printed:
    """What `longfat.guest.transfer` prints."""

    program: Literal["longfat transfer"]
    end: Literal["sender", "receiver"]
    streams: list[_Stream]
    sending_us: int | None = None
    receiving_us: int | None = None

    def __post_init__(self) -> None:
        if (self.sending_us if self.end == "sender" else self.receiving_us) is None:
            raise ValueError("it does not report how long it took")
        if not self.streams:
            raise ValueError("no stream")


def _end(printed: _Printed) -> EndReport:
    sends = printed.end == "sender"
    streams = printed.streams
    return EndReport(
        sends=sends,
        duration_s=((printed.sending_us if sends else printed.receiving_us) or 0) / 1e6,
        connections=[(one.local_port, one.remote_port) for one in streams],
        bytes=[one.sent_bytes if sends else one.received_bytes for one in streams],
        retransmits=[one.retransmits for one in streams],
        rows=tuple(tuple(_rows(one.rows, sends=sends)) for one in streams),
    )


def _rows(samples: list[_Sample], *, sends: bool) -> list[Interval]:
    """Return what happened from sample to sample: the samples themselves count from the start."""
    found = []
    for before, after in itertools.pairwise([_Sample(end_us=0), *samples]):
        if sends:
            moved = after.acked_bytes - before.acked_bytes
        else:
            moved = after.received_bytes - before.received_bytes
        length_s = (after.end_us - before.end_us) / 1e6
        found.append(
            Interval(
                start_s=before.end_us / 1e6,
                end_s=after.end_us / 1e6,
                bps=moved * 8 / length_s if length_s else 0.0,
                retransmits=after.retransmits - before.retransmits if sends else None,
                cwnd_bytes=after.cwnd_bytes,
                rtt_s=after.rtt_us / 1e6 if sends else None,
                omitted=False,
                bytes=moved,
                rttvar_s=after.rttvar_us / 1e6 if sends else None,
                pmtu_bytes=after.pmtu_bytes,
                sender=sends,
            )
        )
    return found
