"""A command on a pseudo terminal of its own, as a person has it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from pathlib import Path

from tests.command import Command

PROMPT = r"(root|h[1-9]) ([0-9]+\.[0-9]{6}) s (?:max |x[0-9.]+ )?# "
"""The prompt of a live network's shell: the node, and the virtual time in seconds."""


class Terminal:
    """A command on a pseudo terminal of its own."""

    def __init__(self, *arguments: str, cwd: Path, rows: int = 24, columns: int = 80) -> None:
        self.near, self.far = pty.openpty()
        self.resize(rows, columns)
        self.modes = termios.tcgetattr(self.far)
        self.process = Command(
            *("longfat", *arguments),
            start_new_session=True,  # so that it learns its window's size
            cwd=cwd,
            stdin=self.far,
            stdout=self.far,
            stderr=self.far,
            env={**environment(cwd), "TERM": "xterm-256color"},
        )
        self.said = ""
        self.now_s = 0.0

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def read(self, pattern: str) -> re.Match[str]:
        """Read until it has said this since the last time."""
        end_s = time.monotonic() + 60
        while not (found := re.search(pattern, self.said, re.DOTALL)):
            assert time.monotonic() < end_s, self.said
            if select.select([self.near], [], [], 0.1)[0]:
                data = os.read(self.near, 65536).decode(errors="replace")
                self.said = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.said + data)
            else:
                assert self.process.poll() is None, self.said
        self.said = self.said[found.end() :]
        return found

    def prompt(self, node: str = "root") -> float:
        """Wait for the prompt; return how much virtual time has passed since the last one."""
        found = self.read(PROMPT)
        assert found[1] == node
        before_s, self.now_s = self.now_s, float(found[2])
        return self.now_s - before_s

    def type(self, keys: str) -> None:
        os.write(self.near, keys.encode())

    def take(self) -> str:
        """Return what it has said since the last time, without waiting."""
        data = os.read(self.near, 65536) if select.select([self.near], [], [], 0)[0] else b""
        said, self.said = self.said + data.decode(errors="replace"), ""
        return said

    def end(self) -> int:
        """Wait for its end; return its exit status."""
        while self.process.poll() is None:
            if select.select([self.near], [], [], 0.05)[0]:
                self.said += os.read(self.near, 65536).decode(errors="replace")
        while select.select([self.near], [], [], 0.05)[0]:
            self.said += os.read(self.near, 65536).decode(errors="replace")
        assert termios.tcgetattr(self.far) == self.modes
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for descriptor in (self.near, self.far):
            with contextlib.suppress(OSError):
                os.close(descriptor)


def environment(cwd: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "XDG_RUNTIME_DIR": str(cwd)}
