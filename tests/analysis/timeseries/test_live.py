"""Reading while a run goes on: the same series, however the files grow, and nothing but files."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.analysis.timeseries.live import (
    FlowSeen,
    FlowSockets,
    LiveRun,
    Plan,
    Series,
    data_ports,
    plan_watch,
)
from longfat.errors import MachineError
from longfat.model.case import Case
from longfat.model.probes import Tcp
from longfat.model.probes.samples import SampleStream, parse_samples
from longfat.model.probes.tcp_sockets import find_ends
from longfat.model.traffic import Iperf3
from longfat.model.traffic.iperf3 import read_report
from tests.analysis.timeseries.conftest import DATA, Growing


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 72_000), max_size=8))
def test_a_file_read_in_pieces_gives_the_same_messages(cuts: list[int]) -> None:
    content = (DATA / "tcp.samples").read_bytes()
    stream = SampleStream(name="tcp.samples")
    found = []
    marks = sorted({0, len(content), *(min(cut, len(content)) for cut in cuts)})
    for start, end in pairwise(marks):
        found += [(m.time_s, bytes(m.body)) for m in stream.feed(content[start:end])]
    whole = [(m.time_s, bytes(m.body)) for m in parse_samples(content, name="x")]
    assert found == whole
    assert stream.time_s >= whole[-1][0]


def test_a_run_seen_in_steps_is_the_run_seen_at_its_end(
    plan: Plan, whole: LiveRun, tmp_path: Path
) -> None:
    stepwise = Growing(tmp_path / "steps")
    live = LiveRun(plan)
    live.folder = stepwise.folder
    live.poll()
    assert live.time_s == 0
    before_s = 0.0
    for step in range(1, 41):
        stepwise.grow(step / 40)
        live.poll()
        assert live.time_s >= before_s
        before_s = live.time_s
    assert live.queues == whole.queues
    assert live.flows == whole.flows


def test_what_was_seen_agrees_with_iperf3(whole: LiveRun) -> None:
    assert {name: flow.streams for name, flow in whole.flows.items()} == {
        "one": 1,
        "other": 1,
        "back": 3,
    }
    for name, flow in whole.flows.items():
        report = read_report(DATA / f"{name}.client.json")
        end_s = flow.arrived.times_s[-1]
        mean_bps = flow.mean_bps(0.0, end_s)
        assert mean_bps is not None
        seen_bytes = mean_bps * end_s / 8
        # What came after the test's end is in it.
        assert 0.95 * report.totals["received_bytes"] < seen_bytes
        assert seen_bytes <= report.totals["sent_bytes"]
        assert flow.retransmits.values[-1] >= report.totals["retransmits"]
    queue = whole.queues["s1-eth1"]
    assert (queue.qdisc, queue.limit_bytes) == ("tbf", 100_000)
    assert 50_000 < max(queue.backlog.values) <= 100_000
    assert queue.drops.values[-1] > 0


def test_it_finds_the_sockets_that_iperf3_reports(case: Case, plan: Plan) -> None:
    flows = [flow for flow in case.flows if isinstance(flow, Iperf3)]
    reported: dict[str, set[int]] = {flow.name: set() for flow in flows}
    for (host, local, _), end in find_ends(flows, DATA).items():
        (flow,) = (flow for flow in flows if flow.name == end.flow)
        if host == flow.source:
            reported[end.flow].add(local)
    assert sum(map(len, reported.values())) == 5
    sockets = FlowSockets(plan.flows, {flow.name: FlowSeen() for flow in flows})
    messages = parse_samples((DATA / "tcp.samples").read_bytes(), name="tcp")
    for time_s, sample in itertools.groupby(messages, key=lambda one: one.time_s):
        sockets.add(time_s, list(sample))
    assert {name: set(ports) for name, ports in sockets.streams.items()} == reported


def test_the_connection_that_was_first_is_the_control_connection() -> None:
    # The stream has not moved anything yet.
    first_s = {40002: 0.1, 40000: 0.2}
    for order in itertools.permutations(first_s.items()):
        assert data_ports(dict(order), {40002: 500}, has_control=True) == [40000]


def test_of_several_firsts_the_one_with_few_bytes_is_left_out() -> None:
    moved_bytes = {port: 10**6 - port for port in (40004, 40000, 40008)} | {40002: 500}
    ports = data_ports(dict.fromkeys(moved_bytes, 0.1), moved_bytes, has_control=True)
    assert sorted(ports) == [40000, 40004, 40008]


def test_a_single_connection_is_no_stream_where_there_is_a_control_connection() -> None:
    assert data_ports({40000: 0.1}, {40000: 10**9}, has_control=True) == []
    assert data_ports({}, {}, has_control=True) == []
    assert data_ports({40000: 0.1}, {}, has_control=False) == [40000]


def test_reading_goes_on_where_the_run_is_kept(plan: Plan, whole: LiveRun, tmp_path: Path) -> None:
    growing = Growing(tmp_path / "staged")
    live = LiveRun(plan)
    live.poll()  # the run has no folder yet
    live.folder = growing.folder
    growing.grow(0.5)
    live.poll()
    growing.grow(1)
    growing.folder.rename(tmp_path / "kept")
    live.poll()
    assert 0 < live.time_s < whole.time_s
    live.folder = tmp_path / "kept"
    live.poll()
    assert live.time_s == whole.time_s
    assert live.queues == whole.queues


@pytest.mark.parametrize("content", [b"foreign\n", b'{"every_ns": 1, "sources": []}\n' + bytes(16)])
def test_a_foreign_file_is_an_error(plan: Plan, growing: Growing, content: bytes) -> None:
    (growing.folder / "raw/tcp.samples").write_bytes(content)
    live = LiveRun(plan)
    live.folder = growing.folder
    with pytest.raises(MachineError, match=r"tcp\.samples: "):
        live.poll()


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=120), st.integers(0, 9000))
def test_broken_samples_are_an_error_or_left_out(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, place: int
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "raw").mkdir()
    for name in Growing.names:
        content = bytearray((DATA / name).read_bytes())
        head = content.index(b"\n") + 1
        content[head + place : head + place + len(junk)] = junk
        (folder / "raw" / name).write_bytes(content)
    plan = plan_watch(Case.from_json(json.loads((DATA / "case.json").read_text())))
    live = LiveRun(plan)
    live.folder = folder
    try:
        live.poll()
    except MachineError as error:
        assert ".samples" in str(error) or "sampler" in str(error)


def rows(samples: Sequence[tuple[int, int, str]]) -> list[dict[str, object]]:
    return [
        {
            "stream": stream,
            "bytes_acked": acked,
            "delivered_packets": None,
            "mss_bytes": 1000,
            "ca_state": "open",
            "retransmits": 0,
            "state": state,
            "rtt_s": 0.01,
            "cwnd_bytes": 1000,
        }
        for stream, acked, state in samples
    ]


def test_the_mean_of_a_second_is_of_all_that_has_arrived_in_it() -> None:
    flow = FlowSeen()
    flow.add(0.5, rows([(1, 500, "established")]))
    flow.add(1.0, rows([(1, 500, "established")]))
    flow.add(1.5, rows([(1, 1500, "established")]))
    assert flow.mean_bps(0.0, 0.5) == 500 * 8 / 0.5
    assert flow.mean_bps(1.0, 1.5) == 1000 * 8 / 0.5
    assert flow.mean_bps(1.5, 2.0) is None


def test_a_stream_that_ends_keeps_its_bytes_and_has_no_window() -> None:
    flow = FlowSeen()
    flow.add(0.5, rows([(1, 500, "established"), (2, 300, "established")]))
    flow.add(1.0, rows([(1, 600, "close"), (2, 400, "established")]))
    flow.add(1.5, rows([(2, 500, "established")]))
    flow.add(1.5, rows([(2, 9000, "established")]))  # the same sample once more
    assert flow.arrived.values == [800, 1000, 1100]
    assert flow.cwnd.values == [2000, 1000, 1000]
    assert flow.streams == 1


def test_the_value_of_a_series_at_a_time_is_the_last_before() -> None:
    series = Series(times_s=[0.0, 1.0, 2.0, 3.0], values=[0, 4, 4, 6])
    assert [series.at(time_s) for time_s in (-1, 0, 1, 2.5, 3)] == [None, 0, 4, 4, 6]
    assert series.at(2.5, since_s=2.0) is None


def test_of_two_probes_of_a_flow_the_first_counts(case: Case, growing: Growing) -> None:
    growing.grow(1)
    (growing.folder / "raw/again.samples").write_bytes((DATA / "tcp.samples").read_bytes())
    again = Tcp(name="again", of=("one",), every_s=0.05)
    (_, tcp) = case.probes
    flows = {}
    for probes in ((tcp,), (tcp, again)):
        live = LiveRun(plan_watch(dataclasses.replace(case, probes=probes)))
        live.folder = growing.folder
        live.poll()
        flows[probes] = live.flows
    first, second = flows.values()
    assert first == second
    assert first["one"].every_s == 0.1
