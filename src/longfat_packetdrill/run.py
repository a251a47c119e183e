"""A script in a machine of its own, and what came of it.

Each script has a machine: it is root in there, changes settings that all namespaces of a
kernel share, and may break what it likes; and a machine boots in less time than most scripts
take. So what a script gives does not depend on which others run, before it or beside it.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from longfat.common.decoding import MAX_BYTES, decode, parse_json, read_bytes
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.guest_programs import product_folder, product_program
from longfat.engine.init import GUEST_PLACE, JOB_PLACE, write_job
from longfat.engine.kernel import Kernel
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import Machine, Quota, RunOutput, reserve_cpu
from longfat.engine.toolset import find as find_toolset
from longfat.errors import MachineError
from longfat_packetdrill.packets import Packet
from longfat_packetdrill.script import Script, seconds_text

_PROGRAM = "longfat_packetdrill.guest"
_OUTPUT = ("outcome.json", "at", "packets.pcap")
_SCRIPTS = "scripts"
_MEMORY_BYTES = 512 << 20
_STALL_CPU_S = 10.0
_QUOTA = Quota(disk=64 << 20, files=1000, processes=256, wall=120.0)
# Commands before the script's clock starts have time of their own.
_SPARE_S = 600.0

DEFAULT_LIMIT_S = 3600.0
"""How long a script may take, in seconds of virtual time, unless somebody says otherwise."""

MAX_LIMIT_S = 1_000_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A field, what the script expects of it, and what it was."""

    field: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a script failed.

    Attributes:
        line: where in the script; 0 if that is not known.
        message: why, in words.
        expected: what a call or command should have given; None where it is about none.
        actual: what it gave.
        expected_ns: when it should have happened, in ns of the script; None if at any time.
        actual_ns: when it did; None if it did not.
        differences: the fields that differ.
        sent: the packet that the kernel sent in place of the script's.
    """

    line: int
    message: str
    expected: str | None
    actual: str | None
    expected_ns: int | None
    actual_ns: int | None
    differences: tuple[Difference, ...]
    sent: Packet | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What the guest writes at its end; see `longfat_packetdrill.guest.player`."""

    failure: Failure | None
    warnings: tuple[Failure, ...]
    events: int
    packets: int
    virtual_ns: int
    late_ns: int
    deviation_ns: int | None
    deviation_line: int | None
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came of a script.

    Attributes:
        failure: why it failed; None if it passed.
        warnings: differences that the script allows, by `--non_fatal`.
        events: how many of its events were played.
        packets: how many packets the kernel sent as the script has it.
        virtual_s: how long it took, in seconds of virtual time.
        wall_s: how long it took, with its machine's boot, in seconds.
        late_s: by how much the latest of the script's own events was late, in seconds.
        deviation_s: by how much, of the packets that the kernel sent, the one that is farthest
            from its time is off, in seconds; None if there is none with a time.
        deviation_line: the line of that packet.
        output: the end of what its commands printed.
    """

    failure: Failure | None
    warnings: tuple[Failure, ...] = ()
    events: int = 0
    packets: int = 0
    virtual_s: float = 0.0
    wall_s: float = 0.0
    late_s: float = 0.0
    deviation_s: float | None = None
    deviation_line: int | None = None
    output: str = ""

    @property
    def passed(self) -> bool:
        """Whether the kernel did what the script says."""
        return self.failure is None


def run_script(
    script: Script,
    *,
    root: Path,
    kernel: Kernel | None = None,
    seed: int = 1,
    limit_s: float = DEFAULT_LIMIT_S,
    capture: Path | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Result:
    """Run a script in a machine of its own.

    Args:
        script: the script.
        root: the folder that the machine shows; the script's file is in it, and its
            commands run in the folder of that file.
        kernel: what to boot; the newest that is built, if None.
        seed: decides all random numbers of the machine, 0 to 2**63 - 1.
        limit_s: how long it may take, in seconds of virtual time.
        capture: a file for the packets, as pcap; none, if None.
        on_progress: called a few times a second with the virtual time in seconds; what it
            raises ends the machine.

    Returns:
        What came of it.

    Raises:
        InputError: the script's options do not go together.
        HostError: no kernel is built, or the host lacks what a sandbox needs.
        MachineError: the machine failed before the script began.
    """
    plan = script.plan()
    began_s = time.monotonic()
    inside = Path(script.file).resolve().relative_to(root.resolve()).parent
    job = {
        "output": _OUTPUT,
        "plan": plan,
        "folder": (Path(_SCRIPTS) / inside).as_posix(),
        "limit_ns": round(limit_s * 1e9),
        "captures": capture is not None,
    }
    toolset = find_toolset()
    with (
        scratch_folder() as folder,
        reserve_cpu() as cpu,
        product_folder(_PROGRAM, toolset=toolset) as program,
    ):
        run = folder / "run"  # which goes if the machine's guard must end it
        run.mkdir()
        with (
            closing(RunOutput(run, _OUTPUT, quota=_QUOTA)) as output,
            Machine(
                kernel or kernels.find(NEWEST),
                product_program(_PROGRAM),
                folder=run,
                shown={
                    GUEST_PLACE: program,
                    JOB_PLACE: write_job(job, inside=folder),
                    _SCRIPTS: root.resolve(),
                },
                toolset=toolset,
                output=output,
                cpu=cpu,
                seed=seed,
                memory_bytes=_MEMORY_BYTES,
                stall_cpu_s=_STALL_CPU_S,
                quota=_QUOTA,
            ) as machine,
        ):
            try:
                machine.wait(limit_s=limit_s + _SPARE_S, on_progress=on_progress)
            except MachineError as error:
                reason = str(error).partition("; LONGFAT_QUOTA")[0]
                if (line := _last_command(run)) is None:
                    raise
                return _ended(line, reason, began_s)
            result = _result(run, machine, began_s)
            if capture is not None and (packets := run / "packets.pcap").is_file():
                capture.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(packets, capture)
    return result


def _ended(line: int, reason: str, began_s: float) -> Result:
    message = f"the script does too much, or does not end: {reason}"
    return Result(
        failure=Failure(
            line=line,
            message=message,
            expected=None,
            actual=None,
            expected_ns=None,
            actual_ns=None,
            differences=(),
            sent=None,
        ),
        wall_s=time.monotonic() - began_s,
    )


def _last_command(run: Path) -> int | None:
    """Return the line of the last command that was begun; None if the script was not."""
    path = run / "at"
    if not path.is_file():
        return None
    text = path.read_bytes()[-20:].decode(errors="replace").rstrip("\n").rpartition("\n")[2]
    return int(text) if text.isdecimal() else 0


def _result(run: Path, machine: Machine, began_s: float) -> Result:
    path = run / "outcome.json"
    if not path.is_file():
        if (line := _last_command(run)) is None:
            raise MachineError(f"the guest ended without a word{machine.console_tail()}")
        return _ended(line, f"the machine was turned off{machine.console_tail()}", began_s)
    return read_outcome(path, wall_s=time.monotonic() - began_s)


def read_outcome(path: Path, *, wall_s: float) -> Result:
    """Read what a guest wrote at its end.

    Args:
        path: the file.
        wall_s: how long it took, in seconds.

    Raises:
        MachineError: it is no outcome.
    """
    data = parse_json(
        read_bytes(path, most_bytes=MAX_BYTES, where="the outcome", error=MachineError),
        where="the outcome",
        error=MachineError,
    )
    outcome = decode(_Outcome, data, where="the outcome", error=MachineError)
    for failure in filter(None, (outcome.failure, *outcome.warnings)):
        if failure.sent is not None and not failure.sent.is_whole:
            raise MachineError("the outcome: it holds a packet that is none")
    deviation_ns = outcome.deviation_ns
    return Result(
        failure=outcome.failure,
        warnings=outcome.warnings,
        events=outcome.events,
        packets=outcome.packets,
        virtual_s=outcome.virtual_ns / 1e9,
        wall_s=wall_s,
        late_s=outcome.late_ns / 1e9,
        deviation_s=None if deviation_ns is None else deviation_ns / 1e9,
        deviation_line=outcome.deviation_line,
        output=outcome.output,
    )


def explain(script: Script, failure: Failure) -> list[str]:
    """Return a failure in lines: where and why, what was expected, what was there.

    Args:
        script: the script that failed.
        failure: why.
    """
    event = script.event_at(failure.line)
    where = str(event.place) if event is not None else f"{script.file}:{failure.line or 1}:1"
    lines = [f"{where}: {' '.join(failure.message.split())}"]
    columns: list[tuple[str, int | None, str]] = []
    if event is not None:
        text = failure.expected if failure.expected is not None else event.text()
        has_other = failure.actual is not None or failure.actual_ns is not None
        is_compared = has_other or failure.expected_ns is not None
        columns.append(("expected" if is_compared else "event", failure.expected_ns, text))
    if failure.sent is not None:
        columns.append(("actual", failure.actual_ns, failure.sent.text()))
    elif failure.actual is not None or failure.actual_ns is not None:
        columns.append(("actual", failure.actual_ns, failure.actual or ""))
    if event is not None and failure.expected is not None:
        lines.append(f"  of        {event.text()}")
    for name, time_ns, text in columns:
        moment = "" if time_ns is None else f"{seconds_text(time_ns)} s  "
        lines.append(f"  {name:<9} {moment}{text}".rstrip())
    lines += [
        f"  differs   {one.field}: expected {one.expected}, actual {one.actual}"
        for one in failure.differences
    ]
    return lines
