"""What a session has to bear: rubbish, floods, machines that die, ends in the middle."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine import kernel as kernels
from longfat.errors import InputError, LongfatError
from longfat.studio import broadcast as hubs
from longfat.studio.broadcast import Listener
from longfat.studio.live import LiveSessions, controller
from longfat.studio.live import series as all_series
from longfat.studio.live import session as all_sessions
from longfat.studio.live.messages import TerminalSize
from longfat.studio.live.terminals import MAX_SHOWN_BYTES
from longfat.studio.workspace import Workspace
from tests.conftest import processes_running
from tests.studio.live.conftest import STUDY, MakePage, Page
from tests.studio.live.test_session import Screen, flow


def lives(page: Page) -> bool:
    """Return whether a session carries out commands."""
    number = time.monotonic_ns() % 2**30
    page.do("ask", number=number, node="h1", line="echo on")
    page.wait(lambda: page.is_over or (page.last("answer") or {}).get("number") == number)
    return not page.is_over


def open_terminal(page: Page, loop: asyncio.AbstractEventLoop, node: str = "h1") -> Screen:
    page.do("open-terminal", node=node, rows=24, columns=80)
    told = page.wait(lambda: page.last("terminal"))
    screen = Screen(page, told["terminal"]["id"], loop)
    assert page.wait_for(lambda: node.encode() in screen.shown)
    return screen


@pytest.mark.parametrize(
    "order",
    [
        {"do": "type", "nodes": ["h1"], "text": "\ud800"},
        {"do": "type", "nodes": ["\ud800"], "text": "ls"},
        {"do": "ask", "number": 1, "node": "h1", "line": "echo \ud800"},
        {"do": "ask", "number": 1, "node": "h1", "line": "echo a\0b"},
        {"do": "ask", "number": 1, "node": "h1", "line": "x" * 1_000_000},
        {"do": "ask", "number": 10**400, "node": "h1", "line": "ls"},
        {"do": "step", "by_s": 10**400},
        {"do": "step", "by_s": float("nan")},
        {"do": "pace", "factor": float("inf")},
        {"do": "pace", "factor": 10**400},
        {"do": "run", "flows": ["\ud800"]},
        {"do": "update", "text": "title: \ud800", "case": None},
        {"do": "update", "text": STUDY, "case": "\ud800"},
        {"do": "open-terminal", "node": "h1", "rows": 2**70, "columns": 1},
        {"do": "\ud800" * 1000},
    ],
)
def test_rubbish_is_reported_and_the_session_lives(
    make_page: MakePage, order: dict[str, Any]
) -> None:
    page = make_page()
    page.live.do(json.dumps(order))
    page.wait(lambda: page.messages() or page.is_over)
    assert lives(page)
    assert len(page.messages()[0]) < 300


def test_a_question_that_says_too_much_is_ended(make_page: MakePage) -> None:
    page = make_page()
    page.do("ask", number=1, node="h1", line="yes")
    answer = page.wait(lambda: page.last("answer"), seconds=10)
    assert answer["text"].startswith("y\ny\n")
    assert answer["text"].endswith("`yes` printed more than 64 KB, and was stopped\n")
    page.do("ask", number=2, node="h1", line="pgrep yes")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "")


def test_a_question_does_not_stop_what_runs_at_a_terminal(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    screen = open_terminal(page, loop)
    page.live.type_at(1, b"ping 10.0.0.2\r")
    assert page.wait_for(lambda: b"icmp_seq=1 " in screen.shown)
    assert lives(page)
    assert page.wait_for(lambda: b"icmp_seq=3 " in screen.shown, seconds=10)


def within(seconds: float, end: Callable[[], Any]) -> bool:
    """Tell whether something is done in time; it goes on meanwhile."""
    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()


@pytest.mark.parametrize(
    "order",
    [
        {"do": "ask", "number": 1, "node": "h1", "line": "sleep 4"},
        {"do": "ask", "number": 1, "node": "h1", "line": "while :; do :; done"},
        {"do": "type", "nodes": ["h1"], "text": "while :; do :; done"},
        {"do": "step", "by_s": 3600},
        {"do": "update", "text": STUDY + "setup: [{h1: sleep 4}]\n", "case": None},
        {"do": "run"},
    ],
)
def test_an_end_does_not_wait(
    make_page: MakePage, sessions: LiveSessions, order: dict[str, Any]
) -> None:
    page = make_page()
    page.do("pace", factor=0.001)
    name = order.pop("do")
    page.do(name, **order)
    time.sleep(0.3)
    assert within(2, lambda: sessions.end(page.live.info()["id"]))
    page.wait(lambda: page.is_over)
    assert (page.last("ended") or {})["words"] == "the session was closed"


def test_an_end_does_not_wait_for_a_network_that_is_being_built(sessions: LiveSessions) -> None:
    text = STUDY + "setup: [{h1: while :; do date > /dev/null; done}]\n"
    told: list[str] = []

    def create() -> None:
        try:
            sessions.create(name="small", text=text, case=None)
        except LongfatError as error:
            told.append(str(error))

    thread = threading.Thread(target=create, daemon=True)
    thread.start()
    time.sleep(1.5)
    assert within(3, sessions.close)
    thread.join(2)
    assert told == ["longfat studio is shutting down: it starts no session"]


def test_a_set_up_line_that_does_not_end_is_reported(sessions: LiveSessions) -> None:
    text = STUDY + "setup: [{h1: ping -q 10.0.0.2}]\n"
    with pytest.raises(InputError, match=r"h1: `ping -q 10.0.0.2` did not end within 600 s .*&"):
        sessions.create(name="small", text=text, case=None)


@pytest.mark.parametrize("name", ["hold", "stop", "step"])
def test_slow_time_obeys_at_once(make_page: MakePage, name: str) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 100s"))
    page.do("pace", factor=0.0001)
    page.do("run")
    page.wait(lambda: page.clock["state"] == "running")
    time.sleep(0.2)
    start_s = time.monotonic()
    page.do(name, **({"by_s": 1e-6} if name == "step" else {}))
    page.wait(page.stands)
    assert time.monotonic() - start_s < 0.4


def test_steps_are_reported_at_once(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 100s"))
    page.do("run")
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    start_s = time.monotonic()
    for _ in range(20):
        before_s = page.clock["now_s"]
        page.do("step", by_s=0.001)
        page.wait(lambda before_s=before_s: page.clock["now_s"] > before_s and page.stands())  # type: ignore[misc]
    assert time.monotonic() - start_s < 3


def test_steps_over_a_flows_end_are_exact(make_page: MakePage) -> None:
    # Its server learns of the end half a round trip later.
    page = make_page(STUDY.replace("delay: 10ms", "delay: 300ms").replace("time: 2s", "time: 1s"))
    page.do("run", flows=["bulk"])
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    steps = []
    while not page.ended(1):
        before_s = page.clock["now_s"]
        page.do("step", by_s=0.05)
        page.wait(lambda before_s=before_s: page.clock["now_s"] > before_s and page.stands())  # type: ignore[misc]
        steps.append(page.clock["now_s"] - before_s)
        assert len(steps) < 200
    assert steps == pytest.approx([0.05] * len(steps), abs=1e-6)
    bulk = flow(page.ended(1) or {}, "bulk")
    assert bulk["state"] == "done", bulk["words"]
    assert (page.ended(1) or {})["end_s"] > bulk["ended_s"] + 0.1


def test_a_ping_is_seen_while_it_continues(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("count: 3, after: bulk", "count: 1000000"))
    page.do("run", flows=["rtt"])
    page.wait(lambda: len(page.series.get((1, "ping:rtt:rtt_s"), ([], []))[0]) > 100)
    assert page.ended(1) is None


def test_run_pressed_over_and_over_leaves_nothing_running(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 1000s"))
    for _ in range(30):
        page.do("run")
    page.wait(lambda: page.recording(30) and flow(page.recording(30) or {}, "bulk")["started_s"])
    page.do("ask", number=1, node="h1", line="pgrep -c iperf3")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "2\n")
    assert len([one for one in page.events if one["event"] == "ended"]) == 0


def test_marks_below_a_shaper_are_seen(make_page: MakePage) -> None:
    red = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 50mbit ecn"
    text = STUDY.replace("queue: 250KB", f"qdisc: {red}").replace("time: 2s", "time: 5s")
    page = make_page(text + "setup: [{[h1, h2]: sysctl -w net.ipv4.tcp_ecn=1}]\n")
    for number in (1, 2):
        page.do("run", flows=["bulk"])
        page.wait(lambda number=number: page.ended(number))  # type: ignore[misc]
        marks = page.series[number, "queue:s1-eth2:marks"][1]
        assert marks == sorted(marks)
        assert 0 < marks[-1] < 1000
        assert marks[0] <= 5  # of this recording alone


# ------------------------------------------------------------------ floods


@pytest.mark.parametrize("line", [b"yes", b"cat /dev/urandom"])
def test_a_flood_at_a_terminal_is_bounded_and_can_be_ended(
    make_page: MakePage, loop: asyncio.AbstractEventLoop, line: bytes
) -> None:
    page = make_page()
    screen = open_terminal(page, loop)
    page.live.type_at(1, line + b"\r")
    assert page.wait_for(lambda: len(screen.shown) > 4 * MAX_SHOWN_BYTES)
    assert lives(page)
    before = len(screen.shown)
    assert page.wait_for(lambda: len(screen.shown) > before + MAX_SHOWN_BYTES)
    page.live.type_at(1, b"\x03")
    page.wait(page.stands)
    page.live.type_at(1, b"reset; echo on $((6 * 7))\r")
    assert page.wait_for(lambda: b"on 42" in screen.shown)


def test_who_reads_slowly_is_shown_the_end(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    open_terminal(page, loop)

    async def slow() -> Listener:
        return Listener()

    listener = asyncio.run_coroutine_threadsafe(slow(), loop).result()
    page.live.watch(1, listener)
    page.live.type_at(1, b"yes | head -c 6000000; echo at $((6 * 7))\r")
    page.wait(lambda: page.clock["state"] == "running")
    page.wait(page.stands)
    assert listener.waiting_bytes < 3 << 20
    shown = b""

    async def read() -> bytes:
        said = await listener.next()
        assert isinstance(said, bytes)
        return said

    while b"at 42" not in shown:
        shown += asyncio.run_coroutine_threadsafe(read(), loop).result(10)
    assert b"some output was skipped" in shown


def test_a_page_that_does_not_read_is_cut_off(
    make_page: MakePage, loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hubs, "MAX_WAITING_BYTES", 100_000)
    page = make_page(STUDY.replace("time: 2s", "time: 60s"))

    async def deaf() -> Listener:
        return Listener()

    listener = asyncio.run_coroutine_threadsafe(deaf(), loop).result()
    page.live.join(listener)
    page.do("run", flows=["bulk"])
    asyncio.run_coroutine_threadsafe(listener.cut(), loop).result(30)
    assert listener.waiting_bytes < 1 << 20
    assert asyncio.run_coroutine_threadsafe(listener.next(), loop).result(5) is None
    # On a busy host the test's own page may have been as slow.
    monkeypatch.undo()
    late = Page(page.live, loop)
    late.wait(lambda: late.last("state"))
    assert lives(late)


def test_very_many_series_have_fewer_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_series, "MAX_IN_ALL", 10_000)
    series = all_series.SeriesSet()
    for number in range(20):
        info = all_series.SeriesInfo(
            key=str(number), kind="rate", of="x", quantity="tx_bps", unit="bit/s", label="x"
        )
        for time_s in range(3000):
            series.add(info, time_s, time_s)
    assert len(series.whole(recording=0)) < 16 * 12_000


# ------------------------------------------------------- drawings that change


TWO_SWITCHES = STUDY.replace("[s1]", "[s1, s2]")


def test_a_link_goes_back_and_forth_while_a_flow_runs(make_page: MakePage) -> None:
    study = STUDY.replace("time: 2s", "time: 20s")
    page = make_page(study)
    page.do("run", flows=["bulk"])
    for rate in ("5mbit", "200mbit", "50mbit", "1mbit", "50mbit") * 4:
        page.do("update", text=study.replace("50mbit", rate), case=None)
    page.do("update", text=study.replace("queue: 250KB", "qdisc: fq_codel"), case=None)
    page.do("update", text=study.replace("queue: 250KB", "qdisc: red limit 3"), case=None)
    page.wait(lambda: page.last("stale"))
    (reason,) = (page.last("stale") or {})["reasons"]
    assert reason.startswith("the link from s1 to h2: ")
    assert "RED: Required parameter" in reason
    page.do("update", text=study, case=None)
    page.wait(lambda: (page.last("stale") or {})["reasons"] == [])
    done = page.wait(lambda: page.ended(1))
    assert flow(done, "bulk")["state"] == "done"
    assert page.messages() == []


def test_what_cannot_be_built_makes_the_network_stale(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 20s"))
    page.do("run", flows=["bulk"])
    bad = TWO_SWITCHES.replace("250KB}]]", "250KB}], [h1, s2, {rate: 1mbit, qdisc: red limit 3}]]")
    page.do("update", text=bad, case=None)
    page.wait(lambda: page.last("stale"))
    (reason,) = (page.last("stale") or {})["reasons"]
    assert "the qdisc of the link h1 - s2" in reason
    good = bad.replace("red limit 3", "pfifo limit 30")
    for text in (good, STUDY, good):
        page.do("update", text=text, case=None)
    assert lives(page)
    assert (page.last("stale") or {})["reasons"] == [reason]
    assert flow(page.wait(lambda: page.ended(1)), "bulk")["state"] == "done"
    anew = make_page(good)
    anew.do("run", flows=["rtt"])
    assert flow(anew.wait(lambda: anew.ended(1)), "rtt")["metrics"]["received"] == 3


def test_names_that_a_person_has_taken_at_root_make_it_stale(make_page: MakePage) -> None:
    page = make_page()
    page.do("ask", number=1, node="root", line="ip link add s2 type bridge")
    page.do("update", text=TWO_SWITCHES, case=None)
    page.wait(lambda: page.last("stale"))
    assert "File exists" in (page.last("stale") or {})["reasons"][0]
    assert lives(page)


def test_a_set_up_line_that_fails_can_be_corrected(make_page: MakePage) -> None:
    page = make_page()
    line = "setup: [{h1: sysctl -w net.ipv4.tcp_sack=0}, {h2: sysctl -w net.ipv4.tcp_%s=0}]\n"
    page.do("update", text=STUDY + line % "sock", case=None)
    page.wait(lambda: page.last("stale"))
    (reason,) = (page.last("stale") or {})["reasons"]
    assert reason.startswith("h2: `sysctl -w net.ipv4.tcp_sock=0`: ")
    page.do("update", text=STUDY + line % "sack", case=None)
    page.wait(lambda: (page.last("stale") or {})["reasons"] == [])
    page.do("ask", number=1, node="h2", line="sysctl -n net.ipv4.tcp_sack")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "0\n")


def test_an_interface_that_is_taken_away_is_reported(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    screen = open_terminal(page, loop, "root")
    page.live.type_at(1, b"ip link del s1-eth1; sleep 2\r")
    page.wait(lambda: page.last("stale"), seconds=10)
    (reason,) = (page.last("stale") or {})["reasons"]
    assert reason.startswith("an interface of the drawing was removed")
    assert lives(page)
    assert not screen.is_over


# ------------------------------------------------------------- ends and deaths


def test_a_machine_that_dies_is_reported_and_another_can_be_made(
    make_page: MakePage, sessions: LiveSessions, own_kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(own_kernels))
    page = make_page()
    page.do("run")
    for pid in processes_running(kernels.find("6.1").binary):
        with contextlib.suppress(ProcessLookupError):  # those of the guest go with their kernel
            os.kill(pid, signal.SIGKILL)
    page.wait(lambda: page.is_over)
    assert "the machine ended" in (page.last("ended") or {})["words"]
    assert sessions.infos() == []
    assert lives(make_page())


def test_who_comes_too_late_is_not_kept_waiting(
    make_page: MakePage, sessions: LiveSessions, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    sessions.end(page.live.info()["id"])
    late = Page(page.live, loop)
    late.wait(lambda: late.is_over)
    screen = Screen(page, 1, loop)
    assert page.wait_for(lambda: screen.is_over)


def test_terminals_whose_shells_end_unseen_are_reported(make_page: MakePage) -> None:
    page = make_page()
    page.do("type", nodes=["h1", "h1", "h1"], text="exit 3")
    page.wait(lambda: (page.last("terminal") or {}).get("terminal", {}).get("status") == 3)
    assert len({one["terminal"]["id"] for one in page.events if one["event"] == "terminal"}) == 1


def test_terminals_closed_in_the_middle(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    screen = open_terminal(page, loop)
    page.live.type_at(1, b"yes\r")
    assert page.wait_for(lambda: len(screen.shown) > 100_000)
    page.do("close-terminal", id=1)
    page.do("close-terminal", id=1)
    page.live.type_at(1, b"\x03")
    page.live.resize(1, TerminalSize(rows=10, columns=10))
    assert page.wait_for(lambda: screen.is_over)
    page.wait(page.stands)
    assert lives(page)


def test_there_are_only_so_many_sessions(
    sessions: LiveSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_sessions, "MAX_SESSIONS", 2)
    made: list[str] = []

    def create() -> None:
        try:
            sessions.create(name="small", text=STUDY, case=None)
        except InputError as error:
            made.append(str(error))

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["2 networks are already running: end some of their sessions"] * 2
    assert len(sessions.infos()) == 2


def test_a_flow_that_writes_too_much_fails_and_the_session_continues(
    make_page: MakePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(controller, "MAX_OUTPUT_BYTES", 1000)
    page = make_page()
    page.do("run", flows=["bulk"])
    page.wait(lambda: page.ended(1))
    recording = page.recording(1)
    assert recording is not None
    (words,) = [one["words"] for one in recording["flows"] if one["name"] == "bulk"]
    assert "was killed: it has written more than 1000 bytes" in words
    assert lives(page)


def test_captures_count_for_the_disk_quota(tmp_path: Path, loop: asyncio.AbstractEventLoop) -> None:
    workspace = Workspace(tmp_path, most_bytes=200_000)
    sessions = LiveSessions(workspace=workspace)
    try:
        page = Page(sessions.create(name="small", text=STUDY, case=None), loop)
        page.wait(lambda: page.last("state"))
        page.do("capture", interface="s1-eth2")
        page.do("run", flows=["bulk"])
        stopped = page.wait(
            lambda: [
                one
                for one in (page.last("captures") or {"captures": []})["captures"]
                if not one["going"]
            ]
        )
        assert stopped[0]["words"].startswith("it was stopped at 0 MB, half of what was left")
        assert 90_000 < workspace.disk.used_bytes() < 130_000
        found = page.live.capture(stopped[0]["number"])
        assert found is not None
        assert found[1].stat().st_size <= 100_001
        for _ in range(7):
            page.do("capture", interface="s1-eth2")
        page.wait(lambda: page.messages() or workspace.disk.used_bytes() > 190_000)
        assert workspace.disk.used_bytes() <= 201_000
    finally:
        sessions.close()
