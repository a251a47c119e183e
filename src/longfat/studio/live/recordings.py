"""All recordings of a session; the last one is current."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from longfat.analysis.timeseries.levels import path_levels
from longfat.studio.live.events import Level
from longfat.studio.live.flow_run import Recording
from longfat.studio.live.sample_log import SampleLog
from longfat.studio.live.series import SeriesInfo
from longfat.studio.live.typed_traffic import typed_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat.live import Network
    from longfat.model.case import Case
    from longfat.model.traffic import Program
    from longfat.studio.broadcast import Listeners
    from longfat.studio.live.events import RecordingInfo, SessionEvent
    from longfat.studio.live.probe_reader import ProbeReader
    from longfat.studio.live.terminals import Typed, TypedReply
    from longfat.studio.views import Advice

_MAX_RECORDINGS = 20


class Recordings:
    """The recordings of a session; for its thread.

    Args:
        network: the network, built.
        listeners: the listeners.
        on_end: called with each recording of a press of Run when it has ended.
    """

    def __init__(
        self,
        network: Network,
        *,
        listeners: Listeners[SessionEvent],
        on_end: Callable[[Recording], None],
    ) -> None:
        self._on_end = on_end
        self._network = network
        self._listeners = listeners
        self._compared_s = 0.0
        self._replied: dict[str, tuple[Recording, float, int]] = {}
        self._all = [Recording(0, case=None, name=None, start_s=network.clock.now)]

    @property
    def last(self) -> Recording:
        """The current recording."""
        return self._all[-1]

    @property
    def earlier(self) -> int:
        """The number of recordings with traffic so far."""
        return self.last.number

    def begin(
        self,
        case: Case,
        *,
        name: str | None,
        probe_reader: ProbeReader,
        differences: tuple[str, ...] = (),
        label: str | None = None,
        since_s: float | None = None,
    ) -> None:
        """Start a new one; the last one has ended.

        Args:
            case: its flows and events are to be run.
            name: the case's name, if it has one.
            probe_reader: the probes, with the current rates.
            differences: why its numbers may differ from those in a new machine.
            label: see `Recording`.
            since_s: its start, in seconds of virtual time since boot; now, if None.
        """
        number, now_s = self.last.number + 1, self._network.clock.now
        start_s = now_s if since_s is None else since_s
        samples = SampleLog(start_ns=self._network.session.now_ns - round((now_s - start_s) * 1e9))
        probe_reader.log_to(samples)
        self._all.append(
            Recording(
                number, case=case, name=name, start_s=start_s, differences=differences, label=label
            )
        )
        self.last.samples = samples
        self._compare(probe_reader, at_s=now_s)
        # The first, of traffic from terminals before, is dropped like the others.
        del self._all[:-_MAX_RECORDINGS]
        self.update_listeners()

    def begin_typed(
        self, case: Case, *, since_s: float, label: str, probe_reader: ProbeReader
    ) -> None:
        """Start one of traffic that is typed at terminals; the machine is held.

        Args:
            case: the network and its set-up.
            since_s: when the first line was typed, in seconds of virtual time since boot.
            label: what was changed since the last recording.
            probe_reader: the probes, with the current rates.
        """
        probe_reader.flush(sample=True)
        self.poll(probe_reader)
        probe_reader.count_anew()
        self.begin(case, name=None, probe_reader=probe_reader, label=label, since_s=since_s)

    def add_typed(self, typed: Typed) -> bool:
        """Add a typed line to the last one, as its traffic; return whether it is traffic."""
        last = self.last
        if not last.is_typed or last.end_s is not None:
            return False
        flow = self.traffic_of(typed)
        if flow is None:
            return False
        server = None
        if flow.port is not None:
            server = (self._network.address_of(flow.target), flow.port)
        last.add_typed(typed, flow, server=server)
        return True

    def traffic_of(self, typed: Typed) -> Program | None:
        """Return a typed line as a flow; None if it is none, or a flow of the study runs."""
        last = self.last
        is_own = last.is_typed and last.end_s is None
        if not is_own and last.case is not None and last.end_s is None:
            return None
        return typed_flow(
            typed,
            network=self._network.model,
            addresses=self._network.names_by_address(),
            taken={one.flow.name for one in last.flows} if is_own else (),
        )

    def end_typed(self, probe_reader: ProbeReader, *, now_s: float, is_idle: bool) -> None:
        """End the last one, if its typed traffic has ended; the machine is held."""
        if not self.last.end_typed(now_s, is_idle=is_idle):
            return
        if self.last.is_over:
            self._close(probe_reader)
        self.update_listeners()

    def end(self, probe_reader: ProbeReader) -> None:
        """End the flows that still run; later samples belong to the next recording."""
        if self.last.end_s is None:
            self.last.stop(self._network)
            self._close(probe_reader)
            self.update_listeners()

    def see_to_flows(self, probe_reader: ProbeReader) -> None:
        """Start the flows that are due, and measure those that have ended; the machine is held."""
        last = self.last
        if last.end_s is not None:
            return
        ended = last.reap(self._network)
        wrong = last.play_events(self._network)
        for words in wrong or ():
            self._listeners.event(
                {"event": "message", "level": "error", "text": words, "about": "run"}
            )
        began = last.start_due(self._network)
        for failed in last.take_failures():
            text = f"{failed.flow.name} failed: {failed.words}"
            self._listeners.event(
                {"event": "message", "level": "error", "text": text, "about": "run"}
            )
        if last.flows and last.is_over:
            self._close(probe_reader)
        if ended or began or wrong is not None or last.end_s is not None:
            self.update_listeners()

    def add_reply(self, node: str, reply: TypedReply, *, now_s: float) -> None:
        """Add a reply to a ping that was typed at a terminal to the last one's series.

        Args:
            node: its node.
            reply: the reply.
            now_s: when it was read, in seconds of virtual time since boot.
        """
        last = self.last
        names = self._network.names_by_address()
        of = f"ping {node} → {names.get(reply.address, reply.address)}"
        key = f"ping:{of}:rtt_s"
        info = SeriesInfo(key=key, kind="ping", of=of, quantity="rtt_s", unit="s", label=of)
        before = self._replied.get(key)
        at_s = min(reply.time_s, now_s) - last.start_s
        if at_s < 0 or (before is not None and at_s < before[1] and before[0] is last):
            return
        if before is not None and before[0] is last and reply.sequence != before[2] + 1:
            last.series.add(info, before[1], math.nan)
        last.series.add(info, at_s, reply.rtt_s)
        self._replied[key] = (last, at_s, reply.sequence)

    def mark(
        self, kind: Literal["change", "command", "event"], text: str, *, now_s: float | None = None
    ) -> None:
        """Add a mark to the last one; see `flow_run.Mark`.

        Args:
            kind: its kind.
            text: its text.
            now_s: when, in seconds of virtual time since boot; None for now.
        """
        self.last.mark(kind, text, now_s=self._network.clock.now if now_s is None else now_s)
        self.update_listeners()

    def _compare(self, probe_reader: ProbeReader, *, at_s: float) -> None:
        """Add the reference values of the last one's paths from a time on."""
        last = self.last
        self._compared_s = at_s
        if last.end_s is not None or not last.flows:
            return
        case = replace(self._network.case(), flows=tuple(one.flow for one in last.flows))
        from_s = max(0.0, at_s - last.start_s)
        known = {one.quantity: (one.label, one.value) for one in last.levels}
        now: dict[str, tuple[str, float | None]] = {
            quantity: (label, value)
            for quantity, label, value in path_levels(
                case, installed_bps=probe_reader.installed_bps, knows_delays=not last.has_had_events
            )
        }
        now = dict.fromkeys(known, ("", None)) | now
        for quantity, (label, level) in now.items():
            if known.get(quantity) != (label, level):
                last.levels.append(
                    Level(quantity=quantity, label=label, value=level, from_s=from_s)
                )

    def poll(self, probe_reader: ProbeReader) -> None:
        """Read new samples of probes and pings, and send them.

        Raises:
            MachineError: the probes' samples cannot be read.
        """
        last = self.last
        for info, time_s, value in probe_reader.read():
            if time_s >= last.start_s:
                last.series.add(info, time_s - last.start_s, value)
        last.read_replies()
        if probe_reader.installed_s > self._compared_s:
            self._compare(probe_reader, at_s=probe_reader.installed_s)
            last.series.is_new = True
        if last.series.is_new:
            last.series.is_new = False
            self.update_listeners()
        if points := last.series.unsent(recording=last.number):
            self._listeners.send([points])

    def update_listeners(self) -> None:
        """Send the state of the last one."""
        self._listeners.event({"event": "recording", "recording": self.last.to_json()})

    def saved(self, number: int, path: str, advice: Mapping[str, Advice]) -> None:
        """Record and send the path of a saved run, below the workspace, and its diagnosis."""
        for one in self._all:
            if one.number == number:
                one.save(path, advice)
                self._listeners.event({"event": "recording", "recording": one.to_json()})

    def flow_of(self, address: str, port: int) -> str:
        """Return the name of the flow whose server has an address and port; empty if none has."""
        for one in self.last.flows:
            server = one.server if one.started is None else one.started.server
            if server == (address, port):
                return one.flow.name
        return ""

    def to_json(self) -> list[RecordingInfo]:
        """Return them as an event has them."""
        return [one.to_json() for one in self._all]

    def whole(self) -> list[bytes]:
        """Return all their series, as binary messages."""
        return [one.series.whole(recording=one.number) for one in self._all]

    def _close(self, probe_reader: ProbeReader) -> None:
        probe_reader.flush(sample=True)
        self.poll(probe_reader)
        self.last.close(self._network.clock.now)
        probe_reader.log_to(None)
        self._on_end(self.last)

    def abandon(self) -> None:
        """End the last one after the machine has failed, with the known results."""
        if self.last.end_s is None:
            for one in self.last.flows:
                if one.state in ("waiting", "running"):
                    one.state, one.words = "failed", "the machine ended before it"
            self.last.close(self._network.clock.now)
            self._on_end(self.last)
