"""owd: one-way delay, as RFC 7679 defines it, by numbered datagrams that carry their time.

On real machines it needs synchronised clocks. All hosts of a longfat network share one clock,
so here it is exact, and shows what a round-trip time hides: which direction is slow.

This package is an example of a plug-in: one class, named by an entry point in `pyproject.toml`.
Study files, the Python API, `longfat schema`, the studio and reports know the tool from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from longfat.errors import MachineError
from longfat.model.fields import declare
from longfat.model.kinds import Integer, Size, Time
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.traffic import Flow
from longfat.model.traffic.flow import Process

_HEADER_BYTES = 16
_LAST_WAIT_S = 5.0  # for datagrams that are on their way when the last one is sent
_MAX_OUTPUT_BYTES = 1 << 28

_RECEIVER = """
import socket, struct, sys, time
sock = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
sock.bind((sys.argv[1], int(sys.argv[2])))
while True:
    data = sock.recv(65535)
    number, sent_ns = struct.unpack_from("=QQ", data)
    print(number, time.time_ns() - sent_ns, flush=True)
"""

_SENDER = """
import socket, struct, sys, time
address, port, count, interval_ns, size, wait_s = sys.argv[1:]
sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((address, int(port)))
start_ns = time.monotonic_ns()
for number in range(int(count)):
    wait_ns = start_ns + number * int(interval_ns) - time.monotonic_ns()
    time.sleep(max(wait_ns, 0) / 1e9)
    sock.send(struct.pack("=QQ", number, time.time_ns()).ljust(int(size), b"\\0"))
time.sleep(float(wait_s))
"""


_FILE = "raw/{name}.received.txt"
_DELAY = r"^\d+ (\d+)$"  # a line is a number and a delay in nanoseconds


def _delay_source(take: str) -> MetricSource:
    return MetricSource(file=_FILE, path=_DELAY, take=take, divisor=1e9, over="datagrams")


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWayDelay(Flow):
    """Datagrams at a steady interval, whose delays the target tells.

    Attributes:
        count: the number of datagrams.
        interval_s: the time between two of them, in seconds.
        size_bytes: the payload of a datagram, in bytes.
    """

    tool: ClassVar[str] = "owd"
    needs: ClassVar[tuple[str, ...]] = ("python3",)
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("min_s", Unit.SECONDS, "least one-way delay", _delay_source("min")),
        Metric("avg_s", Unit.SECONDS, "mean one-way delay", _delay_source("mean")),
        Metric("max_s", Unit.SECONDS, "largest one-way delay", _delay_source("max")),
        Metric(
            "loss",
            Unit.FRACTION,
            "loss",
            MetricSource(file=_FILE, path=_DELAY, formula="1 - lines / count", over="datagrams"),
        ),
        Metric(
            "received",
            Unit.COUNT,
            "datagrams",
            MetricSource(file=_FILE, path=_DELAY, formula="how many lines", over="datagrams"),
        ),
    )

    count: int = declare(
        Integer(minimum=1, maximum=1_000_000),
        default=100,
        label="Datagrams",
        help="the number of datagrams",
        phrase="{} datagrams",
    )
    interval_s: float = declare(
        Time(minimum=1e-4, maximum=3600),
        default=0.1,
        label="Interval",
        help="the time between two datagrams",
        phrase="every {}",
    )
    size_bytes: int = declare(
        Size(minimum=_HEADER_BYTES, maximum=65507),
        default=_HEADER_BYTES,
        label="Size",
        help="the payload of a datagram",
        phrase="{} of payload",
    )

    @property
    def _received_file(self) -> str:
        return f"{self.name}.received.txt"

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the receiver, and the sender."""
        python = ("python3", "-I", "-S", "-c")
        where = (address, str(port))
        numbers = (self.count, round(self.interval_s * 1e9), self.size_bytes, _LAST_WAIT_S)
        return (
            Process(
                host=self.target,
                argv=(*python, _RECEIVER, *where),
                output=self._received_file,
                listens=True,
            ),
            Process(
                host=self.source,
                argv=(*python, _SENDER, *where, *map(str, numbers)),
                output=f"{self.name}.sent.txt",
            ),
        )

    def duration_s(self) -> float:
        """Return the time from the first datagram to the end of the wait for the last."""
        return (self.count - 1) * self.interval_s + _LAST_WAIT_S

    def measure(self, raw: Path) -> dict[str, float]:
        """Read what the receiver saw."""
        path = raw / self._received_file
        if path.stat().st_size > _MAX_OUTPUT_BYTES:
            raise MachineError(f"{path.name}: more than owd prints")
        rows = [line.split() for line in path.read_text(errors="replace").splitlines()]
        if not all(len(row) == 2 and all(word.isdecimal() for word in row) for row in rows):
            raise MachineError(f"{path.name}: not what owd prints")
        delays_s = [int(delay_ns) / 1e9 for _, delay_ns in rows]
        found = {"received": float(len(rows)), "loss": 1 - min(1, len(rows) / self.count)}
        if delays_s:
            mean_s = sum(delays_s) / len(delays_s)
            found |= {"min_s": min(delays_s), "avg_s": mean_s, "max_s": max(delays_s)}
        return found
