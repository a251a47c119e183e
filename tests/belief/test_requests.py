"""What the code believes of Linux when it asks for many responses and notes when they are whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, LinkImpairments, Network, Switch
from longfat.model.traffic import Ping, Requests, Transfer
from longfat.model.traffic.flow import Flow
from tests.kernels import KERNELS

RATE_BPS, DELAY_S = 100_000_000, 0.01


def play(out: Path, *flows: Flow, kernel: str = "6.1") -> Run:
    way = LinkImpairments(rate_bps=RATE_BPS, delay_s=DELAY_S)
    case = Case(
        kernel=kernel,
        network=Network(
            hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2)),
            switches=(Switch(name="s1"),),
            links=(Link(a="h1", b="s1", a_to_b=way, b_to_a=way), Link(a="s1", b="h2")),
        ),
        setup=tuple(
            Command(node=host, line="sysctl -w net.ipv4.tcp_slow_start_after_idle=0")
            for host in ("h1", "h2")
        ),
        flows=flows,
    )
    return run_case(case, name="case", out=out)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_small_response_takes_a_round_trip(kernel: str, tmp_path: Path) -> None:
    ping = Ping(name="ping", source="h1", target="h2", count=2, interval_s=0.1)
    of = Requests(
        name="web", source="h1", target="h2", size="1KB", time_s=1.0, request_bytes=16, after="ping"
    )
    run = play(tmp_path, ping, of, kernel=kernel)
    rtt_s = run.metrics["ping.min_s"]
    first, *others = of.responses(run.raw)
    # The first opens the connection, which is another round trip. epoll wakes at once, and neither
    # end waits for a delayed ACK.
    assert first.took_s == pytest.approx(2 * rtt_s, rel=0.02)
    assert len(others) > 40
    for one in others:
        assert one.took_s == pytest.approx(rtt_s, rel=0.02)
    assert run.metrics["web.slowdown_p50"] == pytest.approx(1, rel=0.02)


def test_a_large_response_takes_as_long_as_a_transfer(tmp_path: Path) -> None:
    # sendfile and MSG_TRUNC move data as `transfer` does, without blocking either.
    size = 20_000_000
    bulk = Transfer(name="bulk", source="h2", target="h1", bytes=size)
    of = Requests(
        name="web", source="h1", target="h2", size=str(size), time_s=1.0, after="bulk", fresh=True
    )
    run = play(tmp_path, bulk, of)
    (one,) = of.responses(run.raw)
    ends = run.flow_times["bulk"]
    assert one.took_s == pytest.approx(ends.end_s - ends.start_s, rel=0.03)


def test_a_thousand_at_a_time(tmp_path: Path) -> None:
    of = Requests(name="web", source="h1", target="h2", size="20KB", clients=1000, time_s=0.2)
    run = play(tmp_path, of)
    assert run.metrics["web.unfinished"] == 0
    assert run.metrics["web.requests"] >= 1000
    assert run.metrics["web.connections"] == 1000
    # All bytes arrived, though many packets were lost on the way.
    sent = sum(one.size_bytes for one in of.responses(run.raw))
    ends = run.flow_times["web"]
    assert 0.2 * RATE_BPS < sent * 8 / (ends.end_s - ends.start_s) < RATE_BPS


def test_the_server_ends_with_its_client(tmp_path: Path) -> None:
    of = Requests(name="web", source="h1", target="h2", size="1KB", time_s=0.5)
    run = play(tmp_path, of)
    # Else the guest would wait for it for another 5 s.
    assert run.virtual_s == pytest.approx(2.5, abs=0.2)
