"""video: adaptive video: segments at the rates of a ladder, a buffer, and when playing stalled.

`longfat.guest.video` plays it, as documented there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal

from longfat.errors import InputError, MachineError
from longfat.model.fields import declare, phrases
from longfat.model.kinds import Text, Texts, Time
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.traffic.flow import Flow, Process, our_process, read_report
from longfat.model.units import parse_rate_bps

MODULE = "longfat.guest.video"
"""What does it in a machine."""

ADAPTATIONS = ("buffer", "throughput")

_MAX_RATES = 20
_SEGMENT_BYTES = 40  # of a report

# Measured: see docs/performance.md and `longfat.execution.cost`.
_BIT_CPU_S = 30e-6 / (1448 * 8)


def _ladder_problem(texts: tuple[str, ...]) -> tuple[int, str] | None:
    if not 1 <= len(texts) <= _MAX_RATES:
        return 0, f"{len(texts)} rates, and a ladder has 1 to {_MAX_RATES}"
    before = 0
    for index, text in enumerate(texts):
        try:
            rate_bps = parse_rate_bps(text)
        except InputError as error:
            return index, error.message
        if rate_bps <= before:
            return index, f"{text!r} is not above the rate before it: write them from the lowest"
        before = rate_bps
    return None


def _adaptation_problem(text: str) -> str | None:
    return None if text in ADAPTATIONS else f"{text!r} is none of {', '.join(ADAPTATIONS)}"


_FILE = "raw/{name}.client.json"


def _source(formula: str, *, path: str = "segments[*]") -> MetricSource:
    """Return a source in the player's report: of each segment its begin, end (ns) and rate."""
    return MetricSource(file=_FILE, path=path, formula=formula, over=path.removesuffix("[*]"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Video(Flow):
    """A video that the source plays and the target serves.

    Attributes:
        time_s: how long it is watched, from the first request on, in seconds.
        ladder: the rates that there are, from the lowest.
        segment_s: how long a segment plays, in seconds.
        buffer_s: how much the player takes in before it waits, in seconds.
        adaptation: how it chooses rates: `buffer` or `throughput`.
    """

    tool: ClassVar[str] = "video"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("segments", Unit.COUNT, "segments", _source("how many have an end that is not -1")),
        Metric("bitrate_bps", Unit.BPS, "mean bitrate", _source("mean of the ladder's rates")),
        Metric(
            "startup_s",
            Unit.SECONDS,
            "startup delay",
            MetricSource(file=_FILE, path="started_ns", divisor=1e9),
        ),
        Metric("stalls", Unit.COUNT, "stalls", _source("how many", path="stalls[*]")),
        Metric(
            "stalled_s",
            Unit.SECONDS,
            "stalled",
            _source("sum of (end - begin) / 1e9", path="stalls[*]"),
        ),
        Metric(
            "stalled_share",
            Unit.FRACTION,
            "share of time stalled",
            _source("stalled_s / (flow's time - startup_s), at most 1", path="stalls[*]"),
        ),
        Metric(
            "switches",
            Unit.COUNT,
            "switches of the bitrate",
            _source("how many have another rate than the one before"),
        ),
        Metric(
            "throughput_bps",
            Unit.BPS,
            "mean throughput of segments",
            _source("sum of rates * segment time / sum of (end - begin) / 1e9"),
        ),
    )

    time_s: float = declare(
        Time(minimum=0.1, maximum=86400.0),
        default=60.0,
        label="Time",
        help="how long it is watched, from the first request on",
        phrase="{}",
    )
    ladder: tuple[str, ...] = declare(
        Texts(
            what="a list of rates from the lowest (such as [500kbit, 2mbit, 6mbit])",
            each="a rate",
            problem=_ladder_problem,
        ),
        default=("300kbit", "750kbit", "1500kbit", "3mbit", "6mbit"),
        label="Ladder",
        help="the rates of the video, from the lowest",
    )
    segment_s: float = declare(
        Time(minimum=0.1, maximum=60.0),
        default=4.0,
        label="Segment",
        help="how long a segment plays",
        phrase="segments of {}",
    )
    buffer_s: float = declare(
        Time(minimum=0.2, maximum=3600.0),
        default=60.0,
        label="Buffer",
        help="how much the player takes in before it waits; at least two segments",
    )
    adaptation: str = declare(
        Text(
            what="how it chooses rates: buffer or throughput",
            example="throughput",
            problem=_adaptation_problem,
        ),
        default="buffer",
        label="Adaptation",
        help="what the player chooses rates by: its `buffer` (BBA-0), or the `throughput` of the "
        "last segments",
        phrase="by {}",
    )

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject a buffer that holds less than two segments."""
        segment_s, buffer_s = given.get("segment", 4.0), given.get("buffer", 60.0)
        both = isinstance(segment_s, float) and isinstance(buffer_s, float)
        if both and buffer_s < 2 * segment_s:  # type: ignore[operator]
            key = "buffer" if "buffer" in given else "segment"
            return key, f"a buffer of {buffer_s:g} s does not hold two segments of {segment_s:g} s"
        return None

    @property
    def reverse(self) -> bool:
        """Yes: the target sends the video."""
        return True

    @property
    def has_tcp_sockets(self) -> bool:
        """Yes: one connection."""
        return True

    @property
    def has_known_duration(self) -> bool:
        """Return True: it ends after its time, whatever was received."""
        return True

    @property
    def rates_bps(self) -> tuple[int, ...]:
        """The rates of the ladder, in bit/s."""
        return tuple(map(parse_rate_bps, self.ladder))

    def summary(self) -> str:
        """Return what it does in a few words, such as `60 s, up to 6mbit`."""
        return ", ".join([*phrases(self), f"up to {self.ladder[-1]}"])

    def duration_s(self) -> float:
        """Return how long it is watched."""
        return self.time_s

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time it takes."""
        del rate_bps
        return (self.time_s + self.buffer_s) * self.rates_bps[-1] * _BIT_CPU_S

    def output_bytes(self) -> float:
        """Return about how much its report takes."""
        return (self.time_s + self.buffer_s) / self.segment_s * _SEGMENT_BYTES

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the server and the player."""
        times = (self.time_s, self.segment_s, self.buffer_s)
        play = ["play", address, str(port), *(str(round(one * 1e9)) for one in times)]
        play += [self.adaptation, *map(str, self.rates_bps)]
        serve = ["serve", self.bound_address(address), str(port)]
        return (
            our_process(
                MODULE, serve, host=self.target, output=f"{self.name}.server.txt", listens=True
            ),
            our_process(MODULE, play, host=self.source, output=self._client_file),
        )

    @property
    def _client_file(self) -> str:
        return f"{self.name}.client.json"

    def connections(self, raw: Path) -> list[tuple[int, int]]:
        """Return the ports of its connection."""
        report = self._report(raw)
        return [(report.port, report.server_port)]

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the metrics from the player's report; those of which there is nothing are left out.

        Raises:
            MachineError: the report is missing, or not whole.
        """
        report = self._report(raw)
        rates = self.rates_bps
        whole = [one for one in report.segments if one[1] >= 0]
        stalled_s = sum(end_ns - begin_ns for begin_ns, end_ns in report.stalls) / 1e9
        found: dict[str, float] = {
            "segments": len(whole),
            "stalls": len(report.stalls),
            "stalled_s": stalled_s,
        }
        if whole:
            chosen = [rates[number] for _, _, number in whole]
            took_s = sum(end_ns - begin_ns for begin_ns, end_ns, _ in whole) / 1e9
            found["bitrate_bps"] = math.fsum(chosen) / len(chosen)
            found["startup_s"] = report.started_ns / 1e9
            found["switches"] = sum(a != b for a, b in pairwise(chosen))
            watched_s = self.time_s - found["startup_s"]
            found["stalled_share"] = min(1.0, stalled_s / watched_s) if watched_s > 0 else 0.0
            if took_s:
                found["throughput_bps"] = math.fsum(chosen) * self.segment_s / took_s
        return found

    def bitrates(self, raw: Path) -> list[tuple[float, float]]:
        """Return when each segment was there, in seconds after the flow's start, and its bit/s.

        Raises:
            MachineError: as `measure`.
        """
        rates = self.rates_bps
        return [
            (end_ns / 1e9, float(rates[number]))
            for _, end_ns, number in self._report(raw).segments
            if end_ns >= 0
        ]

    def buffered(self, raw: Path) -> list[tuple[float, float]]:
        """Return how many seconds of video wait in the player's buffer.

        Playing takes them at one second a second, from its start on, except while it is stalled.

        Returns:
            Times in seconds after the flow's start, and seconds of video, at each corner of the
            curve that joins them.

        Raises:
            MachineError: as `measure`.
        """
        report = self._report(raw)
        ends_ns = [end_ns for _, end_ns, _ in report.segments if end_ns >= 0]
        if not ends_ns:
            return []
        over_ns = round(self.time_s * 1e9)
        corners = {0, over_ns, report.started_ns, *(t for stall in report.stalls for t in stall)}
        points = []
        for at_ns in sorted({*corners, *ends_ns}):
            if at_ns > over_ns:
                break
            stalled_ns = sum(
                max(0, min(end_ns, at_ns) - begin_ns) for begin_ns, end_ns in report.stalls
            )
            played_s = max(0, at_ns - report.started_ns - stalled_ns) / 1e9
            came = [sum(end_ns < at_ns for end_ns in ends_ns)]
            if at_ns in ends_ns:
                came.append(sum(end_ns <= at_ns for end_ns in ends_ns))
            points += [(at_ns / 1e9, max(0.0, n * self.segment_s - played_s)) for n in came]
        return points

    def _report(self, raw: Path) -> _Report:
        report = read_report(raw / self._client_file, _Report, what="a video")
        if any(not 0 <= number < len(self.ladder) for _, _, number in report.segments):
            raise MachineError(f"{self._client_file}: a rate in it is not of the ladder")
        return report


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What the player of `longfat.guest.video` prints."""

    program: Literal["longfat video"]
    started_ns: int
    port: int
    server_port: int
    stalls: list[tuple[int, int]]
    segments: list[tuple[int, int, int]]

    def __post_init__(self) -> None:
        spans = [*self.stalls, *((a, b) for a, b, _ in self.segments if b != -1)]
        if any(not 0 <= begin_ns <= end_ns for begin_ns, end_ns in spans):
            raise ValueError("something in it ended before it began")
        if self.started_ns < 0 and any(end_ns >= 0 for _, end_ns, _ in self.segments):
            raise ValueError("it has segments, and playing did not begin")
