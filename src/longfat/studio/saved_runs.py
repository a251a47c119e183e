"""Runs of the workspace: listed, read, deleted, and shown like a live one.

A live run stores what its charts showed (`longfat.studio.live.saved_run`). For any other run
it is derived from its flows and probes: throughput, RTT, window and retransmissions of flows,
queues and drops of queue probes, and the sending rate of interfaces of rate or queue probes.
Rates of links are those of the network, of the set-up commands and of the events that changed
them, if these commands can be parsed with certainty.
"""

from __future__ import annotations

import math
import os
import stat
import threading
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypedDict, cast

from longfat.analysis.timeseries.curves import RunCurves
from longfat.analysis.timeseries.quantities import CounterGrowth, rate_bps
from longfat.common.checksum import file_damage
from longfat.common.decoding import parse_json
from longfat.common.extras import lazy
from longfat.common.removal import remove_tree
from longfat.errors import InputError
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST, read_manifest
from longfat.model.flow_path import NotUnderstoodError, queue_limits
from longfat.model.flow_path.rates import interface_rates
from longfat.model.probes import Queue, Rate
from longfat.model.probes.queue import the_queue
from longfat.model.units import format_quantity
from longfat.output.report.record import PAGE
from longfat.studio.http import RUNS, HttpError, report_url
from longfat.studio.live.events import LiveFlow, Mark, RecordingInfo
from longfat.studio.live.saved_run import RECORDING, RECORDING_SERIES
from longfat.studio.live.series import SeriesInfo, SeriesKind, SeriesSet, SeriesUnit, series_info
from longfat.study import STUDY_FILE
from longfat.study.files import MAX_CASE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.studio.workspace import Workspace

# It includes the files of a case; JSON takes up to three characters for a byte of text.
_MAX_MANIFEST_BYTES = 4 * 1024**2 + 3 * MAX_CASE_BYTES
_MAX_METRICS = 4
# The metrics that best distinguish runs of a flow, if they have them.
_KEY_METRICS = ("receiver_bps", "avg_s", "retransmits", "loss")


def load_saved(workspace: Workspace, path: str) -> Run:
    """Read a run.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such run, it is incomplete, or contains a link.
    """
    folder = workspace.folder(path)
    for inside, names, files in os.walk(folder):
        for name in (*names, *files):
            mode = Path(inside, name).lstat().st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise InputError(f"{path}: {name} is not a regular file: runs contain no links")
    if not (folder / MANIFEST).is_file():
        raise HttpError(f"{path}: no run: there is no {MANIFEST}", status=HTTPStatus.NOT_FOUND)
    return load_run(folder)


def delete_saved(workspace: Workspace, path: str) -> None:
    """Delete a run; with its study's folder and report, if it was the last one.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such run, or it cannot be deleted.
    """
    folder = workspace.folder(path, unlock=True)
    if not (folder / MANIFEST).is_file():
        raise HttpError(f"{path}: no run: there is no {MANIFEST}", status=HTTPStatus.NOT_FOUND)
    above, _, _ = path.rpartition("/")
    workspace.stores.forget(folder)
    try:
        remove_tree(folder, last=MANIFEST)
        rest = workspace.folder(above) if above.startswith(f"{RUNS}/") else None
        if rest is not None and not any(one.is_dir() for one in rest.iterdir()):
            remove_tree(rest)
    except OSError as error:
        raise InputError(f"{path}: cannot be deleted: {error.strerror}") from None


class RunResult(TypedDict):
    """A metric of a run, human-readable.

    Attributes:
        name: whose it is, and its label.
        text: the value with its unit.
    """

    name: str
    text: str


class _RunFacts(TypedDict):
    path: str
    study: str
    case: str
    seed: int
    kernel: str
    digest: str
    modified_s: float
    results: list[RunResult]


class RunEntry(_RunFacts):
    """A saved run.

    Attributes:
        path: the run directory below the workspace.
        study: the name of its study's folder.
        case: the case.
        seed: its seed.
        kernel: the kernel's release.
        digest: the digest of its results.
        modified_s: when it was written, in seconds since 1970.
        results: some metrics that distinguish runs.
        report: the path for GET of the report that contains it; null if none was written.
    """

    report: str | None


class SavedRuns:
    """The runs of a workspace, listed quickly: manifests are cached until they change.

    Args:
        workspace: the workspace.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._entries: dict[str, tuple[tuple[int, int, int], _RunFacts | None]] = {}

    def entries(self, *, search: str = "") -> list[RunEntry]:
        """Return the runs, the newest first.

        Args:
            search: words that must all be found in a run's path, names, kernel or figures.
        """
        words = search.casefold().split()
        with self._lock:
            found: list[RunEntry] = [
                {**entry, "report": self._report(entry["path"])}
                for entry in self._all()
                if all(word in _text(entry) for word in words)
            ]
        return sorted(found, key=lambda entry: (-entry["modified_s"], entry["path"]))

    def _report(self, path: str) -> str | None:
        """Return the URL of the report that contains a run; None if there is none."""
        folder = PurePosixPath(path).parent.as_posix()
        there = folder != "." and (self._workspace.root / folder / PAGE).is_file()
        return report_url(folder) if there else None

    def _all(self) -> list[_RunFacts]:
        before, self._entries = self._entries, {}
        found = []
        for folder, files in self._workspace.walk():
            manifest = next((entry for entry in files if entry.name == MANIFEST), None)
            if manifest is None or not folder:
                continue
            try:
                about = manifest.stat(follow_symlinks=False)
            except OSError:
                continue  # removed meanwhile
            mark = (about.st_mtime_ns, about.st_size, about.st_ino)
            known = before.get(folder)
            if known is None or known[0] != mark:
                known = (mark, self._entry(folder, about.st_mtime))
            self._entries[folder] = known
            if known[1] is not None:
                found.append(known[1])
        return found

    def _entry(self, folder: str, modified_s: float) -> _RunFacts | None:
        """Return the entry of a manifest; None if this version cannot read it."""
        try:
            content = self._workspace.read(f"{folder}/{MANIFEST}", most_bytes=_MAX_MANIFEST_BYTES)
            data = parse_json(content, where=folder)
            run = read_manifest(data, folder=Path(folder))
        except InputError:
            return None
        return {
            "path": folder,
            "study": PurePosixPath(folder).parent.name,
            "case": run.name,
            "seed": run.seed,
            "kernel": run.kernel["release"],
            "digest": run.digest,
            "modified_s": modified_s,
            "results": _key_metrics(run),
        }


def _key_metrics(run: Run) -> list[RunResult]:
    """Return a few metrics of a run: the most important of each flow, then of its probes."""
    known = {flow.name: {one.name: one for one in flow.metrics} for flow in run.case.flows}
    found = [
        (name, of[metric])
        for metric in _KEY_METRICS
        for name, of in known.items()
        if metric in of and f"{name}.{metric}" in run.metrics
    ]
    for probe in run.case.probes:
        found += [
            (probe.name, one) for one in probe.metrics if f"{probe.name}.{one.name}" in run.metrics
        ]
    return [
        {
            "name": f"{name} {metric.title}",
            "text": format_quantity(run.metrics[f"{name}.{metric.name}"], metric.unit),
        }
        for name, metric in found[:_MAX_METRICS]
    ]


def _text(entry: _RunFacts) -> str:
    figures = " ".join(f"{one['name']} {one['text']}" for one in entry["results"])
    parts = (entry["path"], entry["kernel"], f"seed {entry['seed']}", entry["digest"], figures)
    return " ".join(parts).casefold()


pc = lazy("pyarrow.compute")

_MAX_RECORDING_BYTES = 16 * 1024**2
_MAX_SERIES_BYTES = 256 * 1024**2
_FIELDS = {"flows": list, "series": list, "marks": list, "levels": list, "left_out": list}

# Of a run's curves: the quantity of the live series, and its unit.
_QUANTITIES: dict[str, tuple[str, SeriesUnit]] = {
    "throughput": ("throughput_bps", "bit/s"),
    "rtt": ("rtt_s", "s"),
    "cwnd": ("cwnd_bytes", "bytes"),
    "retransmits": ("retransmits", "packets"),
    "queue": ("backlog_bytes", "bytes"),
}
# A series without a value for this many intervals has a gap.
_GAP_INTERVALS = 5


def check_saved(run: Run) -> None:
    """Check that the stored recording of a live run is intact.

    Raises:
        InputError: it is not intact.
    """
    for name in (RECORDING, RECORDING_SERIES, STUDY_FILE):
        if problem := file_damage(run.folder / name, run.files[name]):
            raise InputError(f"{run.folder}: damaged: {name}: {problem}")


def is_live(run: Run) -> bool:
    """Return whether it is a live run saved by the studio."""
    return all(name in run.files for name in (RECORDING, RECORDING_SERIES, STUDY_FILE))


def saved_recording(workspace: Workspace, path: str) -> dict[str, Any]:
    """Return the stored recording of a live run: a `RecordingInfo`, and what was left out.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such file, or it is damaged.
    """
    where = f"{path}/{RECORDING}"
    content = workspace.read(where, most_bytes=_MAX_RECORDING_BYTES)
    data = parse_json(content, where=where)
    if not isinstance(data, dict) or not all(
        isinstance(data.get(name), kind) for name, kind in _FIELDS.items()
    ):
        raise InputError(f"{where}: not a recording written by the studio")
    return data


def saved_series(workspace: Workspace, path: str) -> bytes:
    """Return the series of a live run, as a binary message; see `saved_recording`."""
    return workspace.read(f"{path}/{RECORDING_SERIES}", most_bytes=_MAX_SERIES_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecording:
    """A run as a recording.

    Attributes:
        run: the run.
        all: its series.
    """

    run: Run
    all: SeriesSet = field(default_factory=SeriesSet)

    def series(self) -> bytes:
        """Return the series as a binary message."""
        self.all.unsent(recording=1)
        return self.all.whole(recording=1)

    def to_json(self, *, kept: str) -> RecordingInfo:
        """Return its description.

        Args:
            kept: the run directory, below the workspace.
        """
        run = self.run
        # The traffic's start since boot is unknown: times are relative to it.
        end_s = max((one.end_s for one in run.flow_times.values()), default=0.0)
        return {
            "number": 1,
            "case": run.name,
            "start_s": 0.0,
            "end_s": end_s,
            "flows": list(self._flows()),
            "series": self.all.infos,
            "marks": [
                Mark(kind="event", text=time.words, at_s=time.at_s) for time in run.event_times
            ],
            "levels": [],
            "differences": [],
            "kept": kept,
            "label": None,
        }

    def _flows(self) -> Iterator[LiveFlow]:
        for flow in self.run.case.flows:
            known = {
                metric.name: self.run.metrics[f"{flow.name}.{metric.name}"]
                for metric in flow.metrics
                if f"{flow.name}.{metric.name}" in self.run.metrics
            }
            time = self.run.flow_times[flow.name]
            failure = self.run.flow_failures.get(flow.name)
            yield {
                "name": flow.name,
                "tool": flow.tool,
                "source": flow.source,
                "target": flow.target,
                "state": "done" if failure is None else "failed",
                "started_s": time.start_s,
                "ended_s": time.end_s,
                "command": flow.summary(),
                "words": "" if failure is None else str(failure),
                "metrics": known,
                "results": [
                    {
                        "name": metric.name,
                        "label": metric.title,
                        "text": format_quantity(known[metric.name], metric.unit),
                    }
                    for metric in flow.metrics
                    if metric.name in known
                ],
                "advice": None,
            }


def run_recording(run: Run) -> RunRecording:
    """Return a run as a recording.

    Args:
        run: the run, as `longfat run` has kept it.

    Raises:
        InputError: a file of it is missing or broken.
    """
    found = RunRecording(run=run)
    full = run.case.network.full_interface_names()
    curves = RunCurves(run)
    limits = queue_limits(run.case, installed=run.installed)
    for metric, (quantity, unit) in _QUANTITIES.items():
        for curve in curves.curves(metric):
            limit = limits.get(curve.name) if metric == "queue" else None
            info = series_info(
                cast("SeriesKind", curve.kind),
                curve.name,
                quantity,
                unit,
                limit=limit,
                label=curve.title,
            )
            times, values = curve.times_s.tolist(), curve.values.tolist()
            _add(found.all, info, zip(times, values, strict=True))
    _add_probes(found.all, run, full)
    for name, points in _limits(run).items():
        _add(
            found.all,
            series_info("rate", name, "limit_bps", "bit/s", label=full.get(name)),
            points,
            gaps=False,
        )
    return found


def _add_probes(series: SeriesSet, run: Run, full: Mapping[str, str]) -> None:
    """Add drops, and the sending rates of interfaces.

    Args:
        series: where to add them.
        run: the run.
        full: the full names of interfaces that have short ones.
    """
    sent: dict[str, list[tuple[float, float]]] = {}
    for queue in run.case.probes_of(Queue):
        table = run.series(queue.name)
        roots = table.filter(pc.equal(table["parent"].cast("string"), "root"))
        for name in queue.of:
            sent.setdefault(name, list(_column(_at(roots, name), "sent_bytes")))
            info = series_info("queue", name, "drops", "packets", label=full.get(name))
            _add(series, info, _drops(_at(the_queue(table), name)))
    for rate in run.case.probes_of(Rate):
        for name in rate.of:
            sent[name] = list(_column(_at(run.series(rate.name), name), "tx_bytes"))
    for name, counted in sent.items():
        info = series_info("rate", name, "tx_bps", "bit/s", label=full.get(name))
        rates = ((after[0], rate_bps(before, after)) for before, after in pairwise(counted))
        _add(series, info, ((time_s, bps) for time_s, bps in rates if bps is not None))


def _drops(rows: pa.Table) -> Iterator[tuple[float, float]]:
    """Yield the packets that a queue has dropped since its first sample, with the times."""
    drops = CounterGrowth()
    is_first = True
    columns = (rows[name].to_pylist() for name in ("time_s", "handle", "drops"))
    for time_s, handle, count in zip(*columns, strict=True):
        yield time_s, float(drops.add(handle, count or 0, from_start=is_first))
        is_first = False


def _at(table: pa.Table, interface: str) -> pa.Table:
    return table.filter(pc.equal(table["interface"].cast("string"), interface))


def _column(table: pa.Table, name: str) -> Iterator[tuple[float, float]]:
    pairs = zip(table["time_s"].to_pylist(), table[name].to_pylist(), strict=True)
    return ((time, float(value)) for time, value in pairs if value is not None)


def _limits(run: Run) -> dict[str, list[tuple[float, float]]]:
    """Return the rates of interfaces, and since when each is valid; NaN without a limit."""
    happened = [(one.event, one.at_s) for one in run.event_times]
    found: dict[str, list[tuple[float, float]]] = {}
    for name in chain.from_iterable(run.case.network.interfaces()):
        try:
            rates = interface_rates(run.case, name, happened, installed=run.installed)
        except NotUnderstoodError:
            continue
        if any(rate_bps is not None for _, rate_bps in rates):
            found[name] = [
                (max(0.0, since_s), math.nan if rate_bps is None else rate_bps)
                for since_s, rate_bps in rates
            ]
    return found


def _add(
    series: SeriesSet,
    info: SeriesInfo,
    points: Iterable[tuple[float, float]],
    *,
    gaps: bool = True,
) -> None:
    """Add a series, with a gap where values are missing for a while, and at its end."""
    known = [point for point in points if math.isfinite(point[0])]
    steps = sorted(b[0] - a[0] for a, b in pairwise(known))
    usual_s = steps[len(steps) // 2] if steps else 0.0
    last_s = -math.inf
    for time_s, value in known:
        if gaps and usual_s > 0 and time_s - last_s > _GAP_INTERVALS * usual_s > 0:
            series.add(info, min(last_s + usual_s, time_s), math.nan)
        series.add(info, time_s, value)
        last_s = time_s
