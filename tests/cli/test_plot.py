"""`longfat plot` as a user calls it: what it prints, what it ends with, what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.analysis.verdict import evaluate
from longfat.execution.runs import load_run
from longfat.model.traffic import Video
from longfat.output.report.figures import figure_groups
from longfat.study import read_study
from tests.command import longfat
from tests.paths import TESTS

IPERF3 = TESTS / "data" / "iperf3"

STUDY = """\
title: Two cases
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - h1: tc qdisc add dev h1-eth0 root netem delay 10ms
  - root: "tc qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 20000 limit 30000"
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
probes:
  queue: {of: s1-eth2, every: 20ms}
  tcp: {of: bulk, every: 20ms}
cases:
  cubic:
  reno:
    flows: {bulk: {congestion: reno}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plot")
    (folder / "two.yaml").write_text(STUDY)
    done = longfat("run", "two.yaml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_one_run(folder: Path) -> None:
    run = "runs/two/cubic-seed1"
    done = longfat("plot", run, "--format", "pdf", cwd=folder)
    assert done.returncode == 0, done.stderr
    names = ["throughput", "RTT", "cwnd", "queue", "retransmits", "phase"]
    assert done.stdout.split() == [f"{run}/plots/{name}.pdf" for name in names]
    assert done.stderr == ""
    for line in done.stdout.split():
        assert (folder / line).read_bytes().startswith(b"%PDF-")


def test_several_runs_and_what_is_chosen(folder: Path) -> None:
    done = longfat(
        *("plot", "runs/two/cubic-seed1", "runs/two/reno-seed1", "--json", "--metric", "cwnd"),
        *("--from", "0.5", "--to", "1500ms", "--title", "Cubic and Reno", "--flow", "bulk"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    files = [f"plots/cwnd.{form}" for form in ("pdf", "png", "svg")]
    assert json.loads(done.stdout) == {"files": files, "notes": []}
    assert sorted(path.name for path in (folder / "plots").iterdir()) == [
        "cwnd.pdf",
        "cwnd.png",
        "cwnd.svg",
    ]


def test_iperf(tmp_path: Path) -> None:
    files = [str(IPERF3 / f"{name}.json") for name in ("parallel", "interrupted")]
    done = longfat("plot", "--iperf", *files, "--format", "svg", cwd=tmp_path)
    assert done.returncode == 0
    assert "the test broke off: interrupt" in done.stderr
    names = ["throughput", "RTT", "RTT_Var", "cwnd", "retransmits", "bytes"]
    assert done.stdout.split() == [f"results/{name}.svg" for name in names]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["plot"], "name a run directory"),
        (["plot", "--iperf"], "name a file that `iperf3 -J` wrote"),
        (["plot", "none"], "none: no such directory"),
        (["plot", "runs/two"], "runs are in it: name one or more of runs/two/cubic-seed1"),
        (["plot", "two.yaml"], "two.yaml: a file, not a run directory"),
        (["plot", "."], "not a run directory: no manifest.json"),
        (["plot", "runs/two/cubic-seed1", "--flow", "x"], "no flow 'x' in it; its flows: bulk"),
        (["plot", "runs/two/cubic-seed1", "--metric", "speed"], "no metric 'speed'; there are"),
        (["plot", "runs/two/cubic-seed1", "--from", "abc"], "--from: 'abc' is not a time"),
        (["plot", "runs/two/cubic-seed1", "--from", "3", "--to", "2"], "must come after"),
        (["plot", "runs/two/cubic-seed1", "--format", "gif"], "'gif' is not one of"),
        (["plot", "--iperf", "two.yaml"], "two.yaml: not JSON"),
        (["plot", "--iperf", "runs"], "runs: a directory"),
        (["plot", "--iperf", "two.yaml", "--flow", "x"], "have no names of flows"),
    ],
)
def test_bad_input(folder: Path, arguments: list[str], told: str) -> None:
    before = sorted(str(path) for path in folder.rglob("*"))
    done = longfat(*arguments, "--out", "nowhere", cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert sorted(str(path) for path in folder.rglob("*")) == before


APPLICATIONS = """\
title: Flows that are no bulk traffic
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 6mbit, delay: 20ms, loss: 1%}]]
flows:
  call: {cbr: h1 -> h2, time: 5s}
  film: {video: h1 -> h2, time: 5s}
  web: {requests: h1 -> h2, time: 5s, every: 100ms, size: 10kB}
"""


def test_flows_that_are_no_bulk_traffic(tmp_path: Path) -> None:
    (tmp_path / "apps.yaml").write_text(APPLICATIONS)
    done = longfat("run", "apps.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = longfat("plot", "runs/apps/default-seed1", "--format", "svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [Path(line).stem for line in done.stdout.splitlines()] == [
        *("delay", "jitter", "buffer", "bitrate"),
        *("completion-web", "slowdown-web"),
    ]
    # The same stand in the report.
    runs = {"default": (load_run(tmp_path / "runs/apps/default-seed1"),)}
    verdict = evaluate(read_study(tmp_path / "apps.yaml"), runs)
    assert [(one.heading, len(one.figures)) for one in figure_groups(verdict)] == [
        ("Delay of each datagram", 1),
        ("Video", 1),
        ("Completion times of requests", 2),
    ]
    asked = ("--metric", "slowdown", "--flow", "call")
    done = longfat("plot", "runs/apps/default-seed1", *asked, cwd=tmp_path)
    assert done.returncode == 2
    assert "no slowdown to draw: that takes a flow of requests" in done.stderr


def test_the_buffer_of_a_video_is_that_of_its_report(tmp_path: Path) -> None:
    flow = Video(name="film", source="h1", target="h2", time_s=20.0, segment_s=4.0)
    report = {
        "program": "longfat video",
        "started_ns": 10**9,
        "port": 1,
        "server_port": 2,
        "stalls": [[5 * 10**9, 7 * 10**9], [11 * 10**9, 20 * 10**9]],
        "segments": [[0, 10**9, 0], [10**9, 7 * 10**9, 1], [7 * 10**9, -1, 1]],
    }
    (tmp_path / "film.client.json").write_text(json.dumps(report))
    corners = [(0, 0), (1, 0), (1, 4), (5, 0), (7, 0), (7, 4), (11, 0), (20, 0)]
    assert flow.buffered(tmp_path) == corners
    assert [at_s for at_s, _ in flow.bitrates(tmp_path)] == [1, 7]
