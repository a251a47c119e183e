"""The controller of a session: its network, clock, terminals, probes and recordings.

All of it is used from the session's thread only. Between two intervals of virtual time, it
carries out commands, starts and measures flows, and sends what was observed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from longfat.analysis.timeseries.levels import capacity_bps
from longfat.common.suggest import listed
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.runs import FlowTime
from longfat.live import Network
from longfat.live.programs import install_programs, package_folders
from longfat.live.shell.server import SKIP_KEY
from longfat.model.flow_path import queue_limits
from longfat.model.network import ROOT_NAMESPACE
from longfat.studio.http import json_text
from longfat.studio.live import messages
from longfat.studio.live.captures import Captures
from longfat.studio.live.clock_controller import ClockController, ClockReport
from longfat.studio.live.commands import run_line
from longfat.studio.live.drawing import Drawn, Reconciliation, read_drawing
from longfat.studio.live.files import list_files, read_file
from longfat.studio.live.history import History
from longfat.studio.live.messages import Command, InvalidCommandError, read_command
from longfat.studio.live.probe_reader import ProbeReader
from longfat.studio.live.recordings import Recordings
from longfat.studio.live.saved_run import LiveRun
from longfat.studio.live.terminals import Terminals, Typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.model.case import Case
    from longfat.studio.broadcast import Listeners, Message
    from longfat.studio.disk import DiskLimit
    from longfat.studio.live.events import LiveLoss, NodeInfo, SessionEvent, SessionInfo, StateEvent
    from longfat.studio.live.files import SessionFile
    from longfat.studio.live.flow_run import Recording
    from longfat.studio.live.messages import TerminalSize
    from longfat.studio.views import Advice

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
_MAX_TYPED_CHARACTERS = 4096
_MAX_LOSSES = 200  # kinds of losses that are sent to pages
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
        keep: called with each run that has ended; `saved` must be called when it was written.

    Raises:
        LongfatError: the network cannot be built.
    """

    def __init__(
        self,
        number: str,
        *,
        name: str,
        drawn: Drawn,
        listeners: Listeners[SessionEvent],
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
        self._history = History()
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
                self._network,
                on_change=lambda one: listeners.event({"event": "terminal", "terminal": one}),
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
        self._clock.running = tuple(terminal.task for terminal in self.terminals.running())
        self._clock.handle(self.terminals.take_requests())
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
            self._clock.toggle_skip()
        if self.terminals.type_at(number, data):
            self._clock.wake()

    def resize(self, number: int, size: TerminalSize) -> None:
        """Set the size of a terminal."""
        self.terminals.resize(number, size)
        self._clock.wake()

    def all(self) -> Iterable[Message]:
        """Return the whole state, for a new listener."""
        state: StateEvent = {
            "event": "state",
            "session": self.info(),
            "clock": self._clock_report.to_json(),
            "recordings": self._recordings.to_json(),
            "terminals": self.terminals.to_json(),
            "captures": self.captures.to_json(),
            "stale": self._reconciliation.stale,
        }
        return [json_text(state), *self._recordings.whole()]

    def info(self) -> SessionInfo:
        """Return its description; from any thread."""
        drawn, model = self._reconciliation.drawn, self._network.model
        nodes: list[NodeInfo] = [{"name": ROOT_NAMESPACE, "kind": "root"}]
        nodes += [{"name": one.name, "kind": "switch"} for one in model.switches]
        nodes += [
            {"name": one.name, "kind": "router" if one.forwards else "host"} for one in model.hosts
        ]
        return {
            "id": self._number,
            "name": self._name,
            "kernel": self._session.kernel.release,
            "seed": drawn.case.seed,
            "case": drawn.name,
            "nodes": nodes,
        }

    # -------------------------------------------------------------------- commands

    def obey(self, text: str) -> None:
        """Carry out a command of a page; errors are sent as messages.

        Args:
            text: the message.

        Raises:
            MachineError: the machine has ended.
        """
        name = ""
        try:
            name, command = read_command(text)
            self._clock.pause()
            self._carry_out(command)
        except MachineError:
            raise
        except InvalidCommandError as error:
            self._message("error", str(error), about=error.about)
        except LongfatError as error:
            self._message("error", str(error), about=name)

    def _carry_out(self, command: Command) -> None:  # noqa: C901, PLR0912  a command a line
        match command:
            case messages.Run():
                self._run(command)
            case messages.Update(text=text, case=case):
                self._update(text, case)
            case messages.Stop():
                self._end_recording()
            case messages.Hold():
                self._clock.hold()
            case messages.Resume():
                self._clock.resume()
            case messages.Step(by_s=by_s):
                self._clock.step(round(by_s * 1e9))
            case messages.SetPace(factor=factor):
                self._clock.set_pace(factor)
            case messages.Skip():
                self._clock.toggle_skip()
            case messages.OpenTerminal():
                self.terminals.open(command.node, rows=command.rows, columns=command.columns)
                self._clock.wake()
            case messages.CloseTerminal(id=number):
                self.terminals.close(number)
                self._clock.wake()
            case messages.TypeLines():
                for node in dict.fromkeys(command.nodes):
                    self.terminals.type_lines(node, command.text.rstrip("\n") + "\n")
                self._clock.wake()
            case messages.Ask(number=number):
                result = run_line(self._network, command.node, command.line)
                self._send_clock()
                self._listeners.event({"event": "answer", "number": number, "text": result.text})
            case messages.ReadLosses():
                self._listeners.event({"event": "losses", "losses": self._losses()})
            case messages.StartCapture():
                self.captures.begin(command.interface, command.filter)
                self._clock.wake()
            case messages.EndCapture(id=number):
                self.captures.end(number)
                self._clock.wake()

    def files(self) -> list[SessionFile]:
        """Return the files that were written in the machine.

        Raises:
            LongfatError: they cannot be listed.
        """
        self._clock.pause()
        return list_files(self._network)

    def read_file(self, path: str) -> bytes:
        """Return the content of one of these files.

        Raises:
            LongfatError: it cannot be read.
        """
        self._clock.pause()
        return read_file(self._network, path)

    def _losses(self) -> list[LiveLoss]:
        lost = [loss for loss in self._network.losses() if loss.cause.is_loss]
        return [
            {
                "node": loss.node,
                "interface": loss.interface,
                "packets": loss.packets,
                "cause": loss.cause_text,
                "meaning": loss.explanation,
                "flow": loss.way,
                "last_s": loss.last_s,
            }
            for loss in lost[:_MAX_LOSSES]
        ]

    def warn(self, text: str) -> None:
        """Send a warning about a run to all pages."""
        self._message("warning", text, about="run")

    def _message(self, level: Literal["error", "warning"], text: str, *, about: str) -> None:
        self._listeners.event({"event": "message", "level": level, "text": text, "about": about})

    def _run(self, command: messages.Run) -> None:
        if command.text is not None:
            self._update(command.text, command.case)
        if self._reconciliation.stale:
            # Runs are of the drawing: the page asks to restart the network.
            reasons = self._reconciliation.stale
            self._listeners.event({"event": "restart-needed", "reasons": reasons})
            return
        drawn = self._reconciliation.drawn
        case = drawn.case
        if command.flows is not None:
            case = replace(case, flows=tuple(f for f in case.flows if f.name in command.flows))
        self._end_recording()
        if not case.flows:
            raise InputError("there is no flow to run: draw one from host to host")
        for line in command.lines or ():
            if problem := run_line(self._network, line["node"], line["line"]).problem:
                raise InputError(problem)
            now_s = self._session.now_s
            self._history.add(
                Typed(node=line["node"], line=line["line"], at_s=now_s, status=0), whole=True
            )
        self._history.begin_run()
        self._clock.resume()
        self._probe_reader.flush(sample=True)
        self._recordings.poll(self._probe_reader)
        self._probe_reader.count_anew()
        self._warn_of_unlimited(case)
        self._recordings.begin(
            case,
            name=drawn.name,
            probe_reader=self._probe_reader,
            differences=self._history.differences(
                now_s=self._network.clock.now, earlier_runs=self._recordings.earlier
            ),
        )

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
            self.warn(_UNLIMITED.format(listed(unlimited)))

    def _end_recording(self) -> None:
        self._recordings.end(self._probe_reader)
        self._end_events()
        self._clock.wake()

    def _update(self, text: str, case: str | None) -> None:
        new = read_drawing(
            text, name=self._name, case=case, beside=self._reconciliation.drawn.beside
        )
        if self._reconciliation.take(new, probe_reader=self._probe_reader):
            self.terminals.prepare()
            self._listeners.send([*self.all()][:1])
        for words in self._reconciliation.changes:
            self._recordings.mark("change", words)
            self._history.add_change(words)
        self._recordings.last.changes += self._reconciliation.done
        self._probe_reader.limits = queue_limits(self._reconciliation.drawn.case)
        self._send_stale()

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

    def _handle_typed(self) -> None:
        """Record the commands typed at terminals; traffic begins a recording, or is added."""
        for typed in self.terminals.take_notes():
            node, line = typed.node, typed.line
            typed.at_s = now_s = min(max(typed.at_s, 0.0), self._session.passing_s)
            if self._recordings.traffic_of(typed) is not None:
                self._begin_typed(now_s)
            self._recordings.mark("command", f"{node}: {line}", now_s=now_s)
            if not self._recordings.add_typed(typed):
                self._recordings.last.typed.append(typed)
            self._history.add(typed)
            with contextlib.suppress(ValueError):  # a line with a null character
                self._network.record.add(now_s, node, line)
        for typed in self.terminals.take_ended():
            line = typed.line[:_MAX_TYPED_CHARACTERS]
            status = typed.status or 0
            self._listeners.event(
                {"event": "typed", "node": typed.node, "line": line, "status": status}
            )
        for node, reply in self.terminals.take_replies():
            self._recordings.add_reply(node, reply, now_s=self._session.passing_s)
        last = self._recordings.last
        is_idle = self._clock.state == "idle"
        if last.is_typed and last.has_ended_typed(is_idle=is_idle):
            self._clock.pause()
            now_s = self._session.now_s
            self._recordings.end_typed(self._probe_reader, now_s=now_s, is_idle=is_idle)

    def _begin_typed(self, since_s: float) -> None:
        """Begin a recording of typed traffic, unless one runs."""
        last = self._recordings.last
        if last.is_typed and last.end_s is None:
            return
        self._clock.pause()
        label = self._history.label()
        self._history.begin_run()
        case = replace(self._network.case(), flows=(), probes=(), events=())
        self._recordings.begin_typed(
            case, since_s=since_s, label=label, probe_reader=self._probe_reader
        )

    def _keep_run(self, recording: Recording) -> None:
        """Hand over a run that has ended, to be written; it no longer changes."""
        case, samples = recording.case, recording.samples
        if case is None or samples is None or recording.end_s is None:
            return
        drawn, start_s = self._reconciliation.drawn, recording.start_s
        if samples.is_full:
            self.warn(_MUCH)
        flows = [one for one in recording.flows if one.measured is not None]
        self._keep(
            LiveRun(
                name=recording.name,
                label=recording.label,
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
                before=self._history.before_run,
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

    def saved(self, number: int, path: str, advice: Mapping[str, Advice]) -> None:
        """Record the path of a saved run, below the workspace, and what limited its flows."""
        self._recordings.saved(number, path, advice)

    def _handle_probes(self) -> None:
        """Restart the probes if necessary; all samples have been read."""
        if self._probe_reader.is_blind:
            words = self._probe_reader.end() or "for an unknown reason"
            self._reconciliation.give_up(f"{_BLIND} ({words})")
            self._send_stale()

    def _send_stale(self) -> None:
        if self._reconciliation.stale != self._sent_stale:
            self._sent_stale = self._reconciliation.stale
            self._listeners.event({"event": "stale", "reasons": self._sent_stale})

    def _send_captures(self) -> None:
        now_s = time.monotonic()
        if now_s - self._captures_sent_s >= _SEND_CAPTURES_S or self._session.is_held:
            self._captures_sent_s = now_s
            if (captures := self.captures.poll()) is not None:
                self._listeners.event({"event": "captures", "captures": captures})

    def _send_clock(self) -> None:
        if (clock := self._clock_report.unsent()) is not None:
            self._listeners.event({"event": "clock", **clock})
