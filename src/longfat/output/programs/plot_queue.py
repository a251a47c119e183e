"""`plot_q.sh INTERFACE [SECONDS]`: a queue over time, in the terminal and then as files.

It samples every 100 ms of virtual time until a key, a signal or so many seconds end it, and
writes the samples and their figure into the working directory.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import time
import tty
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.common.terminal_console import TerminalConsole
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.braille_chart import BrailleChart, Curve
from longfat.output.programs.paths import check_arguments, path_outside, print_error, run
from longfat.output.programs.queue_reader import QueueReader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from longfat.output.programs.queue_reader import Sample

_NAME = "plot_q.sh"
_USAGE = "plot_q.sh INTERFACE [SECONDS]"
_EVERY_S = 0.1
_TICKS_PER_FRAME = 2
_SHOW_OUTPUT_S = 0.001
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
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


def main(arguments: list[str]) -> int:
    """Run it with these arguments; return its exit status."""
    return run(_NAME, lambda: _plot(arguments))


def _plot(arguments: list[str]) -> int:
    check_arguments(arguments, _USAGE, counts=(1, 2))
    interface = arguments[0]
    limit_s = _seconds(arguments[1]) if len(arguments) > 1 else None
    reader = QueueReader(interface, node=os.environ.get("LONGFAT_NODE", "this node"))
    samples = _record(reader, interface, limit_s=limit_s)
    for number in _ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)  # the samples are to be written
    if not samples:
        print_error(_NAME, f"{interface} has no queue")
        return 1
    _print_summary(samples, interface)
    # Output is shown when a process sleeps; drawing takes seconds, and no virtual time.
    sys.stdout.flush()
    time.sleep(_SHOW_OUTPUT_S)
    print(", ".join(_write_files(samples, interface)))
    if (folder := path_outside(".")) is not None:
        print(f"on your computer: {folder}")
    return 0


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise InputError(f"{text!r} is no positive number of seconds; usage: {_USAGE}")
    return value


class _StopError(Exception):
    """A signal asks for the end."""


def _stop(_signal: int, _frame: object) -> None:
    for number in _ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise _StopError


def _record(reader: QueueReader, interface: str, *, limit_s: float | None) -> list[Sample]:
    """Sample a queue until the user ends it or the interface is removed.

    Args:
        reader: reads it.
        interface: its interface.
        limit_s: the longest to sample, in seconds of virtual time; None without a limit.
    """
    samples: list[Sample] = []
    with contextlib.ExitStack() as stack:
        screen = stack.enter_context(QueueScreen(interface)) if has_screen() else None
        stack.enter_context(contextlib.suppress(_StopError))
        for number in _ENDING_SIGNALS:
            signal.signal(number, _stop)
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # a stopped one would keep the screen
        tick, start_s = 0, time.monotonic()
        while (sample := reader.read(tick * _EVERY_S)) is not None:
            samples.append(sample)
            if screen is not None:
                screen.add(sample)
                if tick % _TICKS_PER_FRAME == 0:
                    screen.draw(sample)
            tick = max(tick + 1, int((time.monotonic() - start_s) / _EVERY_S))
            if limit_s is not None and tick * _EVERY_S > limit_s + _EVERY_S / 2:
                break
            if _wait(screen, start_s + tick * _EVERY_S):
                break
    return samples


def _wait(screen: QueueScreen | None, until_s: float) -> bool:
    """Wait until a time of the monotonic clock; return whether a key asks for the end."""
    while (left_s := until_s - time.monotonic()) > 0:
        if screen is None:
            time.sleep(left_s)
        elif screen.wait(left_s):
            return True
    return False


def _write_files(samples: Sequence[Sample], interface: str) -> list[str]:
    """Write the samples and the figure; return the names of the files.

    Raises:
        InputError: they cannot be written.
    """
    # It takes a second to load, which nobody has to wait for before the first picture.
    from longfat.output.programs.queue_figure import write_figure  # noqa: PLC0415

    name = f"{interface}-queue"
    data = Path(f"{name}.dat")
    lines = ["# time_s backlog_bytes backlog_packets drops"]
    lines += [
        f"{sample.time_s:.1f} {sample.backlog_bytes} {sample.backlog_packets} {sample.drops}"
        for sample in samples
    ]
    try:
        data.write_text("\n".join([*lines, ""]), encoding="ascii")
    except OSError as error:
        raise InputError(f"{data}: cannot be written: {error.strerror}") from None
    figures = write_figure(samples, name=name, interface=interface, out=Path())
    return [data.name, *(path.name for path in figures)]


def _print_summary(samples: Sequence[Sample], interface: str) -> None:
    backlogs = [sample.backlog_bytes for sample in samples]
    mean = format_quantity(sum(backlogs) / len(backlogs), Unit.BYTES)
    peak = format_quantity(max(backlogs), Unit.BYTES)
    print(
        f"{interface}: {len(samples)} samples in {samples[-1].time_s:.1f} s;"
        f" queue: mean {mean}, peak {peak}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
