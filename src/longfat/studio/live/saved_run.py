"""A live run saved as a run directory, as `longfat run` writes it, with the manual changes.

It is saved in `runs/NAME-live/`, so figures, reports, comparisons and queries read it like any
run. Besides the files of every run it has

    study.yaml        the run as a study, with the manual changes as events
    recording.json    what the studio's charts show besides lines: flows, marks, levels
    recording.series  their lines, in the form in which the page gets them

Its case has the flows that were measured; flows that were stopped or failed are in the study and
in the recording only. Runs are written one after the other in a thread of their own: writing may
take long, and must not block the session's thread.
"""

from __future__ import annotations

import contextlib
import logging
import math
import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from longfat.analysis.advice.diagnosis import diagnose
from longfat.engine.kernel.version import NEWEST, series_of
from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.errors import LongfatError
from longfat.execution.runs import EventTime, FlowTime, GuestReport, Run, staged_run
from longfat.execution.runs.run import COMMANDS, RAW
from longfat.execution.tools import Toolbox
from longfat.model.events import Event
from longfat.model.probes import Capture, Queue, Rate, Tcp
from longfat.model.traffic import Program
from longfat.studio.formats import folder_name
from longfat.studio.http import RUNS, json_text
from longfat.studio.live.captures import MAX_KEPT_BYTES
from longfat.studio.live.replay import Change, Replay, make_replay
from longfat.studio.live.terminals import Typed
from longfat.studio.live.typed_traffic import is_server_of
from longfat.studio.views import Advice, advice_of
from longfat.study import STUDY_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from longfat.engine.kernel import Kernel
    from longfat.live.flows import Measured
    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow
    from longfat.studio.live.captures import RunCapture
    from longfat.studio.live.events import RecordingInfo
    from longfat.studio.live.sample_log import SampleLog
    from longfat.studio.workspace import Workspace
    from longfat.study.drawing import Drawing

E = TypeVar("E", bound=Event)

RECORDING = "recording.json"
RECORDING_SERIES = "recording.series"

_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9.=]+")
_MAX_LABEL = 48

# What is played once more has the title of a live run.
_RUN_OF = re.compile(r" \(live run \d+\)$")


@dataclass(slots=True, kw_only=True)
class LiveRun:
    """A live run that has ended, with all that is kept of it; belongs to whoever writes it.

    Attributes:
        name: the name of the study's case; None if it is of no case.
        label: of typed traffic, what was changed before it; None for a press of Run.
        title: the study's title.
        layout: where nodes stand in the drawing.
        drawing: what stands in the drawing besides.
        case: what was played, as the network was at the start.
        network: the network at the end: nodes and links may have come.
        kernel: the kernel.
        start_s: the start, in seconds of virtual time since boot.
        end_s: the end, likewise.
        wall_s: how long it took, in seconds of wall time.
        peak_bytes: the most memory that the machine held at once.
        sandbox: what kept the machine apart from the host.
        commands: the script of what was done since boot.
        measured: what its flows gave, in the order of their ends.
        flow_times: when they began and ended, in seconds after the start.
        event_times: when the study's events happened.
        before: what was typed before, since boot.
        changes: what the page has changed meanwhile; times are seconds since boot.
        typed: what was typed meanwhile, likewise.
        samples: what the probes saw.
        captures: the captures of the session.
        every_s: the interval of the probes, in seconds.
        queues: the interfaces in whose queues something waited or was lost.
        recording: as the page knows it.
        series: its lines, as a binary message.
    """

    name: str | None
    label: str | None
    title: str
    layout: Mapping[str, tuple[float, float]]
    drawing: Drawing
    case: Case
    network: Network
    kernel: Kernel
    start_s: float
    end_s: float
    wall_s: float
    peak_bytes: int
    sandbox: str
    commands: str
    measured: Sequence[Measured]
    flow_times: Mapping[str, FlowTime]
    event_times: Sequence[EventTime]
    before: Sequence[Typed]
    changes: Sequence[Change]
    typed: Sequence[Typed]
    samples: SampleLog
    captures: Sequence[RunCapture]
    every_s: float
    queues: Sequence[str]
    recording: RecordingInfo
    series: bytes


def write_live_run(
    live: LiveRun, *, out: Path, study: str, number: int, max_capture_bytes: float = math.inf
) -> tuple[Run, Replay]:
    """Write a live run.

    Args:
        live: the run.
        out: the folder that takes the run directory.
        study: what the study is called.
        number: which of the folder's live runs it is, from 1.
        max_capture_bytes: what its captures may take of the disk.

    Returns:
        The run, and what it is as a study.

    Raises:
        LongfatError: it cannot be written, or what the tools and the probes left cannot be read.
    """
    since = {"start_s": live.start_s}
    kept, too_large = _captures(live, min(MAX_KEPT_BYTES, max_capture_bytes))
    probes = (*_probes(live), *(one.probe for one in kept))
    # A study that says "newest" would be another one with another kernel.
    kernel = series_of(live.kernel.release) if live.case.kernel == NEWEST else live.case.kernel
    probed = replace(live.case, kernel=kernel, network=_network(live), probes=probes)
    label = live.label or (live.name if live.name != "default" else None)
    label = _NOT_OF_NAMES.sub("-", label or "")[:_MAX_LABEL].strip("-.")
    replay = make_replay(
        probed,
        title=f"{_RUN_OF.sub('', live.title)} (live run {number})",
        layout=live.layout,
        drawing=live.drawing,
        before=live.before,
        changes=[_change(change, **since) for change in live.changes],
        typed=[_typed(one, **since) for one in live.typed if not _is_own_server(one, live)],
    )
    done = {one.flow.name for one in live.measured}
    case = replace(
        replay.case,
        flows=tuple(flow for flow in replay.case.flows if flow.name in done),
        probes=tuple(_of_measured(probe, done) for probe in replay.case.probes),
    )
    case = replace(case, probes=tuple(one for one in case.probes if one.targets))
    name = f"{label}-live-{number}" if label else f"live-{number}"
    with staged_run(out, name=name, case=case, study=study) as staged:
        raw = staged.folder / RAW
        raw.mkdir()
        for one in live.measured:
            for file, text in one.raw.items():
                (raw / file).write_text(text, encoding="utf-8")
        for probe in case.probes:
            if isinstance(probe, Queue | Rate | Tcp):
                live.samples.write(probe.kind, raw / probe.samples_file)
        for seen in kept:
            if seen.probe in case.probes:
                seen.capture.write(raw / f"{seen.probe.name}.pcap", seen.part)
        (staged.folder / COMMANDS).write_text(live.commands, encoding="utf-8")
        (staged.folder / STUDY_FILE).write_text(replay.text, encoding="utf-8")
        recording = {**live.recording, "left_out": [*replay.left_out, *too_large]}
        (staged.folder / RECORDING).write_text(json_text(recording), encoding="utf-8")
        (staged.folder / RECORDING_SERIES).write_bytes(live.series)
        by_hand = [
            EventTime(event=index, at_s=event.at_s, words=event.summary())
            for index, event in enumerate(case.events)
            if index >= len(live.case.events)
        ]
        run = staged.publish(
            kernel=live.kernel,
            tools=Toolbox().of(case),
            report=GuestReport(
                virtual_s=live.end_s,
                epoch_s=START_OF_TIME_S + live.start_s,
                flow_times={flow.name: live.flow_times[flow.name] for flow in case.flows},
                event_times=tuple(sorted([*live.event_times, *by_hand], key=lambda one: one.at_s)),
            ),
            wall_s=live.wall_s,
            peak_bytes=live.peak_bytes,
            sandbox=live.sandbox,
        )
    return run, replay


def _is_own_server(typed: Typed, live: LiveRun) -> bool:
    """Return whether a typed line starts a server that a flow brings itself."""
    programs = [flow for flow in live.case.flows if isinstance(flow, Program)]
    return is_server_of(typed, programs, live.network)


def _network(live: LiveRun) -> Network:
    """Return the network that the run is of: as at the start, with what has come since."""
    start = live.case.network
    return replace(live.network, links=(*start.links, *live.network.links[len(start.links) :]))


def _probes(live: LiveRun) -> tuple[Probe, ...]:
    """Return the probes of the study: what the studio samples itself."""
    taken = {flow.name for flow in live.case.flows}
    names = [name for pair in _network(live).interfaces() for name in pair]
    tcp = tuple(flow.name for flow in live.case.flows if _has_own_sockets(flow))
    queues = tuple(name for name in names if name in live.queues)
    every_s = live.every_s
    found: list[Probe] = []
    if queues and live.samples.has("queue"):
        found.append(Queue(name=_free("queue", taken), of=queues, every_s=every_s))
    if tcp and live.samples.has("tcp"):
        found.append(Tcp(name=_free("tcp", taken), of=tcp, every_s=every_s))
    if names and live.samples.has("rate"):
        found.append(Rate(name=_free("rate", taken), of=tuple(names), every_s=every_s))
    return tuple(found)


def _has_own_sockets(flow: Flow) -> bool:
    """Return whether a flow has TCP sockets that are distinguished from those of others."""
    return flow.has_tcp_sockets and (not isinstance(flow, Program) or flow.port is not None)


@dataclass(frozen=True, slots=True)
class _SavedCapture:
    """A capture of the session as a probe of the run, and where its packets stand."""

    probe: Capture
    capture: RunCapture
    part: tuple[int, int]


def _captures(live: LiveRun, max_bytes: float) -> tuple[list[_SavedCapture], list[str]]:
    """Return the captures that have packets of the run, and messages about the others."""
    taken = {flow.name for flow in live.case.flows}
    there = {name for pair in _network(live).interfaces() for name in pair}
    start_ns, end_ns = (
        round((START_OF_TIME_S + time_s) * 1e9) for time_s in (live.start_s, live.end_s)
    )
    kept: list[_SavedCapture] = []
    left_out: list[str] = []
    left_bytes = max_bytes
    for one in live.captures:
        begin, end = one.part(since_ns=start_ns, until_ns=end_ns)
        if begin == end or one.interface not in there:
            continue
        if end - begin > left_bytes:
            left_out.append(
                f"the capture at {one.interface}: a run's captures are kept up to "
                f"{max_bytes / 2**20:.0f} MB"
                + ("" if max_bytes == MAX_KEPT_BYTES else ", what is left of the disk's limit")
            )
            continue
        left_bytes -= end - begin
        name = _free(f"capture-{len(kept) + 1}", taken)
        probe = Capture(name=name, of=one.interface, filter=" ".join(one.filter.split()))
        kept.append(_SavedCapture(probe, one, (begin, end)))
    return kept, left_out


def _of_measured(probe: Probe, done: set[str]) -> Probe:
    if not isinstance(probe, Tcp):
        return probe
    return replace(probe, of=tuple(name for name in probe.of if name in done))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-"
    return name


def _change(change: Change, *, start_s: float) -> Change:
    lines = tuple(_at(line, start_s) for line in change.lines)
    return Change(event=_at(change.event, start_s), lines=lines)


def _at(event: E, start_s: float) -> E:
    return replace(event, at_s=_since(event.at_s, start_s))


def _typed(one: Typed, *, start_s: float) -> Typed:
    return replace(one, at_s=_since(one.at_s, start_s))


def _since(time_s: float, start_s: float) -> float:
    return max(0.0, round(time_s - start_s, 6))


_LOG = logging.getLogger(__name__)
_NUMBERED = re.compile(r"(?:.*-)?live-(\d+)-seed\d+")

# Sessions of the same drawing share the numbering of runs.
_COUNTING = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteResult:
    """What became of a live run that was to be written.

    Attributes:
        path: its path below the workspace; None if it could not be written.
        message: why, or what was left out; may be empty.
        advice: what limited its flows, by name, of those where that is known.
    """

    path: str | None
    message: str
    advice: Mapping[str, Advice] = field(default_factory=dict)


class RunWriter:
    """Writes the runs of one session.

    Args:
        workspace: runs are saved in its `runs`; None to save none.
        name: the drawing's name.
    """

    def __init__(self, workspace: Workspace | None, *, name: str) -> None:
        self._workspace = workspace
        self._study = f"{folder_name(name)}-live"
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="run writer")
        self._waiting: list[Future[None]] = []

    def keep(self, live: LiveRun, report: Callable[[WriteResult], None]) -> None:
        """Write a run.

        Args:
            live: the run.
            report: called, from another thread, with what became of it.
        """
        if self._workspace is None:
            live.samples.close()
            return
        workspace = self._workspace
        self._waiting.append(self._thread.submit(lambda: report(self._write(live, workspace))))

    def close(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)

    def _write(self, live: LiveRun, workspace: Workspace) -> WriteResult:
        place = f"{RUNS}/{self._study}"
        try:
            with contextlib.closing(live.samples), _COUNTING, workspace.relative_paths():
                workspace.disk.check()
                out = workspace.folder(place, make=True)
                number = _last(out) + 1
                run, replay = write_live_run(
                    live,
                    out=out,
                    study=self._study,
                    number=number,
                    max_capture_bytes=workspace.disk.room_bytes(),
                )
        except LongfatError as error:
            return WriteResult(path=None, message=f"This run could not be saved: {error}")
        except Exception as error:
            _LOG.exception("a live run")
            message = f"This run could not be saved: internal error ({error!r})"
            return WriteResult(path=None, message=message)
        return WriteResult(
            path=f"{place}/{run.folder.name}",
            message="; ".join(replay.left_out),
            advice=_advice(run),
        )


def _advice(run: Run) -> dict[str, Advice]:
    """Return what limited the flows of a run, as `longfat diagnose` has it."""
    found: dict[str, Advice] = {}
    for flow in run.case.flows:
        with contextlib.suppress(LongfatError, OSError):  # of this flow nothing is known
            found |= {one.flow: advice_of(one) for one in diagnose(run, flow.name)}
    return found


def _last(out: Path) -> int:
    """Return the number of the last live run of a folder; 0 for none."""
    found = (_NUMBERED.fullmatch(entry.name) for entry in out.iterdir())
    return max((int(one[1]) for one in found if one), default=0)
