"""The process that holds a session: it serves its terminals and lets time pass for them."""

from __future__ import annotations

import functools
import os
import selectors
import signal
import time
from typing import TYPE_CHECKING, Any

from longfat.errors import ExitCode, LongfatError
from longfat.live.session import RefusedError
from longfat.live.shell.bashrc import PLACE, bashrc, environment
from longfat.live.shell.clients import Gone, OwnScreen, RemoteTerminal, TerminalClient
from longfat.live.shell.clock_controller import ClockController
from longfat.live.shell.listener import Door
from longfat.live.shell.registry import published
from longfat.live.shell.terminal import Terminal, signals_told
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from longfat.live import Network
    from longfat.live.shell.clients import Screen

SHELL = ("bash", "--noprofile", "--rcfile", PLACE, "-i")

_HOME = "/root"
_LOOK_EVERY_S = 0.25
# A terminal that has so much to show yet gets no more; the machine waits for it.
_MOST_UNSENT_BYTES = 1 << 18
# So long the others wait for one that attached and does not take what it is sent.
_WAITS_FOR_FAR_S = 10.0


def hold(
    network: Network,
    *,
    name: str,
    node: str,
    factor: float | None,
    welcome: Callable[[str], None],
) -> int:
    """Hold a session until the shell in this process's terminal ends.

    Args:
        network: the network, built.
        name: what to call the session, so that others can attach to it.
        node: the node of the shell in this terminal.
        factor: the pace, see `ClockController`.
        welcome: called with the session's name before the terminal is made raw.

    Returns:
        The shell's exit status.

    Raises:
        InputError: there is no such node.
        MachineError: the machine ended or stalls.
        HostError: the folder of sessions cannot be used.
    """
    with published(name) as (listener, called), selectors.EpollSelector() as selector:
        network.session.write_everywhere(PLACE, bashrc(network.model, session=called).encode())
        holder = _Holder(network, name=called, selector=selector, factor=factor)
        holder.listen(listener)
        place = holder.place(node)
        welcome(called)
        with Terminal() as terminal, signals_told() as told:
            return holder.serve(terminal, told=told, place=place)


class _Holder:
    """The terminals of a session."""

    def __init__(
        self,
        network: Network,
        *,
        name: str,
        selector: selectors.EpollSelector,
        factor: float | None,
    ) -> None:
        self._network = network
        self._session = network.session
        self._name = name
        self._selector = selector
        self._clock = ClockController(network.session, factor=factor)
        self._seats: list[TerminalClient] = []
        self._is_quit = False

    def place(self, node: str) -> str:
        """Return where a node's commands run: its own namespace, or `ROOT_NAMESPACE`.

        Raises:
            RefusedError: there is no such node.
        """
        model = self._network.model
        hosts = [host.name for host in model.hosts]
        others = [ROOT_NAMESPACE, *(switch.name for switch in model.switches)]
        if node not in (*others, *hosts):
            there = ", ".join((*others, *hosts))
            raise RefusedError(f"there is no node {node!r} (there are: {there})")
        return node if node in hosts else ROOT_NAMESPACE

    def listen(self, listener: socket.socket) -> None:
        """Let terminals attach."""
        door = Door(self)
        self.on(listener.fileno(), lambda: door.accept(listener))

    def serve(self, terminal: Terminal, *, told: int, place: str) -> int:
        """Serve all terminals until the shell in this process's own ends; see `hold`."""
        rows, columns = terminal.size()
        screen = OwnScreen(terminal)
        own = self.sit(screen, place, rows=rows, columns=columns, term=terminal.term)
        self.on(told, lambda: self._signalled(own, terminal, told))
        words, status = f"the session {self._name} has ended", 0
        try:
            while own.task.status is None and not (self._is_quit or screen.is_gone):
                self._turn()
        except LongfatError as error:
            words, status = str(error), error.exit_code
            raise
        finally:
            for seat in self._seats[:]:
                self._see_off(seat, status=status, words=words)
        return _exit_status(own.task.status)

    # ---------------------------------------------------------------- events

    def on(self, descriptor: int, do: Callable[[], None], *, writes: bool = False) -> None:
        """Do something whenever a descriptor can be read, or written to."""
        event = selectors.EVENT_WRITE if writes else selectors.EVENT_READ
        self._selector.register(descriptor, event, do)

    def off(self, descriptor: int) -> None:
        """Do nothing for a descriptor any more."""
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)

    def _turn(self) -> None:
        """Wait until something happens, anywhere, and see to it."""
        if any(seat.screen.unsent_bytes > _MOST_UNSENT_BYTES for seat in self._seats):
            self._session.leave()
            events = self._selector.select(_LOOK_EVERY_S)
        else:
            self._clock.go_on()
            self._session.wait(_LOOK_EVERY_S, also=[self._selector.fileno()])
            events = self._selector.select(0)
        for key, _ in events:
            # What came before may have taken it away.
            if self._selector.get_map().get(key.fd) == key:
                key.data()
        for seat in self._seats[:]:
            if seat.task.status is not None:
                self._dismiss(seat, status=_exit_status(seat.task.status), words="")
            else:
                self._check_flow(seat)

    def _signalled(self, own: TerminalClient, terminal: Terminal, told: int) -> None:
        numbers = os.read(told, 4096)
        if signal.SIGCONT in numbers:
            terminal.make_raw()
        rows, columns = terminal.size()
        self._session.resize(own.task, rows, columns)
        self._clock.wake()

    # ------------------------------------------------------------- terminals

    def sit(
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
            RefusedError: it cannot be started.
        """
        task = self._session.start(
            SHELL,
            node=place,
            environment=environment(place, term=term),
            folder=_HOME,
            terminal=(rows, columns),
            on_output=lambda _, data: screen.write(data),
        )
        seat = TerminalClient(node=place, screen=screen, task=task)
        self._seats.append(seat)
        self.on(screen.reads, functools.partial(self._hear, seat))
        self._clock.wake()
        return seat

    def _hear(self, seat: TerminalClient) -> None:
        """Pass on what came from a terminal."""
        try:
            for said in seat.screen.read():
                if isinstance(said, bytes):
                    self._session.write_stdin(seat.task, said)
                else:
                    self._session.resize(seat.task, *said)
                self._clock.wake()
        except Gone:
            if isinstance(seat.screen, OwnScreen):
                self._is_quit = True
            else:
                self._dismiss(seat, status=0, words="")

    def _check_flow(self, seat: TerminalClient) -> None:
        """See that what waits to be shown is shown, and nobody waits for ever for it."""
        screen = seat.screen
        if not screen.unsent_bytes:
            self.off(screen.writes)
            seat.full_since_s = None
            return
        if screen.writes not in self._selector.get_map():
            self.on(screen.writes, screen.flush, writes=True)
        if screen.unsent_bytes <= _MOST_UNSENT_BYTES:
            seat.full_since_s = None
        elif seat.full_since_s is None:
            seat.full_since_s = time.monotonic()
        elif time.monotonic() - seat.full_since_s > _WAITS_FOR_FAR_S and isinstance(
            screen, RemoteTerminal
        ):
            self._dismiss(seat, status=0, words="it did not take what it was sent")

    def _dismiss(self, seat: TerminalClient, *, status: int, words: str) -> None:
        """End a seat; its shell, if it still runs, loses its terminal and so ends."""
        self._see_off(seat, status=status, words=words)
        self._session.forget(seat.task)
        self._clock.wake()

    def _see_off(self, seat: TerminalClient, *, status: int, words: str) -> None:
        self._seats.remove(seat)
        self.off(seat.screen.reads)
        self.off(seat.screen.writes)
        seat.screen.end(status=status, words=words)
        seat.screen.close()

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
            "terminals": [seat.node for seat in self._seats],
            "virtual_s": self._session.now_s,
        }


def _exit_status(status: int | None) -> int:
    """Return what a shell would say of a status: None is that of one which was cut off."""
    if status is None:
        return ExitCode.INTERRUPTED
    return status if status >= 0 else 128 - status
