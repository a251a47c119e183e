"""The traffic that a Mininet script types, as flows of a case.

A script that runs `h1.cmd("iperf3 -c ...")` twice measures one flow after the other,
whatever their names. So its lines of iperf3 become flows that begin when they would: one
that the script waits for delays all that follow. The flows are called flow1, flow2, ... in
the order of the lines.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.model.traffic import Flow, Iperf3
from longfat.model.traffic.bulk import DEFAULT_TIME_S
from longfat.model.typed_line import without_sudo
from longfat.model.units import parse_time_s
from longfat.study.formats.mininet import Typed

MAX_FLOWS = 16

_MAX_SLEEP_S = 86400.0

_CLIENT = re.compile(r"(iperf3?)\s(.*\s)?(-c|--client)\b")
_CONTROL = re.compile(r"tcp_congestion_control[= '\"]+([a-z][a-z0-9_]*)")
_WAIT = re.compile(r"wait\b")
_SLEEP = re.compile(r"sleep ([0-9.]+)")
# The words of iperf3 that fields become, and whether a value follows.
_OPTIONS: Mapping[str, str] = {
    **dict.fromkeys(("-t", "--time"), "time"),
    **dict.fromkeys(("-n", "--bytes"), "bytes"),
    **dict.fromkeys(("-P", "--parallel"), "parallel"),
    **dict.fromkeys(("-b", "--bitrate", "--bandwidth"), "rate"),
    **dict.fromkeys(("-C", "-Z", "--congestion", "--linux-congestion"), "congestion"),
    **dict.fromkeys(("-w", "--window"), "window"),
    **dict.fromkeys(("-M", "--set-mss"), "mss"),
    **dict.fromkeys(("-O", "--omit"), "omit"),
}
_FLAGS = {"-R": "reverse", "--reverse": "reverse", "-u": "udp", "--udp": "udp"}
_PASSED = frozenset(("-J", "--json", "-V", "--verbose", "-d", "--debug"))
_PASSED_VALUES = frozenset(("-p", "--port", "-i", "--interval", "-f", "--format", "--logfile"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptTraffic:
    """What a script types to make traffic.

    Attributes:
        flows: its lines of iperf3 as flows.
        labels: what each flow's line has besides its options, such as the name of its log.
        notes: the lines that are left out, and why.
    """

    flows: tuple[Flow, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class _ScriptClock:
    """When a script types its next line: after the end of a flow, and so much later.

    Attributes:
        after: the flow that it has waited for; None if for none.
        later_s: how long after that, or after the start.
        at_s: the script's own clock when it typed its last line.
    """

    def __init__(self, at_s: float) -> None:
        self.after: str | None = None
        self.later_s = 0.0
        self.at_s = at_s
        self._now_s = 0.0
        self._ends_s: dict[str, float] = {}

    def sleep(self, time_s: float, *, at_s: float | None = None) -> None:
        """Let time pass."""
        # A script may have set its clock to what it likes.
        time_s = min(max(0.0, time_s), _MAX_SLEEP_S)
        self.later_s = round(self.later_s + time_s, 3)
        self._now_s += time_s
        self.at_s = self.at_s if at_s is None else at_s

    def start(self, flow: Flow) -> None:
        """Note that a flow begins now."""
        self._ends_s[flow.name] = self._now_s + flow.duration_s()

    def wait(self, flows: Sequence[Flow]) -> None:
        """Wait for the end of flows: for that of the last."""
        last = max(flows, key=lambda flow: self._ends_s[flow.name], default=None)
        if last is not None and self._ends_s[last.name] > self._now_s:
            self.after, self.later_s = last.name, 0.0
            self._now_s = self._ends_s[last.name]


def flow_name(index: int) -> str:
    """Return what the flow of a line is called, by its index among them, from 0."""
    return f"flow{index + 1}"


def script_traffic(lines: Iterable[Typed], addresses: Mapping[str, str]) -> ScriptTraffic:
    """Return the flows of what a script types.

    Args:
        lines: the lines, in the order of their typing.
        addresses: the hosts' addresses without prefix length, by their names.
    """
    hosts = {address: name for name, address in addresses.items()} | {one: one for one in addresses}
    flows: list[Flow] = []
    labels: dict[str, str] = {}
    notes: list[str] = []
    control: dict[str, str] = {}
    typed: dict[int, Flow] = {}
    lines = tuple(lines)
    clock = _ScriptClock(lines[0].at_s if lines else 0.0)
    for line in lines:
        clock.sleep(line.at_s - clock.at_s, at_s=line.at_s)
        # The set-up types all such lines before the traffic; the script may change it meanwhile.
        if (found := _CONTROL.search(line.text)) and line.node is not None:
            control[line.node] = found[1]
        if line.awaits is not None:
            clock.wait([typed[line.awaits]] if line.awaits in typed else [])
        elif _WAIT.match(line.text):
            clock.wait([flow for flow in flows if flow.source == line.node])
        elif found := _SLEEP.fullmatch(line.text.strip()):
            clock.sleep(parse_time_s(found[1], bare_seconds=True) if line.waits else 0.0)
        elif _CLIENT.match(without_sudo(line.text)) and len(flows) < MAX_FLOWS:
            name = flow_name(len(flows))
            try:
                flow, label = _flow(name, line, hosts, control, clock)
            except (InputError, ValueError) as error:
                reason = getattr(error, "message", str(error))
                notes.append(f"line {line.at[0]}: `{line.text}` is not played: {reason}")
                continue
            flows.append(flow)
            labels[name] = label
            typed[line.number] = flow
            clock.start(flow)
            if line.waits:
                clock.wait([flow])
    return ScriptTraffic(flows=tuple(flows), labels=labels, notes=tuple(notes))


def _flow(
    name: str,
    line: Typed,
    hosts: Mapping[str, str],
    control: Mapping[str, str],
    clock: _ScriptClock,
) -> tuple[Flow, str]:
    command, _, rest = line.text.partition(">")
    words = shlex.split(command.replace("&", " "))
    start = next(at for at, word in enumerate(words) if word.startswith("iperf"))
    given, target = _options(words[start + 1 :])
    sender = line.node if "reverse" not in given else hosts.get(target)
    if sender is not None and sender in control and "udp" not in given:
        given.setdefault("congestion", control[sender])
    if target not in hosts:
        raise InputError(f"no host has the address {target!r}")
    if line.node is None or line.node not in hosts.values():
        raise InputError("it is typed at no host")
    fields = fields_of(Iperf3)
    values: dict[str, Any] = {
        fields[key].name: (value if value is True else fields[key].kind.of(value))
        for key, value in given.items()
    }
    if "bytes" not in given:
        values.setdefault("time_s", DEFAULT_TIME_S)
    if conflict := Iperf3.conflict(given):
        raise InputError(conflict[1])
    flow = Iperf3(
        name=name,
        source=line.node,
        target=hosts[target],
        start_s=clock.later_s,
        after=clock.after,
        **values,
    )
    return flow, rest.strip(" &")


def _options(words: Sequence[str]) -> tuple[dict[str, Any], str]:
    """Return the fields of a command line, and the address that it goes to."""
    given: dict[str, Any] = {}
    target = ""
    rest = iter(_split(words))
    for word in rest:
        if word in ("-c", "--client"):
            target = next(rest, "")
        elif word in _FLAGS:
            given[_FLAGS[word]] = True
        elif word in _OPTIONS:
            given[_OPTIONS[word]] = next(rest, "")
        elif word in _PASSED_VALUES:
            next(rest, "")
        elif word not in _PASSED:
            raise InputError(f"its option {word!r} is not known here")
    return given, target


def _split(words: Iterable[str]) -> Iterable[str]:
    """Split `-t10` and `--time=10` into option and value."""
    for word in words:
        if word.startswith("--") and "=" in word:
            yield from word.split("=", 1)
        elif re.fullmatch(r"-[A-Za-z].+", word) and not word.startswith("--"):
            yield from (word[:2], word[2:])
        else:
            yield word
