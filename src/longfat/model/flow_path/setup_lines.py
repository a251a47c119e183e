"""The rates, delays, losses, queues and TCP buffers set by a case's links and set-up lines.

Set-up lines are verbatim shell commands, and only plain forms are understood:

    tc qdisc add|replace|change|del dev DEV root|parent P [handle H] netem|wire|tbf|... OPTIONS
    sysctl [-w] NAME=VALUE

A line that touches the same things in another form (a shell loop, a class, a unit that tc
and readers interpret differently) is never guessed at: it raises `NotUnderstoodError`, and
the report names the line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.model.flow_path.installed import first_snapshot
from longfat.model.network.qdisc import QDISCS
from longfat.model.network.shape import TRACE, WIRE
from longfat.model.network.tc import BYTES, COUNT, RATE, ROOT, SHARE, TIME, parse_line
from longfat.model.typed_line import NotUnderstoodError, mentions, needs_shell, plain_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.case import Command
    from longfat.model.flow_path.installed import InstalledNode
    from longfat.model.kinds import Kind
    from longfat.model.network.tc import Interface, Qdisc, QdiscLine

# Those of a queue limit no rate and add no delay to an idle path, but for cake's bandwidth.
_KINDS = frozenset(("netem", "tbf", WIRE, "noqueue", *QDISCS))
_NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})
_RATES = {"netem": "rate", "tbf": "rate", WIRE: "rate", "cake": "bandwidth"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """What the queueing disciplines of one interface do to what leaves it.

    Attributes:
        rate_bps: the least rate that one of them limits to, in bit/s; None
            where none does.
        delay_s: the delay that they add, in seconds.
        loss: the share of packets that they lose at random, 0 to 1, with those that they
            corrupt, which receivers discard.
    """

    rate_bps: float | None = None
    delay_s: float = 0.0
    loss: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """The queueing discipline that a rate limit fills, and the line that made it.

    Attributes:
        qdisc: a `wire`, or what hangs below it, such as `red`.
        limit_bytes: its limit; None if the line does not give it in bytes.
        line: the line; of a queue that was read back, one that gives it its limit.
        limit_packets: its limit in packets; None likewise.
        parameters: its other numbers by name, such as `min_bytes` and `max_bytes` of red.
    """

    qdisc: Qdisc
    limit_bytes: int | None
    line: str
    limit_packets: int | None = None
    parameters: Mapping[str, float] = field(default_factory=lambda: _NO_PARAMETERS)

    @property
    def kind(self) -> str:
        """Which qdisc it is, such as `wire`."""
        return self.qdisc.kind

    @property
    def handle(self) -> str:
        """Its handle, such as `1:`; empty if it is not known."""
        return self.qdisc.handle


class QdiscTree:
    """The qdiscs of an interface, after each typed line.

    Args:
        interface: the interface as its link made it.
    """

    def __init__(self, interface: Interface) -> None:
        self._interface = interface
        self._lines = {line.qdisc.parent: line for line in interface.lines}

    @property
    def lines(self) -> list[QdiscLine]:
        """The lines that made its qdiscs."""
        return list(self._lines.values())

    def enter(self, command: Command) -> None:
        """Take a line into account, if it changes this interface.

        Raises:
            NotUnderstoodError: it is a line of `tc` that cannot be read with certainty.
        """
        if not mentions(command.line, "tc") or not _concerns(command, self._interface):
            return
        line = parse_line(command.line)
        if line is None:
            return
        parent = line.qdisc.parent
        if parent == ROOT and line.verb != "change":
            self._lines.clear()  # a new root leaves nothing of the old tree
        if line.verb == "del":
            self._lines.pop(parent, None)
        else:
            self._lines[parent] = line


def qdisc_lines(interface: Interface, setup: Sequence[Command]) -> list[QdiscLine]:
    """Return the lines that made the qdiscs of an interface after all set-up lines.

    Args:
        interface: the interface as its link made it.
        setup: the case's set-up lines, in their order.

    Raises:
        NotUnderstoodError: a line of `tc` cannot be read with certainty.
    """
    tree = QdiscTree(interface)
    for command in setup:
        tree.enter(command)
    return tree.lines


def shaping(lines: Sequence[QdiscLine]) -> Shaping:
    """Return what the qdiscs of an interface do to what leaves it.

    Args:
        lines: the lines that made them.

    Raises:
        NotUnderstoodError: one of them cannot be read with certainty.
    """
    rates: list[float] = []
    delay_s, loss = 0.0, 0.0
    for line in lines:
        qdisc = line.qdisc
        if qdisc.kind == TRACE:
            raise NotUnderstoodError(str(line), why="follows a trace, whose rate changes")
        if qdisc.kind not in _KINDS or (qdisc.kind == "fq" and qdisc.get("maxrate")):
            raise NotUnderstoodError(str(line))
        limit = _RATES.get(qdisc.kind)
        if limit and not qdisc.get("unlimited"):
            rate_bps = _number(line, limit, RATE)
            if rate_bps is not None:
                rates.append(rate_bps)
        if qdisc.kind == "netem":
            if qdisc.get("loss state") or qdisc.get("loss gemodel"):
                raise NotUnderstoodError(str(line))
            delay_s += _number(line, "delay", TIME) or 0.0
            for option in ("loss", "loss random", "corrupt"):
                lost = _number(line, option, SHARE) or 0.0
                loss += lost - loss * lost
    return Shaping(rate_bps=min(rates, default=None), delay_s=delay_s, loss=loss)


def has_typed_rate(lines: Sequence[QdiscLine], rate_bps: float) -> bool:
    """Return whether a set-up line gives an interface its rate, and not its link.

    Args:
        lines: the lines that made the interface's qdiscs.
        rate_bps: the rate, in bit/s.

    Raises:
        NotUnderstoodError: a line cannot be read with certainty.
    """
    return any(line.typed and shaping([line]).rate_bps == rate_bps for line in lines)


def queue_line(lines: Sequence[QdiscLine]) -> QueueLine | None:
    """Return what queues in front of an interface's rate limit.

    Args:
        lines: the lines that made the interface's qdiscs.

    Returns:
        The last discipline that is no netem: a `wire`, or what hangs below it;
        None where there is none.

    Raises:
        NotUnderstoodError: its line cannot be read with certainty.
    """
    queues = [line for line in lines if line.qdisc.kind != "netem"]
    if not queues:
        return None
    last = queues[-1]
    marks: dict[str, float] = {}
    if last.qdisc.kind == "red":
        for option in ("min", "max"):
            with contextlib.suppress(NotUnderstoodError):
                if (size_bytes := _number(last, option, BYTES)) is not None:
                    marks[f"{option}_bytes"] = size_bytes
    return QueueLine(
        qdisc=last.qdisc,
        limit_bytes=_number(last, "limit", BYTES),
        line=str(last),
        limit_packets=_number(last, "limit", COUNT),
        parameters=marks,
    )


def _number(line: QdiscLine, option: str, kind: Kind[Any]) -> Any:
    try:
        return line.qdisc.number(option, kind)
    except InputError:
        raise NotUnderstoodError(str(line)) from None


def sysctl(
    setup: Sequence[Command],
    host: str,
    name: str,
    *,
    installed: Sequence[InstalledNode] | None = None,
) -> tuple[int, ...] | None:
    """Return the numbers of a sysctl of a host.

    Args:
        setup: the case's set-up lines, in their order.
        host: the host.
        name: the sysctl with dots, such as `net.ipv4.tcp_rmem`.
        installed: what the kernel of the case's run had; None to read the set-up lines.

    Returns:
        The numbers at the traffic's start; those of the last line that sets it if only set-up
        lines are read, and None if no line does.

    Raises:
        NotUnderstoodError: a line speaks of it and cannot be read with certainty.
    """
    if installed is not None:
        read = first_snapshot(installed).sysctl(host, name)
        return tuple(map(int, read.split())) if read else None
    found: tuple[int, ...] | None = None
    for value, line in _settings(setup, host, name):
        numbers = value.split()
        if not numbers or not all(re.fullmatch(r"-?\d+", number) for number in numbers):
            raise NotUnderstoodError(line)
        found = tuple(int(number) for number in numbers)
    return found


def sysctl_word(
    setup: Sequence[Command],
    host: str,
    name: str,
    *,
    installed: Sequence[InstalledNode] | None = None,
) -> str | None:
    """Return the text of a sysctl of a host, such as `bbr`; see `sysctl`."""
    if installed is not None:
        return first_snapshot(installed).sysctl(host, name)
    return next((value for value, _ in reversed(_settings(setup, host, name))), None)


def _settings(setup: Sequence[Command], host: str, name: str) -> list[tuple[str, str]]:
    """Return what each line gives a sysctl of a host, with the line."""
    found: list[tuple[str, str]] = []
    last = name.rpartition(".")[2]
    for command in setup:
        # A line at another node may reach this host all the same (ip netns exec).
        reaches = command.node == host or mentions(command.line, host)
        if not reaches or not mentions(command.line, last):
            continue
        words = plain_words(command.line)
        if command.node != host or words[0] != "sysctl":
            raise NotUnderstoodError(command.line)
        for word in words[1:]:
            if word in {"-w", "-q", "-n", "--write", "--quiet"}:
                continue
            key, equals, value = word.partition("=")
            # Without `=` it is only shown.
            if key.replace("/", ".") == name and equals:
                found.append((value.strip(), command.line))
    return found


def _concerns(command: Command, interface: Interface) -> bool:
    """Return whether a line may change an interface: it names it, or hides names from us."""
    if mentions(command.line, interface.name):
        return True
    return command.node == interface.node and needs_shell(command.line)
