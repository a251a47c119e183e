"""Trying whether the host allows a sandbox of namespaces."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from longfat.engine.sandbox import namespaces
from longfat.engine.sandbox.namespaces import Namespaces
from longfat.errors import HostError

# What a bubblewrap leaves that is killed while it makes its namespaces: a child that waits.
_KILLED = """#!/bin/sh
echo "made half" >&2
sleep {mark} &
kill -9 $$
"""


def test_a_bubblewrap_that_is_killed_leaves_no_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"{100_000 + os.getpid()}"
    bwrap = tmp_path / "bwrap"
    bwrap.write_text(_KILLED.format(mark=mark))
    bwrap.chmod(0o755)
    monkeypatch.setattr(namespaces, "_bwrap", lambda: str(bwrap))
    with pytest.raises(HostError, match="cannot make a sandbox here: made half"):
        Namespaces().check()
    end_s = time.monotonic() + 30
    while _is_running(f"sleep\0{mark}\0".encode()):  # a signal takes a moment
        assert time.monotonic() < end_s
        time.sleep(0.02)


def _is_running(command: bytes) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has just ended
            if path.read_bytes() == command:
                return True
    return False
