"""Runs one script in a machine of its own, and decodes the record that it leaves.

The record is written by `longfat.guest.mininet.run`, and decoded as untrusted input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from longfat.common.decoding import MAX_BYTES, Decoder, decode, parse_json, read_bytes
from longfat.common.guard import scratch_folder
from longfat.common.terminal_text import printable_line
from longfat.engine import kernel as kernels
from longfat.engine.init import GUEST_PLACE, JOB_PLACE, guest_folder, init_program, write_job
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import INTERPRETER, Machine, Quota, RunOutput, reserve_cpu
from longfat.engine.toolset import find as find_toolset
from longfat.errors import InputError, MachineError, Place

Scalar = str | bool | int | float | None
At = tuple[int, int]
"""A line and a column, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What ended a script before its end, and where."""

    text: str
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A host or a switch; `ip` and `gateway`, its default route, are as in the script."""

    name: str
    is_switch: bool
    ip: str | None
    gateway: str | None
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An end of a link.

    Attributes:
        node: the node.
        interface: its name.
        ip: an address beside its host's.
        shapes: it is one of TCLink's.
        options: what the script says of it last.
        first: what it says before its first change in a running network; None without one.
    """

    node: str
    interface: str
    ip: str | None
    shapes: bool
    options: Mapping[str, Scalar]
    first: Mapping[str, Scalar] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link."""

    ends: tuple[End, End]
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was typed, at a node or (None) at root.

    Attributes:
        node: the node.
        text: what was typed; empty where the script waits for what it had typed before.
        at: where.
        waits: the script waits for its end.
        number: by which `awaits` refers to it.
        at_s: when it was typed, in seconds that the script has slept.
        awaits: the number of the command that is waited for.
        kind: `line`; `signal`, which ends a command; `start` and `stop` of the network; `config`,
            which changes an interface (its text is `dev NAME`); or the name of a test of Mininet,
            such as `pingAll`, that types it.
        time_s: when it was typed, in seconds since the script's start, if each command that it
            waits for takes as long as its words say.
        signals: the number of the command that is ended.
        options: what a `config` says of the interface.
    """

    node: str | None
    text: str
    at: At
    waits: bool = True
    number: int = 0
    at_s: float = 0.0
    awaits: int | None = None
    kind: str = "line"
    time_s: float = 0.0
    signals: int | None = None
    options: Mapping[str, Scalar] | None = None

    @property
    def is_of_test(self) -> bool:
        """Return whether a test of Mininet types it by itself."""
        return self.kind not in ("line", "signal", "start", "stop", "config")


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRecord:
    """One of a script's networks, and what was typed while it was there.

    `static_arp` says that hosts know each other's link-layer addresses from the start.
    """

    is_started: bool
    static_arp: bool
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    commands: tuple[Typed, ...]

    @property
    def parts(self) -> int:
        """Return how much it is."""
        return len(self.nodes) + len(self.links) + len(self.commands)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a script made."""

    title: str
    error: Ended | None
    is_started: bool
    networks: tuple[NetworkRecord, ...]
    warnings: tuple[tuple[str, str], ...]


_DECODER = Decoder(Record)
_MAX_TEXT = 300


def read_record(content: bytes, *, file: str) -> Record:
    """Return what a machine recorded; the script may have written it itself.

    Args:
        content: the record, JSON.
        file: the script, as the user named it.

    Raises:
        InputError: it is no record.
    """

    def error(text: str) -> InputError:
        return InputError(f"what was recorded of the script is damaged: {text}", place=at(file))

    return _DECODER.decode(
        parse_json(content, where="the record", error=error), where="the record", error=error
    )


def printable(text: str) -> str:
    """Return a text of the script's that a terminal can be shown, on one line."""
    text = printable_line(text)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


def at(file: str, where: At = (1, 1)) -> Place:
    """Return a place in the script."""
    return Place(file, max(1, where[0]), max(1, where[1]))


_PART = "mininet"
_OUTPUT = ("outcome.json", "output", "record.json")
_MEMORY_BYTES = 1 << 30
_SCRIPTS_MEMORY_BYTES = 800 << 20
_MAX_LINES = 3_000_000
_LIMIT_S = 600.0
# What the script waits for does not count in its own limit.
_MACHINE_LIMIT_S = 2 * 86400.0
_STALL_CPU_S = 10.0
_QUOTA = Quota(disk=64 << 20, files=1000, processes=256, wall=120.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """How the script's process ended: its exit status, or -N after signal N."""

    status: int


def run_script(
    path: Path,
    content: bytes,
    *,
    arguments: Sequence[str] = (),
    helpers: Mapping[str, bytes] = MappingProxyType({}),
    most_wall_s: float | None = None,
) -> bytes:
    """Run a script in a machine of the newest kernel that is built.

    Args:
        path: the script, as the user named it.
        content: its text.
        arguments: its arguments, `sys.argv[1:]`.
        helpers: files beside it that it may use, by their relative paths.
        most_wall_s: the wall time that it may take, in seconds, if that is less than it may
            anyway.

    Returns:
        Its record, as the machine wrote it.

    Raises:
        InputError: the script ended in a way that leaves no record, or exceeds a limit.
        HostError: no kernel is built, or the host lacks what a sandbox needs.
        MachineError: the machine failed before the script was started.
    """
    kernel = kernels.find(NEWEST)
    wall_s = _QUOTA.wall if most_wall_s is None else min(_QUOTA.wall, most_wall_s)
    job = {
        "output": _OUTPUT,
        "name": path.name,
        # A script may import what is installed for the Python of its user.
        "python": str(INTERPRETER),
        "arguments": list(arguments),
        "helpers": list(helpers),
        "memory_bytes": _SCRIPTS_MEMORY_BYTES,
        "lines": _MAX_LINES,
        "limit_s": _LIMIT_S,
    }
    quota = replace(_QUOTA, wall=wall_s)
    files = {f"helper{index}": data for index, data in enumerate(helpers.values())}
    files["script"] = content
    toolset = find_toolset()
    with (
        scratch_folder() as folder,
        reserve_cpu() as cpu,
        guest_folder(_PART, toolset=toolset) as program,
    ):
        run = folder / "run"  # which goes if the machine's guard must end it
        run.mkdir()
        with (
            closing(RunOutput(run, _OUTPUT, quota=quota)) as output,
            Machine(
                kernel,
                init_program(_PART),
                folder=run,
                shown={
                    GUEST_PLACE: program,
                    JOB_PLACE: write_job(job, inside=folder, files=files),
                },
                toolset=toolset,
                output=output,
                cpu=cpu,
                seed=1,
                memory_bytes=_MEMORY_BYTES,
                stall_cpu_s=_STALL_CPU_S,
                quota=quota,
            ) as machine,
        ):
            try:
                machine.wait(limit_s=_MACHINE_LIMIT_S)
            except MachineError as error:
                if not (run / "output").exists():
                    raise
                # The quota is fixed here, so the hint on how to change it does not apply.
                reason = str(error).partition("; LONGFAT_QUOTA")[0]
                raise InputError(
                    f"the script does too much, or does not end: {reason}", place=at(str(path))
                ) from None
            return _record(run, str(path), machine)


def _record(run: Path, file: str, machine: Machine) -> bytes:
    def error(text: str) -> InputError:
        return InputError(text, place=at(file))

    def left(name: str) -> bytes | None:
        path = run / name
        if not path.is_file():
            return None
        return read_bytes(path, most_bytes=MAX_BYTES, where=name, error=error)

    if record := left("record.json"):
        return record
    if (ended := left("outcome.json")) is not None:
        data = parse_json(ended, where="its end", error=error)
        status = decode(_Outcome, data, where="its end", error=error).status
        raise error(f"the script ended its process (status {status}) and left no network")
    if (run / "output").exists():
        raise error("the script turned the machine off, in which it ran")
    raise MachineError(f"the guest ended without a word{machine.console_tail()}")
