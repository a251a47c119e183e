"""A run of the workspace in the form in which the studio shows a live one.

A live run stores what its charts showed (`longfat.studio.live.kept_run`). For any other run
it is derived from its flows and probes: throughput, RTT, window and retransmissions of flows,
queues and drops of queue probes, and the sending rate of interfaces of rate or queue probes.
Rates of links are those of the network, of the set-up commands and of the events that changed
them, if these commands can be parsed with certainty.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.curves import RunCurves
from longfat.analysis.timeseries.quantities import CounterGrowth, rate_bps
from longfat.common.checksum import file_damage
from longfat.common.decoding import parse_json
from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.model.flow_path import NotUnderstoodError, queue_limits
from longfat.model.flow_path.rates import interface_rates
from longfat.model.probes import Queue, Rate
from longfat.model.probes.queue import the_queue
from longfat.model.units import format_quantity
from longfat.studio.live.kept_run import RECORDING, RECORDING_SERIES
from longfat.studio.live.series import SeriesInfo, SeriesSet, info_json, series_info
from longfat.study import STUDY_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.studio.workspace import Workspace

pc = lazy("pyarrow.compute")

_LARGEST_RECORDING = 16 * 1024**2
_LARGEST_SERIES = 256 * 1024**2
_FIELDS = {"flows": list, "series": list, "marks": list, "levels": list, "left_out": list}

# Of a run's curves: the quantity of the live series, and its unit.
_QUANTITIES = {
    "throughput": ("throughput_bps", "bit/s"),
    "rtt": ("rtt_s", "s"),
    "cwnd": ("cwnd_bytes", "bytes"),
    "retransmits": ("retransmits", "packets"),
    "queue": ("backlog_bytes", "bytes"),
}
# A series without a value for this many intervals has a gap.
_GAP_INTERVALS = 5


def check_kept(run: Run) -> None:
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


def kept_recording(workspace: Workspace, path: str) -> dict[str, Any]:
    """Return the stored recording of a live run, as `Recording` of the page's `api/types.ts`.

    Args:
        workspace: the workspace.
        path: the run directory, below it.

    Raises:
        InputError: there is no such file, or it is damaged.
    """
    where = f"{path}/{RECORDING}"
    content = workspace.read(where, most_bytes=_LARGEST_RECORDING)
    data = parse_json(content, where=where)
    if not isinstance(data, dict) or not all(
        isinstance(data.get(name), kind) for name, kind in _FIELDS.items()
    ):
        raise InputError(f"{where}: not a recording written by the studio")
    return data


def kept_series(workspace: Workspace, path: str) -> bytes:
    """Return the series of a live run, as a binary message; see `kept_recording`."""
    return workspace.read(f"{path}/{RECORDING_SERIES}", most_bytes=_LARGEST_SERIES)


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

    def to_json(self) -> dict[str, Any]:
        """Return it as `Recording` of the page's `api/types.ts`."""
        run = self.run
        # The traffic's start since boot is unknown: times are relative to it.
        end_s = max((one.end_s for one in run.flow_times.values()), default=0.0)
        return {
            "number": 1,
            "case": run.name,
            "start_s": 0.0,
            "end_s": end_s,
            "flows": list(self._flows()),
            "series": [info_json(info) for info in self.all.infos],
            "marks": [
                {"kind": "event", "text": time.words, "at_s": time.at_s} for time in run.event_times
            ],
            "levels": [],
            "differences": [],
        }

    def _flows(self) -> Iterator[dict[str, Any]]:
        for flow in self.run.case.flows:
            known = {
                metric.name: self.run.metrics[f"{flow.name}.{metric.name}"]
                for metric in flow.metrics
                if f"{flow.name}.{metric.name}" in self.run.metrics
            }
            time = self.run.flow_times[flow.name]
            yield {
                "name": flow.name,
                "tool": flow.tool,
                "source": flow.source,
                "target": flow.target,
                "state": "done",
                "started_s": time.start_s,
                "ended_s": time.end_s,
                "command": flow.summary(),
                "words": "",
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
    limits = queue_limits(run.case)
    for metric, (quantity, unit) in _QUANTITIES.items():
        for curve in curves.curves(metric):
            limit = limits.get(curve.name) if metric == "queue" else None
            info = series_info(
                curve.kind, curve.name, quantity, unit, limit=limit, label=curve.title
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
            rates = interface_rates(run.case, name, happened)
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
