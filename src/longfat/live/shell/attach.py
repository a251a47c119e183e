"""The process of a terminal that attaches to a session which another process holds."""

from __future__ import annotations

import os
import select
import signal
from typing import TYPE_CHECKING, Any

from longfat.errors import HostError, InputError, MachineError
from longfat.live.shell.connection import (
    ANSWER,
    END,
    HELLO,
    INPUT,
    OUTPUT,
    SIZE,
    VERSION,
    Wire,
    WireError,
    connect,
    fields_of,
)
from longfat.live.shell.terminal import Terminal, signal_descriptor

if TYPE_CHECKING:
    from collections.abc import Callable

_ANSWERS_WITHIN_S = 30.0
_ANSWERS_WITHIN_S = 2.0
_MAX_UNSENT_BYTES = 1 << 16


def session_info(name: str) -> dict[str, Any] | None:
    """Return information about a session: its nodes, terminals and virtual time.

    Args:
        name: its name.

    Returns:
        The fields name, pid, kernel, seed, hosts, switches, terminals and virtual_s;
        only the name if its process does not answer at once, None if there is no
        such session.
    """
    connection = connect(name)
    if connection is None:
        return None
    wire = Wire(connection)
    try:
        wire.send_json(HELLO, version=VERSION, do="describe")
        return _answer(wire, within_s=_ANSWERS_WITHIN_S)[0]
    except (WireError, TimeoutError):
        return {"name": name}
    finally:
        wire.close()


def attach(name: str, *, node: str, report: Callable[[str], None]) -> int:
    """Run a shell of a session in this terminal until it ends.

    Args:
        name: the session's name.
        node: the node of the shell.
        report: called with messages for the user, while the terminal is not raw.

    Returns:
        The shell's exit status; 0 if the session was ended.

    Raises:
        InputError: there is no such session, or no such node in it.
        MachineError: the session's machine, or its process, was ended.
        HostError: the session's process does not answer.
    """
    connection = connect(name)
    if connection is None:
        raise InputError(f"there is no session {name!r} (longfat attach --list shows them)")
    wire = Wire(connection)
    try:
        terminal = Terminal()
        rows, columns = terminal.size()
        wire.send_json(
            HELLO,
            version=VERSION,
            do="attach",
            node=node,
            rows=rows,
            columns=columns,
            term=terminal.term,
        )
        answer, first = _answer(wire, within_s=_ANSWERS_WITHIN_S)
        if "rejected" in answer:
            raise InputError(f"session {name}: {answer['rejected']}")
        report(f"{answer.get('node')} of {name}; Ctrl-D leaves it")
        with terminal, signal_descriptor() as signals:
            ending = _Attached(wire, terminal, signals).serve(first)
    except TimeoutError:
        raise HostError(
            f"the session {name} does not answer: its process is stopped or its machine is busy"
        ) from None
    except WireError:
        raise MachineError(
            f"the session {name} is gone: its process was killed, or dropped this terminal "
            "because it did not read its output"
        ) from None
    finally:
        wire.close()
    return _outcome(ending, report=report)


def _outcome(ending: dict[str, Any], *, report: Callable[[str], None]) -> int:
    status, words = ending.get("status"), ending.get("words")
    if not isinstance(status, int) or not isinstance(words, str):
        raise MachineError("the session's process sent an invalid ending")
    if words and status != 0:
        raise MachineError(words)
    if words:
        report(words)
    return status


def _answer(wire: Wire, *, within_s: float) -> tuple[dict[str, Any], list[tuple[bytes, bytes]]]:
    """Wait for the answer; return its fields, and the frames that came with it."""
    while select.select([wire], [], [], within_s)[0]:
        if frames := wire.receive():
            kind, payload = frames[0]
            if kind != ANSWER:
                raise WireError("the first frame is not an answer")
            return fields_of(payload), frames[1:]
    raise TimeoutError


class _Attached:
    """A terminal, while it is attached."""

    def __init__(self, wire: Wire, terminal: Terminal, signals: int) -> None:
        self._wire = wire
        self._terminal = terminal
        self._signals = signals
        self._ending: dict[str, Any] | None = None

    def serve(self, frames: list[tuple[bytes, bytes]]) -> dict[str, Any]:
        """Serve the terminal until its shell or the session ends.

        Args:
            frames: those received already.

        Returns:
            The ending's fields.

        Raises:
            WireError: the session's process is gone.
        """
        wire, terminal = self._wire, self._terminal
        self._show(frames)
        while self._ending is None:
            # A slow terminal is read slowly: the server then waits for us.
            reads = [terminal.reads, self._signals]
            if terminal.unsent_bytes < _MAX_UNSENT_BYTES:
                reads.append(wire.fileno())
            writes = [wire.fileno()] if wire.unsent_bytes else []
            writes += [terminal.writes] if terminal.unsent_bytes else []
            readable, writable, _ = select.select(reads, writes, [])
            if self._signals in readable:
                self._signalled()
            if terminal.is_gone or (terminal.reads in readable and not self._read_input()):
                return {"status": 0, "words": ""}
            if terminal.writes in writable:
                terminal.flush()
            if wire.fileno() in writable:
                wire.flush()
            if wire.fileno() in readable:
                self._show(wire.receive())
        return self._ending

    def _show(self, frames: list[tuple[bytes, bytes]]) -> None:
        for kind, payload in frames:
            if kind == OUTPUT:
                self._terminal.write(payload)
            elif kind == END:
                self._ending = fields_of(payload)

    def _read_input(self) -> bool:
        """Send what was typed; return whether to continue."""
        keys = self._terminal.read()
        if keys == b"" or (keys and self._terminal.is_quit(keys)):
            return False
        if keys:
            self._wire.send(INPUT, keys)
        return True

    def _signalled(self) -> None:
        if signal.SIGCONT in os.read(self._signals, 4096):
            self._terminal.make_raw()
        rows, columns = self._terminal.size()
        self._wire.send_json(SIZE, rows=rows, columns=columns)
