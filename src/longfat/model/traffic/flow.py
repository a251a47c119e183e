"""What all flows have in common.

A flow is a value that defines what to start. It compiles to the command lines of its tool,
and reads the tool's raw output; both are in the tool's file, so that the two sides of a
format cannot diverge.
"""

from __future__ import annotations

import ipaddress
import json
import random
import shlex
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar

from longfat.common.decoding import MAX_RAW_BYTES, decode, read_json
from longfat.errors import MachineError
from longfat.guest.toolset import PYTHON
from longfat.model.fields import declare, fields_of, phrases
from longfat.model.kinds import OneOf, Text, Time
from longfat.model.metric import Metric, MetricSource, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.model.network import HostRoot


def guest_python() -> tuple[str, ...]:
    """Return the words that start Python in a machine: as its own first process runs in it."""
    return (PYTHON, "-I", "-S", "-B")


def our_process(
    module: str, words: Sequence[str], *, host: str, output: str, listens: bool = False
) -> Process:
    """Return a process of one of longfat's programs, which is among the guest's files.

    Args:
        module: its module, such as `longfat.guest.transfer`.
        words: its command line.
        host: where it runs.
        output: the file that takes what it prints.
        listens: it is a server.
    """
    program = f"{_GUEST}/{module.replace('.', '/')}.py"
    return Process(
        host=host,
        argv=(*guest_python(), program, *words),
        shown=("python3", "-m", module, *words),
        forks=(module, *words),
        output=output,
        listens=listens,
    )


R = TypeVar("R")


def read_report(path: Path, cls: type[R], *, what: str) -> R:
    """Read the JSON report of one of longfat's programs.

    Args:
        path: the file.
        cls: the dataclass that it becomes.
        what: what it reports, for messages, such as "a video".

    Raises:
        MachineError: it is missing, or not whole.
    """
    where = f"{path.name}: not a JSON report of {what}"
    try:
        data = read_json(path, most_bytes=MAX_RAW_BYTES, where=where, error=MachineError)
    except OSError as error:
        raise MachineError(f"{where}: {error.strerror}") from None
    where = f"{path.name}: not a whole report of {what}"
    return decode(cls, data, where=where, error=MachineError)


def _address_problem(text: str) -> str | None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        if "/" in text:
            return f"{text!r} has a prefix length: write the address alone"
        return f"{text!r} is not an address, such as 10.1.0.2 or 2001:db8::2"
    return f"{text!r} has a zone: write the address alone" if "%" in text else None


# Where a machine has the guest's files.
_GUEST = "/run/longfat/guest"

SUCCEEDS, FAILS, EITHER = "succeeds", "fails", "either"
"""What a flow can be expected to do: the values of `expect`."""

STATUS = Metric(
    "status",
    Unit.COUNT,
    "exit status",
    MetricSource(
        file="manifest.json",
        path="flow_failures",
        formula="exit status of the process that failed; 128 + N if signal N ended it, 124 if it "
        "did not end in time, 0 if none failed",
    ),
)
"""How a flow ended that may fail: its `expect` is not `succeeds`."""

_LIMIT_FACTOR = 3.0
_LIMIT_SLACK_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One command of a flow.

    Attributes:
        host: the host that runs it.
        argv: the program and its arguments.
        output: the file name of its standard output among the run's raw files;
            standard error goes to the same name with `.err` added.
        listens: it is a server, started before the client and ended with it.
        shown: the command for a real machine in place of `argv`, if that names files of the
            virtual machine only; empty, if it is the same.
        forks: of one of longfat's programs, its module in `longfat.guest` and its
            arguments: a machine's first process, which has Python loaded, starts it by a
            fork of itself; else empty.
        line: the shell command of the study that it runs, with the host's own root if it
            has one; empty, if there is none.
    """

    host: str
    argv: tuple[str, ...]
    output: str
    listens: bool = False
    shown: tuple[str, ...] = ()
    forks: tuple[str, ...] = ()
    line: str = ""

    def rooted(self, roots: Mapping[str, HostRoot]) -> Process:
        """Return it as its host runs it, which may have a root of its own.

        Args:
            roots: the roots by host.

        Raises:
            InputError: its line refers to an image's command, and the image has none.
        """
        root = roots.get(self.host)
        if root is None or not self.line or not root.runs_line(self.line):
            return self
        line = root.line(self.line)
        order = json.dumps({**root.order(self.host), "line": line}, sort_keys=True)
        at = root.order(self.host)["at"]
        typed = f"cd {shlex.quote(root.folder)}; {line}" if root.folder != "/" else line
        variables = ("env", *root.environment) if root.environment else ()
        return replace(
            self,
            argv=(*self.argv, order),
            forks=(*self.forks, order),
            shown=("chroot", at, *variables, *self.shown[:-1], typed),
        )

    @property
    def typed(self) -> tuple[str, ...]:
        """The command to do the same by hand."""
        return self.shown or self.argv


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow(ABC):
    """Traffic from one host to another.

    Attributes:
        name: the flow's name in the study, unique in its case.
        source: the host that starts it.
        target: the host that it goes to.
        start_s: when it starts, in seconds after the traffic's start, or
            after the end of the flow named by `after`.
        start_spread_s: it starts up to that much later, in seconds, as the
            seed decides: flows that start at the same instant can stay
            synchronised, unlike real hosts.
        after: the flow whose end it waits for, if any.
        address: the address that the source sends to, without prefix length; the one that the
            target is called by, if None.
        args: further arguments, passed through to the tool as they are.

    A subclass also defines its `tool`, the programs of the host that it `needs`, the
    `metrics` that it can measure, and the exit statuses of its client that are results and
    not failures.
    """

    tool: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    good_statuses: ClassVar[tuple[int, ...]] = (0,)

    name: str
    source: str
    target: str
    start_s: float = declare(
        Time(),
        default=0.0,
        label="Start",
        help="when it starts, after the traffic's start or after the end of the flow in `after`",
    )
    start_spread_s: float = declare(
        Time(),
        default=0.0,
        label="Start spread",
        help="it starts up to that much later, as the seed decides",
    )
    after: str | None = declare(
        Text(what="a flow's name", example="bulk"),
        default=None,
        label="After",
        help="it waits for the end of this flow",
    )
    expect: str = declare(
        OneOf(what="an end of a flow", options=(SUCCEEDS, FAILS, EITHER)),
        default=SUCCEEDS,
        label="Expect",
        help="how it has to end for the case to be good; with `either`, claims about its `status` "
        "can judge it",
    )
    limit_s: float | None = declare(
        Time(minimum=0.001, maximum=864000.0),
        default=None,
        label="Limit",
        help="if it has not ended by itself after this time, it is stopped and has failed",
        absent="three times its expected duration, and 10 minutes",
    )
    address: str | None = declare(
        Text(what="an address (such as 10.1.0.2)", example="10.1.0.2", problem=_address_problem),
        default=None,
        label="Address",
        help="the address of the target that the source sends to, such as one of a tunnel or a"
        " VLAN, or one that a router translates",
        absent="the target's first one by links, else by set-up lines",
        phrase="to {}",
    )
    args: tuple[str, ...] = ()

    @property
    @abstractmethod
    def metrics(self) -> tuple[Metric, ...]:
        """What it can measure; a class variable, where that is the same for all flows of a tool."""

    @property
    def lines(self) -> tuple[str, ...]:
        """Its shell commands that are written in the study."""
        return tuple(line for _, line in self.lines_at)

    @property
    def lines_at(self) -> tuple[tuple[str, str], ...]:
        """The same with the hosts that run them."""
        return ()

    @property
    def reverse(self) -> bool:
        """Whether the target sends and the source receives."""
        return False

    @property
    def has_known_duration(self) -> bool:
        """Whether `duration_s` is no guess: it does not depend on how fast its data passes."""
        return False

    @property
    def has_tcp_sockets(self) -> bool:
        """Whether its data are TCP streams of the kernel."""
        return False

    def bound_address(self, address: str) -> str:
        """Return the address that its server binds.

        It is the one that its client sends to; any, if the study names that, which may be one
        that only a router has.

        Args:
            address: the address that its client sends to.
        """
        if self.address is None:
            return address
        return "::" if ":" in address else "0.0.0.0"

    @classmethod
    def study_keys(cls) -> tuple[str, ...]:
        """Return the keys of its fields in a study: the tool's own, then those of all flows."""
        common, every = fields_of(Flow), fields_of(cls)
        own = [key for key in every if key not in common and key != "args"]
        return (*own, *common, *(["args"] if "args" in every else []))

    @classmethod
    def conflict(cls, given: Mapping[str, object]) -> tuple[str, str] | None:
        """Find fields that do not go together.

        Args:
            given: the values of the fields that were given, by key.

        Returns:
            The key of the field that is one too many, and why; None if there is none.
        """
        del given
        return None

    def summary(self) -> str:
        """Return what it does in a few words, such as `10 s, 8 streams, bbr`."""
        return ", ".join([*phrases(self), *self.args])

    @abstractmethod
    def processes(self, *, address: str, port: int) -> tuple[Process, ...]:
        """Return what to start: servers first, the client last.

        Args:
            address: the target's address, without prefix length.
            port: a port that no other flow to this target uses.
        """

    @abstractmethod
    def duration_s(self) -> float:
        """Return about how long it takes, in seconds of virtual time, for progress and limits."""

    def longest_s(self) -> float:
        """Return the virtual time after which it can only be broken, in seconds.

        Idle virtual seconds cost nothing, so it can be far off.
        """
        if self.limit_s is not None:
            return self.limit_s
        return _LIMIT_FACTOR * self.duration_s() + _LIMIT_SLACK_S

    def drawn_start_s(self, seed: int) -> float:
        """Return when it starts in a run with this seed: within the spread, evenly spread.

        Args:
            seed: the case's seed.

        Returns:
            Seconds, rounded to microseconds, after what `start_s` counts from.
        """
        # Of the name too: two flows must not draw the same number.
        drawn = random.Random(f"{seed} {self.name}").random()
        return round(self.start_s + drawn * self.start_spread_s, 6)

    def failure(self, words: str) -> str:
        """Return the reason of a failure in what the process that failed printed."""
        return words

    def connections(self, raw: Path) -> list[tuple[int, int]]:
        """Return the client's and the server's port of each stream, in the streams' order.

        Args:
            raw: the folder of the run's raw files.

        Raises:
            MachineError, InputError: as `measure`.
        """
        del raw
        return []

    def owns_connection(self, client_port: int, server_port: int) -> bool:
        """Return whether a connection of its two hosts is its own that `connections` lacks.

        Args:
            client_port: the port at its source.
            server_port: the port at its target.
        """
        del client_port, server_port
        return False

    def cpu_s(self, rate_bps: float) -> float:
        """Return about how much CPU time it takes at a rate, in seconds: see `execution.cost`."""
        del rate_bps
        return 0.0

    def output_bytes(self) -> float:
        """Return about how much its tool writes."""
        return 0.0

    @property
    def has_ideal(self) -> bool:
        """Whether `compare` applies."""
        return False

    def compare(self, raw: Path, *, rate_bps: float, rtt_s: float) -> Mapping[str, float]:
        """Return what it was like beside what its path allows; metrics as of `measure`.

        Args:
            raw: the folder of the run's raw files.
            rate_bps: the rate of its bottleneck, in bit/s.
            rtt_s: the round-trip time while it is idle, in seconds.
        """
        del raw, rate_bps, rtt_s
        return {}

    @abstractmethod
    def measure(self, raw: Path) -> Mapping[str, float]:
        """Read the metrics from the raw output.

        Args:
            raw: the folder of the run's raw files.

        Returns:
            Metrics by full name, in base units.

        Raises:
            longfat.errors.MachineError: the output is not what the tool writes
                when it succeeds.
            longfat.errors.InputError: the output reports an error.
        """
