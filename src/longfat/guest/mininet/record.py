"""What is noted of a script: its nodes, links and commands, and what is left out."""

import os
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from longfat.guest.mininet.lines import commands_of

_AT_ROOT = frozenset(
    [
        "tc",
        "ip",
        "sysctl",
        "ethtool",
        "ifconfig",
        "route",
        "brctl",
        "iptables",
        "ip6tables",
        "nft",
        "tcpdump",
        "sleep",
        "kill",
        "killall",
        "pkill",
    ]
)
# What cleans up after an earlier network, or waits for a later one.
_OF_MININET = frozenset(["mn", "modprobe", "sync", "clear", "service", "systemctl"])
# What is made for the programs of nodes.
_FILES = frozenset(["mkdir", "touch", "cp", "ln", "chmod", "dd", "truncate", "fallocate"])
_OF_PYTHON = ("subprocess.py", "os.py", "<frozen os>", "pathlib.py")
_SHOWS_QUEUE = re.compile(r"\btc\b.*\bqdisc\s+(show|ls|list)\b")
_MAX_SAMPLES = 20
_MAX_TEXT = 4000
_MAX_CALLS = 20_000


class Record:
    """The notes of one script; a process runs one, and so has one `RECORD`.

    Attributes:
        script: the script's path, by which its frames are known.
        nets: every `Mininet`, in the order of their making; likewise all others.
        commands: what was typed, and what was waited for, as mappings.
        warnings: who or where, and what is left out.
        is_quiet: nothing is to be noted now.
        net: the `Mininet` that the script works with, from its making to its `stop`.
    """

    def __init__(self) -> None:
        self.script = ""
        self.nets: list[Any] = []
        self.topos: list[Any] = []
        self.nodes: list[Any] = []
        self.links: list[Any] = []
        self.commands: list[dict[str, Any]] = []
        self.warnings: dict[tuple[str, str], None] = {}
        self.is_quiet = False
        self.net: Any = None
        self._asked = 0
        self._times: dict[str, int] = {}
        self._began_s = time.monotonic()
        self._waited_s = 0.0

    def type(
        self, node: Any, net: Any, text: str, *, waits: bool = True, kind: str = "line"
    ) -> int:
        """Note what is typed at a node, when, and whether the script waits; return its number.

        Args:
            node: the node; None for root.
            net: the `Mininet`; None for that which the script works with, or makes next.
            text: what is typed.
            waits: the script waits for its end.
            kind: `line`, or the name of a test of Mininet that types it; `start` and `stop` of
                the network; `signal` to a command; `config` of an interface.
        """
        number = len(self.commands)
        now_s = time.monotonic() - self._began_s
        self.commands.append(
            {
                "node": node,
                "net": net or self.net,
                "text": text,
                "at": self.place(),
                "waits": waits,
                "number": number,
                "at_s": round(now_s - self._waited_s, 3),
                "time_s": round(now_s, 3),
                "awaits": None,
                "kind": kind,
                "signals": None,
                "options": None,
            }
        )
        return number

    def configure(self, intf: Any, options: dict[str, Any]) -> None:
        """Note that the script changes what an interface does to packets."""
        self.type(intf.node, intf.node.net, f"dev {intf.name}", kind="config")
        self.commands[-1]["options"] = options

    def wait(self, number: int) -> None:
        """Note that the script waits for the end of a command that it did not wait for."""
        command = self.commands[number]
        self.type(command["node"], command["net"], "")
        self.commands[-1]["awaits"] = number

    def signal(self, number: int) -> None:
        """Note that the script ends a command."""
        command = self.commands[number]
        self.type(command["node"], command["net"], "", kind="signal")
        self.commands[-1]["signals"] = number

    def begin(self, net: Any) -> None:
        """Note the `Mininet` that the script works with now; what was typed without one is its."""
        for command in self.commands:
            if command["net"] is None:
                command["net"] = net
        self.net = net

    def end(self, net: Any) -> None:
        """Note that a `Mininet` is stopped."""
        self._times.clear()
        self.type(None, net, "", kind="stop")
        if self.net is net:
            self.net = None

    def now_s(self) -> float:
        """Return the virtual time since the script's start, in seconds."""
        return time.monotonic() - self._began_s

    def pass_time(self, span_s: float) -> None:
        """Let virtual time pass while the script waits for a command; its limit counts none."""
        if span_s <= 0:
            return
        self._waited_s += span_s
        left_s = signal.getitimer(signal.ITIMER_REAL)[0]
        if left_s and threading.current_thread() is threading.main_thread():
            signal.setitimer(signal.ITIMER_REAL, left_s + span_s)
        time.sleep(span_s)

    def place(self) -> list[int]:
        """Return the line and the column of the script that is being run, from 1.

        Raises:
            RuntimeError: it has been asked too often: each node, link and command does so.
        """
        self._asked += 1
        if self._asked > _MAX_CALLS:
            raise RuntimeError(f"more than {_MAX_CALLS:,} nodes, links and commands")
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename == self.script:
                return position(frame, frame.f_lasti)
            frame = frame.f_back
        return getattr(threading.current_thread(), "at", None) or [1, 1]

    def is_of_script(self, frame: FrameType) -> bool:
        """Return whether code is the script's, or of a file beside it."""
        return frame.f_code.co_filename.startswith(f"{os.path.dirname(self.script)}/")

    def warn(self, text: str, who: str = "") -> None:
        """Note that something is left out, once for each line of the script."""
        if not self.is_quiet:
            self.warnings[who or f"line {self.place()[0]}", text[:_MAX_TEXT]] = None

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Hear of what Python does (`sys.addaudithook`): programs that the script starts."""
        if self.is_quiet or event not in ("os.system", "subprocess.Popen", "os.mkdir"):
            return
        # Not those that a library starts: only what the script asks for itself.
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.endswith(_OF_PYTHON):
            frame = frame.f_back
        if frame is not None and self.is_of_script(frame):
            if event == "os.mkdir":
                self.type(None, None, f"mkdir -p {shlex.quote(os.fsdecode(arguments[0]))}")
                return
            what = arguments[event != "os.system"]
            words = what if isinstance(what, list | tuple) else [what]
            texts = [w.decode("utf-8", "replace") if type(w) is bytes else str(w) for w in words]
            if texts[1:2] == ["-c"] and len(texts) == 3 and "sh" in texts[0]:
                texts = texts[2:]
            self.type_at_root(texts[0] if len(texts) == 1 else shlex.join(texts))

    def type_at_root(self, text: str) -> None:
        """Note what the script runs beside its nodes: there the switches' interfaces are."""
        if _SHOWS_QUEUE.search(text):
            self._times[text] = times = self._times.get(text, 0) + 1
            if times > _MAX_SAMPLES and hasattr(threading.current_thread(), "end_sampling"):
                threading.current_thread().end_sampling()  # type: ignore[attr-defined]
            if times > 1:
                return
        programs = [command.program for command in commands_of(text)]
        if any(program in _AT_ROOT or program in _FILES for program in programs):
            self.type(None, None, text)
        elif any(program not in _OF_MININET for program in programs):
            self.warn(f"`{text}` is left out: it is typed at the host, not at a node")


RECORD = Record()


def position(frame: FrameType, instruction: int) -> list[int]:
    """Return the line and the column at which a frame is, from 1."""
    line, _, column, _ = list(frame.f_code.co_positions())[instruction // 2]
    return [line or frame.f_lineno or 1, (column or 0) + 1]


class Unknown:
    """Something that is not known here; whatever is done with it gives the like."""

    def __init__(self, *args: Any, **named: Any) -> None:
        """Take whatever it is given."""

    def __getattr__(self, name: str) -> "Unknown":
        if name.startswith("__"):
            raise AttributeError(name)
        return Unknown()

    def __iter__(self) -> Iterator["Unknown"]:
        return iter(())

    def __str__(self) -> str:
        return ""

    __call__ = __getitem__ = __enter__ = lambda self, *args, **named: Unknown()
    __exit__ = lambda self, *about: None


class Recorded:
    """What answers calls that make no difference, and notes those that are left out or not known.

    Attributes:
        ignored: what calls that make no difference give, by their names.
        left_out: likewise calls that are left out, with the reason.
    """

    ignored: dict[str, Any] = {}
    left_out: dict[str, tuple[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        # As methods, which scripts also ask of the class, or override.
        for name, result in vars(cls).get("ignored", {}).items():
            setattr(cls, name, lambda *args, _result=result, **named: _result)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.left_out:
            reason, result = self.left_out[name]

            def noted(*args: Any, **named: Any) -> Any:
                RECORD.warn(f"{name} is left out: {reason}")
                return result

            return noted
        RECORD.warn(f"`{vars(self).get('name', 'net')}.{name}` is not known and is left out")
        return Unknown()
