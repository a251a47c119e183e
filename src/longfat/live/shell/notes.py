"""Notes: what a shell of ours reports to the host, in its terminal's output.

A note is an operating system command of xterm, so a terminal that does not support it
shows nothing. `shell.bash` prints them:

* `TIME NUMBER LINE`: a line was typed, at bash's EPOCHREALTIME, NUMBER in its history;
  only where `bashrc` was asked for such notes.
* `=STATUS`: the shell shows its prompt; STATUS is the exit status of the last command.
* `skip`, `skip-own`: see `Skip`.
* `pace FACTOR`, `pace max`: see `SetPace`.
"""

from __future__ import annotations

from dataclasses import dataclass

from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR

NOTE, NOTE_END = b"\x1b]7777;", b"\a"

_MAX_NOTE_BYTES = 4096


class NoteReader:
    """Separates the notes from a terminal's output."""

    def __init__(self) -> None:
        self._partial = b""

    def read(self, data: bytes) -> tuple[bytes, list[bytes]]:
        """Return the output without the notes, and the notes.

        Args:
            data: new output; an incomplete note at its end is kept for the next call.
        """
        data = self._partial + data
        self._partial = b""
        shown = bytearray()
        notes: list[bytes] = []
        at = 0
        while (start := data.find(NOTE, at)) >= 0:
            shown += data[at:start]
            end = data.find(NOTE_END, start, start + _MAX_NOTE_BYTES)
            if end < 0 and len(data) - start < _MAX_NOTE_BYTES:
                self._partial = data[start:]
                return bytes(shown), notes
            if end < 0:  # not from its shell
                shown += NOTE
                at = start + len(NOTE)
                continue
            notes.append(data[start + len(NOTE) : end])
            at = end + len(NOTE_END)
        begun = next((n for n in range(len(NOTE) - 1, 0, -1) if data.endswith(NOTE[:n], at)), 0)
        end = len(data) - begun
        self._partial = data[end:]
        shown += data[at:end]
        return bytes(shown), notes


@dataclass(frozen=True, slots=True)
class Skip:
    """Let time pass as fast as possible until a command ends.

    Attributes:
        own: that is the command that asks; else one at another terminal, and a second request
            ends the first one.
    """

    own: bool


@dataclass(frozen=True, slots=True)
class SetPace:
    """Change the pace.

    Attributes:
        factor: virtual seconds per second of wall time; None for as fast as possible.
    """

    factor: float | None


def clock_request(note: bytes) -> Skip | SetPace | None:
    """Return what a note asks of the clock; None if it is another or an invalid note."""
    match note.split(b" "):
        case [b"skip"]:
            return Skip(own=False)
        case [b"skip-own"]:
            return Skip(own=True)
        case [b"pace", text]:
            try:
                return SetPace(read_pace(text.decode("ascii")))
            except ValueError:
                return None
    return None


def read_pace(text: str) -> float | None:
    """Return a pace that a person typed: a factor, or None for `max`.

    Raises:
        ValueError: it is neither.
    """
    if text == "max":
        return None
    factor = float(text)
    if not MIN_FACTOR <= factor <= MAX_FACTOR:
        raise ValueError(text)
    return factor


def format_pace(factor: float | None) -> str:
    """Return a pace as `read_pace` reads it."""
    return "max" if factor is None else f"{factor:g}"
