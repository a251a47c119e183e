"""Run a script against the stand-in, and write what it recorded.

Started as `PYTHON run.py JOB FOLDER`: the folder of the job, and that for the record.
"""

import builtins
import contextlib
import errno
import json
import math
import os
import random
import resource
import shutil
import signal
import sys
import threading
import types
from types import FrameType
from typing import Any

# This file stands at ROOT/longfat/guest/mininet/run.py.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../../.."))
from longfat.guest.mininet.modules import install
from longfat.guest.mininet.net import Mininet, Topo
from longfat.guest.mininet.record import RECORD, position

_MAX_BYTES = 8 << 20
_MAX_TEXT = 500


class _EndedError(BaseException):
    """The script did too much, or for too long; no `except Exception` of its own stops it."""


class _Counter:
    """Counts the script's lines and its time: what does not end is ended, always at one place."""

    def __init__(self, lines: int, limit_s: float) -> None:
        self._left, self._limit_s = lines, limit_s

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != RECORD.script:
            return None
        self._left -= 1
        if self._left < 0:
            raise _EndedError("it does not end: too many lines have been run")
        return self

    def on_alarm(self, number: int, frame: FrameType | None) -> None:
        """Hear that its time is up."""
        raise _EndedError(f"it has not ended after {self._limit_s:g} s of virtual time")


def main() -> None:
    """Run the script that the folder's job names, and write its record there."""
    given, folder = sys.argv[1:]
    with open(f"{given}/job.json", encoding="utf-8") as file:
        job = json.load(file)
    with open(f"{given}/script", "rb") as script:
        source = script.read()
    RECORD.script = os.path.join(os.getcwd(), job["name"])
    with open(RECORD.script, "wb") as copy:
        copy.write(source)
    for index, name in enumerate(job.get("helpers", ())):
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        shutil.copyfile(f"{given}/helper{index}", name)
    ours = os.getpid()
    sys.argv = [job["name"], *job["arguments"]]
    sys.path[:2] = [os.getcwd()]  # and neither our folder nor its root
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_BYTES, _MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))
    found = _run(source, most_lines=job["lines"], limit_s=job["limit_s"])
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    if os.getpid() == ours:  # and no process that the script has forked
        with open(f"{folder}/record.json", "w", encoding="utf-8") as file:
            json.dump(found, file)
    os._exit(0)  # threads of the script's may go on


def _run(source: bytes, *, most_lines: int, limit_s: float) -> dict[str, Any]:
    """Run the script and return what it recorded, ready for JSON."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=RECORD.script, __builtins__=builtins)
    sys.modules["__main__"] = module
    install()
    random.seed(0)
    sys.addaudithook(RECORD.hear)
    counter = _Counter(most_lines, limit_s)
    error = None
    try:
        try:
            code = compile(source, RECORD.script, "exec", dont_inherit=True)
            signal.signal(signal.SIGALRM, counter.on_alarm)
            signal.setitimer(signal.ITIMER_REAL, limit_s)
            threading.settrace(counter)
            sys.settrace(counter)
            exec(code, module.__dict__)
        except SystemExit as end:
            if end.code not in (None, 0):
                raise
        _make_topologies(module)
    except BaseException as caught:
        error = _error(caught)
    finally:
        sys.settrace(None)
        signal.setitimer(signal.ITIMER_REAL, 0)
    title = module.__doc__ if isinstance(module.__doc__, str) else ""
    return {
        "networks": _found(),
        "title": title.strip().partition("\n")[0][:_MAX_TEXT],
        "error": error,
        "is_started": any(net.is_started for net in RECORD.nets),
        "warnings": list(RECORD.warnings),
    }


def _make_topologies(module: types.ModuleType) -> None:
    """Make the topology that a script for `mn --custom` leaves to mn, and build what it left."""
    if not RECORD.nets and not RECORD.topos:
        named = vars(module).get("topos")
        makers = list(named.values()) if isinstance(named, dict) else []
        if not makers:
            mine = [one for one in vars(module).values() if isinstance(one, type)]
            mine = [one for one in mine if issubclass(one, Topo) and one.__module__ == "__main__"]
            makers = mine if len(mine) == 1 else []
        for make in makers:
            make()
    for topo in [] if RECORD.nets else RECORD.topos:
        Mininet(topo=topo)  # type: ignore[no-untyped-call]
    for net in RECORD.nets:
        if not net.built:
            for host in net.hosts:  # what it has set by now is not set back
                if host.address is not None:
                    host.params.update(ip=host.address)
                if host.gateway is not None:
                    host.params.update(defaultRoute=host.gateway)
            net.build()


def _error(error: BaseException) -> dict[str, Any]:
    """Return what ended the script, and where."""
    at, step = [1, 1], error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == RECORD.script:
            at = position(step.tb_frame, step.tb_lasti)
        step = step.tb_next
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
    elif isinstance(error, ModuleNotFoundError):
        text = f"{text}: install it for /usr/bin/python3, or put it beside the script"
    elif isinstance(error, FileNotFoundError) and error.filename:
        text = f"{text}: put it beside the script, whose text has to name it"
    elif isinstance(error, OSError) and error.errno == errno.EFBIG:
        text = f"it prints, or writes to a file, more than {_MAX_BYTES >> 20} MB"
    return {"text": text[:_MAX_TEXT], "at": at}


def _last_line() -> str:
    """Return the last line that the script printed, such as what argparse has to say."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        start = max(0, os.fstat(1).st_size - _MAX_TEXT)
        lines = os.pread(1, _MAX_TEXT, start).decode(errors="replace").strip().splitlines()
        return f": {lines[-1]}" if lines else ""
    return ""


def _found() -> list[dict[str, Any]]:
    """Return the networks; one without parts, if there is none."""
    nets = [net for net in RECORD.nets if net.hosts or net.switches] or [None]
    return [_network(net) for net in nets]


def _network(net: Any) -> dict[str, Any]:
    nodes = [one for one in RECORD.nodes if one.net is net]
    # A shell at root is no host.
    nodes = [node for node in nodes if node.net or node.is_switch or node.inNamespace]
    nodes_of = {id(intf): node for node in nodes for intf in node.intfList()}
    links = [link for link in RECORD.links if {id(link.intf1), id(link.intf2)} <= nodes_of.keys()]
    return {
        "is_started": bool(net and net.is_started),
        "static_arp": bool(net and net.autoStaticArp),
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
            {"ends": [_end(nodes_of, intf) for intf in (link.intf1, link.intf2)], "at": link.at}
            for link in links
        ],
        "commands": [
            {
                **{key: value for key, value in command.items() if key != "net"},
                "node": command["node"].name if command["node"] in nodes else None,
                "options": _options(command["options"]),
            }
            for command in RECORD.commands
            if command["net"] is net
        ],
    }


def _end(nodes_of: dict[int, Any], intf: Any) -> dict[str, Any]:
    return {
        "node": nodes_of[id(intf)].name,
        "interface": str(intf.name),
        "ip": intf.own_ip,
        "shapes": intf.shapes,
        "options": _options(intf.options),
        "first": _options(intf.first),
    }


def _options(options: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if options is None else {name: _plain(value) for name, value in options.items()}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON can have it."""
    is_small = type(value) is int and abs(value) < 1 << 53
    if value is None or is_small or isinstance(value, bool | str):
        return value
    try:  # also numpy's numbers
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return str(value)[:_MAX_TEXT]
    return number if math.isfinite(number) else str(number)


if __name__ == "__main__":
    main()
