"""A live run becomes a run of the workspace, and a study that plays it once more."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.packets.decoded_capture import capture_path, captures_of, open_packets
from longfat.analysis.packets.decoders import choose_decoder
from longfat.analysis.timeseries.curves import RunCurves
from longfat.execution import Batch, run_batches
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import damage
from longfat.model.events import LinkChange, TypedLine
from longfat.model.probes import Capture
from longfat.studio.live import LiveSessions
from longfat.study.read import parse_study
from tests.studio.live.conftest import STUDY, MakePage, Page

SHORT = STUDY.replace("count: 3", "count: 2")
LONG = SHORT.replace("time: 2s", "time: 600s")


def kept(page: Page, number: int = 1) -> str:
    """Wait until a run was kept; return where, below the workspace."""
    found: dict[str, Any] = page.wait(
        lambda: (one := page.recording(number)) and one["kept"] and one
    )
    return str(found["kept"])


def changed_in_the_middle(page: Page) -> None:
    """Run a flow, and meanwhile change a link and type lines."""
    page.do("step", by_s=0.5)
    page.do("run", flows=["bulk"])
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    page.do("update", text=LONG.replace("rate: 50mbit", "rate: 20mbit"), case="default")
    page.do("type", nodes=["h1"], text="sysctl -w net.ipv4.tcp_ecn=1")
    page.do("type", nodes=["h2"], text="sysctl -w net.ipv4.no_such_thing=1")
    page.do("type", nodes=["root"], text="ping -c 1 10.0.0.2 > /dev/null; true")
    page.do("step", by_s=1.0)
    page.wait(lambda: len((page.recording(1) or {"marks": []})["marks"]) == 4)
    page.do("step", by_s=0.2)
    page.wait(lambda: page.clock["state"] == "held")


@pytest.fixture
def done(make_page: MakePage, tmp_path: Path) -> tuple[Page, Run]:
    page = make_page(SHORT)
    page.do("run")
    path = kept(page)
    return page, load_run(tmp_path / path)


def test_a_live_run_is_a_run_as_any_other(done: tuple[Page, Run]) -> None:
    page, run = done
    assert run.folder.name == "live-1-seed1"
    assert run.folder.parent.name == "small-live"
    assert damage(run) == ""
    (told, _) = page.recording(1)["flows"]  # type: ignore[index]
    assert run.metrics["bulk.receiver_bps"] == told["metrics"]["receiver_bps"]
    assert run.metrics["queue.peak_bytes"] > 0
    # Its samples count from Run, at multiples of the interval.
    times = run.series("rate")["time_s"].to_pylist()
    assert times[0] == 0
    assert {round(1000 * time_s) % 20 for time_s in times if time_s < 2} == {0}
    curves = RunCurves(run)
    for metric in ("throughput", "cwnd", "rtt", "queue"):
        assert all(len(one.times_s) > 1 for one in curves.curves(metric)), metric
    assert [one.name for one in curves.curves("queue")] == ["s1-eth2"]
    assert "iperf3" in (run.folder / "commands.sh").read_text()
    # A second one stands beside it.
    page.do("run")
    assert kept(page, 2).endswith("small-live/live-2-seed1")


def test_notes_and_groups_are_kept_with_a_live_run(make_page: MakePage, tmp_path: Path) -> None:
    drawn = "drawing:\n  groups: [{name: A, nodes: [h1]}]\n  notes: [{text: here, at: [1, 2]}]\n"
    page = make_page(SHORT + drawn)
    page.do("run")
    text = (tmp_path / kept(page) / "study.yaml").read_text()
    found = parse_study(text, name="kept").drawing
    assert [group.name for group in found.groups] == ["A"]
    assert [note.text for note in found.notes] == ["here"]


def test_captures_are_kept_with_the_run_that_they_saw(make_page: MakePage, tmp_path: Path) -> None:
    page = make_page(SHORT)
    page.do("capture", interface="h1-eth0", filter="ip  proto 6")
    page.do("capture", interface="s1-eth1", filter="udp")  # there is none
    page.wait(lambda: len((page.last("captures") or {"captures": []})["captures"]) == 2)
    page.do("step", by_s=0.5)
    page.wait(lambda: page.clock["state"] == "held")
    for number in (1, 2):
        page.do("run")
        run = load_run(tmp_path / kept(page, number))
        assert captures_of(run) == {"capture-1": "h1-eth0"}
        path = capture_path(run, "capture-1")
        opened = open_packets(
            path, name="kept", epoch_ns=round(run.epoch_s * 1e9), decoder=choose_decoder("dpkt")
        )
        about = opened.about()
        # All of this run, and none of the one before.
        assert 0 <= about["first_s"] < about["last_s"] < run.virtual_s
        assert about["packets"] > 20
        assert run.metrics["capture-1.packets"] == about["packets"]
        study = parse_study((run.folder / "study.yaml").read_text(), name="kept")
        (case,) = (planned.case for planned in study.cases.values())
        assert [one.filter for one in case.probes_of(Capture)] == ["ip proto 6"]


def test_what_was_done_by_hand_is_among_its_events(
    make_page: MakePage, sessions: LiveSessions, tmp_path: Path
) -> None:
    page = make_page(LONG)
    changed_in_the_middle(page)
    recording = page.recording(1)
    assert recording is not None
    lasted_s = page.clock["now_s"] - recording["start_s"]
    assert sessions.end(page.state()["session"]["id"])
    page.live.close()
    run = load_run(tmp_path / kept(page))
    change, sysctl, ping = run.case.events
    assert isinstance(change, LinkChange)
    assert (change.a, change.b, change.a_to_b.given.rate_bps) == ("s1", "h2", 20e6)
    assert isinstance(sysctl, TypedLine)
    assert (sysctl.node, sysctl.line) == ("h1", "sysctl -w net.ipv4.tcp_ecn=1")
    assert isinstance(ping, TypedLine)
    assert ping.line.startswith("sh -c 'ping -c 1")
    assert ping.line.endswith("&")
    assert [time.event for time in run.event_times] == [0, 1, 2]
    assert 0 < change.at_s <= sysctl.at_s <= ping.at_s < lasted_s
    # The network is the one at the start; the flow was not measured, but would be played.
    assert run.case.network.links[1].a_to_b.rate_bps == 50e6
    assert run.case.flows == ()
    study = parse_study((run.folder / "study.yaml").read_text(), name="replay")
    ((name, planned),) = study.cases.items()
    assert name == "default"
    assert [flow.name for flow in planned.case.flows] == ["bulk"]
    assert planned.case.events == run.case.events
    recording = json.loads((run.folder / "recording.json").read_text())
    assert [mark["kind"] for mark in recording["marks"]] == ["change", *["command"] * 3]
    assert recording["flows"][0]["words"] == "stopped before its end"


def test_a_live_run_can_be_played_once_more(
    make_page: MakePage, sessions: LiveSessions, tmp_path: Path
) -> None:
    page = make_page(LONG)
    changed_in_the_middle(page)
    sessions.end(page.state()["session"]["id"])
    page.live.close()
    live = load_run(tmp_path / kept(page))
    text = (live.folder / "study.yaml").read_text()
    # How late the link was changed depends on how fast the host is.
    last_s = max(one.at_s for one in live.event_times)
    text = re.sub(r"time: \w+", f"time: {math.ceil(last_s) + 3}s", text)
    study = parse_study(text, name="replay")
    outcome = run_batches([Batch(cases=study.cases, out=tmp_path / "again", study="again")])
    assert outcome.failures == ()
    again = load_run(tmp_path / "again" / "default-seed1")
    assert [one.words for one in again.event_times] == [one.words for one in live.event_times]
    (line,) = RunCurves(again).curves("throughput")
    slow = line.values[line.times_s > last_s + 1]
    assert slow.mean() < 20e6


def test_a_run_goes_on_in_no_session_and_is_kept_when_the_server_ends(
    make_page: MakePage, sessions: LiveSessions, tmp_path: Path
) -> None:
    page = make_page(LONG)
    page.do("run")
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    sessions.close()
    assert load_run(tmp_path / kept(page)).metrics["queue.peak_bytes"] > 0


def test_typed_lines_that_fight_a_links_properties_become_lines_of_tc(
    make_page: MakePage, sessions: LiveSessions, tmp_path: Path
) -> None:
    page = make_page(LONG)
    page.do("run", flows=["bulk"])
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    page.do("hold")
    page.do("update", text=LONG.replace("rate: 50mbit", "rate: 20mbit"), case="default")
    line = "tc qdisc replace dev h2-eth0 root tbf rate 5mbit burst 20kb limit 250kb"
    page.do("type", nodes=["h2"], text=line)
    page.do("step", by_s=0.5)
    page.wait(lambda: len((page.recording(1) or {"marks": []})["marks"]) == 2)
    sessions.end(page.state()["session"]["id"])
    page.live.close()
    run = load_run(tmp_path / kept(page))
    assert all(isinstance(event, TypedLine) for event in run.case.events)
    assert any("20mbit" in event.summary() for event in run.case.events)
