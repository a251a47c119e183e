"""A flow of any program: what is started, what is measured, and how it fails."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import InputError, MachineError
from longfat.execution import run_case
from longfat.execution.hints import unexpected_end
from longfat.execution.runs import Run
from longfat.model.case import NOWHERE, Case, File
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Program
from longfat.model.traffic.extraction import Extraction
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"
MakeCase = Callable[..., Case]

LINK = (
    "tc qdisc add dev s1-eth1 root handle 1: netem delay 5ms",
    "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 50mbit burst 20000 limit 100000",
)
LOAD = Extraction(name="load", json="time_total", unit="s")
PAGE = {
    "serve": "python3 -m http.server --directory /srv/www 8000",
    "port": 8000,
    "run": "curl -sS --fail -w '%{json}' -o /dev/null http://h2:8000/page",
}


def flow(**fields: Any) -> Program:
    return Program(**{"name": "x", "source": "h1", "target": "h2", "run": "true", **fields})


def orders(of: Program) -> list[dict[str, Any]]:
    return [json.loads(one.argv[-1]) for one in of.processes(address="10.0.0.2", port=5201)]


def test_what_is_started() -> None:
    of = flow(**PAGE, environment=("A=b c",), extractions=(LOAD,))
    server, client = of.processes(address="10.0.0.2", port=5201)
    assert (server.host, server.listens) == ("h2", True)
    assert (client.host, client.listens) == ("h1", False)
    assert client.typed == ("env", "A=b c", "sh", "-c", PAGE["run"])
    assert client.argv[1:5] == (*("-I", "-S", "-B"), "/run/longfat/guest/longfat/guest/program.py")
    waits, runs = orders(of)
    assert waits["ready"] == runs["ready"] == ["tcp", "8000"]
    assert waits["meeting"] == runs["meeting"] == "x.h2.5201"
    (alone,) = orders(flow(time_s=2.0, status=(0, 3)))
    assert "meeting" not in alone
    assert (alone["time_s"], alone["limit_s"], alone["statuses"]) == (2.0, None, [0, 3])
    # Its programs decide its results.
    assert of.lines == (PAGE["run"], PAGE["serve"])


def report(folder: Path, text: str) -> Path:
    (folder / "x.client.txt.err").write_text(text)
    return folder


def test_a_report(tmp_path: Path) -> None:
    raw = report(tmp_path, (DATA / "program-curl-7.88.client.txt.err").read_text())
    others = (
        Extraction(name="size", json="size_download", unit="B"),
        Extraction(name="served", regex="(200) -", of="stderr", take="count"),
    )
    found = flow(extractions=(LOAD, *others)).measure(raw)
    assert found == pytest.approx(
        {"load_s": 0.182125, "size_bytes": 1e6, "served": 0, "elapsed_s": 0.182152704, "status": 0}
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no report of a program in it"),
        ("\n", "no report of a program in it"),
        ("[]\n", "no report of a program in it: found an empty list"),
        ('{"program": "longfat program"}', "elapsed_ns: is missing"),
        (
            '{"program": "longfat program", "elapsed_ns": -1, "status": 0, "metrics": {}}',
            "it ended before it began",
        ),
        (
            '{"program": "longfat program", "elapsed_ns": 1, "status": 0, "metrics": {"a": 1}}',
            "its metrics are not those of the flow",
        ),
    ],
)
def test_broken_reports(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=reason):
        flow().measure(report(tmp_path, text))
    with pytest.raises(MachineError, match="no report of a program"):
        flow().measure(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def played(make_case: MakeCase, out: Path, *flows: Program, **more: Any) -> Run:
    case = dataclasses.replace(make_case(*flows, root=LINK), **more)
    return run_case(case, name="case", out=out)


FILES = (File(path="/srv/www/page", content=b"x" * 1_000_000),)


def test_a_page_by_http(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(
        **PAGE,
        reverse=True,
        extractions=(
            LOAD,
            Extraction(name="size", json="size_download", unit="B"),
            Extraction(name="served", regex="(200) -", of="stderr", take="count"),
        ),
    )
    probes = (Tcp(name="tcp", of=("x",), every_s=0.01), Queue(name="queue", of=("s1-eth1",)))
    run = played(make_case, tmp_path / "one", of, probes=probes, files=FILES)
    # Slow start, then 50 Mbit/s.
    assert 8e6 / 50e6 < run.metrics["x.load_s"] < 0.3
    assert run.metrics["x.load_s"] < run.metrics["x.elapsed_s"] < run.metrics["x.load_s"] + 0.001
    assert run.metrics["x.size_bytes"] == 1_000_000
    assert run.metrics["x.status"] == run.metrics["x.served"] == 0
    # The probe found the server's socket, which sent it all.
    assert run.metrics["tcp.peak_cwnd_bytes"] > 50_000
    assert run.metrics["tcp.peak_rtt_s"] > 0.005
    table = run.series("tcp")
    assert set(table["stream"].to_pylist()) == {0}
    assert {(row["host"], row["end"]) for row in table.to_pylist()} == {
        ("h2", "sender"),
        ("h1", "receiver"),
    }
    again = played(make_case, tmp_path / "two", of, probes=probes, files=FILES)
    assert again.digest == run.digest
    unseen = played(make_case, tmp_path / "three", of, files=FILES)
    for name in ("client.txt", "client.txt.err", "server.txt.err"):
        assert (unseen.raw / f"x.{name}").read_bytes() == (run.raw / f"x.{name}").read_bytes()


SCRIPT = b"""\
import socket, sys, time
server = socket.create_server(("", 7000))
time.sleep(1.5)
print("serving now", flush=True)
connection, _ = server.accept()
connection.sendall(b"round,mbit\\n1,10\\n2,30\\n")
"""


def test_a_script_that_is_ready_late(make_case: MakeCase, out: Path) -> None:
    # It listens at once, and says later that it is ready; the client starts then.
    of = flow(
        serve="python3 /opt/server.py",
        ready="output ^serving",
        run="bash -c 'cat < /dev/tcp/10.0.0.2/7000'",
        extractions=(
            Extraction(name="rate", csv="mbit", take="mean", unit="mbit"),
            Extraction(name="rounds", csv="round", take="max"),
        ),
    )
    run = played(make_case, out, of, files=(File(path="/opt/server.py", content=SCRIPT),))
    assert run.metrics["x.rate_bps"] == 20e6
    assert run.metrics["x.rounds"] == 2
    # Servers start half a second before the traffic; the client waits for the rest.
    assert 1.0 < run.flow_times["x"].end_s < 1.3
    assert run.metrics["x.elapsed_s"] == pytest.approx(0.010, abs=0.001)  # SYN and data
    assert (run.raw / "x.client.txt").read_text().endswith("2,30\n")


def test_what_is_stopped_after_its_time(make_case: MakeCase, out: Path) -> None:
    # It and what it began hear of SIGTERM; one does not care.
    line = "trap '' TERM; echo 1.5; (sleep 500; echo 2.5) & while :; do sleep 1; done"
    last = Extraction(name="last", regex=r"(\d.\d)")
    left = "grep -ls ^sleep /proc/[0-9]*/cmdline"  # nothing of those that nobody waited for
    other = flow(name="y", run=left, status=(1,), after="x")
    run = played(make_case, out, flow(run=line, time_s=3.0, extractions=(last,)), other)
    assert run.metrics["x.last"] == 1.5
    assert "x.status" not in run.metrics
    assert run.metrics["x.elapsed_s"] == pytest.approx(4.0, abs=0.1)
    assert (run.raw / "y.client.txt").read_text() == ""


def test_an_expected_status(make_case: MakeCase, out: Path) -> None:
    assert played(make_case, out, flow(run="exit 3", status=(3,))).metrics["x.status"] == 3


def test_datagrams(make_case: MakeCase, out: Path) -> None:
    of = flow(
        serve="socat -u UDP-RECV:9000 STDOUT",
        ready="udp 9000",
        run="head -c 1000 /dev/zero | socat -u STDIN UDP:h2:9000",
    )
    run = played(make_case, out, of)
    assert (run.raw / "x.server.txt").stat().st_size == 1000


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"run": "nonesuch --help"}, r"(?s)status 127: .*nonesuch: not found.*hint: a machine has"),
        ({"run": "exit 3"}, "exited with status 3: it printed nothing"),
        ({"run": "true", "status": (3,)}, "exited with status 0, where 3 is expected"),
        ({"run": "kill -SEGV $$"}, "exited with status 139: longfat: SIGSEGV ended it"),
        ({"run": "sh -c 'kill -ABRT $$'; exit $?"}, "(?s)status 134: .*SIGABRT ended it"),
        ({"run": "sleep 1000", "limit_s": 30.0}, "it did not end within 30 s of virtual time"),
        (
            {"run": "yes", "output_limit_bytes": 100_000},
            "more than 100000 bytes; `output_limit` says how much",
        ),
        (
            {"run": "yes >&2; exit 0", "output_limit_bytes": 100_000},
            "more than 100000 bytes; `output_limit`",
        ),
        (
            {"run": "echo nothing", "extractions": (LOAD,)},
            "the metric load_s: stdout: no JSON document: Expecting value",
        ),
        (
            {"run": "true", "extractions": (Extraction(name="a", regex="(a)", of="/nowhere"),)},
            "the metric a: /nowhere: No such file",
        ),
        (
            {"run": "true", "serve": "nonesuch", "port": 8000},
            r"`ip netns exec h2 nonesuch` exited with status 127: .*nonesuch: not found",
        ),
        (
            {"run": "true", "serve": "sleep 1000", "port": 8000},
            r"`ip netns exec h2 sleep 1000` exited .* it was not ready within 60 s: tcp 8000",
        ),
        (
            {"run": "sleep 9", "serve": "sleep 2; exit 5"},
            r"`ip netns exec h2 sh -c 'sleep 2; exit 5'` exited with status 5",
        ),
    ],
)
def test_failures_have_words(
    fields: dict[str, Any], reason: str, make_case: MakeCase, out: Path
) -> None:
    run = played(make_case, out, flow(**fields))
    assert re.search(reason, str(unexpected_end(run, NOWHERE)))
    assert run.metrics["x.status"] == run.flow_failures["x"].status != 0


def test_forks_without_end(make_case: MakeCase, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFAT_QUOTA", "processes=200")
    with pytest.raises(MachineError, match="processes"):
        played(make_case, out, flow(run="f() { f & f & wait; }; f"))


def test_a_live_network_plays_it() -> None:
    with longfat.Network(seed=1) as network:
        h1, h2 = network.host("h1"), network.host("h2")
        network.link(h1, h2, rate="100mbit", delay="10ms")
        serve = "cd /usr/share && python3 -m http.server 8000"
        metrics = {"load": {"json": "time_total", "unit": "s"}}
        for _ in range(2):  # the second one meets a server of its own
            run = "curl -sS -w '%{json}' -o /dev/null http://h2:8000/"
            found = h1.start("program", h2, run=run, serve=serve, port=8000, metrics=metrics)
            assert 0.03 < found.result()["load_s"] < 0.1
        with pytest.raises(longfat.CommandFailed, match="nonesuch: not found"):
            h1.start("program", h2, run="true", serve="nonesuch", port=8000).result()
        with pytest.raises(InputError, match="program needs run"):
            h1.start("program", h2)
        started = h1.start("program", h2, run="sleep 100")
        network.sleep(1)
        started.drop()
        assert h1.run("grep -ls ^sleep /proc/[0-9]*/cmdline").stdout == ""
