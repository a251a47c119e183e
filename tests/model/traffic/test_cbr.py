"""Datagrams at a constant rate: what is started, measured, and what a machine makes of it."""

from __future__ import annotations

import dataclasses
import itertools
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import longfat
from longfat.errors import MachineError
from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case
from longfat.model.probes import Queue
from longfat.model.traffic import Cbr
from longfat.model.traffic.cbr import Arrival, jitter_s, longest_run, measure, reordered
from tests.paths import TESTS

DATA = TESTS / "data" / "traffic"
MakeCase = Callable[..., Case]
MS = 1_000_000


def flow(**fields: Any) -> Cbr:
    return Cbr(**{"name": "call", "source": "h1", "target": "h2", **fields})


def test_what_is_started() -> None:
    receiver, sender = flow(time_s=2.0, dscp=46).processes(address="10.0.0.2", port=5201)
    assert (receiver.host, receiver.listens) == ("h2", True)
    typed = " ".join(receiver.typed)
    assert typed == "python3 -m longfat.guest.cbr receive 10.0.0.2 5201 100"
    typed = " ".join(sender.typed)
    assert typed == "python3 -m longfat.guest.cbr send 10.0.0.2 5201 100 20000000 172 184"
    # 1 Mbit/s of 1000 bytes each is one every 8 ms.
    paced = flow(time_s=1.0, rate_bps=1_000_000, size_bytes=1000)
    assert (paced.count, paced.gap_s, paced.duration_s()) == (125, 0.008, 1.0)


def test_in_reverse_the_target_sends() -> None:
    server, client = flow(time_s=2.0, reverse=True).processes(address="10.0.0.2", port=5201)
    assert (server.host, server.listens) == ("h2", True)
    typed = " ".join(server.typed)
    assert typed == "python3 -m longfat.guest.cbr serve 10.0.0.2 5201 100 20000000 172 0"
    typed = " ".join(client.typed)
    assert typed == "python3 -m longfat.guest.cbr fetch 10.0.0.2 5201 100 20000000"


def arrivals(*rows: tuple[int, int, int]) -> list[Arrival]:
    return [Arrival(number, sent * MS, arrived * MS) for number, sent, arrived in rows]


def test_losses_order_and_duplicates() -> None:
    came = arrivals((0, 0, 10), (3, 60, 70), (2, 40, 71), (3, 60, 72), (7, 140, 150))
    found = measure(came, sent=10, gap_s=0.02, buffer_s=0.005)
    assert (found["received"], found["duplicates"], found["longest_loss"]) == (4, 1, 3)
    assert found["loss"] == pytest.approx(0.6)
    assert found["reordered"] == 1 / 5
    assert (found["min_s"], found["max_s"]) == (0.010, 0.031)
    assert found["late"] == 1 / 10
    assert found["playout_s"] == 0.015


def test_nothing_came() -> None:
    found = measure([], sent=10, gap_s=0.02, buffer_s=None)
    assert (found["loss"], found["longest_loss"], found["mos"]) == (1, 10, 1)
    assert "min_s" not in found


def test_jitter_is_that_of_rfc_3550() -> None:
    # Delays of 10, 26 and 10 ms: D is 16 ms, twice.
    found = jitter_s(arrivals((0, 0, 10), (1, 20, 46), (2, 40, 50)))
    assert found == pytest.approx([0, 0.001, 0.001 + (0.016 - 0.001) / 16])


def test_the_best_buffer_is_between_delay_and_loss() -> None:
    # Of 100 datagrams one takes 500 ms; to wait for it would be worse than to lose it.
    came = arrivals(*((n, 20 * n, 20 * n + (500 if n == 50 else 20 + n % 5)) for n in range(100)))
    best = measure(came, sent=100, gap_s=0.02, buffer_s=None)
    assert (best["playout_s"], best["late"]) == (0.024, 0.01)
    for buffer_s in (0.0, 0.002, 0.004, 0.1, 0.48):
        assert measure(came, sent=100, gap_s=0.02, buffer_s=buffer_s)["r"] <= best["r"]


ROWS = st.lists(st.tuples(st.integers(0, 49), st.integers(0, 10**9), st.integers(0, 10**9)))


@given(ROWS)
def test_any_arrivals_are_measured(rows: list[tuple[int, int, int]]) -> None:
    came = [Arrival(number, sent, sent + delay) for number, sent, delay in rows]
    found = measure(came, sent=50, gap_s=0.02, buffer_s=None)
    assert found["received"] + found["duplicates"] == len(rows)
    assert 0 <= found["loss"] <= 1
    assert found["late"] + found["loss"] <= 1 + 1e-9
    assert 1 <= found["mos"] <= 4.5
    assert found.keys() <= {metric.name for metric in Cbr.metrics}
    assert reordered(sorted(came, key=lambda one: one.number)) == 0
    assert longest_run({one.number for one in came}, sent=50) <= 50 - found["received"]


def test_a_report(tmp_path: Path) -> None:
    # Captured over a delay of 10 +- 3 ms with 10 % of loss.
    (tmp_path / "call.server.json").write_text((DATA / "cbr-server.json").read_text())
    found = flow(time_s=1.0).measure(tmp_path)
    assert (found["sent"], found["received"]) == (50, 45)
    assert 0.003 < found["min_s"] < found["mean_s"] < found["p99_s"] <= found["max_s"] < 0.03
    assert 0.0005 < found["jitter_s"] < 0.006
    assert 1.3 < found["mos"] < 1.6


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a JSON report of datagrams"),
        ('{"program": "longfat cbr", "end": "sender"}', "a whole report of datagrams: "),
        (
            '{"program": "longfat cbr", "end": "receiver", "datagrams": [[0, 5, 4]]}',
            "came before it was sent",
        ),
        (
            '{"program": "longfat cbr", "end": "receiver", "datagrams": [[500, 5, 6]]}',
            "was never sent",
        ),
    ],
)
def test_broken_reports(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "call.server.json").write_text(text)
    with pytest.raises(MachineError, match=reason):
        flow().measure(tmp_path)
    with pytest.raises(MachineError, match="not a JSON report of datagrams"):
        flow(name="other").measure(tmp_path)


def played(make_case: MakeCase, out: Path, *flows: Cbr, root: tuple[str, ...], **more: Any) -> Run:
    case = dataclasses.replace(make_case(*flows, root=root), **more)
    return run_case(case, name="case", out=out)


LOSSY = ("tc qdisc add dev s1-eth2 root netem delay 10ms 3ms loss 10% duplicate 5%",)


def test_a_lossy_path(make_case: MakeCase, tmp_path: Path) -> None:
    probe = Queue(name="queue", of=("s1-eth2",), every_s=0.01)
    of = flow(time_s=20.0, interval_s=0.004)
    run = played(make_case, tmp_path / "one", of, root=LOSSY, probes=(probe,))
    metrics = run.metrics
    assert metrics["call.sent"] == 5000
    assert metrics["call.loss"] == pytest.approx(0.1, abs=0.02)
    assert metrics["call.duplicates"] == pytest.approx(250, abs=80)
    assert metrics["call.mean_s"] == pytest.approx(0.010, abs=0.0005)
    # Delays of 7 to 13 ms overtake each other where they are 4 ms apart.
    assert 0.03 < metrics["call.reordered"] < 0.4
    # Two delays that are evenly distributed differ by a third of their range in the mean.
    assert metrics["call.jitter_s"] == pytest.approx(0.006 / 3, rel=0.05)
    again = played(make_case, tmp_path / "two", of, root=LOSSY, probes=(probe,))
    assert again.digest == run.digest
    unseen = played(make_case, tmp_path / "three", of, root=LOSSY)
    for end in ("server", "client"):
        file = f"call.{end}.json"
        assert (unseen.raw / file).read_bytes() == (run.raw / file).read_bytes()


def test_delays_are_exact(make_case: MakeCase, tmp_path: Path) -> None:
    root = ("tc qdisc add dev s1-eth2 root netem delay 7ms",)
    of = flow(time_s=1.0)
    run = played(make_case, tmp_path, of, root=root)
    arrivals = of.arrivals(run.raw)
    assert all(one.delay_s == pytest.approx(0.007, abs=1e-6) for one in arrivals)
    sent_ns = [one.sent_ns for one in arrivals]
    gaps_ns = [b - a for a, b in itertools.pairwise(sent_ns)]
    assert gaps_ns == pytest.approx([20 * MS] * 49, abs=1000)
    assert run.metrics["call.loss"] == 0
    # All came, and so its ends did not wait.
    assert run.virtual_s < 3.2


@pytest.mark.parametrize("reverse", [False, True])
def test_datagrams_of_a_poisson_process_have_exponential_gaps(
    reverse: bool, make_case: MakeCase, tmp_path: Path
) -> None:
    of = flow(time_s=4.0, interval_s=1e-3, poisson=True, reverse=reverse)
    runs = [
        played(make_case, tmp_path / name, of, root=(), seed=int(name[0]))
        for name in ("1", "1b", "2")
    ]
    first, again, other = ([one.sent_ns for one in of.arrivals(run.raw)] for run in runs)
    assert first == again
    assert first != other
    gaps_s = [(b - a) / 1e9 for a, b in itertools.pairwise(first)]
    assert len(gaps_s) == 3999
    # Mean and deviation of an exponential distribution are equal; each is known to 1 / sqrt(n).
    assert statistics.mean(gaps_s) == pytest.approx(1e-3, rel=0.05)
    assert statistics.stdev(gaps_s) == pytest.approx(1e-3, rel=0.08)
    assert runs[0].metrics["call.received"] == of.count == 4000


def test_in_reverse_the_way_back_counts(make_case: MakeCase, tmp_path: Path) -> None:
    # 30 ms and losses towards h1, 7 ms towards h2.
    root = (
        "tc qdisc add dev s1-eth1 root netem delay 30ms loss 10%",
        "tc qdisc add dev s1-eth2 root netem delay 7ms",
    )
    of = flow(time_s=10.0, reverse=True, dscp=46)
    run = played(make_case, tmp_path, of, root=root)
    assert run.metrics["call.sent"] == 500
    assert run.metrics["call.loss"] == pytest.approx(0.1, abs=0.05)
    assert run.metrics["call.min_s"] == pytest.approx(0.030, abs=1e-4)
    sent = json.loads((run.raw / "call.server.json").read_text())
    assert (sent["end"], sent["sent"]) == ("sender", 500)
    assert of.arrivals(run.raw)[0].number == 0


@pytest.mark.parametrize(("line", "loss"), [("s1-eth1", 1.0), ("s1-eth2", 1.0)])
def test_in_reverse_a_path_that_is_down_loses_all(
    line: str, loss: float, make_case: MakeCase, tmp_path: Path
) -> None:
    root = (f"tc qdisc add dev {line} root netem loss 100%",)
    run = played(make_case, tmp_path, flow(time_s=1.0, reverse=True), root=root)
    assert (run.metrics["call.loss"], run.metrics["call.mos"]) == (loss, 1)
    assert run.virtual_s < 20


def test_in_reverse_a_lost_request_is_repeated(make_case: MakeCase, tmp_path: Path) -> None:
    # The seed loses the first request, or not: the flow has all its datagrams either way.
    root = ("tc qdisc add dev s1-eth2 root netem loss 60%",)
    for seed in range(1, 5):
        of = flow(time_s=0.2, reverse=True)
        run = played(make_case, tmp_path / str(seed), of, root=root, seed=seed)
        assert run.metrics["call.loss"] == 0


def test_packets_are_marked(make_case: MakeCase, tmp_path: Path) -> None:
    # A band for them alone drops them all.
    add = "tc filter add dev s1-eth2 parent 1: protocol"
    root = (
        "tc qdisc add dev s1-eth2 root handle 1: prio",
        "tc qdisc add dev s1-eth2 parent 1:3 handle 3: netem loss 100%",
        f"{add} ip prio 1 u32 match ip tos 0xb8 0xff flowid 1:3",
        f"{add} all prio 9 matchall flowid 1:1",
    )
    marked = flow(time_s=0.5, dscp=46)
    plain = flow(name="plain", time_s=0.5)
    metrics = played(make_case, tmp_path, marked, plain, root=root).metrics
    assert (metrics["call.loss"], metrics["call.mos"], metrics["plain.loss"]) == (1, 1, 0)


def test_failures_have_words(make_case: MakeCase, tmp_path: Path) -> None:
    run = played(make_case, tmp_path, flow(), root=("ip -n h2 addr flush dev h2-eth0",))
    (failure,) = run.flow_failures.values()
    assert "receive 10.0.0.2 5201: Cannot assign requested" in failure.reason


def test_a_live_network_plays_it() -> None:
    with longfat.Network(seed=1) as network:
        h1, h2 = network.host("h1"), network.host("h2")
        network.link(h1, h2, delay="10ms")
        found = h1.start("cbr", h2, time=1).result()
        assert found["loss"] == 0
        assert found["mean_s"] == pytest.approx(0.0102, abs=0.0003)
        assert found["mos"] > 4.3
        assert json.loads(found.raw["cbr.client.json"])["sent"] == 50
        found = h1.start("cbr", h2, time=1, reverse=True).result()
        assert (found["loss"], found["received"]) == (0, 50)
