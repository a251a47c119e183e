from __future__ import annotations

import dataclasses
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.analysis.advice.limits import Limit
from longfat.analysis.timeseries.curves import RunCurves
from longfat.errors import MachineError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.probes import Tcp
from longfat.model.traffic import Transfer
from longfat.model.traffic.transfer import read_end
from longfat.study import read_study
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"
MakeCase = Callable[..., Case]

LINK = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 5ms",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 20000 limit 100000",
)


def flow(**fields: Any) -> Transfer:
    return Transfer(name="bulk", source="h1", target="h2", **fields)


def typed(of: Transfer) -> list[str]:
    ends = of.processes(address="10.0.0.2", port=5201)
    return [" ".join(end.typed).removeprefix("python3 -m longfat.guest.transfer ") for end in ends]


def raw_of(folder: Path, name: str) -> Path:
    for end in ("client", "server"):
        shutil.copy(DATA / f"transfer-{name}-{end}.json", folder / f"bulk.{end}.json")
    return folder


def test_what_is_started() -> None:
    server, client = flow(time_s=2.5).processes(address="10.0.0.2", port=5201)
    assert (server.host, server.listens) == ("h2", True)
    assert (client.host, client.listens) == ("h1", False)
    # It runs without the host's packages, and a person types it with them.
    assert client.argv[1:5] == (*("-I", "-S", "-B"), "/run/longfat/guest/longfat/guest/transfer.py")
    assert (
        client.argv[5:]
        == client.typed[3:]
        == ("connect", "10.0.0.2", "5201", "send", "--time", "2.5")
    )
    assert typed(flow())[0] == "listen 10.0.0.2 5201 receive"


@pytest.mark.parametrize(
    ("fields", "sender", "receiver"),
    [
        ({}, "--time 10", ""),
        ({"bytes": 1_000_000_000}, "--bytes 1000000000", ""),
        ({"time_s": 86399.25}, "--time 86399.25", ""),
        ({"parallel": 8}, "--time 10 --parallel 8", "--parallel 8"),
        ({"rate_bps": 10_000_000}, "--time 10 --rate 10000000", ""),
        ({"congestion": "bbr"}, "--time 10 --congestion bbr", ""),
        ({"window_bytes": 4096}, "--time 10 --window 4096", "--window 4096"),
        ({"mss_bytes": 1000}, "--time 10 --mss 1000", "--mss 1000"),
        ({"interval_s": 0.1}, "--time 10 --interval 0.1", "--interval 0.1"),
    ],
)
def test_options(fields: dict[str, Any], sender: str, receiver: str) -> None:
    assert typed(flow(**fields)) == [
        f"listen 10.0.0.2 5201 receive {receiver}".strip(),
        f"connect 10.0.0.2 5201 send {sender}",
    ]
    assert typed(flow(**fields, reverse=True)) == [
        f"listen 10.0.0.2 5201 send {sender}",
        f"connect 10.0.0.2 5201 receive {receiver}".strip(),
    ]


def test_reports(tmp_path: Path) -> None:
    of, raw = flow(time_s=2.5, parallel=2, congestion="bbr"), raw_of(tmp_path, "parallel")
    assert of.measure(raw) == pytest.approx(
        {
            "sender_bps": 32717560 * 8 / 2.500003,
            # Of the rows within 2.5 s: those until 2 s.
            "receiver_bps": 92457557.3,
            "sent_bytes": 32717560,
            "received_bytes": 32717560,
            "retransmits": 0,
            "max_cwnd_bytes": 292496,
            "min_rtt_s": 0.042082,
            "mean_rtt_s": 0.0428332,
            "max_rtt_s": 0.043514,
            "fairness": 0.9999008,
        }
    )
    assert of.connections(raw) == [(56320, 5201), (56330, 5201)]
    first, second = of.rows(raw)
    assert [row.bytes for row in first] == [5621136, 5954176, 2924960]
    assert second[2].start_s == pytest.approx(2.000003)
    assert second[2].bps == pytest.approx((14595840 - 11539112) * 8 / 0.5)
    assert (second[2].cwnd_bytes, second[2].rtt_s, second[2].pmtu_bytes) == (292496, 0.04333, 1500)
    received = of.received_rows(raw)
    assert [sum(row.bytes for row in stream) for stream in received] == [16521680, 16195880]
    assert received[0][0].cwnd_bytes is None
    assert received[0][0].retransmits is None


def test_reports_of_a_reversed_flow(tmp_path: Path) -> None:
    of, raw = flow(bytes=3_000_001, reverse=True), raw_of(tmp_path, "reverse")
    found = of.measure(raw)
    assert found["sent_bytes"] == found["received_bytes"] == 3_000_001
    assert found["receiver_bps"] == pytest.approx(3_000_001 * 8 / 0.160022)
    assert "fairness" not in found
    assert of.connections(raw) == [(56320, 5201)]
    assert sum(row.bytes for row in of.received_rows(raw)[0]) == 3_000_001


def test_rows_of_both_ends_are_of_the_same_streams(tmp_path: Path) -> None:
    raw = raw_of(tmp_path, "parallel")
    file = raw / "bulk.server.json"
    report = json.loads(file.read_text())
    report["streams"].reverse()  # as if the second had come first
    file.write_text(json.dumps(report))
    received = flow().received_rows(raw)
    assert [sum(row.bytes for row in stream) for stream in received] == [16521680, 16195880]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a JSON report of a transfer"),
        ("[]", "not a whole report of a transfer: found an empty list"),
        ('{"program": "longfat transfer", "end": "sender"}', "a transfer: streams: is missing"),
        (
            '{"program": "longfat transfer", "end": "sender", "streams": [{}]}',
            "local_port: is missing",
        ),
        (
            '{"program": "longfat transfer", "end": "sender", "streams": [], "sending_us": 1}',
            "no stream",
        ),
    ],
)
def test_broken_reports(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "bulk.client.json"
    file.write_text(text)
    with pytest.raises(MachineError, match=reason):
        read_end(file)
    with pytest.raises(MachineError, match=r"nothing\.json: not a JSON report"):
        read_end(tmp_path / "nothing.json")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


def played(make_case: MakeCase, out: Path, *flows: Transfer, probes: tuple[Tcp, ...] = ()) -> Run:
    case = dataclasses.replace(make_case(*flows, root=LINK), probes=probes)
    return run_case(case, name="case", out=out)


def test_streams_in_a_machine(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(time_s=2.0, parallel=4, interval_s=0.5)
    probe = Tcp(name="tcp", of=("bulk",), every_s=0.1)
    run = played(make_case, tmp_path / "one", of, probes=(probe,))
    assert run.metrics["bulk.sent_bytes"] == run.metrics["bulk.received_bytes"]
    assert 40e6 < run.metrics["bulk.receiver_bps"] < 50e6 * 1448 / 1514
    assert 0.2 < run.metrics["bulk.fairness"] <= 1
    assert all(len(stream) == 4 for stream in of.rows(run.raw))
    ends = run.flow_times["bulk"]
    assert 2.0 < ends.end_s - ends.start_s < 3.0
    # The probe knows the same sockets, and what became of them in the end.
    table = run.series("tcp")
    senders = table.filter(pc.equal(table["end"].cast("string"), "sender"))
    assert set(senders["stream"].to_pylist()) == {0, 1, 2, 3}
    assert run.metrics["bulk.retransmits"] >= run.metrics["tcp.retransmits"] > 0
    again = played(make_case, tmp_path / "two", of, probes=(probe,))
    assert again.digest == run.digest
    # Nobody looked, and it went as it did.
    unseen = played(make_case, tmp_path / "three", of)
    for end in ("client", "server"):
        file = f"bulk.{end}.json"
        assert (unseen.raw / file).read_bytes() == (run.raw / file).read_bytes()


def test_figures_and_diagnosis_read_its_rows(make_case: MakeCase, out: Path) -> None:
    run = played(make_case, out, flow(time_s=3.0))
    (throughput,) = RunCurves(run).curves("throughput")
    assert len(throughput.values) == 3
    assert throughput.values[-1] == pytest.approx(50e6 * 1448 / 1514, rel=0.05)
    (diagnosis,) = diagnose(run)
    assert diagnosis.limit is Limit.BOTTLENECK
    assert any("inferred from transfer's rows" in note for note in diagnosis.notes)


@pytest.mark.parametrize("reverse", [False, True])
def test_all_bytes_arrive(reverse: bool, make_case: MakeCase, out: Path) -> None:
    run = played(make_case, out, flow(bytes=5_000_001, parallel=3, reverse=reverse))
    assert run.metrics["bulk.sent_bytes"] == run.metrics["bulk.received_bytes"] == 5_000_001
    # Nobody paces what h2 sends.
    assert (run.metrics["bulk.receiver_bps"] > 50e6) is reverse


def test_options_reach_the_sockets(make_case: MakeCase, out: Path) -> None:
    paced = flow(time_s=1.0, rate_bps=8_000_000, congestion="bbr", mss_bytes=1000)
    narrow = Transfer(
        name="narrow", source="h1", target="h2", time_s=1.0, window_bytes=8192, after="bulk"
    )
    run = played(make_case, out, paced, narrow)
    assert run.metrics["bulk.receiver_bps"] == pytest.approx(8e6, rel=0.05)
    report = json.loads((run.raw / "bulk.client.json").read_text())
    assert report["streams"][0]["congestion"] == "bbr"
    assert report["streams"][0]["rows"][0]["cwnd_bytes"] % 988 == 0  # less timestamps
    # A round trip takes 5 ms, and the kernel doubles what it is asked for.
    assert run.metrics["narrow.receiver_bps"] < 2 * 8192 * 8 / 0.005


@pytest.mark.parametrize(
    ("fields", "line", "reason"),
    [
        ({"congestion": "nonesuch"}, "true", "this kernel has no congestion control 'nonesuch'"),
        (
            {},
            "ip -n h1 route add unreachable 10.0.0.2/32",
            "connect 10.0.0.2 5201: No route to host",
        ),
        ({}, "ip -n h2 addr flush dev h2-eth0", "listen 10.0.0.2 5201: Cannot assign requested"),
    ],
)
def test_failures_have_words(
    fields: dict[str, Any], line: str, reason: str, make_case: MakeCase, out: Path
) -> None:
    case = make_case(flow(time_s=1.0, **fields), root=(line,))
    (failure,) = run_case(case, name="case", out=out).flow_failures.values()
    assert re.search(reason, str(failure))
    assert "python3 -m longfat.guest.transfer" in failure.line


def test_what_comes_after_the_time_is_not_in_the_rate(tmp_path: Path) -> None:
    """One of two streams waits for a lost segment when the other has ended."""

    def rows(*received: tuple[int, int]) -> list[dict[str, int]]:
        return [{"end_us": end, "received_bytes": count} for end, count in received]

    report = {
        "program": "longfat transfer",
        "end": "receiver",
        "receiving_us": 3_000_000,
        "streams": [
            {
                "local_port": 5201,
                "remote_port": port,
                "received_bytes": 260_000,
                "rows": rows((1_000_000, 120_000), (2_000_000, 250_000), (3_000_000, 260_000)),
            }
            for port in (50_000, 50_002)
        ],
    }
    (tmp_path / "end.json").write_text(json.dumps(report))
    end = read_end(tmp_path / "end.json")
    assert end.bps == pytest.approx(520_000 * 8 / 3)
    assert end.bps_within(2.0) == 500_000 * 8 / 2
    assert end.bps_within(1.5) == 240_000 * 8  # the last row within it
    assert end.bps_within(0.5) == end.bps  # there is none
    assert end.bps_within(None) == end.bps


def test_streams_may_arrive_in_another_order(tmp_path: Path) -> None:
    """Over two paths of different delays the server accepts the first stream last."""
    text = """\
title: Two paths
kernel: "6.1"
network:
  hosts:
    h1: {address: 10.0.1.1/24, routes: {default: 10.0.1.254}}
    h2: {address: 10.0.2.1/24, routes: {default: 10.0.2.254}}
    r1: {forwards: yes, routes: {10.0.2.0/24: [10.1.1.2, 10.1.2.2]}}
    r2: {forwards: yes, routes: {10.0.1.0/24: 10.1.1.1}}
  links:
    - [h1, r1, {addresses: {r1: 10.0.1.254/24}}]
    - [h2, r2, {addresses: {r2: 10.0.2.254/24}}]
    - [r1, r2, {rate: 1gbit, delay: 9ms, addresses: {r1: 10.1.1.1/24, r2: 10.1.1.2/24}}]
    - [r1, r2, {rate: 1gbit, delay: 1ms, addresses: {r1: 10.1.2.1/24, r2: 10.1.2.2/24}}]
flows: {x: {transfer: h1 -> h2, time: 200ms, parallel: 8, limit: 5s}}
"""
    (tmp_path / "study.yaml").write_text(text)
    case = read_study(tmp_path / "study.yaml").cases["default"].case
    for seed in (1, 2, 3):
        run = run_case(dataclasses.replace(case, seed=seed), name="c", out=tmp_path)
        assert not run.flow_failures
