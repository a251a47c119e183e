"""Requests over many connections: what is started, measured, and what a machine makes of it."""

from __future__ import annotations

import dataclasses
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.analysis.timeseries.groups import Group
from longfat.errors import MachineError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case, File
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Requests
from longfat.output.report.completion import completion_charts
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"
MakeCase = Callable[..., Case]

LINK = (
    "tc qdisc add dev s1-eth1 root handle 1: netem delay 5ms",
    "tc qdisc add dev s1-eth1 parent 1: handle 2: tbf rate 50mbit burst 20000 limit 100000",
)


def flow(**fields: Any) -> Requests:
    return Requests(**{"name": "web", "source": "h1", "target": "h2", **fields})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "--size 102400 --time 10 --drain 10 --request 100 --clients 1 --think 0"),
        (
            {"size": "web-search", "load_bps": 10_000_000, "drain_s": 0.5, "fresh": True},
            "--size web-search --time 10 --drain 0.5 --request 100 --fresh 1 --load 10000000",
        ),
        (
            {"size": "/opt/sizes", "every_s": 0.001, "request_bytes": 1000},
            "--size /opt/sizes --time 10 --drain 10 --request 1000 --every 0.001",
        ),
        (
            {"clients": 8, "think_s": 0.25, "time_s": 2.5},
            "--size 102400 --time 2.5 --drain 10 --request 100 --clients 8 --think 0.25",
        ),
    ],
)
def test_what_is_started(fields: dict[str, Any], words: str) -> None:
    server, client = flow(**fields).processes(address="10.0.0.2", port=5201)
    assert (server.host, server.listens) == ("h2", True)
    assert " ".join(server.typed) == "python3 -m longfat.guest.requests serve 10.0.0.2 5201"
    begin = "python3 -m longfat.guest.requests ask 10.0.0.2 5201 web "
    assert " ".join(client.typed) == begin + words


def raw_of(folder: Path) -> Path:
    text = (DATA / "requests-client.json").read_text()
    (folder / "web.client.json").write_text(text)
    return folder


def test_a_report(tmp_path: Path) -> None:
    # Captured over a line of 10 Mbit/s and a delay of 10 ms, cut off after 1 s.
    of, raw = flow(size="web-search", every_s=0.06, time_s=1.0, drain_s=0.0), raw_of(tmp_path)
    responses = of.responses(raw)
    done = sorted(one.took_s for one in responses if one.took_s is not None)
    found = of.measure(raw)
    assert found["requests"] == len(responses)
    assert found["unfinished"] == len(responses) - len(done) > 0
    assert found["completed"] == len(done) > 2
    assert found["mean_s"] == pytest.approx(sum(done) / len(done))
    assert (found["max_s"], found["p50_s"]) == (done[-1], statistics.median(done))
    assert found["offered_bps"] == sum(one.size_bytes for one in responses) * 8
    assert "large_mean_s" not in found  # none of them was complete
    assert found["connections"] == len(of.connections(raw))
    beside = of.compare(raw, rate_bps=10e6, rtt_s=0.01)
    assert 1 < beside["slowdown_p50"] < beside["slowdown_mean"] < beside["slowdown_p99"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a JSON report of requests"),
        ("{}", "not a whole report of requests: program: is missing"),
        (
            '{"program": "longfat requests", "time_ns": 1, "mean_bytes": 1, "server_port": 1, '
            '"ports": [], "requests": [[5, 1, 4]]}',
            "a request in it cannot be",
        ),
        (
            '{"program": "longfat requests", "time_ns": 1, "mean_bytes": 1, "server_port": 1, '
            '"ports": [], "requests": [[5, 1]]}',
            r"requests: ?\[0\]|requests\[0\]",
        ),
    ],
)
def test_broken_reports(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "web.client.json").write_text(text)
    with pytest.raises(MachineError, match=reason):
        flow().measure(tmp_path)
    with pytest.raises(MachineError, match="not a JSON report of requests"):
        flow(name="other").measure(tmp_path)


def played(make_case: MakeCase, out: Path, of: Requests, **more: Any) -> Run:
    case = dataclasses.replace(make_case(of, root=LINK), **more)
    return run_case(case, name="case", out=out)


def test_an_open_loop(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(size="web-search", load_bps=30_000_000, time_s=4.0)
    probes = (Tcp(name="tcp", of=("web",), every_s=0.05), Queue(name="queue", of=("s1-eth1",)))
    run = played(make_case, tmp_path / "one", of, probes=probes)
    metrics = run.metrics
    assert metrics["web.unfinished"] == 0
    assert metrics["web.completed"] == metrics["web.requests"] > 5
    assert metrics["web.goodput_bps"] < 50e6
    # No response is quicker than the tbf lets its bytes pass, but for a burst.
    for one in of.responses(run.raw):
        assert one.took_s is not None
        assert one.took_s > max(0.005, (one.size_bytes - 20_000) * 8 / 50e6)
    assert 1 < metrics["web.slowdown_p50"] < metrics["web.slowdown_p99"]
    # The probe knows its connections.
    assert metrics["tcp.peak_cwnd_bytes"] > 0
    assert set(run.series("tcp")["stream"].to_pylist()) <= set(
        range(int(metrics["web.connections"]))
    )
    again = played(make_case, tmp_path / "two", of, probes=probes)
    assert again.digest == run.digest
    unseen = played(make_case, tmp_path / "three", of)
    file = "web.client.json"
    assert (unseen.raw / file).read_bytes() == (run.raw / file).read_bytes()
    charts = completion_charts([Group("", (run,))])
    assert len(charts) == 2  # times, and slowdowns
    for chart in charts:
        assert chart.facets[0].title == "below 100 kB"
        assert all(facet.series[0].y[-1] == 1 for facet in chart.facets)


def test_seeds_and_names_draw_for_themselves(make_case: MakeCase, tmp_path: Path) -> None:
    def drawn(**fields: Any) -> list[tuple[float, int]]:
        seed = fields.pop("seed", 1)
        of = flow(size="web-search", every_s=0.2, time_s=1.0, drain_s=0.0, **fields)
        run = played(make_case, tmp_path, of, seed=seed)
        return [(one.start_s, one.size_bytes) for one in of.responses(run.raw)]

    first = drawn()
    assert first == drawn(fresh=True)
    assert first != drawn(seed=2)
    assert first != drawn(name="other")


def test_a_closed_loop_with_fresh_connections(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(size="1KB", clients=10, think_s=0.05, time_s=2.0, fresh=True, request_bytes=5000)
    run = played(make_case, tmp_path, of)
    # A round trip to open, one to ask, and ARP for the first.
    assert run.metrics["web.p50_s"] == pytest.approx(0.010, abs=0.001)
    # 10 clients, each 60 ms a request.
    assert run.metrics["web.completed"] == pytest.approx(10 * 2.0 / 0.06, rel=0.15)
    assert run.metrics["web.connections"] == run.metrics["web.requests"]


def test_round_trips_per_minute_of_an_idle_path(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(size="1", fresh=True, every_s=0.05, time_s=2.0)
    run = played(make_case, tmp_path / "fresh", of)
    assert run.metrics["web.rpm"] == pytest.approx(60 / 0.005, rel=0.02)
    # An open connection needs one round trip, and a large response may need more.
    for number, other in enumerate(
        (dataclasses.replace(of, fresh=False), dataclasses.replace(of, size="100KB"))
    ):
        run = played(make_case, tmp_path / str(number), other)
        assert "web.rpm" not in run.metrics


def test_what_is_not_complete_at_the_end(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(size="100MB", clients=3, time_s=1.0, drain_s=1.0)
    run = played(make_case, tmp_path, of)
    assert run.metrics["web.unfinished"] == run.metrics["web.requests"] == 3
    assert "web.mean_s" not in run.metrics
    assert run.flow_times["web"].end_s == pytest.approx(2.0, abs=0.1)


def test_a_distribution_in_a_file(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(size="/opt/sizes", clients=1, time_s=0.2)
    files = (File(path="/opt/sizes", content=b"2000 0.5\n4000 1\n"),)
    run = played(make_case, tmp_path, of, files=files)
    assert {2000} < {one.size_bytes for one in of.responses(run.raw)}
    assert max(one.size_bytes for one in of.responses(run.raw)) <= 4000


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ({"congestion": "nonesuch"}, "true", "this kernel has no congestion control 'nonesuch'"),
        (
            {},
            "ip -n h1 route add unreachable 10.0.0.2/32",
            "ask 10.0.0.2 5201: No route to host",
        ),
        ({}, "ip -n h2 addr flush dev h2-eth0", "serve 10.0.0.2 5201: Cannot assign requested"),
        ({"size": "/nowhere"}, "true", "/nowhere: No such file"),
    ],
)
def test_failures_have_words(
    fields: dict[str, Any], line: str, reason: str, make_case: MakeCase, tmp_path: Path
) -> None:
    case = make_case(flow(time_s=1.0, **fields), root=(line,))
    (failure,) = run_case(case, name="case", out=tmp_path).flow_failures.values()
    assert re.search(reason, str(failure))


def test_a_live_network_plays_it() -> None:
    with longfat.Network(seed=1) as network:
        h1, h2 = network.host("h1"), network.host("h2")
        network.link(h1, h2, rate="100mbit", delay="10ms")
        found = h1.start("requests", h2, size="10KB", clients=5, time=1).result()
        assert found["unfinished"] == 0
        assert found["p50_s"] == pytest.approx(0.02, abs=0.005)
