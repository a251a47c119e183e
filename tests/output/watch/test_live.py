"""Reading while a run goes on: the same curves, however the files grow, and nothing but files."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.errors import MachineError
from longfat.model.case import Case
from longfat.model.metric import Unit
from longfat.model.probes.samples import SampleStream, parse_samples
from longfat.model.traffic.iperf3 import read_report
from longfat.output.watch.live import LiveRun
from longfat.output.watch.plan import Plan, plan_watch
from longfat.output.watch.tail import Tail
from longfat.output.watch.track import Counter, Track
from tests.output.watch.conftest import DATA, Growing


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
    with LiveRun(plan) as live:
        live.begin(stepwise.folder)
        live.poll()
        assert live.time_s == 0
        before_s = 0.0
        for step in range(1, 41):
            stepwise.grow(step / 40)
            live.poll()
            assert live.time_s >= before_s
            before_s = live.time_s
        assert live.queues == whole.queues
        for name, flow in live.flows.items():
            # Which of its first sockets are streams is not known at once.
            late_s = flow.rtt.times_s[2]
            span = (late_s, live.time_s)
            assert flow.rtt.between(*span) == whole.flows[name].rtt.between(*span)
            assert flow.cwnd.between(*span) == whole.flows[name].cwnd.between(*span)
            assert flow.streams == whole.flows[name].streams


def test_what_was_seen_agrees_with_iperf3(whole: LiveRun) -> None:
    assert {name: flow.streams for name, flow in whole.flows.items()} == {
        "one": 1,
        "other": 1,
        "back": 3,
    }
    for name, flow in whole.flows.items():
        report = read_report(DATA / f"{name}.client.json")
        start_s = flow.rtt.times_s[0]
        end_s = flow.throughput.times_s[-1]
        mean_bps = flow.throughput.mean(start_s, end_s)
        assert mean_bps is not None
        seen_bytes = mean_bps * (end_s - start_s) / 8
        # What came before the first sample is not in it, but what came after the test's end.
        assert 0.9 * report.totals["received_bytes"] < seen_bytes <= report.totals["sent_bytes"]
        assert flow.retransmits.total >= report.totals["retransmits"]
    queue = whole.queues["s1-eth1"]
    assert (queue.qdisc, queue.backlog.limit) == ("tbf", 100_000)
    assert 50_000 < max(queue.backlog.values) <= 100_000
    assert queue.drops.total > 0


def test_an_open_file_is_read_on_after_the_run_has_moved(growing: Growing, tmp_path: Path) -> None:
    growing.grow(0.5)
    with Tail(growing.folder, "raw", "queue.samples") as tail:
        first = tail.read()
        growing.folder.rename(tmp_path / "kept")
        with (tmp_path / "kept/raw/queue.samples").open("ab") as file:
            file.write(b"more")
        assert len(first) > 1000
        assert tail.read() == b"more"
        assert tail.read() == b""


def test_a_run_that_ended_before_the_first_look_is_read_where_it_is_kept(
    plan: Plan, growing: Growing, whole: LiveRun, tmp_path: Path
) -> None:
    with LiveRun(plan) as live:
        live.begin(growing.folder)
        growing.grow(1)
        growing.folder.rename(tmp_path / "kept")
        live.finish(tmp_path / "kept")
        assert live.time_s == whole.time_s > 0
        assert live.queues == whole.queues


@pytest.mark.parametrize("content", [b"foreign\n", b'{"every_ns": 1, "sources": []}\n' + bytes(16)])
def test_a_foreign_file_is_told(plan: Plan, growing: Growing, content: bytes) -> None:
    (growing.folder / "raw/tcp.samples").write_bytes(content)
    with LiveRun(plan) as live:
        live.begin(growing.folder)
        with pytest.raises(MachineError, match=r"tcp\.samples: "):
            live.poll()


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=120), st.integers(0, 9000))
def test_broken_samples_are_told_or_left_out(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, place: int
) -> None:
    folder = tmp_path_factory.mktemp("broken")
    (folder / "raw").mkdir()
    content = bytearray((DATA / "queue.samples").read_bytes())
    head = content.index(b"\n") + 1
    content[head + place : head + place + len(junk)] = junk
    (folder / "raw/queue.samples").write_bytes(content)
    plan = plan_watch(Case.from_json(json.loads((DATA / "case.json").read_text())))
    with LiveRun(plan) as live:
        live.begin(folder)
        try:
            live.poll()
        except MachineError as error:
            assert "queue" in str(error) or "sampler" in str(error)


def test_a_mean_is_one_over_time_and_not_over_samples() -> None:
    track = Track(name="x", unit=Unit.BPS)
    for time_s, value in ((1.0, 10.0), (2.0, 20.0), (2.25, 100.0)):
        track.add(time_s, value)
    assert track.mean(1.0, 2.25) == (20 * 1 + 100 * 0.25) / 1.25
    assert track.mean(1.5, 2.25) == (20 * 0.5 + 100 * 0.25) / 0.75
    assert track.mean(2.0, 3.0) == 100
    assert track.mean(2.25, 3.0) is None


def test_a_counter_begins_with_what_was_counted_before_and_may_begin_anew() -> None:
    counter = Counter()
    for time_s, count in ((0.0, 5), (1.0, 9), (2.0, 9), (3.0, 2), (4.0, 4)):
        counter.add(time_s, count)
    assert counter.total == 4 + 2 + 2
    assert [counter.until(time_s) for time_s in (0, 1, 2.5, 3)] == [0, 4, 4, 6]
