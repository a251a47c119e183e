"""Run a script against the stand-in, and write what it recorded.

Started as `PYTHON run.py FOLDER [SCRIPT ARGUMENTS...]`: see `main`.
"""

import builtins
import contextlib
import errno
import json
import math
import os
import random
import resource
import signal
import sys
import threading
import traceback
import types
from types import FrameType
from typing import Any

# This file stands at ROOT/longfat/guest/mininet/run.py.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../../.."))
from longfat.guest.mininet.modules import install
from longfat.guest.mininet.net import Mininet, Topo
from longfat.guest.mininet.record import RECORD, position

_MOST_BYTES = 8 << 20
_MOST_TEXT = 500
_MOST_WHOLE = 1 << 53


class _EndedError(BaseException):
    """The script did too much, or for too long; no `except Exception` of its own stops it."""


class _Counter:
    """Counts the script's lines: a loop without end ends, and always at the same line."""

    def __init__(self, most: int) -> None:
        self._left = most

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != RECORD.script:
            return None
        self._left -= 1
        if self._left < 0:
            raise _EndedError("it does not end: too many lines have been run")
        return self


def main() -> None:
    """Run the script that the folder's job names, and write its record there."""
    folder = sys.argv[1]
    with open(f"{folder}/job.json", encoding="utf-8") as file:
        job = json.load(file)
    with open(f"{folder}/script", "rb") as script:
        source = script.read()
    path = os.path.join(os.getcwd(), job["name"])
    with open(path, "wb") as copy:
        copy.write(source)
    ours = os.getpid()
    sys.argv = [job["name"], *job["arguments"]]
    sys.path[:2] = [os.path.dirname(path)]  # and neither our folder nor its root
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))
    found = record_script(path, source, most_lines=job["lines"], limit_s=job["limit_s"])
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    if os.getpid() == ours:  # and no process that the script has forked
        with open(f"{folder}/record.json", "w", encoding="utf-8") as file:
            json.dump(found, file)
    os._exit(0)  # threads of the script's may go on


def record_script(path: str, source: bytes, *, most_lines: int, limit_s: float) -> dict[str, Any]:
    """Run a script and return what it recorded, ready for JSON.

    Args:
        path: the script's path; frames and errors are known by it.
        source: its text.
        most_lines: how many of its lines may be run.
        limit_s: how long it may take, in seconds of virtual time.
    """
    RECORD.script = path
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=path, __builtins__=builtins)
    sys.modules["__main__"] = module
    install()
    error: dict[str, Any] | None = None
    random.seed(0)
    try:
        code = compile(source, path, "exec", dont_inherit=True)
        sys.addaudithook(RECORD.hear)
        signal.signal(signal.SIGALRM, _on_alarm(limit_s))
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        counter = _Counter(most_lines)
        threading.settrace(counter)
        sys.settrace(counter)
        exec(code, module.__dict__)
        _make_topologies(module)
    except BaseException as caught:
        sys.settrace(None)
        error = _error(caught)
    sys.settrace(None)
    signal.setitimer(signal.ITIMER_REAL, 0)
    RECORD.is_quiet = True
    try:
        found = _found()
    except BaseException as caught:
        error = error or _error(caught)
        found = {"networks": 0, "nodes": [], "links": [], "commands": []}
    title = module.__doc__ if isinstance(module.__doc__, str) else ""
    return {
        **found,
        "title": title.strip().partition("\n")[0][:_MOST_TEXT],
        "error": error,
        "is_started": any(net.is_started for net in RECORD.nets),
        "warnings": [list(one) for one in RECORD.warnings],
    }


def _on_alarm(limit_s: float) -> Any:
    def alarm(number: int, frame: FrameType | None) -> None:
        raise _EndedError(f"it has not ended after {limit_s:g} s of virtual time")

    return alarm


def _make_topologies(module: types.ModuleType) -> None:
    """Make the topology that a script for `mn --custom` leaves to mn, and build what it left."""
    if not RECORD.nets and not RECORD.topos:
        named = module.__dict__.get("topos")
        makers = list(named.values()) if isinstance(named, dict) else []
        if not makers:
            mine = [one for one in vars(module).values() if isinstance(one, type)]
            mine = [one for one in mine if issubclass(one, Topo)]
            makers = [one for one in mine if one.__module__ == "__main__"]
            makers = makers if len(makers) == 1 else []
        for make in makers:
            make()
    if not RECORD.nets:
        for topo in RECORD.topos:
            Mininet(topo=topo)  # type: ignore[no-untyped-call]
    for net in RECORD.nets:
        if not net.built:
            for host in net.hosts:  # what it has set by now is not set back
                host.params.update(ip=host.address)
                if host.gateway is not None:
                    host.params.update(defaultRoute=host.gateway)
            net.build()


def _error(error: BaseException) -> dict[str, Any] | None:
    """Return what ended the script, and where; None if that was its end."""
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return None
    at = [1, 1]
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == RECORD.script:
            step = error.__traceback__
            while step is not None and step.tb_frame is not frame:
                step = step.tb_next
            at = position(frame, step.tb_lasti if step is not None else 0)
    try:
        said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    except BaseException:
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if isinstance(error, SyntaxError) and error.filename == RECORD.script:
        at, text = [error.lineno or 1, max(1, error.offset or 1)], f"not Python 3: {error.msg}"
    elif isinstance(error, _EndedError):
        text = said
    elif isinstance(error, SystemExit):
        text = said if isinstance(error.code, str) else f"it exits with status {said}{_last_line()}"
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        text = f"it prints, or writes to a file, more than {_MOST_BYTES >> 20} MB"
    return {"text": text[:_MOST_TEXT], "at": at}


def _last_line() -> str:
    """Return the last line that the script printed, such as what argparse has to say."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        start = max(0, os.fstat(1).st_size - _MOST_TEXT)
        lines = os.pread(1, _MOST_TEXT, start).decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""
    return ""


def _found() -> dict[str, Any]:
    """Return the first network."""
    nets = [net for net in RECORD.nets if net.hosts or net.switches] or [None]
    nodes = [one for one in RECORD.nodes if one.net is nets[0]]
    # A shell at root is no host.
    nodes = [node for node in nodes if node.net or node.is_switch or node.inNamespace]
    ends = {id(intf): node for node in nodes for intf in node.intfList()}
    links = [link for link in RECORD.links if id(link.intf1) in ends and id(link.intf2) in ends]
    return {
        "networks": len(nets),
        "nodes": [
            {
                "name": node.name,
                "is_switch": node.is_switch,
                "ip": _text(node.address),
                "gateway": _text(node.gateway),
                "at": node.at,
            }
            for node in nodes
        ],
        "links": [
            {
                "ends": [_end(ends[id(intf)], intf) for intf in (link.intf1, link.intf2)],
                "at": link.at,
            }
            for link in links
        ],
        "commands": [
            {"node": node.name if node in nodes else None, "text": text, "at": at}
            for node, net, text, at in RECORD.commands
            if net is nets[0]
        ],
    }


def _end(node: Any, intf: Any) -> dict[str, Any]:
    return {
        "node": node.name,
        "interface": str(intf.name),
        "ip": _text(intf.own_ip),
        "shapes": bool(intf.shapes),
        "options": {str(name): _plain(value) for name, value in intf.options.items()},
    }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and abs(value) < _MOST_WHOLE:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    try:  # such as numpy's numbers
        number = float(value)
        return number if math.isfinite(number) else str(number)
    except (TypeError, ValueError, OverflowError):
        return str(value)[:_MOST_TEXT]


if __name__ == "__main__":
    main()
