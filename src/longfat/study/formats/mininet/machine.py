"""One script in a machine of its own, and what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from longfat.common.decoding import MAX_BYTES, decode, parse_json, read_bytes
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.init import (
    GUEST_PLACE,
    JOB_PLACE,
    guest_folder,
    init_program,
    write_job,
)
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import Machine, Quota, RunOutput, reserve_cpu
from longfat.errors import InputError, MachineError
from longfat.study.formats.mininet.record import at

_PART = "mininet"
_OUTPUT = ("outcome.json", "output", "record.json")
_MEMORY_BYTES = 1 << 30
_SCRIPTS_MEMORY_BYTES = 800 << 20
_MOST_LINES = 3_000_000
_LIMIT_S = 600.0
_STALL_CPU_S = 10.0
_QUOTA = Quota(disk=64 << 20, files=1000, processes=256, wall=120.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """How the script's process ended: its exit status, or -N after signal N."""

    status: int


def run_script(
    path: Path, content: bytes, *, arguments: Sequence[str] = (), most_wall_s: float | None = None
) -> bytes:
    """Run a script in a machine of the newest kernel that is built.

    Args:
        path: the script, as the user named it.
        content: its text.
        arguments: its arguments, `sys.argv[1:]`.
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
        "arguments": list(arguments),
        "memory_bytes": _SCRIPTS_MEMORY_BYTES,
        "lines": _MOST_LINES,
        "limit_s": _LIMIT_S,
    }
    quota = replace(_QUOTA, wall=wall_s)
    with (
        scratch_folder() as folder,
        reserve_cpu() as cpu,
        guest_folder(_PART) as program,
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
                    JOB_PLACE: write_job(job, inside=folder, files={"script": content}),
                },
                output=output,
                cpu=cpu,
                seed=1,
                memory_bytes=_MEMORY_BYTES,
                stall_cpu_s=_STALL_CPU_S,
                quota=quota,
            ) as machine,
        ):
            try:
                machine.wait(limit_s=2 * _LIMIT_S)
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
