"""What the code believes of registers: a program's are its own, whatever the kernel leaves."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from longfat.engine.kernel import Kernel


def test_registers_outlive_calls_signals_faults_and_forks(
    boot: Callable[..., str], each_kernel: Kernel, run_folder: Path, tmp_path: Path
) -> None:
    # kernel/patches/6.1+6.12/40-left-registers.patch leaves them in the host's process.
    program = tmp_path / "registers"
    source = Path(__file__).with_name("registers.c")
    subprocess.run(["gcc", "-O1", "-pthread", "-o", program, source], check=True)
    shutil.copy(program, run_folder)
    said = boot(each_kernel, "/run/out/registers")
    assert said == "kept, many signals\n"
