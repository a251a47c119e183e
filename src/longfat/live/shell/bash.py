"""Bash in a live network: its start-up file, scripts that it runs, and the notes that it prints.

The start-up file contains the network's names, followed by `shell.bash`. All lines of a script
are read before the first is run: the time between them has no effect, so the same lines give
the same bytes.

A note is what a shell of ours reports to the host in its terminal's output. It is an operating
system command of xterm, so a terminal that does not support it shows nothing. `shell.bash`
prints them:

* `TIME NUMBER LINE`: a line was typed, at bash's EPOCHREALTIME, NUMBER in its history;
  only where `bashrc` was asked for such notes.
* `=STATUS`: the shell shows its prompt; STATUS is the exit status of the last command.
* `lint NODE NUMBER LINE`: a line with `tc`, `ip` or `sysctl` was typed; see
  `longfat.live.shell.typed_lint`.
* `skip`, `skip-own`: see `Skip`.
* `pace FACTOR`, `pace max`: see `SetPace`.
* `losses`, `losses new`: see `ShowLosses`.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR
from longfat.live.programs import SEARCH_PATH
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.live.shell.typed_lint import TypedLint
from longfat.live.shell.work_folder import HOME
from longfat.live.task import RejectedError
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from longfat.live import Network
    from longfat.model.network import Network as Model

PLACE = "/run/shell.bash"
"""Its path in the guest."""

PACE_PLACE = "/run/shell.pace"
"""The file in the guest with the pace of `longfat shell`, for the prompt."""

_TEXT = Path(__file__).with_name("shell.bash")

_FILE = "/run/stdin"
NOTE, NOTE_END = b"\x1b]7777;", b"\a"
_MAX_NOTE_BYTES = 4096


def bashrc(network: Model, *, session: str, notes: bool = False) -> str:
    """Return its text.

    Args:
        network: the network of the shells.
        session: the session's name for `longfat attach`; "" if attaching is not possible.
        notes: report each line that is typed, see `longfat.live.shell.bash`.
    """
    ends = zip(network.links, network.interfaces(), strict=True)
    words = {
        "_lf_start_s": str(START_OF_TIME_S),
        "_lf_rc": PLACE,
        "_lf_pace_file": "/dev/null" if notes else PACE_PLACE,
        "_lf_session": session,
        "_lf_notes": "yes" if notes else "",
    }
    lists = {
        "_lf_hosts": [host.name for host in network.hosts],
        "_lf_switches": [switch.name for switch in network.switches],
        "_lf_called": list(network.host_addresses()),
        "_lf_links": [
            f"{link.a} {names[0]} {link.b} {names[1]} {'; '.join(link.summary())}"
            for link, names in ends
        ],
    }
    lines = [f"{name}={shlex.quote(text)}" for name, text in words.items()]
    lines += [f"{name}=({_quoted(texts)})" for name, texts in lists.items()]
    return "\n".join(lines) + "\n\n" + _TEXT.read_text(encoding="utf-8")


def _quoted(texts: Iterable[str]) -> str:
    return " ".join(shlex.quote(text) for text in texts)


def environment(node: str, *, term: str | None = None) -> dict[str, str]:
    """Return the environment of a shell.

    Args:
        node: the node of the shell.
        term: the kind of its terminal, if it has one.
    """
    own = {"LONGFAT_NODE": node, "PATH": SEARCH_PATH}
    if term is not None:
        # A user may type non-ASCII characters.
        own |= {"TERM": term, "LC_ALL": "C.UTF-8"}
    return {**LIVE_ENVIRONMENT, **own}


def run_script(
    network: Network, script: bytes, *, node: str, folder: str, outputs: tuple[int, int]
) -> int:
    """Run a script to its end, as fast as the machine can unless the network has a pace.

    Args:
        network: the network, built.
        script: the lines.
        node: the host that it runs at, or another node for root.
        folder: its working directory, except at a host with a root of its own.
        outputs: descriptors for its output and its standard error.

    Returns:
        Its exit status, 128 + N after signal N.

    Raises:
        MachineError: the machine ended or stalls.
        BrokenPipeError: the reader of its output is gone.
    """
    session = network.session
    network.session.write_everywhere(PLACE, bashrc(network.model, session="").encode())
    network.session.write_everywhere(_FILE, script)
    lint = TypedLint(network.model, kernel=network.case().kernel)
    for text in lint.script_warnings(node, script.decode(errors="replace")):
        _write_all(outputs[1], f"longfat: {text}\n".encode())
    place = node if node in [host.name for host in network.model.hosts] else ROOT_NAMESPACE

    def show(is_error: bool, data: bytes) -> None:
        _write_all(outputs[is_error], data)
        session.leave()  # the machine may have had to wait for the reader

    task = session.start(
        ["bash", "--noprofile", _FILE],
        node=place,
        environment={**environment(place), "BASH_ENV": PLACE},
        folder=HOME if place in network.model.roots else folder,
        on_output=show,
    )
    session.run_until(ended=[task])
    if task.status is None:
        raise RejectedError("the script was held before its end")
    return task.status if task.status >= 0 else 128 - task.status


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _show_nothing(note: bytes) -> bytes:
    del note
    return b""


class NoteReader:
    """Separates the notes from a terminal's output.

    Args:
        answer: returns what is shown in the place of a note.
    """

    def __init__(self, answer: Callable[[bytes], bytes] = _show_nothing) -> None:
        self._partial = b""
        self._answer = answer

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
            shown += self._answer(notes[-1])
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


@dataclass(frozen=True, slots=True)
class ShowLosses:
    """Show where packets were lost, in the place of the note.

    Attributes:
        new: only those since they were shown last.
    """

    new: bool


def losses_request(note: bytes) -> ShowLosses | None:
    """Return what a note asks of the ledger of losses; None if it is another note."""
    return {b"losses": ShowLosses(new=False), b"losses new": ShowLosses(new=True)}.get(note)


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
