"""The traffic that a Mininet script types, as flows of a case.

A script that runs `h1.cmd("iperf3 -c ...")` twice measures one flow after the other,
whatever it calls them. So its lines of iperf3 become flows that begin when they would: one
that the script waits for holds up all that follow it. The flows are called flow1, flow2, ...
in the order of the lines.
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
from longfat.model.units import parse_time_s
from longfat.study.formats.mininet import Typed

MOST_FLOWS = 16

_CLIENT = re.compile(r"(sudo )?(iperf3?)\s(.*\s)?(-c|--client)\b")
_CONTROL = re.compile(r"tcp_congestion_control[= '\"]+([a-z][a-z0-9_]*)")
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
        labels: what each flow's line says beside its options, such as the name of its log.
        notes: the lines that are left out, and why.
    """

    flows: tuple[Flow, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
    after: str | None = None  # the test that the script has waited for
    later_s = 0.0
    for line in lines:
        # The set-up types all such lines before the traffic; the script may change it meanwhile.
        if (found := _CONTROL.search(line.text)) and line.node is not None:
            control[line.node] = found[1]
        if found := _SLEEP.fullmatch(line.text.strip()):
            later_s += parse_time_s(found[1], bare_seconds=True) if line.waits else 0.0
        elif _CLIENT.match(line.text) and len(flows) < MOST_FLOWS:
            name = flow_name(len(flows))
            try:
                flow, label = _flow(name, line, hosts, control, start_s=later_s, after=after)
            except (InputError, ValueError) as error:
                reason = getattr(error, "message", str(error))
                notes.append(f"line {line.at[0]}: `{line.text}` is not played: {reason}")
                continue
            flows.append(flow)
            labels[name] = label
            if line.waits:
                after, later_s = name, 0.0
    return ScriptTraffic(flows=tuple(flows), labels=labels, notes=tuple(notes))


def _flow(
    name: str,
    line: Typed,
    hosts: Mapping[str, str],
    control: Mapping[str, str],
    *,
    start_s: float,
    after: str | None,
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
        start_s=start_s,
        after=after,
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
