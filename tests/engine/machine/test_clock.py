"""Reading a kernel's clock from outside."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from longfat.engine.kernel import Kernel
from longfat.engine.machine.clock import VirtualClock
from tests.conftest import idle_machine

_EXECUTES_TWICE = """
import os, sys
print(flush=True)
sys.stdin.readline()
if len(sys.argv) < 2:
    os.execv(sys.executable, [sys.executable, "-c", os.environ["PROGRAM"], "again"])
"""


def test_a_kernel_is_the_same_however_often_its_clock_is_opened(
    kernel: Kernel, run_folder: Path
) -> None:
    with idle_machine(kernel, run_folder) as (pid, _):
        clocks = [VirtualClock(kernel_pid=pid, binary=kernel.binary) for _ in range(2)]
        assert clocks[0].execution == clocks[1].execution
        for clock in clocks:
            clock.close()


def test_a_second_execution_by_the_same_process_is_another(kernel: Kernel) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _EXECUTES_TWICE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PROGRAM": _EXECUTES_TWICE},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        clocks = []
        for _ in range(2):
            process.stdout.readline()
            clocks.append(VirtualClock(kernel_pid=process.pid, binary=kernel.binary))
            process.stdin.write(b"\n")
            process.stdin.flush()
        assert clocks[0].execution != clocks[1].execution
        assert clocks[0].now_s() is None  # what was executed first is gone
        for clock in clocks:
            clock.close()
