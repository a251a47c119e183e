"""A live session and all that goes on in it, in a thread of its own.

Orders come from the server's event loop and are carried out here, between two
stretches of virtual time; what happens is told to the listeners. Terminals are
typed at and resized while time passes.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError, LongfatError, MachineError
from longfat.live import Network
from longfat.live.process import CommandFailed, TimedOut
from longfat.network import ROOT
from longfat.studio.live.drawing import Drawn, cannot_take, read_drawing
from longfat.studio.live.looking import Looking
from longfat.studio.live.orders import MOST_ROWS, MOST_STEP_S, Order, pace_of
from longfat.studio.live.playing import Recording
from longfat.studio.live.tempo import Tempo
from longfat.studio.live.terminals import Terminal, open_terminal, prepare
from longfat.watch.plan import queue_limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.studio.live.hub import Listener, Said

_LOOK_EVERY_S = 0.05
_WAIT_S = 0.05
_IDLE_WAIT_S = 0.25
_ASKS_WITHIN_S = 5.0
_SPEED_OVER_S = 1.0
_MOST_RECORDINGS = 20
_MOST_TERMINALS = 64


class Room:
    """A live session.

    Args:
        number: what to call it.
        name: the drawing's name.
        drawn: what is drawn.
        on_end: called when it has ended, from its thread.

    Raises:
        LongfatError: the network cannot be built.
    """

    def __init__(self, number: str, *, name: str, drawn: Drawn) -> None:
        self.number = number
        self.name = name
        self._drawn = drawn
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._listeners: list[Listener] = []
        self._recordings: list[Recording] = []
        self._terminals: dict[int, Terminal] = {}
        self._last_terminal = 0
        self._stale: list[str] = []
        self._told_clock: dict[str, Any] = {}
        self._lately: deque[tuple[float, float]] = deque()
        self._looked_s = 0.0
        self._is_flushed = True
        self._closing = threading.Event()
        self.is_over = False
        case = drawn.case
        self._network = Network.of(
            case.network,
            setup=case.setup,
            kernel=case.kernel,
            seed=case.seed,
            memory_bytes=case.memory_bytes,
        )
        try:
            self._session = self._network.session
            # In this time Linux notes of each interface that it is up.
            self._session.go(until_ns=self._session.now_ns + 10**9)
            prepare(self._network)
            self._tempo = Tempo(self._session)
            self._looking = self._look_anew()
            self._record(None)
        except BaseException:
            self._network.close()
            raise
        self._thread = threading.Thread(target=self._live, name=f"room {number}", daemon=True)
        self._thread.start()

    # ------------------------------------------------------- from other threads

    def close(self) -> None:
        """End it with its machine."""
        self._closing.set()
        self._stir()
        self._thread.join()

    def do(self, order: Order) -> None:
        """Let an order be carried out."""
        self._post(lambda: self._obey(order))

    def type_at(self, number: int, data: bytes) -> None:
        """Type at a terminal."""
        self._post(lambda: self._type_at(number, data))

    def resize(self, number: int, rows: int, columns: int) -> None:
        """Tell a terminal its size."""

        def resize() -> None:
            if terminal := self._terminals.get(number):
                self._session.resize(terminal.task, rows, columns)
                self._tempo.stir()

        self._post(resize)

    def join(self, listener: Listener) -> None:
        """Tell a listener the whole state, and from then on what happens."""

        def join() -> None:
            listener.tell([self._state(), *self._whole()])
            self._listeners.append(listener)

        self._post(join, else_end=listener)

    def leave(self, listener: Listener) -> None:
        """Tell a listener nothing more."""
        self._post(lambda: _discard(self._listeners, listener))

    def watch(self, number: int, listener: Listener) -> None:
        """Show a listener what a terminal has shown and will show."""

        def watch() -> None:
            terminal = self._terminals.get(number)
            if terminal is None:
                listener.end()
                return
            if terminal.shown:
                listener.tell([bytes(terminal.shown)])
            if terminal.task.status is not None:
                listener.end()
                return
            terminal.listeners.append(listener)

        self._post(watch, else_end=listener)

    def unwatch(self, number: int, listener: Listener) -> None:
        """Show a listener nothing more of a terminal."""

        def unwatch() -> None:
            if terminal := self._terminals.get(number):
                _discard(terminal.listeners, listener)

        self._post(unwatch)

    def info(self) -> dict[str, Any]:
        """Return it as `SessionInfo` of the page's `api/types.ts`."""
        model = self._drawn.case.network
        nodes = [{"name": ROOT, "kind": "root"}]
        nodes += [{"name": one.name, "kind": "switch"} for one in model.switches]
        nodes += [
            {"name": one.name, "kind": "router" if one.forwards else "host"} for one in model.hosts
        ]
        return {
            "id": self.number,
            "name": self.name,
            "kernel": self._drawn.case.kernel,
            "seed": self._drawn.case.seed,
            "case": self._drawn.name,
            "nodes": nodes,
        }

    def _post(self, do: Callable[[], None], *, else_end: Listener | None = None) -> None:
        if self.is_over:
            if else_end is not None:
                else_end.end()
            return
        self._orders.put(do)
        self._stir()

    def _stir(self) -> None:
        with contextlib.suppress(OSError):  # it has just ended
            os.eventfd_write(self._wake, 1)

    # ---------------------------------------------------------------- its thread

    def _live(self) -> None:
        words = "the session was closed"
        try:
            while not self._closing.is_set():
                self._turn()
        except LongfatError as error:
            words = str(error)
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            words = f"the session failed: {error}"
        finally:
            self.is_over = True
            with contextlib.suppress(LongfatError):
                self._network.close()
            self._tell({"event": "ended", "words": words})
            for listener in self._listeners:
                listener.end()
            for terminal in self._terminals.values():
                for listener in terminal.listeners:
                    listener.end()
            os.close(self._wake)

    def _turn(self) -> None:
        """Carry out what is to be done, and let time pass for a moment."""
        while not self._orders.empty():
            self._orders.get()()
        if self._session.is_held:
            self._see_to_flows()
            if not self._is_flushed:
                self._is_flushed = True
                self._looking.flush()
        recording = self._recordings[-1]
        due_s = recording.due_s()
        self._tempo.go_on(
            due_ns=None if due_s is None else round(due_s * 1e9),
            flows=[one.started.client.task for one in recording.running() if one.started],
        )
        runs = self._tempo.state == "running"
        self._is_flushed = self._is_flushed and not runs
        wait_s = _WAIT_S if runs else _IDLE_WAIT_S
        if self._wake in self._session.wait(wait_s, also=[self._wake]):
            with contextlib.suppress(BlockingIOError):
                os.eventfd_read(self._wake)
        self._see_to_terminals()
        if time.monotonic() - self._looked_s >= _LOOK_EVERY_S or self._session.is_held:
            self._look()

    def _see_to_flows(self) -> None:
        """Start the flows that are due, and measure those that have ended."""
        recording = self._recordings[-1]
        if recording.end_s is not None or not self._tempo.may_pass:
            return
        ended = recording.reap(self._network)
        began = recording.start_due(self._network)
        if recording.flows and recording.is_over:
            self._looking.flush()
            self._look()
            recording.close(self._network.clock.now)
            self._tempo.stir()
        if ended or began or recording.end_s is not None:
            self._tell_recording(recording)

    def _see_to_terminals(self) -> None:
        for terminal in self._terminals.values():
            if terminal.task.status is not None and terminal.listeners:
                for listener in terminal.listeners:
                    listener.end()
                terminal.listeners.clear()
                self._tell({"event": "terminal", "terminal": terminal.to_json()})

    # -------------------------------------------------------------------- orders

    def _obey(self, order: Order) -> None:
        orders = {
            "run": self._run,
            "update": self._update,
            "stop": self._stop,
            "hold": lambda _: self._tempo.hold(),
            "go": lambda _: self._tempo.go(),
            "step": self._step,
            "pace": lambda one: self._tempo.set_pace(pace_of(one)),
            "open-terminal": self._open_terminal,
            "close-terminal": self._close_terminal,
            "type": self._type,
            "ask": self._ask,
        }
        try:
            if order.do not in orders:
                raise InputError(f"there is no order {order.do!r}")
            self._session.rest()
            orders[order.do](order)
        except MachineError:
            raise
        except LongfatError as error:
            self._say("error", str(error), about=order.do)

    def _run(self, order: Order) -> None:
        self._end_recording()
        case = self._drawn.case
        if "flows" in order.fields:
            wanted = order.texts("flows")
            case = replace(case, flows=tuple(one for one in case.flows if one.name in wanted))
        if not case.flows:
            raise InputError("there is no flow to run: draw one from a host to another")
        self._tempo.go()
        recording = self._record(case)
        self._looking.count_anew()
        self._tell_recording(recording)

    def _stop(self, _order: Order) -> None:
        self._end_recording()

    def _step(self, order: Order) -> None:
        by_s = order.real("by_s", least=1e-6, most=MOST_STEP_S)
        self._tempo.step(round(by_s * 1e9))

    def _update(self, order: Order) -> None:
        text, case = order.text("text"), order.maybe_text("case")
        new = read_drawing(text, name=self.name, case=case)
        reasons = cannot_take(self._drawn, new)
        if reasons != self._stale:
            self._stale = reasons
            self._tell({"event": "stale", "reasons": reasons})
        if reasons:
            return
        self._take(new)

    def _take(self, new: Drawn) -> None:
        """Let the network become what is drawn now."""
        network, before = self._network, self._drawn.case
        built = len(before.network.links)
        for index, (old, link) in enumerate(
            zip(network.model.links, new.case.network.links, strict=False)
        ):
            if (old.a_to_b, old.b_to_a) != (link.a_to_b, link.b_to_a):
                network.reshape_link(index, a_to_b=link.a_to_b, b_to_a=link.b_to_a)
        if new.case.network != network.model:
            self._looking.close()
            try:
                network.grow(new.case.network)
            finally:
                self._looking = self._look_anew()
            prepare(network)
        for command in new.case.setup[len(before.setup) :]:
            done = network.run_at(command.node, command.line)
            if done.returncode != 0:
                words = (done.stderr or done.stdout).strip() or "it said nothing"
                self._say("error", f"{command.node}: `{command.line}`: {words}", about="update")
            network.remember(command.node, command.line)
        grown = len(new.case.network.links) != built
        self._drawn = new
        self._looking.limits = queue_limits(new.case)
        if grown or new.case.network.hosts != before.network.hosts:
            self._tell_all([self._state()])

    def _open_terminal(self, order: Order) -> None:
        node = order.text("node")
        if node not in {one["name"] for one in self.info()["nodes"]}:
            raise InputError(f"there is no node {node!r} in the running network")
        rows = order.whole("rows", least=1, most=MOST_ROWS)
        columns = order.whole("columns", least=1, most=MOST_ROWS)
        self._add_terminal(node, rows=rows, columns=columns)

    def _add_terminal(self, node: str, *, rows: int = 24, columns: int = 80) -> Terminal:
        alive = [one for one in self._terminals.values() if one.task.status is None]
        if len(alive) >= _MOST_TERMINALS:
            raise InputError(f"there are {_MOST_TERMINALS} terminals already: close some")
        self._last_terminal += 1
        terminal = open_terminal(
            self._network, self._last_terminal, node, rows=rows, columns=columns
        )
        self._terminals[terminal.number] = terminal
        self._tempo.stir()
        self._tell({"event": "terminal", "terminal": terminal.to_json()})
        return terminal

    def _close_terminal(self, order: Order) -> None:
        terminal = self._terminals.pop(order.whole("id", least=1, most=2**31), None)
        if terminal is None:
            return
        self._session.forget(terminal.task)
        for listener in terminal.listeners:
            listener.end()
        closed = {**terminal.to_json(), "status": terminal.task.status or 0}
        self._tell({"event": "terminal", "terminal": closed})
        self._tempo.stir()

    def _type(self, order: Order) -> None:
        text = order.text("text").rstrip("\n") + "\n"
        for node in order.texts("nodes"):
            if node not in {one["name"] for one in self.info()["nodes"]}:
                raise InputError(f"there is no node {node!r} in the running network")
            terminal = next(
                (
                    one
                    for one in self._terminals.values()
                    if one.node == node
                    and one.task.status is None
                    and self._session.at_prompt(one.task)
                ),
                None,
            ) or self._add_terminal(node)
            self._type_at(terminal.number, text.encode())

    def _type_at(self, number: int, data: bytes) -> None:
        terminal = self._terminals.get(number)
        if terminal is not None and terminal.task.status is None and data:
            self._session.give(terminal.task, data)
            self._tempo.stir()

    def _ask(self, order: Order) -> None:
        number, line = order.whole("number", least=0, most=2**31), order.text("line")
        try:
            done = self._network.run_at(order.text("node"), line, timeout=_ASKS_WITHIN_S)
            text = done.stdout + done.stderr
        except (CommandFailed, TimedOut) as failed:
            text = str(failed)
        self._tell_clock()
        self._tell({"event": "answer", "number": number, "text": text})

    # ---------------------------------------------------------------- recordings

    def _record(self, case: Any) -> Recording:
        number = self._recordings[-1].number + 1 if self._recordings else 0
        recording = Recording(
            number, case=case, name=self._drawn.name, start_s=self._network.clock.now
        )
        self._recordings.append(recording)
        # The first shows what was done at terminals before, and goes as others do.
        del self._recordings[:-_MOST_RECORDINGS]
        return recording

    def _end_recording(self) -> None:
        """End the flows that still run; what follows is the next recording's."""
        recording = self._recordings[-1]
        if recording.end_s is None:
            recording.stop(self._network)
            self._looking.flush()
            self._look()
            recording.close(self._network.clock.now)
            self._tell_recording(recording)
            self._session.settle()

    def _look_anew(self) -> Looking:
        return Looking(self._network, flow_of=self._flow_of, limits=queue_limits(self._drawn.case))

    def _flow_of(self, address: str, port: int) -> str:
        for recording in reversed(self._recordings[-1:]):
            for one in recording.flows:
                if one.started is not None and one.started.server == (address, port):
                    return one.flow.name
        return ""

    # ------------------------------------------------------------------- telling

    def _look(self) -> None:
        """Tell what the probes have seen, and how late it is."""
        self._looked_s = time.monotonic()
        recording = self._recordings[-1]
        for info, time_s, value in self._looking.read():
            if time_s >= recording.start_s:
                recording.series.add(info, time_s - recording.start_s, value)
        if recording.series.is_new:
            recording.series.is_new = False
            self._tell_recording(recording)
        if news := recording.series.news(recording=recording.number):
            self._tell_all([news])
        self._tell_clock()

    def _tell_clock(self) -> None:
        clock = self._clock()
        if clock != self._told_clock:
            self._told_clock = clock
            self._tell({"event": "clock", **clock})

    def _clock(self) -> dict[str, Any]:
        now_s = self._session.now_s if self._session.is_held else self._session.passing_s
        wall_s = time.monotonic()
        self._lately.append((wall_s, now_s))
        while len(self._lately) > 2 and wall_s - self._lately[0][0] > _SPEED_OVER_S:
            self._lately.popleft()
        first_s, first_now_s = self._lately[0]
        passed_s = wall_s - first_s
        speed = (now_s - first_now_s) / passed_s if passed_s > 0 else 0.0
        state = self._tempo.state
        return {
            "now_s": now_s,
            "state": state,
            "speed": round(speed, 4) if state == "running" else 0.0,
            "pace": self._tempo.pace,
        }

    def _state(self) -> str:
        return json.dumps(
            {
                "event": "state",
                "session": self.info(),
                "clock": self._clock(),
                "recordings": [one.to_json() for one in self._recordings],
                "terminals": [one.to_json() for one in self._terminals.values()],
                "stale": self._stale,
            }
        )

    def _whole(self) -> list[bytes]:
        return [one.series.whole(recording=one.number) for one in self._recordings]

    def _tell_recording(self, recording: Recording) -> None:
        self._tell({"event": "recording", "recording": recording.to_json()})

    def _say(self, level: str, text: str, *, about: str = "") -> None:
        self._tell({"event": "message", "level": level, "text": text, "about": about})

    def _tell(self, event: dict[str, Any]) -> None:
        self._tell_all([json.dumps(event)])

    def _tell_all(self, said: Iterable[Said]) -> None:
        told = list(said)
        for listener in self._listeners:
            listener.tell(told)


def _discard(listeners: list[Listener], listener: Listener) -> None:
    if listener in listeners:
        listeners.remove(listener)
