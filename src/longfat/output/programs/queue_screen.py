"""The live picture of `plot_q.sh` in a terminal, and the keys that end it."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.common.terminal_console import TerminalConsole
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.braille_chart import BrailleChart, Curve

if TYPE_CHECKING:
    from types import TracebackType

    from longfat.output.programs.queue_reader import Sample

_END_KEYS = b"sSqQ"
_WINDOW_S = 60.0
_MIN_ROWS = 6
# xterm's control sequences: the other screen, without a cursor, and back.
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J", "\x1b[?25h\x1b[?1049l"


class QueueScreen:
    """Draws samples in a terminal that reads key by key; use it as a context manager.

    Args:
        interface: the interface's name.
    """

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._times_s: list[float] = []
        self._backlogs: list[float] = []
        self._first_drops: int | None = None

    def __enter__(self) -> QueueScreen:
        self._modes = termios.tcgetattr(0)
        tty.setcbreak(0)
        _write(_ENTER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _write(_LEAVE)
        termios.tcsetattr(0, termios.TCSADRAIN, self._modes)

    def wait(self, timeout_s: float) -> bool:
        """Wait; return whether a key asks for the end.

        Args:
            timeout_s: the longest to wait, in seconds.
        """
        if not select.select([0], [], [], timeout_s)[0]:
            return False
        keys = os.read(0, 1024)
        return not keys or any(key in _END_KEYS for key in keys)

    def add(self, sample: Sample) -> None:
        """Add a sample; `draw` shows it."""
        self._times_s.append(sample.time_s)
        self._backlogs.append(sample.backlog_bytes)
        if self._first_drops is None:
            self._first_drops = sample.drops

    def draw(self, sample: Sample) -> None:
        """Draw the picture anew, with this sample as the current state."""
        columns, rows = os.get_terminal_size(1)
        console = TerminalConsole(width=columns, height=max(rows, _MIN_ROWS), force_terminal=True)
        start_s = max(0.0, sample.time_s - _WINDOW_S)
        chart = BrailleChart(
            curves=[Curve(times_s=self._times_s, values=self._backlogs, style="cyan")],
            unit=Unit.BYTES,
            start_s=start_s,
            end_s=max(sample.time_s, 1.0),
        )
        title = Text.assemble(
            (f"Queue of {self._interface}", "bold"), (f" ({sample.qdisc})", "dim"), no_wrap=True
        )
        backlog = format_quantity(sample.backlog_bytes, Unit.BYTES)
        drops = sample.drops - (self._first_drops or 0)
        state = Text.assemble(
            (backlog, "bold"),
            f" in {sample.backlog_packets:,} packets; dropped so far: {drops:,}",
            no_wrap=True,
        )
        hint = Text("s or Ctrl-C: stop, and save the picture", style="dim", no_wrap=True)
        with console.capture() as capture:
            for text in (title, state):
                text.truncate(max(1, columns - 1))
                console.print(text, overflow="crop", crop=True)
            console.print(chart, width=columns - 1, height=max(rows, _MIN_ROWS) - 3)
            console.print(hint, end="", overflow="crop", crop=True)
        lines = capture.get().split("\n")[:rows]
        _write("\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J")


def has_screen() -> bool:
    """Return whether this process is in the foreground of a terminal that can be drawn on."""
    if not (os.isatty(0) and os.isatty(1)) or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return os.tcgetpgrp(0) == os.getpgrp()


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
