"""Trying whether the host allows a sandbox of namespaces."""

from __future__ import annotations

import os
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
    waiting = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if path.exists() and path.read_bytes() == f"sleep\0{mark}\0".encode()
    ]
    assert waiting == []
