"""A run of `longfat run` on the studio's line of time, and as a study."""

from __future__ import annotations

import json
import math
import shutil
import struct
from array import array
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longfat.execution import Batch, run_batches
from longfat.execution.runs import Run, load_run
from longfat.studio.live.events import Mark
from longfat.studio.saved_runs import run_recording
from longfat.study.read import parse_study
from tests.paths import TESTS

STUDY = """\
title: A bottleneck that becomes narrower
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms, queue: 60KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 4s}
probes:
  queue: {of: s1-eth2, every: 20ms}
  tcp: {of: bulk, every: 20ms}
events:
  - {at: 2s, link: [s1, h2], rate: 5mbit}
"""


def lines(message: bytes) -> dict[str, list[tuple[float, float]]]:
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    at = 4 + length + -(4 + length) % 8
    found = {}
    for entry in header["entries"]:
        size = 8 * entry["count"]
        times = array("d", message[at : at + size])
        values = array("d", message[at + size : at + 2 * size])
        found[entry["key"]] = list(zip(times, values, strict=True))
        at += 2 * size
    return found


@pytest.fixture(scope="module")
def narrowed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    out = tmp_path_factory.mktemp("runs")
    study = parse_study(STUDY, name="narrow")
    assert run_batches([Batch(cases=study.cases, out=out, study="narrow")]).failures == ()
    return load_run(out / "default-seed1")


def test_it_says_what_queues_links_and_flows_did(narrowed: Run) -> None:
    recording = run_recording(narrowed)
    of = lines(recording.series())
    assert of["rate:s1-eth2:limit_bps"] == [(0.0, 20e6), (2.0, 5e6)]
    sent = of["rate:s1-eth2:tx_bps"]
    assert max(bps for time_s, bps in sent if 1 < time_s < 2) > 15e6
    assert max(bps for time_s, bps in sent if 3 < time_s < 3.9) < 7e6
    drops = [count for _, count in of["queue:s1-eth2:drops"]]
    assert drops[0] == 0 < drops[-1] == narrowed.metrics["queue.drops"]
    assert 0 in [value for _, value in of["queue:s1-eth2:backlog_bytes"]]
    window = [value for _, value in of["tcp:bulk:cwnd_bytes"] if not math.isnan(value)]
    assert max(window) == narrowed.metrics["tcp.peak_cwnd_bytes"]
    told = recording.to_json(kept="runs/a")
    assert told["marks"] == [Mark(kind="event", text="s1 - h2: 5 Mbit/s", at_s=2.0)]
    assert told["flows"][0]["metrics"]["receiver_bps"] == narrowed.metrics["bulk.receiver_bps"]


def test_a_run_without_probes_has_what_its_tools_said(client: TestClient, workspace: Path) -> None:
    shutil.copytree(TESTS / "data/runs/lab08", workspace / "runs/lab08")
    asked = {"run": "runs/lab08/default-seed1"}
    told = client.get("/api/recording", params=asked).json()
    assert told["kept"] == asked["run"]
    of = lines(client.get("/api/recording-series", params=asked).content)
    assert {one["key"] for one in told["series"]} == of.keys()
    assert len(of["tcp:bulk:throughput_bps"]) >= 10
    found = client.get("/api/run-study", params=asked).json()
    assert parse_study(found["text"], name="x").cases
    # Another kernel than that of the run is no secret.
    release = json.loads((workspace / asked["run"] / "manifest.json").read_text())["kernel"][
        "release"
    ]
    assert [text for text in found["warnings"] if f"made with Linux {release}" in text]
    assert client.get("/api/recording", params={"run": "runs/none"}).status_code == 404
