"""A terminal in raw mode: keys are passed to the guest unchanged, and it is restored at the end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import termios
import time
import tty
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType, TracebackType

_CHUNK = 1 << 16
_QUIT = 0x1C  # what Ctrl-\ gives in raw mode
_QUIT_TIMES, _QUIT_WITHIN_S = 3, 1.0

# The modes of full-screen programs, and sequences that reset them.
_ALTERNATE = re.compile(rb"\x1b\[\?(?:1049|1047|47)([hl])")
_MAX_SWITCH = 8
_LEAVE_ALTERNATE = b"\x1b[?1049l"
# Cursor shown, bracketed paste, mouse and application keys off, colours as they were.
_MAKE_PLAIN = b"\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1006l\x1b[?1l\x1b>\x1b[0m"


class Terminal:
    """The terminal of this process; it is in raw mode while the context lasts.

    Args:
        reads: a descriptor of the terminal.
        writes: the descriptor for output; a terminal or not.

    Attributes:
        term: the terminal's kind.
        is_gone: output is not possible any more.
    """

    def __init__(self, *, reads: int = 0, writes: int = 1) -> None:
        self.reads = reads
        self.writes = writes
        self._own: int | None = None
        self._modes: list[Any] = []
        self._unsent = bytearray()
        self._tail = b""
        self._in_alternate = False
        self._quits: list[float] = []
        self.is_gone = False
        self.term = os.environ.get("TERM", "dumb")

    def __enter__(self) -> Terminal:
        self._modes = termios.tcgetattr(self.reads)
        with contextlib.suppress(OSError):
            # A new open file description can be set to non-blocking mode without affecting
            # other processes with the same terminal, such as our shell.
            flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
            self._own = os.open(os.ttyname(self.writes), flags)
            self.writes = self._own
        self.make_raw()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The terminal itself may be gone, and then nothing needs to be restored.
        with contextlib.suppress(OSError, termios.error):
            if self._in_alternate:
                self._unsent += _LEAVE_ALTERNATE
            if self.term != "dumb":
                self._unsent += _MAKE_PLAIN
            if not self._tail.endswith(b"\n"):
                self._unsent += b"\r\n"
            self._drain(within_s=1.0)
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(self.reads, termios.TCSANOW, self._modes)
        if self._own is not None:
            os.close(self._own)

    def make_raw(self) -> None:
        """Put it into raw mode; again, after the process was stopped and continued."""
        # Pending input is kept.
        tty.setraw(self.reads, termios.TCSADRAIN)

    def size(self) -> tuple[int, int]:
        """Return the window's rows and columns; 24 and 80 if unknown."""
        try:
            answer = fcntl.ioctl(self.reads, termios.TIOCGWINSZ, bytes(8))
        except OSError:
            return 24, 80
        rows, columns = struct.unpack_from("HH", answer)
        return rows or 24, columns or 80

    def read(self) -> bytes | None:
        """Return what was typed; b"" if the terminal is gone, None if there is nothing."""
        try:
            return os.read(self.reads, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def is_quit(self, keys: bytes) -> bool:
        r"""Return whether the user wants to leave: Ctrl-\ three times within a second."""
        now_s = time.monotonic()
        for key in keys:
            self._quits = [*self._quits[1 - _QUIT_TIMES :], now_s] if key == _QUIT else []
        return len(self._quits) == _QUIT_TIMES and now_s - self._quits[0] <= _QUIT_WITHIN_S

    @property
    def unsent_bytes(self) -> int:
        """Return the number of pending bytes."""
        return len(self._unsent)

    def write(self, data: bytes) -> None:
        """Write output; what does not fit into the buffer is written with `flush`."""
        seen = self._tail + data
        for switch in _ALTERNATE.finditer(seen):
            self._in_alternate = switch[1] == b"h"
        self._tail = seen[-_MAX_SWITCH + 1 :]
        self._unsent += data
        self.flush()

    def flush(self) -> None:
        """Write pending output as far as possible."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self.writes, self._unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.is_gone = True
            self._unsent.clear()

    def _drain(self, *, within_s: float) -> None:
        end_s = time.monotonic() + within_s
        self.flush()
        while self._unsent and (left_s := end_s - time.monotonic()) > 0:
            select.select([], [self.writes], [], left_s)
            self.flush()


@contextlib.contextmanager
def signal_descriptor() -> Iterator[int]:
    """Report SIGWINCH and SIGCONT on a descriptor for as long as the context lasts.

    Yields:
        A non-blocking descriptor; each byte read there is a signal's number.
    """
    reads, writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signals = (signal.SIGWINCH, signal.SIGCONT)
    before = [signal.signal(number, _nothing) for number in signals]
    former = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    try:
        yield reads
    finally:
        signal.set_wakeup_fd(former)
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
        os.close(reads)
        os.close(writes)


def end_orderly() -> None:
    """Let SIGTERM and SIGHUP end this process with an orderly clean-up."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; without a handler, the signal would not wake us."""


def _end(number: int, _frame: FrameType | None) -> None:
    for other in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)
