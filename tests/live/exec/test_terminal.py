"""`longfat exec` at a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
import time
from collections.abc import Iterator

import pytest

from tests.command import Command
from tests.live.exec.command import EXEC, READY_WITHIN_S, read_until, run


class Terminal:
    """`longfat exec` on a pseudo terminal."""

    def __init__(self, *arguments: str) -> None:
        self.near, self.far = pty.openpty()
        self.resize(30, 100)
        self.modes = termios.tcgetattr(self.far)
        self.process = Command(
            *(*EXEC, *arguments),
            start_new_session=True,
            stdin=self.far,
            stdout=self.far,
            stderr=self.far,
            cwd="/",
            env={**os.environ, "TERM": "xterm"},
        )

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.near, text.encode())

    def until(self, text: str) -> str:
        return read_until(self.near, text.encode()).decode()

    def end(self) -> int:
        """Wait for its end, and see that the terminal is as it was."""
        status = self.process.wait(READY_WITHIN_S)
        assert termios.tcgetattr(self.far) == self.modes
        return status

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.near)
        os.close(self.far)


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        terminal.close()


def test_a_terminal(terminals: list[Terminal]) -> None:
    line = "tty; stty size; echo $TERM; read x; stty size; exit 6"
    terminal = Terminal("sh", "-c", line)
    terminals.append(terminal)
    said = terminal.until("xterm\r\n")
    assert said.split() == ["/dev/pts/0", "30", "100", "xterm"]
    terminal.resize(50, 132)
    time.sleep(0.3)
    terminal.type("\r")
    assert "50 132" in terminal.until("132\r\n")
    assert terminal.end() == 6


def test_keys_go_to_the_command(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "trap 'echo caught; exit 4' INT; echo on; sleep 1e9")
    terminals.append(terminal)
    terminal.until("on\r\n")
    terminal.type("\x03")
    terminal.until("caught\r\n")
    assert terminal.end() == 4


def test_the_clock_stands_still_at_a_prompt(terminals: list[Terminal]) -> None:
    # From Python 3.13 on, the other one repeats each key with colours.
    terminal = Terminal("env", "PYTHON_BASIC_REPL=1", "python3")
    terminals.append(terminal)
    terminal.until(">>> ")
    times_s = []
    for _ in range(2):
        terminal.type("import time; print(time.monotonic())\r")
        times_s.append(float(terminal.until("\r\n>>> ").split()[-2]))
        time.sleep(0.7)
    assert times_s[1] - times_s[0] < 0.1
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_program_that_reads_keys_runs_in_real_time(terminals: list[Terminal]) -> None:
    script = (
        "import sys, time, tty",
        "tty.setcbreak(0)",
        "began = time.monotonic()",
        "print('on', flush=True)",
        "sys.stdin.read(1)",
        "print('took', time.monotonic() - began, 's')",
    )
    terminal = Terminal("python3", "-c", "\n".join(script))
    terminals.append(terminal)
    terminal.until("on\r\n")
    began_s = time.monotonic()
    time.sleep(1)
    terminal.type("x")
    took_s = float(terminal.until(" s\r\n").split()[1])
    assert 0.5 < took_s < time.monotonic() - began_s + 0.5
    assert terminal.end() == 0


def test_an_interrupt_key_reaches_what_spins(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "echo on; sleep 1; while :; do :; done")
    terminals.append(terminal)
    terminal.until("on\r\n")
    time.sleep(0.5)
    terminal.type("\x03")
    assert terminal.end() == 130


def test_a_person_is_let_out(terminals: list[Terminal]) -> None:
    terminal = Terminal("sh", "-c", "trap '' INT QUIT; echo on; sleep 1; while :; do :; done")
    terminals.append(terminal)
    terminal.until("on\r\n")
    terminal.type("\x1c\x1c\x1c")
    terminal.until("the machine was ended by SIGQUIT")
    assert terminal.end() == 131


def test_a_terminal_that_closes_ends_it() -> None:
    terminal = Terminal("sh", "-c", "trap '' HUP; echo on; while :; do sleep 1; done")
    terminal.until("on\r\n")
    os.close(terminal.far)
    os.close(terminal.near)
    assert terminal.process.wait(READY_WITHIN_S) != 0


def test_nothing_is_typed_where_it_is_not_waited_for() -> None:
    given = b"sleep 10; timeout 10 cat\necho on\n"
    done = run("--typed", "--timeout", "100s", "bash", "--norc", given=given)
    assert done.stdout.split(b"\r\n")[1:3] == [b"bash-5.2# echo on", b"on"]
    assert done.returncode == 0


def test_what_nobody_types_for_is_ended_by_a_timeout() -> None:
    done = run("--typed", "--timeout", "100s", "cat", given=b"no line for cat\n")
    assert (done.stdout, done.returncode) == (b"", 124)


def test_the_end_of_the_lines_is_the_end_of_input() -> None:
    done = run("--typed", "bash", "--norc", given=b"sleep 1000\ndate +%s\nfalse\n")
    said = done.stdout.decode().replace("\r\n", "\n")
    assert said == (
        "bash-5.2# sleep 1000\nbash-5.2# date +%s\n1700001002\nbash-5.2# false\nbash-5.2# exit\n"
    )
    assert done.returncode == 1
