"""program: any program as a flow: shell commands, and the metrics read from their output.

`longfat.guest.program` runs them: it waits until a server is ready, ends what does not end, holds
what is printed below a limit, and reads the metrics. What a program prints is kept as it is; what
was measured follows in a last line of the client's standard error.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from longfat.common.decoding import decode, open_regular, parse_json
from longfat.errors import MachineError
from longfat.model.fields import REQUIRED, declare, narrowed
from longfat.model.kinds import Flag, Integer, Integers, Line, Size, Texts, Time
from longfat.model.metric import Metric, MetricSource, Unit
from longfat.model.traffic.extraction import REPORT_FILE, Extraction, Extractions
from longfat.model.traffic.flow import Flow, Process, guest_python

MODULE = "longfat.guest.program"
"""What runs it in a machine."""

PROGRAM = "/run/longfat/guest/longfat/guest/program.py"
"""Where a machine has that."""

READY_LIMIT_S = 60.0
"""How long a server may take until it is ready, in seconds of virtual time."""

_ASSUMED_S = 10.0
_DEFAULT_LIMIT_S = 600.0
_GRACE_S = 10.0
_REPORT = '{"program": "longfat program"'
_MAX_REPORT_BYTES = 1 << 16

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=[^\0\n]*")
_READY = ("tcp", "udp", "output", "file")
_MAX_PORT = 65535


def _environment_problem(texts: tuple[str, ...]) -> tuple[int, str] | None:
    for index, text in enumerate(texts):
        if not _VARIABLE.fullmatch(text):
            return index, f"{text!r} sets no variable: write NAME=VALUE"
    return None


def _ready_problem(text: str) -> str | None:
    kind, _, what = text.partition(" ")
    what = what.strip()
    if kind not in _READY or not what:
        return (
            f"{text!r} is no condition: write tcp PORT or udp PORT (it is bound), output PATTERN "
            "(a line that it prints matches) or file PATH (it is there)"
        )
    if kind in ("tcp", "udp") and not (what.isdecimal() and 1 <= int(what) <= _MAX_PORT):
        return f"{what!r} is no port: write 1 to {_MAX_PORT}"
    if kind == "file" and not what.startswith("/"):
        return f"{what!r} is no absolute path"
    if kind == "output":
        try:
            re.compile(what)
        except (re.error, OverflowError, RecursionError) as error:
            return f"{what!r} is no regular expression of Python: {error}"
    return None


_OWN_METRICS = (
    Metric(
        "elapsed_s",
        Unit.SECONDS,
        "elapsed time",
        MetricSource(file=REPORT_FILE, path=r'"elapsed_ns": (\d+)', divisor=1e9),
    ),
    Metric(
        "status",
        Unit.COUNT,
        "exit status",
        MetricSource(file=REPORT_FILE, path=r'"status": (\d+)'),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Flow):
    """Traffic of programs that a study names.

    Attributes:
        run: the line that a shell runs at the source; the flow ends when it does.
        serve: the line that a shell runs at the target, from before the traffic's start.
        port: the port that the target listens at.
        ready: when the server is ready: `tcp PORT`, `udp PORT`, `output PATTERN` or `file PATH`.
        time_s: after this time it is stopped, in seconds, and that is its end.
        limit_s: by then it has to have ended, in seconds.
        status: the exit statuses that are results.
        environment: more variables, as `NAME=VALUE`.
        output_limit_bytes: the most that it may print.
        reverse: the target sends.
        extractions: what is measured.
    """

    tool: ClassVar[str] = "program"

    run: str = declare(
        Line(what="a line for a shell (such as curl http://h2:8000/)", example="curl http://h2/"),
        default=REQUIRED,
        label="Run",
        help="the line that a shell runs at the source; the flow ends when it does",
    )
    serve: str | None = declare(
        Line(
            what="a line for a shell (such as python3 -m http.server 8000)",
            example="python3 -m http.server 8000",
        ),
        default=None,
        label="Serve",
        help="the line that a shell runs at the target, from before the traffic's start until the "
        "flow has ended",
    )
    port: int | None = declare(
        Integer(minimum=1, maximum=_MAX_PORT),
        default=None,
        label="Port",
        help="the port that the target listens at: a tcp probe of the flow sees its connections "
        "only",
        absent="a tcp probe sees all connections of both hosts",
    )
    ready: str | None = declare(
        Line(what="a condition (such as tcp 8000)", example="tcp 8000", problem=_ready_problem),
        default=None,
        label="Ready",
        help="what `run` waits for: `tcp PORT` or `udp PORT` (something is bound to it at the "
        "target), `output PATTERN` (a line that `serve` prints has a match), `file PATH` (it is "
        "there)",
        absent="`tcp PORT`, if there are `serve` and `port`",
    )
    time_s: float | None = declare(
        Time(minimum=0.001, maximum=86400.0),
        default=None,
        label="Time",
        help="after this time it is stopped (SIGTERM, then SIGKILL), and that is its end",
        absent="it ends by itself",
        phrase="at most {}",
    )
    limit_s: float | None = narrowed(
        Flow, "limit", Time(minimum=0.001, maximum=864000.0), absent="10min; not with `time`"
    )
    status: tuple[int, ...] = declare(
        Integers(each=Integer(maximum=255), what="an exit status, or a list of them"),
        default=(0,),
        label="Status",
        help="the exit statuses that are results and no failures",
    )
    environment: tuple[str, ...] = declare(
        Texts(
            what="a list of variables (such as [LANG=C])",
            each="a variable",
            problem=_environment_problem,
        ),
        default=(),
        label="Environment",
        help="more environment variables of both programs, as `NAME=VALUE`",
    )
    output_limit_bytes: int = declare(
        Size(minimum=1024, maximum=1 << 30),
        default=64 << 20,
        label="Output limit",
        help="the most that each program may print; a file that it writes may not be larger either",
    )
    reverse: bool = declare(
        Flag(),
        default=False,
        label="Reverse",
        help="the target sends: a tcp probe's metrics are of its sockets",
    )
    extractions: tuple[Extraction, ...] = declare(
        Extractions(taken=("elapsed_s", "elapsed", "status")),
        default=(),
        label="Metrics",
        help="what is read from the output of `run`, by name",
        key="metrics",
    )

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Reject a limit together with a time, and fields of a server without a server."""
        if given.get("time") is not None and "limit" in given:
            return "limit", "time and limit are both given: after its time it is stopped anyway"
        if given.get("ready") is not None and given.get("serve") is None:
            return "ready", "there is no server to wait for: write serve, too"
        return None

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What it can measure: what the study names, the time and the exit status."""
        return (*(one.metric for one in self.extractions), *_OWN_METRICS)

    @property
    def lines_at(self) -> tuple[tuple[str, str], ...]:
        """The lines of both ends."""
        server = () if self.serve is None else ((self.target, self.serve),)
        return ((self.source, self.run), *server)

    @property
    def has_tcp_sockets(self) -> bool:
        """Return True, as far as can be known."""
        return True

    def owns_connection(self, client_port: int, server_port: int) -> bool:
        """Return whether it is to its port; any is, if it has none. See `Flow`."""
        del client_port
        return self.port is None or server_port == self.port

    @property
    def has_known_duration(self) -> bool:
        """No: it may end by itself before its time."""
        return False

    def summary(self) -> str:
        """Return what it does: its line."""
        return ", ".join([self.run, *([f"at most {self.time_s:g} s"] if self.time_s else [])])

    def duration_s(self) -> float:
        """Return its time, or a guess."""
        return min(self._limit_s, _ASSUMED_S) if self.time_s is None else self.time_s

    def longest_s(self) -> float:
        """Return when the guest's own limits have ended it; see `Flow.longest_s`."""
        return READY_LIMIT_S + (self.time_s or self._limit_s) + _GRACE_S

    @classmethod
    def study_keys(cls) -> tuple[str, ...]:
        """Return the keys of its fields in a study; its lines say themselves where they connect."""
        return tuple(key for key in super(Program, cls).study_keys() if key != "address")

    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return the server, if there is one, and the client."""
        del address
        # Of one flow at one time; `port` is no other's at this target, here and in live networks.
        meeting = f"{self.name}.{self.target}.{port}"
        common = {"output_bytes": self.output_limit_bytes, "environment": list(self.environment)}
        client = {
            **common,
            "line": self.run,
            "end": "client",
            "time_s": self.time_s,
            "limit_s": self._limit_s if self.time_s is None else None,
            "statuses": list(self.status),
            "metrics": [one.order() for one in self.extractions],
        }
        client_process = self._process(self.source, self.run, client, self._client_file)
        if self.serve is None:
            return (client_process,)
        server: dict[str, object] = {**common, "line": self.serve, "end": "server"}
        if ready := self._ready():
            waits = {"meeting": meeting, "ready": ready, "ready_s": READY_LIMIT_S}
            server |= waits
            client |= waits
        return (
            self._process(self.target, self.serve, server, f"{self.name}.server.txt"),
            self._process(self.source, self.run, client, self._client_file),
        )

    @property
    def _limit_s(self) -> float:
        return _DEFAULT_LIMIT_S if self.limit_s is None else self.limit_s

    def _ready(self) -> list[str] | None:
        if self.ready is not None:
            kind, _, what = self.ready.partition(" ")
            return [kind, what.strip()]
        return None if self.port is None else ["tcp", str(self.port)]

    def _process(self, host: str, line: str, order: Mapping[str, object], output: str) -> Process:
        words = json.dumps(order, sort_keys=True)
        variables = ("env", *self.environment) if self.environment else ()
        return Process(
            host=host,
            argv=(*guest_python(), PROGRAM, words),
            shown=(*variables, "sh", "-c", line),
            forks=(MODULE, words),
            output=output,
            listens=order["end"] == "server",
            line=line,
        )

    @property
    def _client_file(self) -> str:
        return f"{self.name}.client.txt"

    def failure(self, words: str) -> str:
        """Return what it printed without our own report."""
        lines = [line for line in words.splitlines() if not line.startswith(_REPORT)]
        return "\n".join(lines).strip()

    def measure(self, raw: Path) -> dict[str, float]:
        """Read what the guest measured, from the last line of its standard error."""
        name = f"{self._client_file}.err"
        where = f"{name}: no report of a program in it"
        try:
            with open_regular(raw / name) as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _MAX_REPORT_BYTES))
                lines = file.read(_MAX_REPORT_BYTES).splitlines()
        except OSError as error:
            raise MachineError(f"{where}: {error.strerror}") from None
        data = parse_json(lines[-1] if lines else b"", where=where, error=MachineError)
        report = decode(_Report, data, where=where, error=MachineError)
        named = {one.metric.name for one in self.extractions}
        if report.metrics.keys() != named:
            raise MachineError(f"{name}: its metrics are not those of the flow")
        own = {"elapsed_s": report.elapsed_ns / 1e9}
        if report.status is not None:
            own["status"] = float(report.status)
        return {**report.metrics, **own}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """The last line of `longfat.guest.program`'s output."""

    program: Literal["longfat program"]
    elapsed_ns: int
    status: int | None
    metrics: dict[str, float]

    def __post_init__(self) -> None:
        if self.elapsed_ns < 0:
            raise ValueError("it ended before it began")
