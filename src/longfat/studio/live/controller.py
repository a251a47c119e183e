"""The controller of a session: its network, clock, terminals, probes and recordings.

All of it is used from the session's thread only. Between two intervals of virtual time, it
carries out commands, starts and measures flows, and sends what was observed.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from longfat.common.suggest import listed
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.runs import FlowTime
from longfat.live import Network
from longfat.live.shell.notes import SetPace
from longfat.live.shell.programs import install_programs, package_folders
from longfat.live.shell.server import SKIP_KEY
from longfat.model.flow_path import queue_limits
from longfat.model.network import ROOT_NAMESPACE
from longfat.studio.live.captures import Captures
from longfat.studio.live.clock_controller import ClockController, ClockReport
from longfat.studio.live.commands import run_line
from longfat.studio.live.drawing import Drawn, Reconciliation, read_drawing
from longfat.studio.live.levels import capacity_bps
from longfat.studio.live.messages import MAX_ROWS, MAX_STEP_S, Order, pace_of
from longfat.studio.live.probe_reader import ProbeReader
from longfat.studio.live.recordings import Recordings
from longfat.studio.live.saved_run import LiveRun
from longfat.studio.live.terminals import Terminals, Typed

if TYPE_CHECKING:
    from longfat.live.task import Task
    from longfat.model.case import Case
    from longfat.studio.broadcast import Listeners, Message
    from longfat.studio.disk import DiskLimit
    from longfat.studio.live.flow_run import Recording

Keep: TypeAlias = Callable[[LiveRun, int], None]
"""Called with a run that has ended, and the recording's number."""

MAX_OUTPUT_BYTES = 32 << 20
"""How much is kept of the output of a flow's process; one that writes more is killed."""

MAX_KEPT_BYTES = 64 << 20
"""The same of all of a session's processes together."""

_POLL_EVERY_S = 0.05
_SEND_CAPTURES_S = 0.5
_WAIT_S = 0.05
_IDLE_WAIT_S = 0.25

_EVENTS_LAST = "an event of the study has changed the network in the last run"
_UNLIMITED = (
    "{}: nothing on the path limits the rate, so its speed depends on the CPU, and "
    "virtual time passes slowly: give a link of the path a rate"
)
_MAX_BY_HAND = 1000
_MAX_LINE_CHARACTERS = 80
_MAX_TYPED_CHARACTERS = 4096
_MUCH = "this run has too many samples: the saved run has those of its first part only"
_BLIND = "an interface of the drawing was removed, so the probes cannot sample"


class SessionController:
    """The controller of a session.

    Args:
        number: the session's id.
        name: the drawing's name.
        drawn: the drawing.
        listeners: the listeners.
        on_wait: see `longfat.live.session.Session`.
        disk: the disk quota that captures count for.
        keep: called with each run that has ended; `kept` must be called when it was written.

    Raises:
        LongfatError: the network cannot be built.
    """

    def __init__(
        self,
        number: str,
        *,
        name: str,
        drawn: Drawn,
        listeners: Listeners,
        on_wait: Callable[[], None],
        disk: DiskLimit | None,
        keep: Keep,
    ) -> None:
        self._keep = keep
        self._number = number
        self._name = name
        self._listeners = listeners
        self._polled_s = 0.0
        self._captures_sent_s = 0.0
        self._is_flushed = True
        self._sent_stale: list[str] = []
        self._by_hand: deque[str] = deque(maxlen=_MAX_BY_HAND)
        self._typed: deque[Typed] = deque(maxlen=_MAX_BY_HAND)
        self._before: tuple[Typed, ...] = ()
        case = drawn.case
        self._network = Network.of(
            case.network,
            files=case.files,
            packages=case.packages,
            setup=case.setup,
            kernel=case.kernel,
            seed=case.seed,
            memory_bytes=case.memory_bytes,
            shared=package_folders(),
            on_wait=on_wait,
            max_output_bytes=MAX_OUTPUT_BYTES,
            max_kept_bytes=MAX_KEPT_BYTES,
        )
        try:
            self._session = self._network.session
            install_programs(self._session, ())
            # In this time Linux brings all interfaces up.
            self._session.run_until(until_ns=self._session.now_ns + 10**9)
            self.terminals = Terminals(
                self._network, on_change=lambda one: listeners.event("terminal", terminal=one)
            )
            self.terminals.prepare()
            self.captures = Captures(self._network, disk=disk)
            self._clock = ClockController(self._session)
            self._clock_report = ClockReport(self._session, self._clock)
            self._reconciliation = Reconciliation(self._network, drawn)
            self._recordings = Recordings(self._network, listeners=listeners, on_end=self._keep_run)
            self._probe_reader = ProbeReader(
                self._network, flow_of=self._recordings.flow_of, limits=queue_limits(case)
            )
            self._probe_reader.begin()
        except BaseException:
            self._network.close()
            raise

    def finish(self) -> None:
        """End the current run, so that it is saved; the machine may have ended."""
        try:
            self._clock.pause()
            self._handle_typed()
            self._end_recording()
        except LongfatError:
            self._recordings.abandon()

    def close(self) -> None:
        """End the machine, and all listeners of terminals."""
        try:
            self._network.close()
        finally:
            self.terminals.end()
            self.captures.close()

    def turn(self, wake: int) -> bool:
        """Do pending work, and let time pass for a moment.

        Args:
            wake: a descriptor; when it is readable, the moment is over.

        Returns:
            Whether it is readable.

        Raises:
            MachineError: the machine has ended.
        """
        if self._session.is_held:
            if self._clock.may_pass:
                self._handle_flows()
            if not self._is_flushed:
                self._is_flushed = True
                self._probe_reader.flush()
                self._recordings.poll(self._probe_reader)
                self._handle_probes()
        self._handle_clock_requests()
        last = self._recordings.last
        due_s = last.due_s()
        self._clock.resume_time(
            due_ns=None if due_s is None else round(due_s * 1e9),
            awaited=last.awaited(),
        )
        runs = self._clock.state == "running"
        self._is_flushed = self._is_flushed and not runs
        self._send_clock()
        woken = wake in self._session.wait(_WAIT_S if runs else _IDLE_WAIT_S, also=[wake])
        self.terminals.poll()
        self._handle_typed()
        self._send_captures()
        if time.monotonic() - self._polled_s >= _POLL_EVERY_S or self._session.is_held:
            self._polled_s = time.monotonic()
            self._recordings.poll(self._probe_reader)
            self._send_clock()
        return woken

    def type_at(self, number: int, data: bytes) -> None:
        """Type at a terminal; `SKIP_KEY` skips while a command is in its foreground."""
        if SKIP_KEY in data and self.terminals.is_running(number):
            data = data.replace(SKIP_KEY, b"")
            self._toggle_skip()
        if self.terminals.type_at(number, data):
            self._clock.wake()

    def resize(self, number: int, rows: int, columns: int) -> None:
        """Set the size of a terminal."""
        self.terminals.resize(number, rows, columns)
        self._clock.wake()

    def all(self) -> Iterable[Message]:
        """Return the whole state, for a new listener."""
        state = {
            "event": "state",
            "session": self.info(),
            "clock": self._clock_report.to_json(),
            "recordings": self._recordings.to_json(),
            "terminals": self.terminals.to_json(),
            "captures": self.captures.to_json(),
            "stale": self._reconciliation.stale,
        }
        return [json.dumps(state), *self._recordings.whole()]

    def info(self) -> dict[str, Any]:
        """Return it as `SessionInfo` of the page's `api/types.ts`; from any thread."""
        drawn, model = self._reconciliation.drawn, self._network.model
        nodes = [{"name": ROOT_NAMESPACE, "kind": "root"}]
        nodes += [{"name": one.name, "kind": "switch"} for one in model.switches]
        nodes += [
            {"name": one.name, "kind": "router" if one.forwards else "host"} for one in model.hosts
        ]
        return {
            "id": self._number,
            "name": self._name,
            "kernel": drawn.case.kernel,
            "seed": drawn.case.seed,
            "case": drawn.name,
            "nodes": nodes,
        }

    # -------------------------------------------------------------------- commands

    def obey(self, order: Order) -> None:
        """Carry out a command; errors are sent as messages.

        Raises:
            MachineError: the machine has ended.
        """
        orders = {
            "run": self._run,
            "update": self._update,
            "stop": lambda _: self._end_recording(),
            "hold": lambda _: self._clock.hold(),
            "go": lambda _: self._clock.resume(),
            "step": self._step,
            "pace": lambda one: self._clock.set_pace(pace_of(one)),
            "skip": lambda _: self._toggle_skip(),
            "open-terminal": self._open_terminal,
            "close-terminal": self._close_terminal,
            "type": self._type,
            "ask": self._ask,
            "capture": self._capture,
            "end-capture": self._end_capture,
        }
        try:
            if order.do not in orders:
                raise InputError(f"there is no command {order.do!r}")
            self._clock.pause()
            orders[order.do](order)
        except MachineError:
            raise
        except LongfatError as error:
            self._listeners.message("error", str(error), about=order.do)

    def _run(self, order: Order) -> None:
        if "text" in order.fields:
            self._update(order)
        if self._reconciliation.stale:
            # Runs are of the drawing: the page asks to restart the network.
            self._listeners.event("restart-needed", reasons=self._reconciliation.stale)
            return
        drawn = self._reconciliation.drawn
        case = drawn.case
        if "flows" in order.fields:
            wanted = order.texts("flows")
            case = replace(case, flows=tuple(one for one in case.flows if one.name in wanted))
        self._end_recording()
        if not case.flows:
            raise InputError("there is no flow to run: draw one from host to host")
        for node, line in order.lines("lines") if "lines" in order.fields else ():
            if problem := run_line(self._network, node, line).problem:
                raise InputError(problem)
            self._by_hand.append(f"{node}: {line}")
            self._typed.append(Typed(node=node, line=line, at_s=self._session.now_s, status=0))
        self._before = tuple(self._typed)
        self._clock.resume()
        self._probe_reader.flush(sample=True)
        self._recordings.poll(self._probe_reader)
        self._probe_reader.count_anew()
        self._warn_of_unlimited(case)
        self._recordings.begin(
            case, name=drawn.name, probe_reader=self._probe_reader, differences=self._differences()
        )

    def _differences(self) -> tuple[str, ...]:
        """Return why a run's numbers may differ from those of its case in Results."""
        found = [
            f"it began at {self._network.clock.now:.3f} s of a running session; "
            "in Results each case runs in a new machine"
        ]
        if earlier := self._recordings.last.number:
            runs = "1 run" if earlier == 1 else f"{earlier} runs"
            found.append(f"{runs} before it: TCP caches metrics of a path")
        if self._by_hand:
            count = len(self._by_hand)
            last = self._by_hand[-1]
            found.append(f"changed by hand before: {last}" + (", ..." if count > 1 else ""))
        return tuple(found)

    def _warn_of_unlimited(self, case: Case) -> None:
        """Warn of TCP over a path without a rate limit: the CPU limits it."""
        unlimited = [
            flow.name
            for flow in case.bulk_flows
            if not flow.udp
            and flow.rate_bps is None
            and capacity_bps(case, flow, self._probe_reader.installed_bps) is None
        ]
        if unlimited:
            self._listeners.message("warning", _UNLIMITED.format(listed(unlimited)), about="run")

    def _end_recording(self) -> None:
        self._recordings.end(self._probe_reader)
        self._end_events()
        self._clock.wake()

    def _step(self, order: Order) -> None:
        by_s = order.real("by_s", least=1e-6, most=MAX_STEP_S)
        self._clock.step(round(by_s * 1e9))

    def _toggle_skip(self, *, asks: Task | None = None) -> None:
        """Skip to the end of the first command that ends, or stop doing so.

        Args:
            asks: the shell whose command asks, and is not waited for.
        """
        running = [task for task in self._clock.running if task is not asks]
        self._clock.skip(() if self._clock.is_skipping else running)

    def _update(self, order: Order) -> None:
        text, case = order.text("text"), order.maybe_text("case")
        new = read_drawing(
            text, name=self._name, case=case, beside=self._reconciliation.drawn.beside
        )
        if self._reconciliation.take(new, probe_reader=self._probe_reader):
            self.terminals.prepare()
            self._listeners.send([*self.all()][:1])
        for words in self._reconciliation.changes:
            self._recordings.mark("change", words)
            self._by_hand.append(words)
        self._recordings.last.changes += self._reconciliation.done
        self._probe_reader.limits = queue_limits(self._reconciliation.drawn.case)
        self._send_stale()

    def _open_terminal(self, order: Order) -> None:
        rows = order.whole("rows", least=1, most=MAX_ROWS)
        columns = order.whole("columns", least=1, most=MAX_ROWS)
        self.terminals.open(order.text("node"), rows=rows, columns=columns)
        self._clock.wake()

    def _close_terminal(self, order: Order) -> None:
        self.terminals.close(order.whole("id", least=1, most=2**31))
        self._clock.wake()

    def _type(self, order: Order) -> None:
        text = order.text("text").rstrip("\n") + "\n"
        for node in dict.fromkeys(order.texts("nodes")):
            self.terminals.type_lines(node, text)
        self._clock.wake()

    def _ask(self, order: Order) -> None:
        number, line = order.whole("number", least=0, most=2**31), order.text("line")
        result = run_line(self._network, order.text("node"), line)
        self._send_clock()
        self._listeners.event("answer", number=number, text=result.text)

    def _capture(self, order: Order) -> None:
        self.captures.begin(order.text("interface"), order.maybe_text("filter") or "")
        self._clock.wake()

    def _end_capture(self, order: Order) -> None:
        self.captures.end(order.whole("id", least=1, most=2**31))
        self._clock.wake()

    # ------------------------------------------------------------------- the rest

    def _handle_flows(self) -> None:
        went_on = self._recordings.last.end_s is None
        self._recordings.see_to_flows(self._probe_reader)
        if went_on and self._recordings.last.end_s is not None:
            self._end_events()
            self._clock.wake()

    def _end_events(self) -> None:
        if self._recordings.last.has_changed_network:
            self._reconciliation.give_up(_EVENTS_LAST)
            self._send_stale()

    def _handle_clock_requests(self) -> None:
        """Do what commands typed at terminals ask of the clock."""
        self._clock.running = tuple(terminal.task for terminal in self.terminals.running())
        for terminal, request in self.terminals.take_requests():
            if isinstance(request, SetPace):
                self._clock.set_pace("max" if request.factor is None else request.factor)
            elif request.own:
                self._clock.skip([terminal.task])
            else:
                self._toggle_skip(asks=terminal.task)

    def _handle_typed(self) -> None:
        """Record the commands typed at terminals."""
        for typed in self.terminals.take_notes():
            node, line = typed.node, typed.line
            typed.at_s = now_s = min(max(typed.at_s, 0.0), self._session.passing_s)
            self._recordings.mark("command", f"{node}: {line}", now_s=now_s)
            self._recordings.last.typed.append(typed)
            self._typed.append(typed)
            self._by_hand.append(f"{node}: {line[:_MAX_LINE_CHARACTERS]}")
            with contextlib.suppress(ValueError):  # a line with a null character
                self._network.record.add(now_s, node, line)
        for typed in self.terminals.take_ended():
            line = typed.line[:_MAX_TYPED_CHARACTERS]
            self._listeners.event("typed", node=typed.node, line=line, status=typed.status)
        for node, reply in self.terminals.take_replies():
            self._recordings.add_reply(node, reply, now_s=self._session.passing_s)

    def _keep_run(self, recording: Recording) -> None:
        """Hand over a run that has ended, to be written; it no longer changes."""
        case, samples = recording.case, recording.samples
        if case is None or samples is None or recording.end_s is None:
            return
        drawn, start_s = self._reconciliation.drawn, recording.start_s
        if samples.is_full:
            self._listeners.message("warning", _MUCH, about="run")
        flows = [one for one in recording.flows if one.measured is not None]
        self._keep(
            LiveRun(
                name=recording.name,
                title=drawn.title,
                layout=drawn.layout,
                drawing=drawn.drawing,
                case=case,
                network=self._network.model,
                kernel=self._session.kernel,
                start_s=start_s,
                end_s=recording.end_s,
                wall_s=time.monotonic() - recording.began_wall_s,
                peak_bytes=self._session.peak_bytes,
                sandbox=self._session.sandbox,
                commands=self._network.record.text,
                measured=[one.measured for one in flows if one.measured is not None],
                flow_times={
                    one.flow.name: FlowTime(
                        start_s=(one.started_s or start_s) - start_s,
                        end_s=(one.ended_s or recording.end_s) - start_s,
                    )
                    for one in flows
                },
                event_times=tuple(recording.event_times),
                before=self._before,
                changes=tuple(recording.changes),
                typed=tuple(recording.typed),
                samples=samples,
                captures=self.captures.of_run(),
                every_s=self._probe_reader.every_s,
                queues=recording.series.waited_in(),
                recording=recording.to_json(),
                series=recording.series.whole(recording=recording.number),
            ),
            recording.number,
        )

    def kept(self, number: int, path: str) -> None:
        """Record the path of a saved run, below the workspace."""
        self._recordings.kept(number, path)

    def _handle_probes(self) -> None:
        """Restart the probes if necessary; all samples have been read."""
        if self._probe_reader.is_blind:
            words = self._probe_reader.end() or "for an unknown reason"
            self._reconciliation.give_up(f"{_BLIND} ({words})")
            self._send_stale()

    def _send_stale(self) -> None:
        if self._reconciliation.stale != self._sent_stale:
            self._sent_stale = self._reconciliation.stale
            self._listeners.event("stale", reasons=self._sent_stale)

    def _send_captures(self) -> None:
        now_s = time.monotonic()
        if now_s - self._captures_sent_s >= _SEND_CAPTURES_S or self._session.is_held:
            self._captures_sent_s = now_s
            if (captures := self.captures.poll()) is not None:
                self._listeners.event("captures", captures=captures)

    def _send_clock(self) -> None:
        if (clock := self._clock_report.unsent()) is not None:
            self._listeners.event("clock", **clock)
