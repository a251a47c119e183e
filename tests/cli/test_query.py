"""`longfat query`: a real grid asked in all tables, what is printed, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import longfat as package
from longfat.analysis.query import Catalog
from longfat.analysis.study_runs import LeftOutWarning
from longfat.errors import InputError
from tests.command import Command, longfat
from tests.paths import TESTS

SEEDED = TESTS / "data" / "runs" / "seeded"

GRID = """\
title: A tiny grid
memory: 512MB
grid:
  cc: [cubic, reno]
  rtt: [10ms, 40ms]
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2, {rate: 10mbit, delay: $<rtt / 2>, queue: 50KB}], [s2, h2]]
flows:
  rtt: {ping: h1 -> h2, count: 3, interval: 200ms}
  bulk: {iperf3: h1 -> h2, time: 1s, interval: 0.25s, congestion: $<cc>, after: rtt}
probes:
  queue: {of: s1-eth2, every: 10ms}
claims:
  - the link is used: all(bulk.receiver > 5mbit)
"""

QUESTIONS = {
    "select count(*) as n, count(distinct key) as k from runs where study = 'tiny'": [
        {"n": 4, "k": 4}
    ],
    "select cc, rtt_s, rtt_text from results order by cc, rtt_s limit 2": [
        {"cc": "cubic", "rtt_s": 0.01, "rtt_text": "10ms"},
        {"cc": "cubic", "rtt_s": 0.04, "rtt_text": "40ms"},
    ],
    "select count(*) as n from metrics where metric = 'receiver_bps' and value > 5e6": [{"n": 4}],
    "select name, unit, count(*) as n from parameters group by all order by name": [
        {"name": "cc", "unit": None, "n": 4},
        {"name": "rtt", "unit": "s", "n": 4},
    ],
    "select tool, count(*) as n from flows where end_s > start_s group by all order by tool": [
        {"tool": "iperf3", "n": 4},
        {"tool": "ping", "n": 4},
    ],
    "select count(distinct version) as n from tools where tool = 'toolset'": [{"n": 1}],
    "select study, text, holds, cases_holding, cases from claims": [
        {"study": "tiny", "text": "the link is used", "holds": True, "cases_holding": 4, "cases": 4}
    ],
    "select count(*) as n from replies where rtt_s between 0.01 and 0.09": [{"n": 12}],
    # What iperf3 counts in each interval is what it counts in all.
    "select count(*) as n from (select run, sum(bytes) as b from intervals group by run) "
    'natural join results where b = "bulk.sent_bytes"': [{"n": 4}],
    # The probe's metric is the peak of the queue in which packets wait, which is the wire.
    "select count(*) as n from (select run, max(backlog_bytes) as peak from series_queue "
    "where qdisc = 'wire' group by run) natural join results where peak = \"queue.peak_bytes\"": [
        {"n": 4}
    ],
    "select distinct case_name, probe, seed from series_queue where case_name = 'reno-10ms'": [
        {"case_name": "reno-10ms", "probe": "queue", "seed": 1}
    ],
    "select count(*) as n from series_tcp": [{"n": 0}],
}


def test_a_real_grid_is_asked_in_all_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path / "memory"))
    study_file = tmp_path / "tiny.yaml"
    study_file.write_text(GRID, encoding="utf-8")
    study = package.open_study(study_file)
    assert study.frame().height == 0
    done = longfat("run", "tiny.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr

    catalog = Catalog([Path("runs")])
    for sql, expected in QUESTIONS.items():
        assert catalog.query(sql).to_pylist() == expected, sql
    done = longfat("query", "select count(*) as n from runs", "--cache", "--json", cwd=tmp_path)
    assert (json.loads(done.stdout), done.stderr) == ([{"n": 4}], "")

    check_frames(study, study_file)


def check_frames(study: package.StudyRuns, study_file: Path) -> None:
    verdict = study.run(cases=["reno-*"])  # cached by the command's run
    assert [len(runs) for runs in verdict.runs.values()] == [1, 1]
    frame = study.frame()
    assert frame.columns[:5] == ["case", "seed", "cc", "rtt_s", "rtt.avg_s"]
    assert frame["case"].to_list() == ["cubic-10ms", "cubic-40ms", "reno-10ms", "reno-40ms"]
    assert frame["rtt_s"].to_list() == [0.01, 0.04, 0.01, 0.04]
    for name, (run,) in verdict.runs.items():
        row = frame.row(by_predicate=pl.col("case") == name, named=True)
        assert {metric: row[metric] for metric in run.metrics} == run.metrics
        assert row["run"] == str(Path("runs/tiny") / f"{name}-seed1")
    assert study.claims()["holds"].to_list() == [True]

    rows = study.series("queue")
    assert rows.columns[:5] == ["case", "seed", "cc", "rtt_s", "time_s"]
    peaks = rows.filter(pl.col("qdisc") == "wire").group_by("case", maintain_order=True)
    found = dict(peaks.agg(pl.col("backlog_bytes").max()).iter_rows())
    assert found == dict(zip(frame["case"], frame["queue.peak_bytes"], strict=True))
    with pytest.raises(InputError, match="no case has a probe 'quue'; did you mean 'queue'"):
        study.series("quue")

    # What lies there is of cases that the study has otherwise now, or no longer.
    study_file.write_text(GRID.replace("50KB", "60KB"))
    with pytest.warns(LeftOutWarning, match="4 of 4 runs in runs/tiny are left out"):
        assert package.open_study(study_file).frame().height == 0
    study_file.write_text(GRID.replace("[10ms, 40ms]", "[10ms, 70ms]"))
    with pytest.warns(LeftOutWarning, match="2 of 4 runs"):
        assert len(package.open_study(study_file).frame()) == 2


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shutil.copytree(SEEDED, tmp_path / "runs" / "seeded")
    return tmp_path


WIDE = 'select case_name, seed, "bulk.receiver_bps" as receiver_bps from results order by 1, 2'


def test_a_pipe_gets_all_and_csv_and_parquet_are_exact(place: Path) -> None:
    done = longfat("query", WIDE, cwd=place)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["case_name", "seed", "receiver_bps"]
    assert len(lines) == 7
    assert lines[1].endswith("Mbit/s")
    assert "\x1b" not in done.stdout
    exact = json.loads(longfat("query", WIDE, "--json", cwd=place).stdout)
    manifest = json.loads((place / "runs/seeded/clean-seed1/manifest.json").read_text())
    assert exact[0]["receiver_bps"] == manifest["metrics"]["bulk.receiver_bps"]
    text = longfat("query", WIDE, "--csv", cwd=place).stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["receiver_bps"]) for row in rows] == [row["receiver_bps"] for row in exact]
    done = longfat("query", WIDE, "--parquet", "answer.parquet", cwd=place)
    assert (done.returncode, done.stdout) == (0, "")
    assert pq.read_table(place / "answer.parquet").to_pylist() == exact


def test_json_has_no_number_that_json_has_not(place: Path) -> None:
    sql = (
        "select 'nan'::double as a, 'inf'::double as b, null as c, [1.5, null] as d, sum(seed) as e"
    )
    done = longfat("query", f"{sql} from runs", "--json", cwd=place)
    assert json.loads(done.stdout) == [{"a": None, "b": None, "c": None, "d": [1.5, None], "e": 16}]


def on_terminal(*arguments: str, cwd: Path, columns: int = 80) -> tuple[str, str]:
    """Run the command with a terminal as its standard output; return that, and the errors."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb"}
    with Command(
        *("longfat", *arguments),
        cwd=cwd,
        env=environment,
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            said += piece
        os.close(ours)
        assert process.stderr is not None
        return said.decode().replace("\r\n", "\n"), process.stderr.read()


def test_a_terminal_gets_what_fits(place: Path) -> None:
    said, notes = on_terminal("query", "select * from metrics", cwd=place)
    assert len(said.splitlines()) == 41
    assert "rows: --all shows all" in notes
    said, notes = on_terminal("query", "select * from results limit 1", cwd=place)
    assert all(len(line) <= 80 for line in said.splitlines())
    assert "columns, as many as fit" in notes
    said, notes = on_terminal("query", "select * from metrics", "--all", cwd=place, columns=200)
    assert len(said.splitlines()) > 60
    assert notes == ""


def test_tables_are_listed(place: Path) -> None:
    done = longfat("query", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "6 runs" in done.stdout
    assert '"bulk.receiver_bps"' in done.stdout
    data = json.loads(longfat("query", "--tables", "--json", cwd=place).stdout)
    names = [table["table"] for table in data]
    assert names[:3] == ["runs", "results", "metrics"]
    columns = {one["name"]: one["unit"] for one in data[0]["columns"]}
    assert columns["peak_bytes"] == "bytes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("select nope from runs",), "no column 'nope'"),
        (("select 1", "--runs", "elsewhere"), "elsewhere: there is no such folder"),
        (("select 1", "--json", "--csv"), "exclude each other"),
        (("select 1 as a", "--parquet", "/proc/x/y"), "/proc/x/y: cannot be written"),
        (("copy runs to 'x.csv'",), "COPY is not a query"),
        (("select 1; select 2",), "here are 2 queries: run one at a time"),
        (("select 1", "--time-limit", "soon"), "--time-limit or --memory-limit: "),
        (("select 1", "--time-limit", "0s"), "more than no time is needed"),
        (("select 1", "--memory-limit", "1MB"), "the database needs 64 MB"),
        (("select 1 as \udcff",), "holds bytes that are no UTF-8"),
        (
            ("select levenshtein(repeat('a', 100000), repeat('b', 100000))", "--time-limit", "1s"),
            "not done within 1 s",
        ),
    ],
)
def test_mistakes_end_with_2(place: Path, arguments: tuple[str, ...], message: str) -> None:
    done = longfat("query", *arguments, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_no_runs_are_reported(tmp_path: Path) -> None:
    done = longfat("query", "select 1", cwd=tmp_path)
    assert done.returncode == 2
    assert "there is no folder runs here: --runs FOLDER names another" in done.stderr
    (tmp_path / "runs").mkdir()
    done = longfat("query", "select count(*) as n from runs", "--json", cwd=tmp_path)
    assert json.loads(done.stdout) == [{"n": 0}]
    assert "there are no runs there yet" in done.stderr


def test_an_endless_query_is_interrupted(place: Path) -> None:
    numbers = ", ".join(f"range(1000000) as r{i}" for i in range(4))
    query = f"select 'begun' as a, sum(r0.range * r1.range * r2.range) from {numbers}"
    scratch = place / "scratch"
    scratch.mkdir()
    with Command(
        *("longfat", "query", query),
        cwd=place,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and not list(scratch.iterdir()):
            time.sleep(0.05)
        time.sleep(1)  # until it computes, as a rule; Ctrl-C must end it before as well
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=60)
    assert (process.returncode, said, errors.strip()) == (130, "", "longfat: interrupted")
    assert not list(scratch.iterdir())
