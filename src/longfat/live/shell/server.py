"""The process of a session: it serves its terminals and lets time pass for them.

It accepts connections of other processes: terminals that attach, and queries.
"""

from __future__ import annotations

import functools
import os
import re
import selectors
import signal
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from longfat.errors import ExitCode, InputError, LongfatError
from longfat.live.shell.bash import (
    PACE_PLACE,
    PLACE,
    SetPace,
    ShowLosses,
    Skip,
    bashrc,
    environment,
    format_pace,
)
from longfat.live.shell.clients import Gone, OwnScreen, RemoteTerminal, TerminalClient
from longfat.live.shell.clock_controller import REAL_TIME, ClockController
from longfat.live.shell.connection import (
    ANSWER,
    HELLO,
    VERSION,
    Wire,
    WireError,
    fields_of,
    is_own,
    published,
    size_of,
)
from longfat.live.shell.terminal import Terminal, signal_descriptor
from longfat.live.shell.typed_lint import TypedLint
from longfat.live.shell.work_folder import HOME
from longfat.live.task import RejectedError
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    import socket

    from longfat.analysis.losses import Loss
    from longfat.live import Network
    from longfat.live.shell.clients import Screen

_TERM = re.compile(r"[A-Za-z0-9._+-]{1,64}")

SHELL = ("bash", "--noprofile", "--rcfile", PLACE, "-i")

SKIP_KEY = b"\x1d"
"""Ctrl-], which few programs use: telnet for its own prompt, readline to find a character."""

_SKIP_BEGINS = b"\r\n[full speed until a command ends; Ctrl-] again for real time]\r\n"
_SKIP_ENDS = b"\r\n[real time]\r\n"
_LOOK_EVERY_S = 0.25
# A terminal with this much pending output gets no more; the machine waits for it.
_MAX_UNSENT_BYTES = 1 << 18
# So long the others wait for one that attached and does not read its output.
_WAITS_FOR_FAR_S = 10.0


FormatLosses = Callable[[Sequence["Loss"], int], str]
"""Returns the text about losses for a terminal with so many columns."""


def describe_losses(losses: Sequence[Loss], _columns: int) -> str:
    """Return a sentence about each loss."""
    return "".join(f"{loss.sentence}\n" for loss in losses) or "No packet was lost.\n"


def hold(
    network: Network,
    *,
    name: str,
    node: str,
    folder: str,
    factor: float | None = REAL_TIME,
    welcome: Callable[[str], None],
    format_losses: FormatLosses = describe_losses,
) -> int:
    """Hold a session until the shell in this process's terminal ends.

    Args:
        network: the network, built.
        name: the name of the session, so that others can attach to it.
        node: the node of the shell in this terminal.
        folder: the working directory of shells, except at hosts with roots of their own.
        factor: virtual seconds in a second of wall time, while a command is in the foreground of
            a terminal; full speed, if None.
        welcome: called with the session's name before the terminal is put into raw mode.
        format_losses: returns the text about losses for a terminal with so many columns.

    Returns:
        The shell's exit status.

    Raises:
        InputError: there is no such node.
        MachineError: the machine ended or stalls.
        HostError: the folder of sessions cannot be used.
    """
    with published(name) as (listener, called), selectors.EpollSelector() as selector:
        network.session.write_everywhere(PLACE, bashrc(network.model, session=called).encode())
        holder = _Holder(
            network,
            name=called,
            folder=folder,
            selector=selector,
            factor=factor,
            format_losses=format_losses,
        )
        holder.listen(listener)
        place = holder.place(node)
        welcome(called)
        with Terminal() as terminal, signal_descriptor() as signals:
            return holder.serve(terminal, signals=signals, place=place)


class _Holder:
    """The terminals of a session."""

    def __init__(
        self,
        network: Network,
        *,
        name: str,
        folder: str,
        selector: selectors.EpollSelector,
        factor: float | None,
        format_losses: FormatLosses,
    ) -> None:
        self._network = network
        self._format_losses = format_losses
        self._session = network.session
        self._name = name
        self._folder = folder
        self._selector = selector
        self._clock = ClockController(network.session, factor=factor)
        self._show_pace(factor)
        self._clients: list[TerminalClient] = []
        self._is_quit = False

    def place(self, node: str) -> str:
        """Return where a node's commands run: its own namespace, or `ROOT_NAMESPACE`.

        Raises:
            RejectedError: there is no such node.
        """
        model = self._network.model
        hosts = [host.name for host in model.hosts]
        others = [ROOT_NAMESPACE, *(switch.name for switch in model.switches)]
        if node not in (*others, *hosts):
            there = ", ".join((*others, *hosts))
            raise RejectedError(f"there is no node {node!r} (there are: {there})")
        return node if node in hosts else ROOT_NAMESPACE

    def listen(self, listener: socket.socket) -> None:
        """Let terminals attach."""
        acceptor = _Acceptor(self)
        self.on(listener.fileno(), lambda: acceptor.accept(listener))

    def serve(self, terminal: Terminal, *, signals: int, place: str) -> int:
        """Serve all terminals until the shell in this process's own ends; see `hold`."""
        rows, columns = terminal.size()
        screen = OwnScreen(terminal)
        own = self.start_shell(screen, place, rows=rows, columns=columns, term=terminal.term)
        self.on(signals, lambda: self._signalled(own, terminal, signals))
        words, status = f"the session {self._name} has ended", 0
        try:
            while own.task.status is None and not (self._is_quit or screen.is_gone):
                self._turn()
        except LongfatError as error:
            words, status = str(error), error.exit_code
            raise
        finally:
            for client in self._clients[:]:
                self._disconnect(client, status=status, words=words)
        return _exit_status(own.task.status)

    # ---------------------------------------------------------------- events

    def on(self, descriptor: int, do: Callable[[], None], *, writes: bool = False) -> None:
        """Call a function whenever a descriptor is readable, or writable."""
        event = selectors.EVENT_WRITE if writes else selectors.EVENT_READ
        self._selector.register(descriptor, event, do)

    def off(self, descriptor: int) -> None:
        """Remove the function of a descriptor."""
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _turn(self) -> None:
        """Wait for events and handle them."""
        if any(client.screen.unsent_bytes > _MAX_UNSENT_BYTES for client in self._clients):
            self._session.leave()
            events = self._selector.select(_LOOK_EVERY_S)
        else:
            self._clock.resume()
            self._session.wait(_LOOK_EVERY_S, also=[self._selector.fileno()])
            events = self._selector.select(0)
        for key, _ in events:
            # An earlier event may have removed it.
            if self._selector.get_map().get(key.fd) == key:
                key.data()
        for client in self._clients[:]:
            while client.requests:
                self._handle(client, client.requests.popleft())
            if client.task.status is not None:
                self._end_client(client, status=_exit_status(client.task.status), words="")
            else:
                self._check_flow(client)

    def _signalled(self, own: TerminalClient, terminal: Terminal, signals: int) -> None:
        numbers = os.read(signals, 4096)
        if signal.SIGCONT in numbers:
            terminal.make_raw()
        rows, columns = terminal.size()
        self._session.resize(own.task, rows, columns)
        own.columns = columns
        self._clock.wake()

    # ------------------------------------------------------------- terminals

    def start_shell(
        self, screen: Screen, place: str, *, rows: int, columns: int, term: str
    ) -> TerminalClient:
        """Start a shell in a terminal.

        Args:
            screen: the terminal.
            place: the node, see `place`.
            rows: the window's size.
            columns: likewise.
            term: the terminal's kind.

        Raises:
            RejectedError: it cannot be started.
        """
        task = self._session.start(
            SHELL,
            node=place,
            environment=environment(place, term=term),
            folder=HOME if place in self._network.model.roots else self._folder,
            terminal=(rows, columns),
        )
        lint = TypedLint(self._network.model, kernel=self._network.case().kernel)
        client = TerminalClient(node=place, screen=screen, task=task, lint=lint, columns=columns)
        self._clients.append(client)
        self.on(screen.reads, functools.partial(self._read_input, client))
        self._clock.wake()
        return client

    def _read_input(self, client: TerminalClient) -> None:
        """Process input from a terminal."""
        try:
            for received in client.screen.read():
                if isinstance(received, bytes):
                    self._type(client, received)
                else:
                    self._session.resize(client.task, *received)
                    client.columns = received[1]
                self._clock.wake()
        except Gone:
            if isinstance(client.screen, OwnScreen):
                self._is_quit = True
            else:
                self._end_client(client, status=0, words="")

    def _type(self, client: TerminalClient, keys: bytes) -> None:
        """Pass on keys, but for `SKIP_KEY` while a program runs that does not read it."""
        if SKIP_KEY in keys and self._session.terminal_state(client.task) == "running":
            client.screen.write(_SKIP_ENDS if self._clock.is_skipping else _SKIP_BEGINS)
            self._toggle_skip()
            keys = keys.replace(SKIP_KEY, b"")
        if keys:
            self._session.write_stdin(client.task, keys)

    def _handle(self, client: TerminalClient, request: Skip | SetPace | ShowLosses) -> None:
        """Do what a shell asks for."""
        if isinstance(request, ShowLosses):
            client.answer(self._losses(client, new=request.new))
        elif isinstance(request, SetPace):
            self._clock.set_factor(request.factor)
            self._show_pace(request.factor)
        elif request.own:
            self._clock.skip([client.task])
        else:
            self._toggle_skip(asks=client)

    def _losses(self, client: TerminalClient, *, new: bool) -> str:
        try:
            return self._format_losses(self._network.losses(new=new), client.columns)
        except InputError as error:
            return f"longfat: {error}\n"

    def _toggle_skip(self, *, asks: TerminalClient | None = None) -> None:
        """Skip to the end of the first command that ends, or stop doing so.

        Args:
            asks: the terminal whose command asks, and is not waited for.
        """
        if self._clock.is_skipping:
            self._clock.skip(())
            return
        tasks = [client.task for client in self._clients if client is not asks]
        self._clock.skip([task for task in tasks if not self._session.at_prompt(task)])

    def _show_pace(self, factor: float | None) -> None:
        """Let the prompts show the pace."""
        self._session.write_everywhere(PACE_PLACE, f"{format_pace(factor)}\n".encode())
        self._clock.wake()

    def _check_flow(self, client: TerminalClient) -> None:
        """Write pending output, and drop terminals that have not read theirs for too long."""
        screen = client.screen
        if not screen.unsent_bytes:
            self.off(screen.writes)
            client.full_since_s = None
            return
        if screen.writes not in self._selector.get_map():
            self.on(screen.writes, screen.flush, writes=True)
        if screen.unsent_bytes <= _MAX_UNSENT_BYTES:
            client.full_since_s = None
        elif client.full_since_s is None:
            client.full_since_s = time.monotonic()
        elif time.monotonic() - client.full_since_s > _WAITS_FOR_FAR_S and isinstance(
            screen, RemoteTerminal
        ):
            self._end_client(client, status=0, words="it did not read its output")

    def _end_client(self, client: TerminalClient, *, status: int, words: str) -> None:
        """Remove a client; its shell, if it is still running, loses its terminal and so ends."""
        self._disconnect(client, status=status, words=words)
        self._session.forget(client.task)
        self._clock.wake()

    def _disconnect(self, client: TerminalClient, *, status: int, words: str) -> None:
        self._clients.remove(client)
        self.off(client.screen.reads)
        self.off(client.screen.writes)
        client.screen.end(status=status, words=words)
        client.screen.close()

    def about(self) -> dict[str, Any]:
        """Return the session's description; see `longfat.live.shell.attach.session_info`."""
        case = self._network.case()
        return {
            "name": self._name,
            "pid": os.getpid(),
            "kernel": case.kernel,
            "seed": case.seed,
            "hosts": [host.name for host in case.network.hosts],
            "switches": [switch.name for switch in case.network.switches],
            "terminals": [client.node for client in self._clients],
            "virtual_s": self._session.now_s,
        }


class _Acceptor:
    """Accepts connections and answers their first frame."""

    def __init__(self, holder: _Holder) -> None:
        self._holder = holder

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, and read its first frame when it comes."""
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # it has disconnected
        if not is_own(connection):
            connection.close()
            return
        wire = Wire(connection)
        self._holder.on(wire.fileno(), functools.partial(self._greet, wire))

    def _greet(self, wire: Wire) -> None:
        """Read the first frame of a connection, and act on it."""
        try:
            frames = wire.receive()
            if not frames:
                return
            self._holder.off(wire.fileno())
            kind, payload = frames[0]
            if kind != HELLO:
                raise WireError("the first frame is not a greeting")
            self._answer(wire, fields_of(payload))
        except WireError:
            self._holder.off(wire.fileno())
            wire.close()

    def _answer(self, wire: Wire, hello: dict[str, Any]) -> None:
        rejected = ""
        if hello.get("version") != VERSION:
            rejected = "it was started by another version of longfat"
        elif hello.get("do") == "attach":
            try:
                self._attach(wire, hello)
            except RejectedError as error:
                rejected = str(error)
            else:
                return
        if rejected:
            wire.send_json(ANSWER, rejected=rejected)
        else:
            wire.send_json(ANSWER, **self._holder.about())
        wire.close()

    def _attach(self, wire: Wire, hello: dict[str, Any]) -> None:
        rows, columns = size_of(hello)
        node, term = hello.get("node"), hello.get("term")
        if not isinstance(node, str) or not isinstance(term, str) or not _TERM.fullmatch(term):
            raise WireError("a greeting is incomplete")
        place = self._holder.place(node)
        wire.send_json(ANSWER, node=place)
        self._holder.start_shell(RemoteTerminal(wire), place, rows=rows, columns=columns, term=term)


def _exit_status(status: int | None) -> int:
    """Return the exit status in a shell's form: None is that of a shell which was cut off."""
    if status is None:
        return ExitCode.INTERRUPTED
    return status if status >= 0 else 128 - status
