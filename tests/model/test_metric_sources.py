"""Each metric has a source, and the number there is the metric's value."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.explanation import read_source
from longfat.execution.runs import load_run
from longfat.model.metric import MetricSource
from longfat.model.probes import Capture, Probe, Queue, Rate, Tcp
from longfat.model.traffic import Cbr, Flow, Iperf3, Ping, Program, Requests, Transfer, Video
from longfat.model.traffic.extraction import Extraction
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"
ENDS: dict[str, Any] = {"name": "bulk", "source": "h1", "target": "h2"}
PROGRAM = Program(
    **ENDS, run="true", extractions=(Extraction(name="load", json="time_total", unit="ms"),)
)
CAPTURED = {
    "iperf3-3.12-tcp": Iperf3(**ENDS),
    "iperf3-3.12-parallel": Iperf3(**ENDS, parallel=2),
    "iperf3-3.12-reverse": Iperf3(**ENDS, reverse=True),
    "iperf3-3.12-udp": Iperf3(**ENDS, udp=True),
    "transfer-parallel": Transfer(**ENDS, parallel=2),
    "transfer-reverse": Transfer(**ENDS, reverse=True),
    "video": Video(**ENDS),
}
MEASURED: tuple[type[Flow | Probe], ...] = (
    *(Iperf3, Transfer, Ping, Requests, Cbr, Video),
    *(Queue, Tcp, Rate, Capture),
)


def _sources(measured: type[Flow | Probe] | Program) -> Iterator[tuple[str, MetricSource]]:
    # A sampling probe has metrics of its own for each of several targets.
    metrics = getattr(measured, "target_metrics", None) or measured.metrics
    for metric in metrics:  # type: ignore[union-attr]
        assert metric.source is not None, f"{metric.name} has no source"
        yield metric.name, metric.source


def _name(measured: type[Flow | Probe] | Program) -> str:
    return measured.__name__ if isinstance(measured, type) else "Program"


@pytest.mark.parametrize("measured", [*MEASURED, PROGRAM], ids=_name)
def test_each_metric_has_a_source(measured: type[Flow | Probe] | Program) -> None:
    for name, source in _sources(measured):
        assert source.file.startswith(("raw/", "series/")), name
        assert source.path, name
        assert source.describe(), name
        assert source.is_direct or not source.take, name


@pytest.mark.parametrize("probe", [Queue, Tcp, Rate, Capture])
def test_columns_of_series_exist(probe: type[Probe]) -> None:
    columns = {column.name for column in probe.columns}
    for name, source in _sources(probe):
        assert set(source.path.split(", ")) <= columns, name


def _check(flow: Flow, folder: Path) -> set[str]:
    """Compare the measured values with the numbers at their sources, and return the compared."""
    measured = flow.measure(folder / "raw")
    compared = set()
    for metric in flow.metrics:
        if metric.name not in measured or metric.source is None or not metric.source.is_direct:
            continue
        file = folder / metric.source.file_of(flow.name, reverse=flow.reverse)
        value = read_source(file.read_bytes(), metric.source)
        assert value == pytest.approx(measured[metric.name], rel=1e-12), metric.name
        compared.add(metric.name)
    return compared


@pytest.mark.parametrize("name", CAPTURED)
def test_number_at_the_source_is_the_value(name: str, tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    for end in ("client", "server"):
        if (file := DATA / f"{name}-{end}.json").exists():
            shutil.copy(file, tmp_path / "raw" / f"bulk.{end}.json")
    direct = {metric.name for metric in CAPTURED[name].metrics if metric.source.is_direct}  # type: ignore[union-attr]
    compared = _check(CAPTURED[name], tmp_path)
    if name == "iperf3-3.12-udp":
        tcp = {"retransmits", "max_cwnd_bytes", "min_rtt_s", "mean_rtt_s", "max_rtt_s"}
        assert compared == direct - tcp
    else:
        assert compared == direct - {"jitter_s", "loss", "completion_s"}


def test_number_at_the_source_of_ping_and_programs(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    shutil.copy(DATA / "ping-20221126.txt", tmp_path / "raw" / "bulk.txt")
    times = {"min_s", "avg_s", "max_s", "mdev_s"}
    assert _check(Ping(**ENDS), tmp_path) == {*times, "sent", "received"}
    file = DATA / "program-curl-7.88.client.txt.err"
    report = b'curl: a warning\n{"elapsed_ns": 1, "status": 7}\n' + file.read_bytes()
    for metric in Program(**ENDS, run="true").metrics:
        assert metric.source is not None
        read = read_source(report, metric.source)
        assert read == read_source(file.read_bytes(), metric.source), metric.name


@pytest.mark.parametrize(
    "folder", sorted(file.parent for file in (TESTS / "data/runs").rglob("manifest.json"))
)
def test_number_at_the_source_in_captured_runs(folder: Path) -> None:
    for flow in load_run(folder).case.flows:
        assert _check(flow, folder), flow.name
