"""cbr: datagrams at a constant rate, as a call has them, and what becomes of each.

`longfat.guest.cbr` sends and receives them. All hosts of a machine share one clock, so one-way
delays are exact.

Sources: RFC 3550, section 6.4.1 and appendix A.8 (jitter); RFC 4737, section 4 (reordering);
`longfat.theory.e_model` (the rating of a call).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from longfat.errors import MachineError
from longfat.model.fields import declare, phrases
from longfat.model.kinds import Flag, Integer, Rate, Size, Time
from longfat.model.metric import Metric, MetricSource, Unit, from_source
from longfat.model.spread import quantile
from longfat.model.traffic.flow import Flow, Process, our_process, read_report
from longfat.theory.e_model import call_quality

MODULE = "longfat.guest.cbr"
"""What does it in a machine."""

_HEADER_BYTES = 16
_MAX_DATAGRAMS = 1_000_000
_MAX_PLAYOUTS = 200
_DATAGRAM_BYTES = 50  # of a report

# Measured: see docs/performance.md and `longfat.execution.cost`.
_DATAGRAM_CPU_S = 0.12e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cbr(Flow):
    """Datagrams at a constant rate.

    Attributes:
        time_s: how long it sends, in seconds.
        size_bytes: the payload of a datagram, in bytes.
        interval_s: the time between two datagrams, in seconds.
        rate_bps: the rate of the payload, in bit/s, in place of the interval; None for that.
        buffer_s: how much later than the quickest a datagram may come to be played, in seconds;
            None for as much as makes the best call.
        dscp: the differentiated services code point of its packets.
        reverse: the target sends and the source receives.
        poisson: the times between datagrams are random, with the interval as their mean.
    """

    tool: ClassVar[str] = "cbr"
    metrics: ClassVar[tuple[Metric, ...]] = from_source(
        MetricSource(file="raw/{name}.{receiver}.json", path="datagrams[*]", over="datagrams"),
        # An entry is number, sent, arrived; the times are in nanoseconds.
        (
            (
                "sent",
                Unit.COUNT,
                "datagrams",
                "the number of datagrams of the flow, time / interval",
            ),
            ("received", Unit.COUNT, "received", "how many different numbers there are"),
            ("loss", Unit.FRACTION, "loss", "1 - received / sent"),
            (
                "longest_loss",
                Unit.COUNT,
                "longest run of losses",
                "most numbers in a row that are missing",
            ),
            ("duplicates", Unit.COUNT, "duplicates", "entries - received"),
            (
                "reordered",
                Unit.FRACTION,
                "reordered",
                "entries with a number below one that came before (RFC 4737), / entries",
            ),
            ("min_s", Unit.SECONDS, "least one-way delay", "least (arrived - sent) / 1e9"),
            ("mean_s", Unit.SECONDS, "mean one-way delay", "mean of (arrived - sent) / 1e9"),
            (
                "p95_s",
                Unit.SECONDS,
                "one-way delay, 95th percentile",
                "95th percentile of (arrived - sent) / 1e9",
            ),
            (
                "p99_s",
                Unit.SECONDS,
                "one-way delay, 99th percentile",
                "99th percentile of (arrived - sent) / 1e9",
            ),
            (
                "max_s",
                Unit.SECONDS,
                "largest one-way delay",
                "largest (arrived - sent) / 1e9",
            ),
            (
                "jitter_s",
                Unit.SECONDS,
                "jitter (RFC 3550), mean",
                "mean over the arrivals of J, where J += (|D| - J) / 16 (RFC 3550)",
            ),
            (
                "max_jitter_s",
                Unit.SECONDS,
                "jitter (RFC 3550), largest",
                "largest J, where J += (|D| - J) / 16 (RFC 3550)",
            ),
            (
                "playout_s",
                Unit.SECONDS,
                "delay at which it is played",
                "least delay + the flow's buffer; without that, the delay with the largest R",
            ),
            (
                "late",
                Unit.FRACTION,
                "too late to be played",
                "datagrams with a delay above playout_s, / sent",
            ),
            (
                "r",
                Unit.COUNT,
                "rating factor R",
                "the E-model (ITU-T G.107), from playout_s + interval and the share not played",
            ),
            ("mos", Unit.COUNT, "MOS", "the E-model (ITU-T G.107), from R"),
        ),
    )

    time_s: float = declare(
        Time(minimum=0.001, maximum=86400.0),
        default=10.0,
        label="Time",
        help="how long it sends",
        phrase="{}",
    )
    size_bytes: int = declare(
        Size(minimum=_HEADER_BYTES, maximum=65507),
        default=172,
        label="Size",
        help="the payload of a datagram; that of a call by G.711 is 160 bytes of voice and 12 of "
        "RTP's header",
        phrase="{} each",
    )
    interval_s: float = declare(
        Time(minimum=1e-6, maximum=3600.0),
        default=0.02,
        label="Interval",
        help="the time between two datagrams",
        phrase="every {}",
    )
    rate_bps: int | None = declare(
        Rate(minimum=1),
        default=None,
        label="Rate",
        help="the rate of the payload, in place of `interval`",
        absent="by `interval`",
        phrase="{}",
    )
    buffer_s: float | None = declare(
        Time(maximum=10.0),
        default=None,
        label="Playout buffer",
        help="a datagram that takes longer than the quickest by more than this comes too late to "
        "be played; `mos` takes it for lost",
        absent="the one that gives the best call",
    )
    dscp: int = declare(
        Integer(maximum=63),
        default=0,
        label="DSCP",
        help="the differentiated services code point of its packets; 46 is that of calls (EF)",
        phrase="DSCP {}",
    )
    reverse: bool = declare(
        Flag(),
        default=False,
        label="Reverse",
        help="the target sends and the source receives, from the source's request on",
        phrase="reversed",
    )
    poisson: bool = declare(
        Flag(),
        default=False,
        label="Poisson",
        help="the times between datagrams are random, exponentially distributed with the interval "
        "as their mean (a Poisson process), for queueing theory",
        phrase="at random times",
    )

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject a rate beside an interval."""
        if "rate" in given and "interval" in given:
            return "rate", "interval and rate are both given, and each sets how many: leave one out"
        return None

    @property
    def gap_s(self) -> float:
        """The time between two datagrams, in seconds."""
        return self.interval_s if self.rate_bps is None else self.size_bytes * 8 / self.rate_bps

    @property
    def count(self) -> int:
        """How many datagrams there are."""
        return max(1, min(_MAX_DATAGRAMS, round(self.time_s / self.gap_s)))

    @property
    def has_known_duration(self) -> bool:
        """Return True: datagrams are sent at their times, whether they arrive or not."""
        return True

    def summary(self) -> str:
        """Return what it does in a few words, such as `10 s, 172 B each`."""
        return ", ".join(phrases(self)) or f"every {self.interval_s * 1e3:g} ms"

    def duration_s(self) -> float:
        """Return how long it sends."""
        return self.count * self.gap_s

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time it takes."""
        del rate_bps
        return self.count * _DATAGRAM_CPU_S

    def output_bytes(self) -> float:
        """Return about how much its reports take."""
        return float(self.count * _DATAGRAM_BYTES)

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the server and the client, one of which sends."""
        server = [self.bound_address(address), str(port), str(self.count)]
        client = [address, *server[1:]]
        gap = str(round(self.gap_s * 1e9))
        sends = [gap, str(self.size_bytes), str(self.dscp << 2)]
        if self.poisson:
            sends.append(self.name)
        server = ["serve", *server, *sends] if self.reverse else ["receive", *server]
        client = ["fetch", *client, gap] if self.reverse else ["send", *client, *sends]
        return (
            our_process(
                MODULE, server, host=self.target, output=f"{self.name}.server.json", listens=True
            ),
            our_process(MODULE, client, host=self.source, output=f"{self.name}.client.json"),
        )

    @property
    def _receiver_file(self) -> str:
        return f"{self.name}.{'client' if self.reverse else 'server'}.json"

    def arrivals(self, raw: Path) -> list[Arrival]:
        """Read what came, in the order in which it came.

        Raises:
            MachineError: as `measure`.
        """
        report = read_report(raw / self._receiver_file, _Report, what="datagrams")
        if any(not 0 <= number < self.count for number, _, _ in report.datagrams):
            raise MachineError(f"{self._receiver_file}: a datagram in it was never sent")
        return [Arrival(*row) for row in report.datagrams]

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the metrics from the receiver's report; delays are left out if nothing came.

        Raises:
            MachineError: the report is missing, or not whole.
        """
        return measure(
            self.arrivals(raw), sent=self.count, gap_s=self.gap_s, buffer_s=self.buffer_s
        )


@dataclass(frozen=True, slots=True)
class Arrival:
    """A datagram that came.

    Attributes:
        number: which it is, from 0.
        sent_ns: when it was sent, in nanoseconds since boot.
        arrived_ns: when it came, likewise.
    """

    number: int
    sent_ns: int
    arrived_ns: int

    @property
    def delay_s(self) -> float:
        """Its one-way delay, in seconds."""
        return (self.arrived_ns - self.sent_ns) / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What the receiving end of `longfat.guest.cbr` prints."""

    program: Literal["longfat cbr"]
    end: Literal["receiver"]
    datagrams: list[tuple[int, int, int]]

    def __post_init__(self) -> None:
        for _, sent_ns, arrived_ns in self.datagrams:
            if not 0 <= sent_ns <= arrived_ns:
                raise ValueError("a datagram in it came before it was sent")


def measure(
    arrivals: Sequence[Arrival], *, sent: int, gap_s: float, buffer_s: float | None
) -> dict[str, float]:
    """Return the metrics of a flow by their full names.

    A call's delay from mouth to ear is the delay at which datagrams are played and the time of the
    voice in one of them; what takes longer than that counts as lost.

    Args:
        arrivals: what came, in the order in which it came.
        sent: how many datagrams were sent.
        gap_s: the time between two of them, in seconds.
        buffer_s: how much later than the quickest they are played, in seconds; None for as much as
            makes the best call.
    """
    first: dict[int, Arrival] = {}
    for one in arrivals:
        first.setdefault(one.number, one)
    delays_s = sorted(one.delay_s for one in first.values())
    found: dict[str, float] = {
        "sent": sent,
        "received": len(first),
        "loss": 1 - len(first) / sent,
        "longest_loss": longest_run(first, sent=sent),
        "duplicates": len(arrivals) - len(first),
        "reordered": reordered(arrivals) / len(arrivals) if arrivals else 0.0,
    }
    if not delays_s:
        return found | {"late": 0.0, "r": 0.0, "mos": 1.0}
    playouts_s = [delays_s[0] + buffer_s] if buffer_s is not None else _some(delays_s)
    call, playout_s, played = max(
        (call_quality(playout_s + gap_s, 1 - played / sent), -playout_s, played)
        for playout_s in playouts_s
        for played in (bisect.bisect_right(delays_s, playout_s),)
    )
    jitters_s = jitter_s(first.values())
    return found | {
        "min_s": delays_s[0],
        "mean_s": math.fsum(delays_s) / len(delays_s),
        "p95_s": quantile(delays_s, 0.95),
        "p99_s": quantile(delays_s, 0.99),
        "max_s": delays_s[-1],
        "jitter_s": math.fsum(jitters_s) / len(jitters_s),
        "max_jitter_s": max(jitters_s),
        "playout_s": -playout_s,
        "late": (len(delays_s) - played) / sent,
        "r": call.r,
        "mos": call.mos,
    }


def _some(ordered: Sequence[float]) -> list[float]:
    """Return values from the least to the largest, some hundred of them at most."""
    step = max(1, len(ordered) // _MAX_PLAYOUTS)
    return [*ordered[::step], ordered[-1]]


def jitter_s(arrivals: Iterable[Arrival]) -> list[float]:
    """Return RFC 3550's estimate of jitter after each arrival, in seconds; 0 after the first.

    Source: RFC 3550, section 6.4.1: J += (|D| - J) / 16, where D is by how much the delays of
    two datagrams differ that came one after the other.
    """
    found: list[float] = []
    before: float | None = None
    for one in arrivals:
        last = found[-1] if found else 0.0
        gap = 0.0 if before is None else abs(one.delay_s - before)
        found.append(last + (gap - last) / 16 if before is not None else 0.0)
        before = one.delay_s
    return found


def reordered(arrivals: Iterable[Arrival]) -> int:
    """Return how many came after one that was sent later; duplicates are left out.

    Source: RFC 4737, section 4.2 (Type-P-Reordered: a number below the next that is expected).
    """
    seen: set[int] = set()
    count, expected = 0, 0
    for one in arrivals:
        if one.number not in seen:
            count += one.number < expected
            expected = max(expected, one.number + 1)
            seen.add(one.number)
    return count


def longest_run(received: Iterable[int], *, sent: int) -> int:
    """Return how many numbers in a row are missing at most, of those below `sent`."""
    longest, before = 0, -1
    for number in (*sorted(received), sent):
        longest = max(longest, number - before - 1)
        before = number
    return longest
