"""A student at several terminals, who types the steps of a lab at a person's speed.

The steps are those of `tests/data/typed`, whose README describes them.
"""

from __future__ import annotations

import contextlib
import json
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

from tests.paths import TESTS
from tests.terminal import PROMPT, Terminal

BETWEEN_TERMINALS_S = 3.0
"""How long a person takes from an Enter key to the next one at another terminal."""

TOLERANCE = 0.15

_WITHIN_S = 1800.0
_AT_PROMPT = re.compile(PROMPT + r"$")
_SERVERS = ("iperf3 -s", "sudo plot_q.sh ")
_INTERRUPT = "\x03"
_RATE = r"([0-9.]+) ([KMG])bits/sec.*?{end}"
_UNITS_GBPS = {"K": 1e-6, "M": 1e-3, "G": 1.0}


@dataclass(slots=True)
class Step:
    """A step that was done.

    Attributes:
        terminal: the terminal.
        keys: what was typed.
        figures: what its output is to show.
        output: what the terminal showed from its keys to the next prompt.
        ended_s: the virtual time of that prompt, in seconds.
    """

    terminal: str
    keys: str
    figures: dict[str, Any]
    output: str = ""
    ended_s: float = 0.0


class TypedTerminal(Protocol):
    """A terminal that can be typed at: a pseudo terminal, or one of the studio's page."""

    def type(self, keys: str) -> None:
        """Type keys."""

    def take(self) -> str:
        """Return what it has shown since the last call, without waiting."""


@dataclass(slots=True)
class _Desk:
    terminal: TypedTerminal
    text: str = ""
    step: Step | None = None
    done: list[Step] = field(default_factory=list)

    @property
    def is_at_prompt(self) -> bool:
        return _AT_PROMPT.search(self.text) is not None


class Student:
    """Types at the terminals of a session.

    Args:
        terminals: by name.
        pause: waits for so many seconds, or until a terminal may have shown something.
    """

    def __init__(
        self, terminals: Mapping[str, TypedTerminal], *, pause: Callable[[float], object]
    ) -> None:
        self._desks = {name: _Desk(terminal) for name, terminal in terminals.items()}
        self._pause = pause
        self._last = ("", 0.0)

    def do(self, steps: list[Any]) -> list[Step]:
        """Do all steps of a lab; return them with their outputs."""
        done = []
        for name, keys, *rest in steps:
            step = Step(name, str(keys), dict(*rest))
            done.append(step)
            match keys:
                case {"ping": address, "for": seconds}:
                    self._enter(name, step, f"ping {address}")
                    self._wait(lambda: False, within_s=seconds)
                    self._press(name, _INTERRUPT)
                case "^C" | "s":
                    self._wait(self._only_servers_run)
                    self._press(name, _INTERRUPT if keys == "^C" else keys)
                case line:
                    self._enter(name, step, line)
        self._wait(self._only_servers_run)
        for desk in self._desks.values():
            self._finish(desk)
        return done

    def _enter(self, name: str, step: Step, line: str) -> None:
        desk = self._desks[name]
        self._wait(lambda: desk.is_at_prompt)
        self._finish(desk)
        before, at_s = self._last
        if before not in ("", name):
            self._wait(lambda: False, within_s=at_s + BETWEEN_TERMINALS_S - time.monotonic())
        desk.text, desk.step = "", step
        desk.terminal.type(f"{line}\r")
        self._last = (name, time.monotonic())

    def _press(self, name: str, key: str) -> None:
        desk = self._desks[name]
        desk.terminal.type(key)
        self._wait(lambda: desk.is_at_prompt)

    @staticmethod
    def _finish(desk: _Desk) -> None:
        if desk.step is not None:
            desk.step.output = desk.text
            if prompt := _AT_PROMPT.search(desk.text):
                desk.step.ended_s = float(prompt[2])
            desk.step = None

    def _only_servers_run(self) -> bool:
        return all(
            desk.is_at_prompt or (desk.step is not None and desk.step.keys.startswith(_SERVERS))
            for desk in self._desks.values()
        )

    def _wait(self, until: Any, *, within_s: float = _WITHIN_S) -> None:
        """Read all terminals until a condition holds, or for so many seconds of wall time."""
        end_s = time.monotonic() + within_s
        while not until():
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                assert within_s < _WITHIN_S, {name: s.text for name, s in self._desks.items()}
                return
            self._pause(min(left_s, 0.1))
            for desk in self._desks.values():
                if data := desk.terminal.take():
                    desk.text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", desk.text + data)


def read_lab(name: str) -> dict[str, Any]:
    """Return a lab of `tests/data/typed`."""
    lab: dict[str, Any] = yaml.safe_load((TESTS / "data/typed" / f"{name}.yaml").read_text())
    return lab


def shortened(lab: dict[str, Any]) -> dict[str, Any]:
    """Return a lab whose traffic lasts a third of the time, without its last experiments."""
    text = json.dumps(lab["steps"]).replace("-t 90", "-t 30").replace("-c 90", "-c 30")
    steps = json.loads(text)
    ends = [index for index, (_, keys, *_rest) in enumerate(steps) if keys == "^C"]
    return {**lab, "steps": steps[: ends[1] + 1]}


@contextlib.contextmanager
def student_at(lab: dict[str, Any], cwd: Path) -> Iterator[Student]:
    """Open the network of a lab and its terminals; yield the student."""
    with contextlib.ExitStack() as stack:
        terminals: dict[str, Terminal] = {}
        for label in lab["terminals"]:
            node = "root" if label.startswith("admin") else label
            command = "attach" if terminals else "shell"
            terminal = Terminal(command, lab["lab"], node, cwd=cwd)
            stack.callback(terminal.close)
            terminals[label] = terminal
            terminal.prompt(node)
            terminal.type("\r")
        descriptors = [terminal.near for terminal in terminals.values()]
        yield Student(terminals, pause=lambda s: select.select(descriptors, [], [], s))


def mismatches(steps: list[Step]) -> list[str]:
    """Return which figures of the steps are not as expected."""
    wrong = []
    for index, step in enumerate(steps):
        for name, expected in step.figures.items():
            shown = _figure(name, step, before=steps[index - 1])
            if not _is_as_expected(shown, expected, name=name):
                wrong.append(f"{step.terminal}: {step.keys}: {name} {shown!r}, not {expected!r}")
    return wrong


def _figure(name: str, step: Step, *, before: Step) -> Any:
    match name:
        case "prints":
            return step.output
        case "min_ms" | "avg_ms":
            rtts = re.search(r"rtt min/avg/max/mdev = ([0-9.]+)/([0-9.]+)/", step.output)
            return rtts and float(rtts[1 if name == "min_ms" else 2])
        case "receiver_gbps" | "sender_gbps":
            rates = re.findall(_RATE.format(end=name.removesuffix("_gbps")), step.output)
            return float(rates[-1][0]) * _UNITS_GBPS[rates[-1][1]] if rates else None
        case "overlap_s":
            return 90 - abs(step.ended_s - before.ended_s)
    raise AssertionError(name)


def _is_as_expected(shown: Any, expected: Any, *, name: str) -> bool:
    if shown is None:
        return False
    match expected:
        case str():
            return expected in shown
        case [low, high]:
            return bool(low <= shown <= high)
    if name == "overlap_s":
        return bool(shown >= expected)
    return bool(abs(shown - expected) <= TOLERANCE * expected)
