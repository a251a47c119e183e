"""Runs `longfat exec`, for its tests."""

from __future__ import annotations

import os
import select
import subprocess
import time
from pathlib import Path

from tests.command import Command, run_command

EXEC = ("longfat", "exec", "--kernel", "6.1", "--memory", "512MB")
READY_WITHIN_S = 30


def run(
    *arguments: str, given: bytes = b"", cwd: Path | str = "/", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    environment = None if env is None else {**os.environ, **env}
    return run_command(*EXEC, *arguments, given=given, cwd=cwd, env=environment)


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return Command(
        *(*EXEC, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
    )


def read_until(descriptor: int, text: bytes) -> bytes:
    """Read until a text has come; fail when it does not."""
    said = b""
    end_s = time.monotonic() + READY_WITHIN_S
    while text not in said:
        assert select.select([descriptor], [], [], max(0.0, end_s - time.monotonic()))[0], said
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            data = b""
        assert data, said
        said += data
    return said
