"""A machine that is held back: later, but the same; and no survivors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.common.process import find_program
from longfat.engine import kernel as kernels
from longfat.engine.kernel import Kernel
from longfat.engine.machine import Machine, Pace, reserve_cpu, watchdog
from longfat.engine.machine.pace import Pacer
from tests.conftest import own_folder, processes_running, write_init

SLEEPS = (
    "for k in 1 2 3 4 5 6 7 8 9 10; do sleep 0.05; cat /proc/uptime; head -c 8 /dev/urandom; done"
)


def test_the_pacer_holds_what_is_ahead() -> None:
    pacer = Pacer(Pace(factor=0.5, from_s=2))
    assert pacer.hold_s(virtual_s=1.9, wall_s=100) == 0
    # The first look after 2 s sets the zero.
    assert pacer.hold_s(virtual_s=2.1, wall_s=100) == pytest.approx(0.2)
    assert pacer.hold_s(virtual_s=2.1, wall_s=100.15) == pytest.approx(0.05)
    assert pacer.hold_s(virtual_s=2.1, wall_s=100.25) == 0
    assert pacer.hold_s(virtual_s=3.0, wall_s=101) == pytest.approx(1)


def test_what_was_too_slow_does_not_run_faster_later() -> None:
    pacer = Pacer(Pace(factor=1))
    assert pacer.hold_s(virtual_s=1, wall_s=10) == pytest.approx(1)
    assert pacer.hold_s(virtual_s=2, wall_s=110) == 0
    # It may make up for a moment, not for a minute and a half.
    assert pacer.hold_s(virtual_s=3, wall_s=110) == pytest.approx(0.9)


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., tuple[str, float]]:
    """Boot with a script as PID 1; return what it printed, and the wall time."""

    def play_script(kernel: Kernel, script: str, *, pace: Pace | None) -> tuple[str, float]:
        folder = tmp_path / f"run-{time.monotonic_ns()}"
        folder.mkdir()
        with (
            reserve_cpu() as cpu,
            Machine(
                kernel,
                write_init(folder, script),
                folder=own_folder(folder),
                shown={},
                writable={"run": folder},
                cpu=cpu,
                seed=1,
                memory_bytes=256 << 20,
            ) as booted,
        ):
            started_s = time.monotonic()
            booted.wait(limit_s=100, pace=pace)
            return (folder / "out").read_bytes().hex(), time.monotonic() - started_s

    return play_script


def test_a_pace_changes_no_result(
    play: Callable[..., tuple[str, float]], each_kernel: Kernel
) -> None:
    free, _ = play(each_kernel, SLEEPS, pace=None)
    slow, wall_s = play(each_kernel, SLEEPS, pace=Pace(factor=0.25))
    assert slow == free
    assert wall_s > 0.5 / 0.25


def test_being_held_is_no_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "STALL_IDLE_S", 0.1)
    with subprocess.Popen(["sleep", "100"]) as idle:
        dog = watchdog.Watchdog(kernel_pid=idle.pid, binary=Path("/bin/sleep"))
        assert dog.check(1.0) is None
        time.sleep(0.2)
        dog.start_anew()
        assert dog.check(1.0) is None
        time.sleep(0.2)
        assert dog.check(1.0) is not None
        idle.kill()


CHILD = """
import sys
from pathlib import Path
from longfat.engine import kernel as kernels
from longfat.engine.machine import Machine, Pace, reserve_cpu
folder = Path(sys.argv[1])
with reserve_cpu() as cpu, Machine(
    kernels.find("6.1"), ["/usr/bin/tail", "-f", "/dev/null"], folder=folder, shown={}, cpu=cpu,
    seed=1, memory_bytes=256 << 20,
) as machine:
    machine.wait(limit_s=1e9, pace=Pace(factor=1e-3))
"""


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


@pytest.fixture
def held(
    tmp_path: Path, own_kernels: Path, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[subprocess.Popen[bytes], Kernel]]:
    """A process of ours whose machine is stopped."""
    monkeypatch.setenv("LONGFAT_CACHE", str(own_kernels))
    kernel = kernels.find("6.1")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(own_folder(run_folder))], cwd=tmp_path
    )
    try:
        wait_until(lambda: (pid := find_program(child.pid, kernel.binary)) and state(pid) == "T")
        yield child, kernel
    finally:
        child.kill()
        child.wait()


def wait_until(check: Callable[[], object], *, within_s: float = 60) -> None:
    end_s = time.monotonic() + within_s
    while not check():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_nothing_survives_us_while_the_machine_is_held(
    held: tuple[subprocess.Popen[bytes], Kernel], run_folder: Path
) -> None:
    child, kernel = held
    child.kill()
    wait_until(
        lambda: (
            not processes_running(kernel.binary) and not run_folder.with_name("machine").exists()
        )
    )


def test_nothing_survives_the_guard_while_the_machine_is_held(
    held: tuple[subprocess.Popen[bytes], Kernel],
) -> None:
    child, kernel = held
    children = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    # Where files of the view are copied, there is a remover, too.
    commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    (guard,) = (pid for pid, command in commands.items() if b"guardian" in command)
    os.kill(guard, signal.SIGKILL)
    wait_until(lambda: not processes_running(kernel.binary))
    assert child.wait() != 0
