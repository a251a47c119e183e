"""One workload on the host's own kernel, in namespaces that end with this process.

native.py starts it as the first process of a PID namespace of its own, with a mount
and a network namespace, and writes a job to its standard input: one line of JSON.
The answer is one line of JSON on standard output. When it ends, by itself, by a
signal, or since the pipe from native.py closed, the kernel kills all that it started
and removes the network namespaces with their interfaces: their names stand in a
tmpfs that nobody else sees.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_USAGE_OF_TASKS = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu")
_LISTENING_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class Core:
    """The counters of one CPU, or how far they went, in seconds.

    Attributes:
        wall_s: monotonic time.
        idle_s: it was idle; the kernel leaves interrupts out of that.
        away_s: the hypervisor ran something else (steal).
        interrupts_s: what the ticks found it to do in interrupts and softirqs. Those
            in the course of a process's own calls are in the process's time as well.
        ksoftirqd_s: what the thread for softirqs used.
        tasks_s: what all processes and threads used; None, if the host does not tell.
    """

    wall_s: float
    idle_s: float
    away_s: float
    interrupts_s: float
    ksoftirqd_s: float
    tasks_s: float | None

    @classmethod
    def read(cls, cpu: int) -> Core:
        lines = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        (words,) = (line.split() for line in lines if line.startswith(f"cpu{cpu} "))
        _, _, _, idle, iowait, irq, softirq, steal = (int(word) for word in words[1:9])
        tasks_s = None
        with contextlib.suppress(OSError, IndexError, ValueError):
            tasks_s = int(_USAGE_OF_TASKS.read_text(encoding="ascii").split()[cpu]) / 1e9
        return cls(
            wall_s=time.monotonic(),
            idle_s=(idle + iowait) / _TICKS_PER_S,
            away_s=steal / _TICKS_PER_S,
            interrupts_s=(irq + softirq) / _TICKS_PER_S,
            ksoftirqd_s=_thread_s(f"ksoftirqd/{cpu}"),
            tasks_s=tasks_s,
        )

    def since(self, before: Core) -> Core:
        known = self.tasks_s is not None and before.tasks_s is not None
        return Core(
            wall_s=self.wall_s - before.wall_s,
            idle_s=self.idle_s - before.idle_s,
            away_s=self.away_s - before.away_s,
            interrupts_s=self.interrupts_s - before.interrupts_s,
            ksoftirqd_s=self.ksoftirqd_s - before.ksoftirqd_s,
            tasks_s=(self.tasks_s or 0) - (before.tasks_s or 0) if known else None,
        )

    @property
    def busy_s(self) -> float:
        """Processes, whosever they are, and interrupts."""
        return max(0.0, self.wall_s - self.idle_s - self.away_s)

    @property
    def outside_tasks_s(self) -> float | None:
        """Interrupts and softirqs that came while it was idle: they are in no process's time."""
        return None if self.tasks_s is None else max(0.0, self.busy_s - self.tasks_s)


def _thread_s(name: str) -> float:
    """Return the CPU seconds of a kernel thread; 0 where it cannot be seen."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            head, _, rest = path.read_text(encoding="utf-8", errors="replace").rpartition(")")
            if head.endswith(f"({name}"):
                words = rest.split()
                return (int(words[11]) + int(words[12])) / _TICKS_PER_S
    return 0.0


def _end_with_the_pipe() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os._exit(1)


def _call(*argv: str, text: str | None = None) -> str:
    done = subprocess.run(argv, input=text or "", capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _at(node: str, root: str, *argv: str) -> tuple[str, ...]:
    return argv if node == root else ("ip", "netns", "exec", node, *argv)


def _build(job: dict[str, Any]) -> None:
    _call("mount", "-t", "tmpfs", "tmpfs", "/run")
    for program, node, lines in job["batches"]:
        argv = [program, "-batch", "-"] if program in {"ip", "tc"} else ["sh", "-e", "-s"]
        _call(*_at(node, job["root"], *argv), text="".join(f"{line}\n" for line in lines))
    for node, line in job["setup"]:
        _call(*_at(node, job["root"], "sh", "-c", line))


def _start(process: dict[str, Any], root: str, folder: Path) -> subprocess.Popen[bytes]:
    argv = _at(process["host"], root, *process["argv"])
    out, err = folder / process["output"], folder / f"{process['output']}.err"
    with out.open("wb") as output, err.open("wb") as errors:
        started = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
    if process["listens"]:
        # Without a client it would wait for ever.
        until_s = time.monotonic() + _LISTENING_WITHIN_S
        while not _call(*_at(process["host"], root, "ss", "-Hltn")).strip():
            if time.monotonic() > until_s or started.poll() is not None:
                raise RuntimeError(f"{argv[0]} does not listen: {err.read_text(errors='replace')}")
            time.sleep(0.02)
    return started


def _play(job: dict[str, Any]) -> dict[str, Any]:
    os.sched_setaffinity(0, {job["cpu"]})
    _build(job)
    before = Core.read(job["cpu"])
    used_s = 0.0
    with tempfile.TemporaryDirectory(dir="/run") as name:
        started = [_start(process, job["root"], Path(name)) for process in job["processes"]]
        # The client ends first, and its server with it.
        for process in reversed(started):
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            used_s += usage.ru_utime + usage.ru_stime
        core = Core.read(job["cpu"]).since(before)
        reports = [
            (Path(name) / process["output"]).read_text(encoding="utf-8")
            for process in job["processes"]
        ]
    if any(process.returncode for process in started):
        raise RuntimeError(f"{job['processes'][-1]['argv'][0]} failed: {reports[-1][-2000:]}")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "processes_s": used_s,
        "setup_s": children.ru_utime + children.ru_stime - used_s,
        "core": {name: getattr(core, name) for name in Core.__slots__},
        "reports": reports,
    }


def main() -> None:
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_pipe, daemon=True).start()
    try:
        answer = _play(job)
    except (OSError, RuntimeError) as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
    # Not through the interpreter's end, which would wait for the thread's read.
    os._exit(0)


if __name__ == "__main__":
    main()
