from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from longfat.machine import reserve_cpu


def test_each_machine_has_a_cpu_until_there_are_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Machines beside us must hold none of the CPUs that we reserve.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    allowed = os.sched_getaffinity(0)
    with ExitStack() as stack:
        held = [stack.enter_context(reserve_cpu()) for _ in range(len(allowed) + 2)]
        assert set(held) <= allowed
        assert sorted(held[: len(allowed)]) == sorted(allowed)
    with reserve_cpu() as again:
        assert again in allowed
