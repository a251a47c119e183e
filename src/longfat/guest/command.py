"""A command that the host had started: its process, its pipes or its terminal.

What it writes is read as soon as it is written, since the agent runs before
all others; nothing is lost when it ends.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import struct
import termios

from longfat.guest.nodes import Nodes
from longfat.guest.shell import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OUTPUT, ERRORS = b"1", b"2"

_PRIORITY = 10
_CHUNK = 65536
_NOT_FOUND, _NOT_STARTED = 127, 126
_NO_TEXT = "a command cannot hold a NUL character, or half of a surrogate pair"
# The terminal's own keys that readline switches off. The pager less of 2024
# switches off more than these.
_READLINE_TAKES = (termios.VLNEXT, termios.VDISCARD)
_READLINE_LEAVES = (termios.VSTART, termios.VSTOP)
_SHELLS = ("bash", "sh", "dash", "zsh", "ksh", "fish")


class CommandRejected(Exception):  # noqa: N818  an answer to the host, more than an error of ours
    """A command cannot be started; `status` is what a shell would exit with."""

    def __init__(self, words: str, *, status: int) -> None:
        super().__init__(words)
        self.words = words
        self.status = status


class Command:
    """A command, started.

    Args:
        number: what the host calls it.
        order: argv, node, `rooted` (it runs with the host's own root), environment, folder ("" for
            where the programs of that start), and either `terminal`, as rows and
            columns, or `input` (whether it will get any), `asks` (the host is asked
            for it) and `merge` (its errors go with its output).
        nodes: where it can run.

    Attributes:
        is_asking: the host is asked for input, and has not answered yet.
        may_ask: the host may have input which it has not sent.

    Raises:
        CommandRejected: it cannot be started.
    """

    def __init__(self, number: int, order: dict[str, Any], *, nodes: Nodes) -> None:
        self.number = number
        self.status: int | None = None
        self.outputs: dict[int, bytes] = {}
        self._input: int | None = None
        self._unwritten = b""
        self._ends_input = False
        self.is_asking = False
        self.may_ask: bool = order["asks"]
        self.terminal: int | None = None
        self._had_terminal = order["terminal"] is not None
        try:
            with nodes.inside(order["node"], rooted=order["rooted"]):
                self.pid = self._start(order)
        except KeyError as error:
            raise CommandRejected(f"there is no host {error}", status=_NOT_STARTED) from None

    def _start(self, order: dict[str, Any]) -> int:
        argv: list[str] = order["argv"]
        environment: dict[str, str] = order["environment"]
        try:
            if order["rooted"]:
                from longfat.guest.roots import without_shell  # noqa: PLC0415  it is loaded by now

                argv = without_shell(argv)
            if order["folder"]:
                os.chdir(order["folder"])
        except OSError as error:
            words = f"{order['folder']}: {error.strerror}"
            raise CommandRejected(words, status=_NOT_STARTED) from None
        except ValueError:
            raise CommandRejected(_NO_TEXT, status=_NOT_STARTED) from None
        try:
            program = find_program(argv[0], path=environment.get("PATH", os.defpath))
            if program is None:
                raise CommandRejected(f"{argv[0]}: command not found", status=_NOT_FOUND)
            with contextlib.ExitStack() as far:
                actions = self._terminal(order) if order["terminal"] else self._pipes(order, far)
                return os.posix_spawn(
                    program,
                    argv,
                    environment,
                    file_actions=actions,
                    setsid=True,
                    setsigmask=[],
                    setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
                    scheduler=(os.SCHED_RR, os.sched_param(_PRIORITY)),
                )
        except OSError as error:
            self.close()
            status = _NOT_FOUND if error.errno == errno.ENOENT else _NOT_STARTED
            words = f"{error.filename or argv[0]}: {error.strerror}"
            raise CommandRejected(words, status=status) from None
        except ValueError:
            self.close()
            raise CommandRejected(_NO_TEXT, status=_NOT_STARTED) from None
        finally:
            os.chdir("/")

    def _terminal(self, order: dict[str, Any]) -> list[tuple[Any, ...]]:
        self.terminal, slave = os.openpty()
        name = os.ttyname(slave)
        self._keep(self.terminal, OUTPUT)
        self._input = self.terminal
        self.resize(*order["terminal"])
        os.close(slave)
        # Opened by the leader of a session, it becomes the session's terminal.
        opened = (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0)
        return [opened, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]

    def _pipes(self, order: dict[str, Any], far: contextlib.ExitStack) -> list[tuple[Any, ...]]:
        if order["input"]:
            stdin, self._input = os.pipe()
            os.set_blocking(self._input, False)
        else:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        far.callback(os.close, stdin)
        near, stdout = os.pipe()
        far.callback(os.close, stdout)
        self._keep(near, OUTPUT)
        stderr = stdout
        if not order["merge"]:
            near, stderr = os.pipe()
            far.callback(os.close, stderr)
            self._keep(near, ERRORS)
        places = enumerate((stdin, stdout, stderr))
        return [(os.POSIX_SPAWN_DUP2, source, place) for place, source in places]

    def _keep(self, near: int, kind: bytes) -> None:
        os.set_blocking(near, False)
        self.outputs[near] = kind

    def read(self, descriptor: int) -> bytes | None:
        """Return what it wrote to one of `outputs`: b"" at its end, None where there is nothing."""
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""  # a terminal that nobody has open any more

    def drop(self, descriptor: int) -> None:
        """Close one of `outputs`, which has come to its end."""
        self.outputs.pop(descriptor)
        if descriptor == self.terminal:
            self._input = self.terminal = None
        os.close(descriptor)

    def write(self, data: bytes) -> int | None:
        """Give it more input, or the end of it, if there is no data.

        Returns:
            A descriptor that must be waited for before the rest can be given (see
            `flush`); None if all was given.
        """
        if not data and self.terminal is None:
            self._ends_input = True
        self._unwritten += data
        return self.flush()

    def flush(self) -> int | None:
        """Give it the rest of its input; see `write`."""
        if self._input is None:
            self._unwritten = b""
            return None
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[os.write(self._input, self._unwritten) :]
        except BlockingIOError:
            return self._input
        except OSError:
            self._unwritten = b""  # it reads no more
            self._ends_input = self.terminal is None
        if self._ends_input:
            os.close(self._input)
            self._input = None
        return None

    @property
    def wants_input(self) -> bool:
        """Return whether the host may have input for it, and it has room."""
        return self.may_ask and self._input is not None and not self._unwritten

    def resize(self, rows: int, columns: int) -> None:
        """Tell its terminal the window's size."""
        if self.terminal is not None:
            size = struct.pack("HHHH", rows, columns, 0, 0)
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, size)

    def signal(self, number: int) -> None:
        """Send a signal to all of its process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    @property
    def at_prompt(self) -> bool:
        """Return whether it has had no terminal, or somebody waits there for a line to be typed.

        That is a shell in the foreground, this one or one started from it, or
        another program with readline, and it reads key by key: a program that a
        shell runs is a group of its own, and a shell that is busy leaves the
        terminal as it was.
        """
        if self.status is not None or not self._had_terminal:
            return True
        return self._reads_lines() is True

    @property
    def takes_keys(self) -> bool:
        """Return whether a program reads its terminal key by key, but no line."""
        return self._reads_lines() is False

    def _reads_lines(self) -> bool | None:
        """Return whether lines are edited at its terminal; None if that is not read by keys."""
        if self.terminal is None or self.status is not None:
            return None
        try:
            modes = termios.tcgetattr(self.terminal)
            if modes[3] & termios.ICANON:
                return None
            off = {key for key in _READLINE_TAKES + _READLINE_LEAVES if modes[6][key] == b"\0"}
            if off == set(_READLINE_TAKES):
                return True
            return self._is_shell(os.tcgetpgrp(self.terminal))
        except (OSError, termios.error):
            return None

    def _is_shell(self, group: int) -> bool:
        try:
            with open(f"/proc/{group}/comm", encoding="utf-8", errors="replace") as file:
                return file.read().strip() in _SHELLS
        except OSError:
            return False

    def close(self) -> None:
        """Close all that is open."""
        for descriptor in list(self.outputs):
            self.drop(descriptor)
        if self._input is not None:
            os.close(self._input)
            self._input = None
