"""One real run through everything that shows it over time: each gives the same numbers.

The run was captured (`tests/data/watch`). `longfat watch` and the live studio read the samplers'
files while they grow; reports, `longfat plot`, the studio's playback, the diagnosis and grids read
the tables of the run that has ended.
"""

from __future__ import annotations

import json
import math
import shutil
from collections import defaultdict
from typing import Any

import pytest

from longfat.analysis.advice.evidence import stream_readings
from longfat.analysis.timeseries.curves import Curve, RunCurves
from longfat.analysis.timeseries.groups import group_runs
from longfat.analysis.timeseries.live import LiveRun, Plan
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.execution.runs import FlowTime, Run
from longfat.execution.runs.run import RAW, SERIES, sums_of
from longfat.execution.runs.staging import decode_probes
from longfat.model.case import Case
from longfat.output.report.series import Series
from longfat.output.watch.lines import SecondRows
from longfat.studio.live import probe_reader
from longfat.studio.live.probe_reader import ProbeReader
from longfat.studio.saved_runs import run_recording
from longfat.studio.views import panels_of
from tests.analysis.timeseries.conftest import DATA

EVERY_S = 0.1
FLOWS = ("one", "other", "back")

Points = dict[float, float]
"""Values by their times, in nanoseconds' precision."""


def points(times_s: Any, values: Any) -> Points:
    pairs = zip(times_s, values, strict=True)
    return {round(time_s, 9): value for time_s, value in pairs if not math.isnan(value)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The run as it is kept when it has ended."""
    folder = tmp_path_factory.mktemp("kept")
    raw = folder / RAW
    shutil.copytree(DATA, raw)
    case = Case.from_json(json.loads((DATA / "case.json").read_text()))
    metrics = decode_probes(case, raw, series=folder / SERIES, epoch_s=0.0)
    return Run(
        folder=folder,
        name="default",
        case=case,
        case_digest="",
        digest="",
        kernel={"digest": "", "release": "6.1.0", "binary_sha256": ""},
        tools={},
        seed=case.seed,
        flow_times={flow.name: FlowTime(start_s=flow.start_s, end_s=1.4) for flow in case.flows},
        epoch_s=0.0,
        virtual_s=0.0,
        wall_s=0.0,
        peak_bytes=0,
        sandbox="",
        metrics=metrics,
        files=sums_of(folder),
    )


class Samples:
    """What a network's probe gives while it runs: here, all of the captured files at once."""

    number = 1

    def __init__(self) -> None:
        self._files = {kind: DATA / f"{kind}.samples" for kind in ("queue", "tcp")}

    def __enter__(self) -> None:
        pass

    def take(self, kind: str) -> bytes:
        return self._files.pop(kind).read_bytes() if kind in self._files else b""


class Clock:
    now = 0.0


class Network:
    """As much of a live network as a probe reader needs: its model, and its samples."""

    clock = Clock()
    record = ()

    def __init__(self, case: Case) -> None:
        self.model = case.network

    def probe(self, **targets: object) -> Samples:
        del targets
        return Samples()


@pytest.fixture
def live_studio(plan: Plan, case: Case, monkeypatch: pytest.MonkeyPatch) -> dict[str, Points]:
    """The points of the studio's series during the run, by their keys."""
    monkeypatch.setattr(probe_reader, "EVERY_S", EVERY_S)
    hosts = {address: name for name, address in case.network.host_addresses().items()}

    def flow_of(address: str, port: int) -> str:
        flow = plan.flows.get((hosts.get(address, ""), port))
        return "" if flow is None else flow.name

    network: Any = Network(case)
    reader = ProbeReader(network, flow_of=flow_of, limits={})
    reader.begin()
    series: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for info, time_s, value in reader.read():
        series[info.key].append((time_s, value))
    return {key: points(*zip(*pairs, strict=True)) for key, pairs in series.items()}


@pytest.fixture(scope="module")
def playback(run: Run) -> dict[str, Points]:
    """The points of the studio's series of the run when it has ended."""
    series = run_recording(run).all
    return {each.info.key: points(each.times, each.values) for each in series._all.values()}


def curves(run: Run, metric: str) -> dict[str, Points]:
    return {c.name: points(c.times_s, c.values) for c in RunCurves(run).curves(metric)}


QUANTITIES = {
    "throughput": ("throughput", "throughput_bps"),
    "rtt": ("rtt", "rtt_s"),
    "cwnd": ("cwnd", "cwnd_bytes"),
    "retransmits": ("retransmits", "retransmits"),
}
"""The names of a quantity in `longfat watch` and in the studio, by its name in figures."""


@pytest.mark.parametrize("metric", QUANTITIES)
def test_a_flow_has_the_same_values_everywhere(
    run: Run,
    whole: LiveRun,
    live_studio: dict[str, Points],
    playback: dict[str, Points],
    metric: str,
) -> None:
    attribute, quantity = QUANTITIES[metric]
    report = curves(run, metric)
    assert set(report) == set(FLOWS)
    for name in FLOWS:
        watched = getattr(whole.flows[name], attribute)
        watch = points(watched.times_s, watched.values)
        studio = live_studio[f"tcp:{name}:{quantity}"]
        recorded = playback[f"tcp:{name}:{quantity}"]
        assert len(report[name]) >= 8
        assert report[name] == pytest.approx(recorded)
        # The last sample is off the grid, and no window of a figure ends with it. At first a stream
        # has moved less than the control connection, and is taken for it.
        shared = watch.keys() & report[name].keys()
        assert len(shared) >= len(report[name]) - 1
        for time_s in shared - {min(report[name])}:
            assert watch[time_s] == pytest.approx(report[name][time_s]), (name, time_s)
        # The studio does not know the ports: a connection that has moved little is no flow yet.
        shared = studio.keys() & report[name].keys()
        assert len(shared) >= len(report[name]) - 3
        for time_s in shared:
            assert studio[time_s] == pytest.approx(report[name][time_s]), (name, time_s)


def test_a_queue_has_the_same_values_everywhere(
    run: Run, whole: LiveRun, live_studio: dict[str, Points], playback: dict[str, Points]
) -> None:
    report = curves(run, "queue")["s1-eth1"]
    queue = whole.queues["s1-eth1"]
    assert report == points(queue.backlog.times_s, queue.backlog.values)
    assert report == live_studio["queue:s1-eth1:backlog_bytes"]
    assert report == playback["queue:s1-eth1:backlog_bytes"]
    drops = points(queue.drops.times_s, queue.drops.values)
    assert drops == live_studio["queue:s1-eth1:drops"] == playback["queue:s1-eth1:drops"]
    assert max(drops.values()) == run.metrics["queue.drops"] > 0


def test_figures_have_the_values_of_the_curves(run: Run) -> None:
    panels = {panel["metric"]: panel for panel in panels_of([run])}
    for metric in QUANTITIES:
        figure = Series(group_runs([run])).panel(metric)
        assert figure is not None
        report = curves(run, metric)
        for line in figure.lines:
            (name,) = (flow for flow in FLOWS if line.label.startswith(flow))
            assert points(line.times_s, line.values) == report[name]
        assert len(panels[metric]["lines"]) == len(FLOWS)


def test_the_rows_of_watch_are_means_of_what_the_studio_shows(
    whole: LiveRun, live_studio: dict[str, Points]
) -> None:
    first = next(SecondRows(whole, case="x").new())
    for name in FLOWS:
        raw = live_studio[f"tcp:{name}:throughput_raw_bps"]
        within = {time_s: bps for time_s, bps in raw.items() if time_s < 1.05}
        # The studio leaves out a stream until it has moved 20 kB.
        known_s = min(within) - EVERY_S + 1e-6
        mean_bps = whole.flows[name].mean_bps(known_s, 1.0 + 1e-6)
        assert mean_bps is not None
        assert mean_bps == pytest.approx(sum(within.values()) / len(within))
        before = (whole.flows[name].arrived.at(known_s) or 0.0) * 8
        assert first["flows"][name]["throughput_bps"] == pytest.approx(
            mean_bps * (1.0 - known_s) + before, rel=1e-4
        )


def test_the_throughput_sums_up_to_what_was_sent(run: Run) -> None:
    for name in FLOWS:
        bits = sum(curves(run, "throughput")[name].values()) * EVERY_S
        report = json.loads((DATA / f"{name}.client.json").read_text())
        sent_bits = report["end"]["sum_sent"]["bytes"] * 8
        # What arrived before the first sample and after the last one is in no interval.
        assert 0.75 * sent_bits < bits <= sent_bits


def test_the_diagnosis_reads_the_same_samples(run: Run) -> None:
    cwnds = curves(run, "cwnd")["one"]
    table = tcp_samples(run, run.case.flows[0])
    assert table is not None
    (readings,) = stream_readings(table)
    known = [reading for reading in readings if round(reading.time_s, 9) in cwnds]
    assert len(known) >= 8
    assert all(cwnds[round(each.time_s, 9)] == each.cwnd_bytes for each in known)


def test_grids_take_the_values_of_the_curves(run: Run) -> None:
    reader = RunCurves(run)
    (curve,) = (curve for curve in reader.curves("throughput") if curve.name == "one")
    assert isinstance(curve, Curve)
    assert curve.window_s == pytest.approx(EVERY_S)
    assert reader.even_values(curve).tolist() == curve.values.tolist()
