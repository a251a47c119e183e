"""A flow over a lossy line: what has arrived is what was acknowledged, selectively or not."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from longfat.analysis.timeseries.curves import RunCurves
from longfat.analysis.timeseries.live import LiveRun, plan_watch
from longfat.analysis.timeseries.quantities import ArrivedBytes
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.execution import Batch, run_batches
from longfat.execution.runs import Run, load_run
from longfat.model.probes import tcp_sockets
from longfat.model.probes.samples import read_samples
from longfat.study.read import parse_study

STUDY = """\
title: A long line that loses packets
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 50mbit, delay: 60ms, queue: 300KB, loss: 0.05%}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 3s, parallel: 2}
probes:
  tcp: {of: bulk, every: 10ms}
"""
RATE_BPS = 50e6


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs")
    study = parse_study(STUDY, name="lossy")
    assert run_batches([Batch(cases=study.cases, out=out, study="lossy")]).failures == ()
    return load_run(out / "default-seed1")


def test_what_has_arrived_is_what_was_acknowledged_and_sacked(lossy: Run) -> None:
    ends = tcp_sockets.find_ends(lossy.case.flows, lossy.raw)
    streams: dict[int, ArrivedBytes] = defaultdict(ArrivedBytes)
    holes = 0
    for row in tcp_sockets.decode(read_samples(lossy.raw / "tcp.samples"), ends):
        if row["end"] != "sender" or row["state"] == tcp_sockets.ENDED:
            continue
        holes += row["sacked_packets"] > 0
        arrived = row["bytes_acked"] + row["sacked_packets"] * row["mss_bytes"]
        assert streams[row["stream"]].add(row) == pytest.approx(arrived, abs=row["mss_bytes"])
    assert holes > 20


def test_throughput_has_no_dips_and_peaks_by_holes(lossy: Run) -> None:
    (curve,) = RunCurves(lossy).curves("throughput")
    # A round trip is longer than 100 ms.
    assert curve.window_s == pytest.approx(0.12, abs=0.011)
    assert np.nanmax(curve.values) < RATE_BPS
    received = tcp_samples(lossy, lossy.case.flows[0], "receiver")
    assert received is not None
    in_order: dict[float, int] = defaultdict(int)
    for time_s, count in zip(
        received["time_s"].to_pylist(), received["bytes_received"].to_pylist(), strict=True
    ):
        in_order[time_s] += count
    count = np.array(list(in_order.values()))
    rates = (count[12:] - count[:-12]) * 8 / 0.12
    assert max(rates) > 1.05 * RATE_BPS


def test_while_it_ran_the_curve_was_the_same(lossy: Run) -> None:
    live = LiveRun(plan_watch(lossy.case))
    live.folder = lossy.folder
    live.poll()
    watched = live.flows["bulk"].throughput
    values = dict(zip(np.round(watched.times_s, 9).tolist(), watched.values, strict=True))
    (curve,) = RunCurves(lossy).curves("throughput")
    shared = [
        (values[time_s], value)
        for time_s, value in zip(np.round(curve.times_s, 9).tolist(), curve.values, strict=True)
        if time_s in values
    ]
    assert len(shared) > 0.8 * len(curve.values)
    # At first a stream has moved less than the control connection, and is taken for it.
    watched_bps, curve_bps = zip(*shared[1:], strict=True)
    assert watched_bps == pytest.approx(curve_bps)
