"""requests: requests and responses of many connections, and how long they take.

`longfat.guest.requests` implements it; its docstring defines a request and its time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from longfat.errors import InputError
from longfat.guest.sizes import MAX_BYTES, POINTS, named
from longfat.model.fields import declare, phrases
from longfat.model.kinds import Flag, Integer, Rate, Size, Text, Time
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.spread import quantile
from longfat.model.traffic.bulk import congestion_field
from longfat.model.traffic.flow import Flow, Process, our_process, read_report
from longfat.model.units import parse_size_bytes
from longfat.theory.responsiveness import foreign_rpm

MODULE = "longfat.guest.requests"
"""What does it in a machine."""

SMALL_BYTES, LARGE_BYTES = 100_000, 10_000_000
"""Responses below the one are small, above the other large."""

_HEADER_BYTES = 16
_MAX_CLIENTS = 100_000
_REQUEST_BYTES = 45  # of a report

# Measured: see docs/performance.md and `longfat.execution.cost`.
_REQUEST_CPU_S, _CONNECTION_CPU_S = 0.2e-3, 0.4e-3
_PACKET_CPU_S, _PACKET_BYTES = 30e-6, 1448
_MAX_BPS = 1e9  # what a closed loop is taken to carry at most
_ROUND_S = 0.02  # and how long its responses take
_DRAIN_S = 10.0
_MAX_RPM_BYTES = 1000  # in one segment


def _size_problem(text: str) -> str | None:
    if text in POINTS or text.startswith("/"):
        return None
    try:
        size_bytes = parse_size_bytes(text)
    except InputError:
        return (
            f"{text!r} is neither a size, such as 100KB, nor {' nor '.join(POINTS)}, nor the path "
            "in the machine of a file with a distribution"
        )
    if 1 <= size_bytes <= MAX_BYTES:
        return None
    return f"{text!r} is outside of what is allowed: 1 to {MAX_BYTES} bytes"


def _source(formula: str, *, path: str = "requests[*]") -> MetricSource:
    """Return a source in the client's report: of each request its start, size and end, in ns."""
    return MetricSource(file="raw/{name}.client.json", path=path, formula=formula, over="requests")


def _time(name: str, title: str, what: str, *, of: str = "") -> Metric:
    source = _source(f"{what} of (end - start) / 1e9{of}")
    return Metric(f"{name}_s", Unit.SECONDS, title, source)


def _slowdown(name: str, title: str, what: str) -> Metric:
    idle = "(size * 8 / rate of the path + its idle RTT)"
    return Metric(name, Unit.COUNT, title, _source(f"{what} of (end - start) / 1e9 / {idle}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests(Flow):
    """Requests of the source, which the target answers.

    Attributes:
        size: the size of responses: one, or a distribution.
        time_s: for how long requests begin, in seconds.
        drain_s: how long those that have begun are waited for then, in seconds.
        load_bps: the responses' rate in the mean, in bit/s: an open loop.
        every_s: the time between two requests in the mean, in seconds: an open loop.
        clients: how many clients send requests one after the other: a closed loop.
        think_s: the time between a response and the next request in the mean, in seconds.
        request_bytes: the size of a request.
        fresh: each request has a connection of its own.
        congestion: the congestion control of the connections.
    """

    tool: ClassVar[str] = "requests"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("requests", Unit.COUNT, "requests", _source("how many")),
        Metric(
            "completed", Unit.COUNT, "completed", _source("how many have an end that is not -1")
        ),
        Metric("unfinished", Unit.COUNT, "unfinished at the end", _source("how many end with -1")),
        Metric("offered_bps", Unit.BPS, "offered load", _source("sum of sizes * 8 / flow's time")),
        Metric(
            "goodput_bps", Unit.BPS, "goodput", _source("sum of sizes with an end * 8e9 / time_ns")
        ),
        Metric("connections", Unit.COUNT, "connections", _source("how many", path="ports[*]")),
        _time("mean", "completion time, mean", "mean"),
        _time("p50", "completion time, median", "median"),
        _time("p95", "completion time, 95th percentile", "95th percentile"),
        _time("p99", "completion time, 99th percentile", "99th percentile"),
        _time("max", "completion time, largest", "largest"),
        _time("small_mean", "below 100 kB, mean", "mean", of=" of sizes below 100 kB"),
        _time(
            "small_p99",
            "below 100 kB, 99th percentile",
            "99th percentile",
            of=" of sizes below 100 kB",
        ),
        _time("medium_mean", "100 kB to 10 MB, mean", "mean", of=" of 100 kB to 10 MB"),
        _time(
            "medium_p99",
            "100 kB to 10 MB, 99th percentile",
            "99th percentile",
            of=" of 100 kB to 10 MB",
        ),
        _time("large_mean", "above 10 MB, mean", "mean", of=" of sizes above 10 MB"),
        _time(
            "large_p99",
            "above 10 MB, 99th percentile",
            "99th percentile",
            of=" of sizes above 10 MB",
        ),
        Metric(
            "rpm",
            Unit.COUNT,
            "round trips per minute",
            _source(
                "60 / (TM / 2), where TM is the mean of (end - start) / 1e9 without the largest "
                "5 %; of fresh connections with responses of up to 1000 bytes"
            ),
        ),
        _slowdown("slowdown_mean", "slowdown, mean", "mean"),
        _slowdown("slowdown_p50", "slowdown, median", "median"),
        _slowdown("slowdown_p99", "slowdown, 99th percentile", "99th percentile"),
    )

    size: str = declare(
        Text(
            what="a size or a distribution (such as 100KB or web-search)",
            example="web-search",
            problem=_size_problem,
        ),
        default="100KB",
        label="Size",
        help="the size of responses: one size, `web-search`, `data-mining`, or the path in the "
        "machine of a file with a distribution",
        phrase="{} each",
    )
    time_s: float = declare(
        Time(minimum=0.01, maximum=86400.0),
        default=10.0,
        label="Time",
        help="for how long requests begin",
        phrase="{}",
    )
    drain_s: float = declare(
        Time(maximum=86400.0),
        default=_DRAIN_S,
        label="Drain",
        help="how long those that have begun are waited for after that",
    )
    load_bps: int | None = declare(
        Rate(minimum=1),
        default=None,
        label="Load",
        help="open loop: requests begin at random times (Poisson), so many that their responses "
        "are of this rate in the mean",
        absent="closed loop",
        phrase="{} offered",
    )
    every_s: float | None = declare(
        Time(minimum=1e-6, maximum=86400.0),
        default=None,
        label="Every",
        help="open loop: the mean time between two requests, in place of `load`",
        absent="closed loop",
        phrase="every {} in the mean",
    )
    clients: int = declare(
        Integer(minimum=1, maximum=_MAX_CLIENTS),
        default=1,
        label="Clients",
        help="closed loop: how many clients, each sending after the response to its last request",
        phrase="{} clients",
    )
    think_s: float = declare(
        Time(maximum=86400.0),
        default=0.0,
        label="Think time",
        help="closed loop: the mean time between a response and the next request (exponentially "
        "distributed)",
        phrase="think {}",
    )
    request_bytes: int = declare(
        Size(minimum=_HEADER_BYTES, maximum=1 << 20),
        default=100,
        label="Request",
        help="the size of a request",
    )
    fresh: bool = declare(
        Flag(),
        default=False,
        label="Fresh connections",
        help="each request opens a connection of its own; without it, one that is idle is used",
        phrase="fresh connections",
    )
    congestion: str | None = congestion_field()

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject what is of both an open and a closed loop."""
        if "load" in given and "every" in given:
            return "every", "load and every are both given, and each sets how many: leave one out"
        for key in ("clients", "think"):
            if key in given and ("load" in given or "every" in given):
                other = "load" if "load" in given else "every"
                return (
                    key,
                    f"{other} begins requests at fixed times: leave {key} out",
                )
        return None

    @property
    def reverse(self) -> bool:
        """Yes: the target sends the responses."""
        return True

    @property
    def has_tcp_sockets(self) -> bool:
        """Yes: it is TCP."""
        return True

    @property
    def has_ideal(self) -> bool:
        """Yes: the time of an idle path."""
        return True

    def summary(self) -> str:
        """Return what it does in a few words, such as `100KB each, 10 clients`."""
        return ", ".join(phrases(self)) or f"{self.size} each"

    def duration_s(self) -> float:
        """Return for how long requests begin."""
        return self.time_s

    def longest_s(self) -> float:
        """Return when its client has ended for certain; see `Flow.longest_s`."""
        return Flow.longest_s(self) + self.drain_s

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time it takes."""
        del rate_bps
        each = _REQUEST_CPU_S + self._mean_bytes / _PACKET_BYTES * _PACKET_CPU_S
        each += _CONNECTION_CPU_S if self.fresh else 0.0
        return self._count * each

    def output_bytes(self) -> float:
        """Return about how much its report takes."""
        return self._count * _REQUEST_BYTES

    @property
    def _mean_bytes(self) -> float:
        """The mean size of a response, in bytes; an estimate, if a file defines it."""
        if self.size.startswith("/"):
            return float(LARGE_BYTES) / 10
        return named(self._size_word).mean_bytes

    @property
    def _count(self) -> float:
        """About how many requests there are."""
        every_s = self.every_s
        if self.load_bps is not None:
            every_s = self._mean_bytes * 8 / self.load_bps
        if every_s is None:
            full_s = self._mean_bytes * 8 / _MAX_BPS
            every_s = max((self.think_s + _ROUND_S) / self.clients, full_s)
        return self.time_s / every_s

    @property
    def _size_word(self) -> str:
        return str(parse_size_bytes(self.size)) if self.size[0].isdigit() else self.size

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the server and the client."""
        server = ["serve", self.bound_address(address), str(port)]
        if self.congestion is not None:
            server += ["--congestion", self.congestion]
        client = ["ask", address, str(port), self.name, "--size", self._size_word]
        client += ["--time", f"{self.time_s:.9g}", "--drain", f"{self.drain_s:.9g}"]
        client += ["--request", str(self.request_bytes)]
        if self.fresh:
            client += ["--fresh", "1"]
        if self.load_bps is not None:
            client += ["--load", str(self.load_bps)]
        elif self.every_s is not None:
            client += ["--every", f"{self.every_s:.9g}"]
        else:
            client += ["--clients", str(self.clients), "--think", f"{self.think_s:.9g}"]
        return (
            our_process(
                MODULE, server, host=self.target, output=f"{self.name}.server.txt", listens=True
            ),
            our_process(MODULE, client, host=self.source, output=self._client_file),
        )

    @property
    def _client_file(self) -> str:
        return f"{self.name}.client.json"

    def connections(self, raw: Path) -> list[tuple[int, int]]:
        """Return the ports of its connections, in the order in which they were opened."""
        report = self._report(raw)
        return [(port, report.server_port) for port in dict.fromkeys(report.ports)]

    def responses(self, raw: Path) -> list[Response]:
        """Read what became of each request, in the order of their times.

        Raises:
            MachineError: as `measure`.
        """
        return list(_responses(self._report(raw)))

    def measure(self, raw: Path) -> dict[str, float]:
        """Read the metrics from the client's report; those of which there is nothing are left out.

        Raises:
            MachineError: the report is missing, or not whole.
        """
        report = self._report(raw)
        every = list(_responses(report))
        done = [one for one in every if one.took_s is not None]
        found: dict[str, float] = {
            "requests": len(every),
            "completed": len(done),
            "unfinished": len(every) - len(done),
            "offered_bps": sum(one.size_bytes for one in every) * 8 / self.time_s,
            "connections": len(report.ports),
        }
        if report.time_ns:
            bits = sum(one.size_bytes for one in done) * 8
            found["goodput_bps"] = bits / (report.time_ns / 1e9)
        found |= _times("", done, ("mean", "p50", "p95", "p99", "max"))
        for name, (_, is_of) in CLASSES.items():
            those = [one for one in done if is_of(one.size_bytes)]
            found |= _times(f"{name}_", those, ("mean", "p99"))
        times_s = sorted(one.took_s for one in done if one.took_s)
        # A larger response may take more round trips than the one of the request.
        if self.fresh and times_s and all(one.size_bytes <= _MAX_RPM_BYTES for one in every):
            found["rpm"] = foreign_rpm(times_s)
        return found

    def compare(self, raw: Path, *, rate_bps: float, rtt_s: float) -> dict[str, float]:
        """Return the slowdown: each time, divided by that of an idle path; see `Flow.compare`.

        On an idle path a response takes a round trip and the time of its bytes at the rate.
        """
        every = (
            one.slowdown(rate_bps=rate_bps, rtt_s=rtt_s) for one in _responses(self._report(raw))
        )
        values = sorted(value for value in every if value is not None)
        if not values:
            return {}
        return {
            "slowdown_mean": math.fsum(values) / len(values),
            "slowdown_p50": quantile(values, 0.5),
            "slowdown_p99": quantile(values, 0.99),
        }

    def _report(self, raw: Path) -> _Report:
        return read_report(raw / self._client_file, _Report, what="requests")


CLASSES: Mapping[str, tuple[str, Callable[[int], bool]]] = {
    "small": ("below 100 kB", lambda size: size < SMALL_BYTES),
    "medium": ("100 kB to 10 MB", lambda size: SMALL_BYTES <= size <= LARGE_BYTES),
    "large": ("above 10 MB", lambda size: size > LARGE_BYTES),
}
"""Classes of responses: a title, and which sizes are of it, in bytes."""


@dataclass(frozen=True, slots=True)
class Response:
    """What became of a request.

    Attributes:
        start_s: its time, in seconds after the flow's start.
        size_bytes: how large its response is.
        took_s: how long it took until the last byte of that was there, in seconds; None if it
            was not there at the end.
    """

    start_s: float
    size_bytes: int
    took_s: float | None

    def slowdown(self, *, rate_bps: float, rtt_s: float) -> float | None:
        """Return its time divided by that of an idle path; None if it never ended."""
        if self.took_s is None:
            return None
        return self.took_s / (self.size_bytes * 8 / rate_bps + rtt_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """What `longfat.guest.requests` prints."""

    program: Literal["longfat requests"]
    time_ns: int
    mean_bytes: float
    server_port: int
    ports: list[int]
    requests: list[tuple[int, int, int]]

    def __post_init__(self) -> None:
        if self.time_ns < 0:
            raise ValueError("it ended before it began")
        for start_ns, size_bytes, end_ns in self.requests:
            if start_ns < 0 or size_bytes < 1 or (end_ns != -1 and end_ns < start_ns):
                raise ValueError("a request in it cannot be")


def _responses(report: _Report) -> Iterator[Response]:
    for start_ns, size_bytes, end_ns in report.requests:
        took_s = None if end_ns == -1 else (end_ns - start_ns) / 1e9
        yield Response(start_ns / 1e9, size_bytes, took_s)


def _times(prefix: str, done: Sequence[Response], names: Sequence[str]) -> dict[str, float]:
    times_s = sorted(one.took_s for one in done if one.took_s is not None)
    if not times_s:
        return {}
    values = {
        "mean": math.fsum(times_s) / len(times_s),
        "p50": quantile(times_s, 0.5),
        "p95": quantile(times_s, 0.95),
        "p99": quantile(times_s, 0.99),
        "max": times_s[-1],
    }
    return {f"{prefix}{name}_s": values[name] for name in names}
