"""What a case's set-up lines say of a path: rates, delays, losses, queues and TCP buffers.

The lines are a person's, verbatim, and only the plain forms are understood:

    tc qdisc add|replace|change|del dev DEV root|parent P [handle H] netem|tbf|... OPTIONS
    sysctl [-w] NAME=VALUE

A line that touches the same things in another form (a shell loop, a class, a
unit that tc and people read differently) is never guessed at: it raises
`NotUnderstoodError`, and the report says which line it was.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.network.qdisc import QDISCS
from longfat.model.units import parse_fraction, parse_rate_bps, parse_size_bytes, parse_time_s

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.model.case import Command

_SHELL = frozenset(";&|$`(){}<>*?!#\n")
_CHANGES = frozenset(("add", "replace", "change"))
_DELETES = frozenset(("del", "delete"))
_SHOWS = frozenset(("show", "list", "ls"))

# What says where a queueing discipline goes, with the number of words that it takes.
_PLACES = {"root": 1, "dev": 2, "parent": 2, "handle": 2}

# Those of a queue limit no rate and add no delay to an idle path, but for cake's bandwidth.
_KINDS = frozenset(("netem", "tbf", "noqueue", *QDISCS))
_RATES = {"netem": "rate", "tbf": "rate", "cake": "bandwidth"}


class NotUnderstoodError(Exception):
    """A line speaks of what is asked for, in a form that is not understood."""

    def __init__(self, line: str) -> None:
        super().__init__(f"`{line}` is not understood")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shaping:
    """What the queueing disciplines of one interface do to what leaves it.

    Attributes:
        rate_bps: the least rate that one of them limits to, in bit/s; None
            where none does.
        delay_s: the delay that they add, in seconds.
        loss: the share of packets that they lose at random, 0 to 1, with those that
            they corrupt: nobody takes them.
    """

    rate_bps: float | None = None
    delay_s: float = 0.0
    loss: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """The queueing discipline that a rate limit fills, and the line that made it.

    Attributes:
        kind: `tbf`, or what hangs below it, such as `red`.
        limit_bytes: what it holds; None where the line does not say it in bytes.
        line: the line.
    """

    kind: str
    limit_bytes: int | None
    line: str


@dataclass(frozen=True, slots=True)
class _Qdisc:
    kind: str
    options: tuple[str, ...]
    line: str

    def value(self, option: str, parse: Callable[[str], float]) -> float | None:
        """Return the value behind an option; None where the option is not there."""
        if option not in self.options:
            return None
        place = self.options.index(option) + 1
        try:
            return parse(self.options[place])
        except (IndexError, InputError):
            raise NotUnderstoodError(self.line) from None


def shaping(setup: Sequence[Command], node: str, device: str) -> Shaping:
    """Return what set-up lines do to what leaves an interface.

    Args:
        setup: the case's set-up lines, in their order.
        node: where the interface is: a host, or `longfat.model.network.ROOT_NAMESPACE`.
        device: the interface.

    Raises:
        NotUnderstoodError: a line of `tc` cannot be read with certainty.
    """
    rates: list[float] = []
    delay_s, loss = 0.0, 0.0
    for qdisc in _qdiscs(setup, node, device):
        if qdisc.kind not in _KINDS or (qdisc.kind == "fq" and "maxrate" in qdisc.options):
            raise NotUnderstoodError(qdisc.line)
        rate_bps = _rate_bps(qdisc)
        if rate_bps is not None:
            rates.append(rate_bps)
        if qdisc.kind == "netem":
            delay_s += qdisc.value("delay", parse_time_s) or 0.0
            for share in ("loss", "corrupt"):
                lost = _netem_share(qdisc, share)
                loss += lost - loss * lost
    return Shaping(rate_bps=min(rates, default=None), delay_s=delay_s, loss=loss)


def queue_line(setup: Sequence[Command], node: str, device: str) -> QueueLine | None:
    """Return what queues in front of an interface's rate limit.

    Args:
        setup: the case's set-up lines, in their order.
        node: where the interface is: a host, or `longfat.model.network.ROOT_NAMESPACE`.
        device: the interface.

    Returns:
        The last discipline that is no netem: a `tbf`, or what hangs below it;
        None where there is none.

    Raises:
        NotUnderstoodError: a line of `tc` cannot be read with certainty.
    """
    queues = [qdisc for qdisc in _qdiscs(setup, node, device) if qdisc.kind != "netem"]
    if not queues:
        return None
    last = queues[-1]
    in_bytes = last.kind in {"tbf", "red", "bfifo"}
    limit_bytes = last.value("limit", parse_size_bytes) if in_bytes else None
    return QueueLine(
        kind=last.kind,
        limit_bytes=None if limit_bytes is None else int(limit_bytes),
        line=last.line,
    )


def _rate_bps(qdisc: _Qdisc) -> float | None:
    option = _RATES.get(qdisc.kind)
    if option is None or "unlimited" in qdisc.options:
        return None
    return qdisc.value(option, parse_rate_bps)


def _netem_share(qdisc: _Qdisc, option: str) -> float:
    """Return the share behind an option; `loss state` and the like are not understood."""
    if option not in qdisc.options:
        return 0.0
    place = qdisc.options.index(option) + 1
    if qdisc.options[place : place + 1] == ("random",):
        place += 1
    try:
        return parse_fraction(qdisc.options[place])
    except (IndexError, InputError):
        raise NotUnderstoodError(qdisc.line) from None


def _qdiscs(setup: Sequence[Command], node: str, device: str) -> list[_Qdisc]:
    """Return what stands at an interface after all lines."""
    tree: dict[str, _Qdisc] = {}
    for command in setup:
        if not _mentions(command.line, "tc") or not _concerns(command, node, device):
            continue
        verb, parent, qdisc = _read_qdisc(command.line)
        if verb in _SHOWS:
            continue
        if parent == "root" and verb != "change":
            tree.clear()  # a new root leaves nothing of the old tree
        if qdisc is None:
            tree.pop(parent, None)
        else:
            tree[parent] = qdisc
    return list(tree.values())


def sysctl(setup: Sequence[Command], host: str, name: str) -> tuple[int, ...] | None:
    """Return the numbers that set-up lines give a sysctl of a host.

    Args:
        setup: the case's set-up lines, in their order.
        host: the host.
        name: the sysctl with dots, such as `net.ipv4.tcp_rmem`.

    Returns:
        The numbers of the last line that sets it; None if no line does.

    Raises:
        NotUnderstoodError: a line speaks of it and cannot be read with certainty.
    """
    found: tuple[int, ...] | None = None
    for value, line in _settings(setup, host, name):
        numbers = value.split()
        if not numbers or not all(re.fullmatch(r"-?\d+", number) for number in numbers):
            raise NotUnderstoodError(line)
        found = tuple(int(number) for number in numbers)
    return found


def sysctl_word(setup: Sequence[Command], host: str, name: str) -> str | None:
    """Return the text that set-up lines give a sysctl of a host, such as `bbr`.

    Args and errors are those of `sysctl`; None if no line sets it.
    """
    return next((value for value, _ in reversed(_settings(setup, host, name))), None)


def _settings(setup: Sequence[Command], host: str, name: str) -> list[tuple[str, str]]:
    """Return what each line gives a sysctl of a host, with the line."""
    found: list[tuple[str, str]] = []
    last = name.rpartition(".")[2]
    for command in setup:
        # A line at another node may reach this host all the same (ip netns exec).
        reaches = command.node == host or _mentions(command.line, host)
        if not reaches or not _mentions(command.line, last):
            continue
        words = _plain_words(command.line)
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


def _concerns(command: Command, node: str, device: str) -> bool:
    """Tell whether a line may change an interface: it names it, or hides names from us."""
    if _mentions(command.line, device):
        return True
    return command.node == node and bool(_SHELL & set(command.line))


def _read_qdisc(line: str) -> tuple[str, str, _Qdisc | None]:
    """Return the verb, the place in the tree, and what is put there; None where it is removed."""
    words = _plain_words(line)
    while len(words) > 1 and words[1].startswith("-"):
        del words[1]
    if words[:2] != ["tc", "qdisc"] or len(words) < 3:
        raise NotUnderstoodError(line)
    verb, rest = words[2], words[3:]
    parent = ""
    while rest and rest[0] in _PLACES:
        if rest[0] == "root":
            parent = "root"
        elif rest[0] == "parent":
            parent = rest[1] if len(rest) > 1 else ""
        rest = rest[_PLACES[rest[0]] :]
    if verb in _SHOWS:
        return verb, parent, None
    if not parent or verb not in _CHANGES | _DELETES or (verb in _CHANGES and not rest):
        raise NotUnderstoodError(line)
    if verb in _DELETES:
        return verb, parent, None
    return verb, parent, _Qdisc(kind=rest[0], options=tuple(rest[1:]), line=line)


def _plain_words(line: str) -> list[str]:
    """Split a line as a shell does, if it is one plain command."""
    if _SHELL & set(line):
        raise NotUnderstoodError(line)
    try:
        words = shlex.split(line)
    except ValueError:
        raise NotUnderstoodError(line) from None
    if not words:
        raise NotUnderstoodError(line)
    return [words[0].rpartition("/")[2], *words[1:]]


def _mentions(line: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", line) is not None
