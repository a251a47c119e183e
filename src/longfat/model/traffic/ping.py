"""ping: ICMP echo, and the summary and replies that it prints.

Source of the output's form: ping(8) of iputils, and outputs captured from
20221126, kept under tests/data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from longfat.common.decoding import MAX_RAW_BYTES, read_bytes
from longfat.errors import MachineError
from longfat.model.fields import declare, phrases
from longfat.model.kinds import Integer, Size, Time
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.traffic.flow import Flow, Process
from longfat.model.traffic.options import OUTPUT, Options, arguments, has_field

if TYPE_CHECKING:
    from pathlib import Path

_COUNTS = re.compile(r"^(\d{1,9}) packets transmitted, (\d{1,9}) received", re.MULTILINE | re.ASCII)
_NUMBER = r"(\d{1,9}(?:\.\d{1,9})?)"
_RTT = re.compile(
    rf"^rtt min/avg/max/mdev = {_NUMBER}/{_NUMBER}/{_NUMBER}/{_NUMBER} ms", re.MULTILINE | re.ASCII
)
_REPLY = re.compile(rf"icmp_seq=(\d{{1,9}}) .{{0,200}}?time[=<]{_NUMBER} ms", re.ASCII)
_MAX_REQUESTS = 10_000_000

# How long ping waits for the last reply, ping(8): one second before any
# reply has come, twice the largest RTT after.
_LAST_WAIT_S = 10.0

# Measured: see docs/performance.md and `longfat.execution.cost`.
_REPLY_CPU_S = 0.4e-3
_OUTPUT_BYTES, _REPLY_BYTES = 300, 58


_FILE = "raw/{name}.txt"
_SENT_LINE = r"^(\d+) packets transmitted"
_RECEIVED_LINE = r"packets transmitted, (\d+) received"


def _rtt_source(position: int) -> MetricSource:
    """Return the source of one of the four numbers of ping's line of RTTs, in milliseconds."""
    before = r"[\d.]+/" * position
    return MetricSource(
        file=_FILE, path=rf"^rtt min/avg/max/mdev = {before}([\d.]+)", divisor=1e3, over="replies"
    )


# Of ping(8) of iputils 20221126.
_OPTIONS = Options(
    valued="ceiIlmMNpQsStTwWF",
    long_valued=frozenset(),
    rejected={
        **has_field({"count": "c", "interval": "i", "size": "s"}),
        **dict.fromkeys("DqfahVvR", OUTPUT),
        "A": "the interval is written in the flow",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(Flow):
    """Echo requests at a steady interval.

    Attributes:
        count: the number of requests.
        interval_s: the time between two requests, in seconds.
        size_bytes: the payload of a request, without ICMP and IP headers.
    """

    tool: ClassVar[str] = "ping"
    good_statuses: ClassVar[tuple[int, ...]] = (0, 1)  # 1: replies are missing, which is a result
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("min_s", Unit.SECONDS, "least RTT", _rtt_source(0)),
        Metric("avg_s", Unit.SECONDS, "mean RTT", _rtt_source(1)),
        Metric("max_s", Unit.SECONDS, "largest RTT", _rtt_source(2)),
        Metric("mdev_s", Unit.SECONDS, "RTT deviation", _rtt_source(3)),
        Metric(
            "loss",
            Unit.FRACTION,
            "loss",
            MetricSource(file=_FILE, path=_RECEIVED_LINE, formula="1 - received / sent"),
        ),
        Metric("sent", Unit.COUNT, "requests", MetricSource(file=_FILE, path=_SENT_LINE)),
        Metric("received", Unit.COUNT, "replies", MetricSource(file=_FILE, path=_RECEIVED_LINE)),
    )

    count: int = declare(
        Integer(minimum=1, maximum=2**31 - 1),
        default=4,
        label="Requests",
        help="the number of requests",
    )
    interval_s: float = declare(
        Time(minimum=0.001, maximum=2147483),  # counted in milliseconds, in an int
        default=1.0,
        label="Interval",
        help="the time between two requests",
        phrase="every {}",
    )
    size_bytes: int = declare(
        Size(maximum=65507),
        default=56,
        label="Size",
        help="the payload of a request, without the headers of ICMP and IP",
        phrase="{} of payload",
    )
    args: tuple[str, ...] = arguments(_OPTIONS)

    def summary(self) -> str:
        """Return what it does in a few words, such as `4 requests`."""
        alone = f"{self.count} {'request' if self.count == 1 else 'requests'}"
        return ", ".join([alone, *phrases(self), *self.args])

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the one command; ICMP has no ports."""
        del port
        argv = ["ping", "-c", str(self.count)]
        if self.interval_s != 1:
            argv += ["-i", f"{self.interval_s:g}"]
        if self.size_bytes != 56:
            argv += ["-s", str(self.size_bytes)]
        return (
            Process(host=self.source, argv=(*argv, *self.args, address), output=self._output_file),
        )

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time its requests take."""
        del rate_bps
        return _REPLY_CPU_S * self.count

    def output_bytes(self) -> float:
        """Return about how much ping prints."""
        return _OUTPUT_BYTES + _REPLY_BYTES * self.count

    @property
    def _output_file(self) -> str:
        return f"{self.name}.txt"

    @property
    def has_known_duration(self) -> bool:
        """Yes: requests are sent at their times, answered or not."""
        return True

    def duration_s(self) -> float:
        """Return the time from the first request to the last."""
        return (self.count - 1) * self.interval_s

    def replies(self, raw: Path) -> list[Reply]:
        """Read the replies that came, in the order in which they came.

        Raises:
            MachineError: as `measure`.
        """
        return parse_replies(self._text(raw))

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the summary that ping prints at its end."""
        return parse_summary(self._text(raw), name=self._output_file)

    def _text(self, raw: Path) -> str:
        path = raw / self._output_file
        try:
            content = read_bytes(path, most_bytes=MAX_RAW_BYTES, error=MachineError)
        except OSError as error:
            raise MachineError(f"{path.name}: cannot be read: {error.strerror}") from None
        return content.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True)
class Reply:
    """One echo reply: the request's number, from 1, and the RTT in seconds."""

    sequence: int
    rtt_s: float


def parse_replies(text: str) -> list[Reply]:
    """Read the replies from ping's output."""
    return [
        Reply(sequence=int(sequence), rtt_s=float(ms) / 1e3)
        for sequence, ms in _REPLY.findall(text)
    ]


def parse_summary(text: str, *, name: str) -> dict[str, float]:
    """Read the summary from ping's output.

    Args:
        text: what ping printed.
        name: what to call it in messages.

    Returns:
        Metrics by full name; the RTT ones are left out if no reply came.

    Raises:
        MachineError: there is no summary.
    """
    counts = _COUNTS.search(text)
    if counts is None:
        raise MachineError(f"{name}: no summary of ping in it")
    sent, received = int(counts[1]), int(counts[2])
    if sent > _MAX_REQUESTS:
        raise MachineError(f"{name}: {sent:,} requests, and at most {_MAX_REQUESTS:,} are read")
    found: dict[str, float] = {
        "sent": sent,
        "received": received,
        "loss": 1 - min(received, sent) / sent if sent else 0.0,
    }
    if rtt := _RTT.search(text):
        names = ("min_s", "avg_s", "max_s", "mdev_s")
        found |= {key: float(ms) / 1e3 for key, ms in zip(names, rtt.groups(), strict=True)}
    return found
