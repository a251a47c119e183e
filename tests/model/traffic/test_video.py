"""Adaptive video: what is started, how rates are chosen, and what a machine makes of it."""

from __future__ import annotations

import dataclasses
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
from longfat.guest.video import Buffer, by_buffer, by_throughput
from longfat.model.case import Case
from longfat.model.probes import Tcp
from longfat.model.traffic import Video
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.paths import TESTS
from tests.study.messages import BASE, error, read

DATA = TESTS / "data" / "traffic"
MakeCase = Callable[..., Case]
S = 10**9
RATES = [300_000, 750_000, 1_500_000, 3_000_000, 6_000_000]


def flow(**fields: Any) -> Video:
    return Video(**{"name": "film", "source": "h1", "target": "h2", **fields})


def test_what_is_started() -> None:
    of = flow(time_s=30.0, ladder=("1mbit", "2mbit"), adaptation="throughput")
    server, player = of.processes(address="10.0.0.2", port=5201)
    assert (server.host, server.listens, player.host) == ("h2", True, "h1")
    assert server.typed[3:] == ("serve", "10.0.0.2", "5201")
    assert " ".join(player.typed[3:]) == (
        "play 10.0.0.2 5201 30000000000 4000000000 60000000000 throughput 1000000 2000000"
    )


def test_a_buffer() -> None:
    buffer = Buffer(4 * S)
    buffer.play(3 * S)
    assert (buffer.started_ns, buffer.level_ns) == (-1, 0)
    buffer.add(5 * S)
    assert (buffer.started_ns, buffer.level_ns) == (5 * S, 4 * S)
    buffer.add(7 * S)
    assert buffer.level_ns == 6 * S
    buffer.add(20 * S)  # it was empty at 13 s
    assert (buffer.stalls, buffer.level_ns) == ([(13 * S, 20 * S)], 4 * S)
    buffer.end(30 * S)
    assert buffer.stalls == [(13 * S, 20 * S), (24 * S, 30 * S)]


@given(st.lists(st.integers(0, 20 * S), max_size=30), st.integers(1, 10 * S))
def test_all_time_is_waiting_playing_or_stalling(gaps_ns: list[int], segment_ns: int) -> None:
    buffer, now_ns = Buffer(segment_ns), 0
    for gap_ns in gaps_ns:
        now_ns += gap_ns
        buffer.add(now_ns)
    buffer.end(now_ns + S)
    if gaps_ns:
        stalled_ns = sum(end - begin for begin, end in buffer.stalls)
        played_ns = len(gaps_ns) * segment_ns - buffer.level_ns
        assert buffer.started_ns + played_ns + stalled_ns == now_ns + S
        assert all(begin <= end for begin, end in buffer.stalls)


def test_rates_by_the_buffer() -> None:
    maximum = 240 * S

    def chosen(before: int, level_s: float) -> int:
        return by_buffer(RATES, before, round(level_s * S), maximum)

    # Below the reservoir of 90 s the lowest, above 216 s the highest.
    assert [chosen(3, 0), chosen(3, 90), chosen(0, 216), chosen(0, 240)] == [0, 0, 4, 4]
    # In between 5.7 Mbit/s over 126 s: 1.5 Mbit/s is allowed from 116.5 s on, 750 kbit/s from 99.9.
    assert [chosen(2, 116.4), chosen(1, 116.6), chosen(0, 116.6)] == [2, 2, 2]
    # It goes down when not even the next lower one is exceeded.
    assert [chosen(2, 100), chosen(2, 99.9)] == [2, 1]
    assert chosen(4, 149) == 3


def test_rates_by_throughput() -> None:
    assert by_throughput(RATES, []) == 0
    assert by_throughput(RATES, [1e5]) == 0
    assert by_throughput(RATES, [3.4e6]) == 3
    assert by_throughput(RATES, [3.3e6]) == 2
    # Of the last five, whose harmonic mean the slowest decides.
    assert by_throughput(RATES, [1e3, 9e6, 9e6, 9e6, 9e6, 9e6]) == 4
    assert by_throughput(RATES, [9e6, 9e6, 9e6, 9e6, 1e6]) == 3


@given(st.integers(0, 4), st.integers(0, 300 * S), st.integers(0, 100 * S))
def test_a_fuller_buffer_never_asks_for_less(before: int, level_ns: int, more_ns: int) -> None:
    one = by_buffer(RATES, before, level_ns, 240 * S)
    assert one <= by_buffer(RATES, before, level_ns + more_ns, 240 * S)


def test_fields(tmp_path: Path) -> None:
    text = (
        f"{BASE}  film: {{video: h1 -> h2, time: 90s, ladder: [1mbit, 2.5mbit], segment: 2s, "
        "buffer: 20s, adaptation: throughput}\n"
        "claims: [smooth: default.film.stalled < 1s and default.film.bitrate > 1mbit]\n"
    )
    study = read(text, tmp_path)
    case = study.cases["default"].case
    assert case.flows[-1] == flow(
        time_s=90.0,
        ladder=("1mbit", "2.5mbit"),
        segment_s=2.0,
        buffer_s=20.0,
        adaptation="throughput",
    )
    assert Case.from_json(case.to_json()) == case
    file = tmp_path / "again.yaml"
    file.write_text(study_text(title="Again", case=case), encoding="utf-8")
    assert read_study(file).cases["default"].case == case


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        (
            "ladder: [2mbit, 1mbit]",
            "9:40: flows.x.ladder[1]",
            "'1mbit' is not above the rate before it: write them from the lowest",
        ),
        ("ladder: []", "9:32: flows.x.ladder", "0 rates, and a ladder has 1 to 20"),
        (
            "adaptation: magic",
            "9:36: flows.x.adaptation",
            "'magic' is none of buffer, throughput",
        ),
        (
            "segment: 4s, buffer: 7s",
            "9:45: flows.x.buffer",
            "a buffer of 7 s does not hold two segments of 4 s",
        ),
    ],
)
def test_what_is_refused(fields: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"{BASE}  x: {{video: h1 -> h2, {fields}}}\n", tmp_path) == (place, message)


def test_a_report(tmp_path: Path) -> None:
    # Captured over a line of 2 Mbit/s that fell to 200 kbit/s.
    (tmp_path / "film.client.json").write_text((DATA / "video-client.json").read_text())
    of = flow(time_s=60.0, segment_s=2.0, buffer_s=8.0)
    found = of.measure(tmp_path)
    assert found["stalls"] >= 1
    assert (
        1 < found["stalled_s"] == pytest.approx(found["stalled_share"] * (60 - found["startup_s"]))
    )
    assert 300e3 < found["bitrate_bps"] < 2e6
    assert found["switches"] > 1
    assert 0 < found["startup_s"] < 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a JSON report of a video"),
        ("{}", "not a whole report of a video: program: is missing"),
        (
            '{"program": "longfat video", "started_ns": 1, "port": 1, "server_port": 1, '
            '"stalls": [[2, 1]], "segments": []}',
            "ended before it began",
        ),
        (
            '{"program": "longfat video", "started_ns": 1, "port": 1, "server_port": 1, '
            '"stalls": [], "segments": [[1, 2, 9]]}',
            "a rate in it is not of the ladder",
        ),
    ],
)
def test_broken_reports(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "film.client.json").write_text(text)
    with pytest.raises(MachineError, match=reason):
        flow().measure(tmp_path)
    with pytest.raises(MachineError, match="not a JSON report of a video"):
        flow(name="other").measure(tmp_path)


def played(make_case: MakeCase, out: Path, of: Video, rate: str, **more: Any) -> Run:
    line = f"tc qdisc add dev s1-eth1 root tbf rate {rate} burst 20000 limit 60000"
    case = dataclasses.replace(make_case(of, root=(line,)), **more)
    return run_case(case, name="case", out=out)


@pytest.mark.parametrize("adaptation", ["buffer", "throughput"])
def test_a_line_that_carries_less_than_the_highest(
    adaptation: str, make_case: MakeCase, tmp_path: Path
) -> None:
    of = flow(time_s=200.0, adaptation=adaptation)
    probes = (Tcp(name="tcp", of=("film",), every_s=0.5),)
    run = played(make_case, tmp_path / "one", of, "2.5mbit", probes=probes)
    metrics = run.metrics
    assert metrics["film.stalls"] == 0
    assert 1e6 < metrics["film.bitrate_bps"] < 2.5e6
    assert 1.5e6 < metrics["film.throughput_bps"] < 2.5e6
    # The first segment has the lowest rate, and 20 kB of it pass at once.
    startup_s = (0.3e6 * 4 - 20_000 * 8) / 2.4e6
    assert metrics["film.startup_s"] == pytest.approx(startup_s, rel=0.1)
    assert run.flow_times["film"].end_s == pytest.approx(200, abs=0.1)
    assert metrics["tcp.peak_cwnd_bytes"] > 0
    again = played(make_case, tmp_path / "two", of, "2.5mbit", probes=probes)
    assert again.digest == run.digest
    unseen = played(make_case, tmp_path / "three", of, "2.5mbit")
    file = "film.client.json"
    assert (unseen.raw / file).read_bytes() == (run.raw / file).read_bytes()


def test_a_line_that_carries_less_than_the_lowest(make_case: MakeCase, tmp_path: Path) -> None:
    metrics = played(make_case, tmp_path, flow(time_s=100.0), "200kbit").metrics
    # A third of the time is missing.
    assert metrics["film.stalled_share"] == pytest.approx(1 / 3, abs=0.08)
    assert metrics["film.switches"] == 0
    assert metrics["film.bitrate_bps"] == 300e3


def test_a_fast_line_fills_the_buffer(make_case: MakeCase, tmp_path: Path) -> None:
    of = flow(time_s=100.0, buffer_s=20.0)
    run = played(make_case, tmp_path, of, "100mbit")
    # What was played, and what is in the buffer.
    assert run.metrics["film.segments"] == pytest.approx((100 + 20) / 4, abs=1)
    assert run.metrics["film.switches"] <= 4


def test_failures_have_words(make_case: MakeCase, tmp_path: Path) -> None:
    line = "ip -n h1 route add unreachable 10.0.0.2/32"
    run = run_case(make_case(flow(), root=(line,)), name="case", out=tmp_path)
    assert "play 10.0.0.2 5201: No route to host" in run.flow_failures["film"].reason


def test_a_live_network_plays_it() -> None:
    with longfat.Network(seed=1) as network:
        h1, h2 = network.host("h1"), network.host("h2")
        network.link(h1, h2, rate="10mbit", delay="10ms")
        found = h1.start("video", h2, time=20, ladder=["500kbit", "1mbit"]).result()
        assert found["stalls"] == 0
        assert found["segments"] > 5
