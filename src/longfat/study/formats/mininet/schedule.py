"""When a script types what: its commands one by one, each after what the script waits for.

The stand-in recorded each line with the time at which a script would type it if its commands take
as long as their words say. Some take longer (a transfer of so many bytes): so what follows one that
the script waits for starts after it, and not at a time.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.guest.mininet.lines import Command, commands_of, duration_s

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longfat.study.formats.mininet.machine import At, Typed

FOLDER = "/tmp"
"""Where a script's shells begin in a study: nodes can write there."""

_SAME_S = 1e-3
_PYTHON = re.compile(r"(?<![\w/.-])(?:/usr/bin/)?python(?=\s)")
_BY_NAME = ("killall", "pkill")
_NO_EFFECT = frozenset(
    [
        "sleep",
        "wait",
        "true",
        ":",
        "exit",
        "clear",
        "set",
        "unset",
        "disown",
        "bg",
        "fg",
        "jobs",
        "history",
        "source",
        ".",
        "trap",
    ]
)


@dataclass(slots=True, kw_only=True, eq=False)
class Action:
    """A command of a script.

    Attributes:
        node: where it is typed; None at root.
        command: the command.
        line: what a shell has to run, in the folder and with the variables of its node's shell.
        at: where it stands in the script.
        is_test: a test of Mininet types it.
        time_s: when it is typed, in seconds since the script's start.
        end_s: when it ends by its words; None if it does not end by itself.
        known_end_s: when the script knows that it has ended; None if it does not wait.
        is_stopped: the script ends it, at `end_s`.
        number: of the line that it stands in.
        blocks: the script waits for it at once.
    """

    node: str | None
    command: Command
    line: str
    at: At
    is_test: bool
    time_s: float
    end_s: float | None
    known_end_s: float | None
    number: int
    blocks: bool
    is_stopped: bool = False

    @property
    def span_s(self) -> float:
        """Return how long it lasts by its words; 0 if that is not known."""
        return 0.0 if self.end_s is None else max(0.0, self.end_s - self.time_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What a script types while one network runs.

    Attributes:
        actions: the commands, in the order of their typing.
        stop_s: when the network is stopped.
    """

    actions: tuple[Action, ...]
    stop_s: float


@dataclass(slots=True)
class _Shell:
    """What a node's shell keeps from one line to the next."""

    folder: str | None = None
    exports: list[str] = field(default_factory=list)

    def line(self, text: str) -> str:
        start = [] if self.folder is None else [f"cd {self.folder}"]
        return "; ".join([*self.exports, *start, _on_one_line(text)])


def _on_one_line(text: str) -> str:
    """Return a command of several lines as one line, as a study has it."""
    if "\n" not in text:
        return text
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    return f'eval "$(printf %b {shlex.quote(escaped)})"'


def schedule_of(lines: Iterable[Typed], *, folder: str | None = None) -> Schedule:
    """Return the commands of what was typed, with their times.

    Args:
        lines: what was typed, in its order.
        folder: where the nodes' shells begin; the machine's own folder, if None.
    """
    actions: list[Action] = []
    shells: dict[str | None, _Shell] = {}
    last_s = 0.0
    for typed in lines:
        last_s = max(last_s, typed.time_s)
        own = [action for action in actions if typed.awaits == action.number]
        if typed.kind == "stop":
            break
        if typed.kind == "signal":
            _stop([one for one in actions if one.number == typed.signals], typed.time_s)
            continue
        if typed.awaits is not None:
            for action in own:
                action.known_end_s = typed.time_s
            continue
        shell = shells.setdefault(typed.node, _Shell(folder))
        end_s = _read_line(typed, shell, actions)
        last_s = max(last_s, end_s if typed.waits else 0.0)
    return Schedule(actions=tuple(actions), stop_s=last_s)


def _read_line(typed: Typed, shell: _Shell, actions: list[Action]) -> float:
    """Add the commands of a line to others, and return when it ends by its words."""
    now_s = typed.time_s
    for command in map(_with_python3, commands_of(typed.text)):
        if _of_shell(command, shell):
            continue
        if command.program == "wait":
            for action in actions:
                if action.node == typed.node and action.end_s is not None:
                    now_s = max(now_s, action.end_s)
                    action.known_end_s = action.known_end_s or max(action.end_s, now_s)
            continue
        if command.program in ("kill", *_BY_NAME):
            _stop(_killed(command, typed.node, actions), now_s)
            continue
        span_s = duration_s(command)
        blocks = typed.waits and not command.is_background
        end_s = None if span_s is None else now_s + span_s
        if command.program not in _NO_EFFECT:
            actions.append(
                Action(
                    node=typed.node,
                    command=command,
                    line=shell.line(command.text),
                    at=typed.at,
                    is_test=typed.is_of_test,
                    time_s=now_s,
                    end_s=end_s,
                    known_end_s=end_s if blocks else None,
                    number=typed.number,
                    blocks=blocks,
                )
            )
        if not command.is_background and end_s is not None:
            now_s = end_s
    return now_s


def _with_python3(command: Command) -> Command:
    """Return a command whose Python is one that machines have, under any other name."""
    if command.program != "python":
        return command
    text, core = (_PYTHON.sub("python3", each, count=1) for each in (command.text, command.core))
    return command._replace(words=("python3", *command.words[1:]), text=text, core=core)


def _of_shell(command: Command, shell: _Shell) -> bool:
    """Return whether a command changes the shell alone, and take that over."""
    program, words = command.program, command.words
    if program == "cd" and not command.is_background:
        shell.folder = words[1] if len(words) > 1 else FOLDER
        return True
    if program in ("export", "ulimit", "alias") or (not words and "=" in command.text.split()[0]):
        if not words and not command.text.split()[0].split("=")[0].isidentifier():
            return False
        shell.exports.append(command.text)
        return True
    return program == "echo" and command.file is None and not command.reads_pipe


def _stop(actions: Sequence[Action], now_s: float) -> None:
    for action in actions:
        if action.end_s is None or action.end_s > now_s:
            action.end_s, action.is_stopped = now_s, True
            action.known_end_s = now_s


def _killed(command: Command, node: str | None, actions: Sequence[Action]) -> list[Action]:
    """Return the commands that one line of kill(1) ends."""
    everywhere = node is None or command.program in _BY_NAME
    running = [
        action
        for action in actions
        if not action.blocks
        and (action.node == node or everywhere)
        and (action.end_s is None or action.end_s > action.time_s)
    ]
    names = [word.lstrip("%?") for word in command.words[1:] if not word.startswith("-")]
    named = [
        action
        for action in running
        if any(name and name.isidentifier() and name in action.line for name in names)
    ]
    if named or command.program in _BY_NAME:
        return named
    return [action for action in running if action.node == node][-1:]


def anchor_of(action: Action, earlier: Iterable[Action]) -> tuple[Action | None, float]:
    """Return what the script has waited for before it types a command, and how long after that.

    Args:
        action: the command.
        earlier: commands that were typed before it, and are flows.

    Returns:
        The command that it comes after, None if after none, and the seconds since that one's end,
        or the time when it is typed.
    """
    awaited = [
        one
        for one in earlier
        if one.known_end_s is not None and one.known_end_s <= action.time_s + _SAME_S
    ]
    if not awaited:
        return None, action.time_s
    # The last of those that end at the same time, which is known to a millisecond.
    end_s = max(one.end_s or 0.0 for one in awaited)
    last = next(one for one in reversed(awaited) if (one.end_s or 0.0) >= end_s - _SAME_S)
    return last, round(max(0.0, action.time_s - (last.end_s or 0.0)), 3)
