"""A program that reads hostile data sees its file, and nothing else of the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.sandbox.program import ProgramLimits, sandboxed_program

LIMITS = ProgramLimits(memory_bytes=512 << 20, cpu_s=2, output_bytes=1 << 16)


def run(tmp_path: Path, code: str) -> tuple[int | None, str]:
    """Run Python in the sandbox; return its exit status, and what it printed."""
    (tmp_path / "seen").write_text("what it may read")
    with (tmp_path / "out").open("w+b") as out:
        with sandboxed_program(
            ["/usr/bin/env", "python3", "-I", "-S", "-c", code],
            shown={"seen": tmp_path / "seen"},
            limits=LIMITS,
            stdout=out,
            stderr=out,
        ) as process:
            status = process.wait(timeout_s=60)
        out.seek(0)
        return status, out.read().decode()


def test_it_reads_what_it_was_shown(tmp_path: Path) -> None:
    status, said = run(tmp_path, "print(open('/tmp/longfat/seen').read())")
    assert (status, said) == (0, "what it may read\n")


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket()",
        "open('/tmp/longfat/seen', 'w')",
        "open('/tmp/other', 'w')",
        "open('/usr/other', 'w')",
        f"open({str(Path.home())!r} + '/.profile')",
        "open('/proc/1/status')",
        "import os; os.kill(1, 0); open('/proc/self/mem')",
    ],
)
def test_it_reaches_nothing_else(tmp_path: Path, code: str) -> None:
    status, said = run(tmp_path, code)
    assert status == 1, said
    assert "Error" in said


@pytest.mark.parametrize(
    "code", ["x = bytearray(10**9)", "while True: pass", "while True: print('x' * 1000)"]
)
def test_it_has_limits(tmp_path: Path, code: str) -> None:
    status, _ = run(tmp_path, code)
    assert status not in (0, None)
    assert (tmp_path / "out").stat().st_size <= LIMITS.output_bytes
