"""Bulk traffic: flows that move as much data as they can, or a given amount.

iperf3 and our own transfer are such flows. What they have in common is defined here, so
that metrics, rows and connections mean the same whichever of them was run, and
probes, figures and diagnoses take either.
"""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.model.fields import declare
from longfat.model.kinds import Flag, Integer, Rate, Size, Text, Time
from longfat.model.metric import Metric, Unit
from longfat.model.traffic.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEFAULT_PORT = 5201
"""The port of a host's first server; it is iperf3's own."""

DEFAULT_TIME_S = 10.0
MAX_TIME_S = 86400.0
"""The longest test; it is iperf3's own (MAX_TIME of iperf_api.h)."""

MAX_STREAMS = 128
"""As many streams as iperf3 takes (MAX_STREAMS of iperf_api.h)."""

# Measured: see docs/performance.md and `longfat.execution.cost`.
_STREAMS_POWER = 0.6
_IDLE_CPU_S = 0.006
_PACKET_CPU_S = 24e-6
_PACKET_BITS = 1500 * 8
_REPORT_BYTES, _REPORT_STREAM_BYTES = 2_700, 1_400
_ROW_BYTES, _ROW_STREAM_BYTES = 440, 560

_CONGESTION = re.compile(r"[a-z][a-z0-9_]{0,14}")  # TCP_CA_NAME_MAX is 16, with the NUL

# A transfer of a given size has no known end; this only scales progress and limits.
_ASSUMED_BPS = 10e6

TCP_METRICS = (
    Metric("sender_bps", Unit.BPS, "sender"),
    Metric("receiver_bps", Unit.BPS, "receiver"),
    Metric("sent_bytes", Unit.BYTES, "sent"),
    Metric("received_bytes", Unit.BYTES, "received"),
    Metric("retransmits", Unit.COUNT, "retransmissions"),
    Metric("max_cwnd_bytes", Unit.BYTES, "largest cwnd"),
    Metric("min_rtt_s", Unit.SECONDS, "least RTT"),
    Metric("mean_rtt_s", Unit.SECONDS, "mean RTT"),
    Metric("max_rtt_s", Unit.SECONDS, "largest RTT"),
)
"""What is measured of TCP streams together; each tool adds the sources."""

FAIRNESS = Metric("fairness", Unit.FRACTION, "fairness")
"""How evenly streams shared what was received: Jain's index."""

COMPLETION = Metric("completion_s", Unit.SECONDS, "completion time")
"""How long it took until the last byte had arrived, of a flow with an amount of data."""


@dataclass(frozen=True, slots=True)
class Interval:
    """One row of a report, of one stream.

    Attributes:
        start_s: its start, in seconds since the test's start.
        end_s: its end.
        bps: the stream's throughput in it, in bit/s.
        retransmits: segments sent again in it; None where this end does not send TCP.
        cwnd_bytes: the congestion window at its end; None likewise.
        rtt_s: the smoothed RTT at its end; None likewise.
        omitted: it is not counted in the totals.
        bytes: what the stream moved in it.
        rttvar_s: the mean deviation of the RTT at its end; None if this end does not send
            TCP, or its version does not report it.
        pmtu_bytes: the path's MTU at its end; None likewise.
        jitter_s: the jitter at its end; None where this end does not receive UDP.
        lost_packets: packets of UDP that were lost in it; None likewise.
        sender: this end sends the stream.
        send_window_bytes: the window of the other end at its end; None as `rttvar_s`.
    """

    start_s: float
    end_s: float
    bps: float
    retransmits: int | None
    cwnd_bytes: int | None
    rtt_s: float | None
    omitted: bool
    bytes: int = 0
    rttvar_s: float | None = None
    pmtu_bytes: int | None = None
    jitter_s: float | None = None
    lost_packets: int | None = None
    sender: bool = True
    send_window_bytes: int | None = None


def congestion_problem(name: str) -> str | None:
    """Return why something cannot be the name of a congestion control; None if it can."""
    if _CONGESTION.fullmatch(name):
        return None
    return f"{name!r} cannot be a congestion control: write a name such as bbr"


Rows = tuple[tuple[Interval, ...], ...]
"""The rows of each stream, in the streams' order."""


def congestion_field() -> Any:
    """Declare the congestion control of a flow over TCP."""
    return declare(
        Text(
            what="the name of a congestion control (such as bbr)",
            example="bbr",
            problem=congestion_problem,
        ),
        default=None,
        label="Congestion control",
        help="TCP's congestion control, which the kernel must have",
        absent="that of the host",
        phrase="{}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk(Flow):
    """Bulk traffic.

    Attributes:
        time_s: how long it sends, in seconds; None if `bytes` is set.
        bytes: how many bytes it sends; None if `time_s` is set.
        parallel: the number of streams.
        reverse: the target sends and the source receives.
        rate_bps: the rate that each stream is paced to, in bit/s; None for the tool's default.
        congestion: the congestion control of its sockets, such as `bbr`.
        window_bytes: the socket buffer size it requests.
        mss_bytes: the maximum segment size it requests.
        interval_s: the time between two rows of the report, in seconds.
    """

    time_s: float | None = declare(
        Time(minimum=0.01, maximum=MAX_TIME_S),
        default=None,
        label="Time",
        help="how long it sends; not with `bytes`",
        absent="`10s`, if `bytes` is not given",
        phrase="{}",
    )
    bytes: int | None = declare(
        Size(minimum=1),
        default=None,
        label="Amount",
        help="how much it sends, in place of `time`",
        phrase="{}",
    )
    parallel: int = declare(
        Integer(minimum=1, maximum=MAX_STREAMS),
        default=1,
        label="Streams",
        help="the number of parallel streams",
        phrase="{} streams",
    )
    reverse: bool = declare(
        Flag(),
        default=False,
        label="Reverse",
        help="the target sends and the source receives",
        phrase="reversed",
    )
    rate_bps: int | None = declare(
        Rate(minimum=1),
        default=None,
        label="Rate",
        help="the rate to which each stream is paced",
        absent="as fast as it can",
        phrase="{} per stream",
    )
    congestion: str | None = congestion_field()
    window_bytes: int | None = declare(
        Size(minimum=1, maximum=512 * 1024**2),  # MAX_TCP_BUFFER of iperf_api.h
        default=None,
        label="Window",
        help="the size of the socket buffers (`SO_SNDBUF`, `SO_RCVBUF`), which ends autotuning",
        absent="autotuning",
    )
    mss_bytes: int | None = declare(
        Size(minimum=88, maximum=9 * 1024),  # tcp(7), TCP_MAXSEG; MAX_MSS of iperf_api.h
        default=None,
        label="MSS",
        help="the largest segment",
        absent="by the MTU",
    )
    interval_s: float = declare(
        Time(minimum=0.01, maximum=60),
        default=1.0,
        label="Interval",
        help="the time between two rows of the report",
    )

    def __post_init__(self) -> None:
        if self.time_s is None and self.bytes is None:
            object.__setattr__(self, "time_s", DEFAULT_TIME_S)

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject a time beside an amount."""
        if "time" in given and "bytes" in given:
            return "bytes", (
                "time and bytes are both given, and the flow ends at one of them: leave one out "
                "(in a case, a common field is taken back by writing it without a value)"
            )
        return None

    @property
    def has_tcp_sockets(self) -> bool:
        """Whether it is TCP."""
        return not self.udp

    @property
    def udp(self) -> bool:
        """Whether it is UDP in place of TCP."""
        return False

    @property
    def omit_s(self) -> float:
        """How long it runs before it counts, in seconds."""
        return 0.0

    @property
    def has_control(self) -> bool:
        """Whether its ends talk over a connection of their own, opened before the streams."""
        return False

    @property
    def _client_file(self) -> str:
        return f"{self.name}.client.json"

    @property
    def _server_file(self) -> str:
        return f"{self.name}.server.json"

    @property
    def has_known_duration(self) -> bool:
        """Whether it sends for a time, and not a number of bytes."""
        return self.bytes is None

    def duration_s(self) -> float:
        """Return the sending time, or a guess where only a size is given."""
        if self.bytes is not None:
            return self.omit_s + self.bytes * 8 / _ASSUMED_BPS
        return self.omit_s + (self.time_s or 0.0)

    stream_cpu_s: ClassVar[Sequence[tuple[float, float]]] = (
        (1e6, 0.010),
        (1e7, 0.012),
        (1e8, 0.022),
        (1e9, 0.050),
        (1e10, 0.48),
    )
    """CPU seconds for each virtual second of one stream, at a rate in bit/s: iperf3's."""
    start_cpu_s: ClassVar[float] = 0.0
    """CPU seconds that its two ends take to start."""

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time it takes; streams that are mixed cost more."""
        at = math.log(max(rate_bps, 1.0))
        points = [(math.log(rate), math.log(cpu_s)) for rate, cpu_s in self.stream_cpu_s]
        last = len(points) - 1
        index = next((i for i, (x, _) in enumerate(points[1:-1], start=1) if at < x), last)
        (x0, y0), (x1, y1) = points[index - 1], points[index]
        one = math.exp(y0 + (at - x0) * (y1 - y0) / (x1 - x0))
        each_packet = _IDLE_CPU_S + _PACKET_CPU_S * rate_bps / _PACKET_BITS
        share = min(one * math.pow(self.parallel, _STREAMS_POWER), max(one, each_packet))
        return self.start_cpu_s + self.duration_s() * share

    def output_bytes(self) -> float:
        """Return about how much the reports of its two ends take."""
        rows = self.duration_s() / (self.interval_s or 1.0)
        report = _REPORT_BYTES + _REPORT_STREAM_BYTES * self.parallel
        return report + rows * (_ROW_BYTES + _ROW_STREAM_BYTES * self.parallel)

    @abstractmethod
    def rows(self, raw: Path) -> Rows:
        """Read the rows of the sending end, which has cwnd and RTT.

        Args:
            raw: the folder of the run's raw files.

        Raises:
            MachineError, InputError: as `measure`.
        """

    @abstractmethod
    def received_rows(self, raw: Path) -> Rows:
        """Read the rows of the receiving end: what arrived, and when; see `rows`."""
