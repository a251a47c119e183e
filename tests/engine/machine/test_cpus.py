from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from longfat.engine.machine import reserve_cpu


@pytest.fixture
def scope(tmp_path: Path) -> str:
    """Machines beside us must hold none of the CPUs that we reserve."""
    return f"longfat-test-{os.getpid()}-{tmp_path.name}"


def test_each_machine_has_a_cpu_until_there_are_no_more(scope: str) -> None:
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        held = [stack.enter_context(reserve_cpu(scope=scope)) for _ in range(len(allowed) + 2)]
        assert set(held) <= allowed
        assert sorted(held[: len(allowed)]) == sorted(allowed)
    with reserve_cpu(scope=scope) as again:
        assert again == min(allowed)


def test_a_killed_process_holds_none_and_leaves_no_file(scope: str, tmp_path: Path) -> None:
    script = (
        "from longfat.engine.machine import reserve_cpu\n"
        f"with reserve_cpu(scope={scope!r}) as cpu:\n"
        "    print(cpu, flush=True)\n"
        "    input()\n"
    )
    first = min(os.sched_getaffinity(0))
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == first
        with reserve_cpu(scope=scope) as other:
            assert other != first or len(os.sched_getaffinity(0)) == 1
        process.send_signal(signal.SIGKILL)
        process.wait()
    with reserve_cpu(scope=scope) as again:
        assert again == first
    assert list(tmp_path.iterdir()) == []
