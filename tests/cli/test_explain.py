"""`longfat explain`: where a number of a run comes from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.command import longfat
from tests.paths import TESTS

RUN = TESTS / "data/runs/many/reversed-seed1"


def test_file_path_and_formula(tmp_path: Path) -> None:
    done = longfat("explain", str(RUN), "bulk.max_rtt", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert rows["metric"] == "bulk.max_rtt_s"
    assert rows["file"] == f"{RUN}/raw/bulk.server.json"  # the target sends
    assert rows["path"] == "end.streams[*].sender.max_rtt"
    assert rows["formula"] == "largest / 1e6"
    assert rows["aggregates"] == "all streams of the flow or probe"


def test_json(tmp_path: Path) -> None:
    done = longfat("explain", str(RUN), "bulk.receiver_bps", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    manifest = json.loads((RUN / "manifest.json").read_text())
    assert data["value"] == manifest["metrics"]["bulk.receiver_bps"] == data["read"]
    assert (data["file"], data["path"]) == (
        "raw/bulk.client.json",
        "end.sum_received.bits_per_second",
    )
    assert (data["unit"], data["over"]) == ("bps", "streams")


def test_metric_that_the_run_does_not_have(tmp_path: Path) -> None:
    done = longfat("explain", str(RUN), "bulk.loss", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "not measured in this run" in done.stdout


def test_unknown_metrics_and_damaged_runs_are_reported(tmp_path: Path) -> None:
    unknown = longfat("explain", str(RUN), "bulk.reciever", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "no metric 'bulk.reciever' in this run; did you mean 'bulk.receiver_bps'?" in (
        unknown.stderr
    )
    assert longfat("explain", str(tmp_path), "bulk.loss", cwd=tmp_path).returncode == 2
    copy = shutil.copytree(RUN, tmp_path / "run")
    (copy / "raw/bulk.client.json").write_text("{}")
    damaged = longfat("explain", str(copy), "bulk.receiver", cwd=tmp_path)
    assert damaged.returncode == 2
    assert "bulk.client.json" in damaged.stderr
