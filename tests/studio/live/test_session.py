"""A session on real machines: flows, the clock, terminals, and a drawing that changes."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Any

import pytest

from longfat.errors import InputError
from longfat.live.session import Session
from longfat.studio.broadcast import Listener
from longfat.studio.live import LiveSessions
from longfat.studio.live.messages import TerminalSize
from tests.studio.live.conftest import STUDY, MakePage, Page

QUEUE = "queue:s1-eth2:backlog_bytes"
RATE_BPS = 50e6
# The largest that TCP hands down as one (GSO), with its headers: it leaves as one, too.
MAX_LEAVING_BYTES = 64 * 1024


def flow(recording: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = [one for one in recording["flows"] if one["name"] == name]
    return found


def test_run_plays_the_flows_and_shows_what_continues(make_page: MakePage) -> None:
    page = make_page()
    assert [one["name"] for one in page.state()["session"]["nodes"]] == ["root", "s1", "h1", "h2"]
    page.do("run")
    done = page.wait(lambda: (one := page.ended(1)) and one["kept"] and one)
    bulk, rtt = flow(done, "bulk"), flow(done, "rtt")
    assert (bulk["state"], rtt["state"]) == ("done", "done")
    assert bulk["metrics"]["receiver_bps"] == pytest.approx(50e6, rel=0.1)
    assert {"name": "min_s", "label": "least RTT", "text": "20.0 ms"} in rtt["results"]
    assert rtt["started_s"] >= bulk["ended_s"] > done["start_s"]
    # In a second the queue fills for about half of the time, and either may be said.
    assert re.search("limited bulk|bulk filled the path", bulk["advice"]["verdict"])
    assert "rate of s1-eth2: 50.0 Mbit/s" in bulk["advice"]["notes"]
    times, values = page.series[1, "tcp:bulk:throughput_bps"]
    assert times == sorted(times)
    assert max(times) < 3
    assert sorted(values)[len(values) // 2] == pytest.approx(50e6, rel=0.1)
    assert max(page.series[1, "queue:s1-eth2:backlog_bytes"][1]) > 50_000
    assert max(page.series[1, "rate:s1-eth2:tx_bps"][1]) == pytest.approx(50e6, rel=0.2)
    assert page.series[1, "ping:rtt:rtt_s"][1] == pytest.approx([0.02] * 3, rel=0.02)
    (queue,) = [one for one in done["series"] if one["key"] == "queue:s1-eth2:backlog_bytes"]
    assert queue["limit"] == 250 * 1024
    page.wait(page.stands)
    assert page.clock["state"] == "idle"


def test_each_recording_counts_all_from_run_to_the_last_flows_end(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("queue: 250KB", "queue: 60KB").replace("time: 2s", "bytes: 2MB"))

    def dropped(number: int) -> int:
        page.do("ask", number=number, node="root", line="tc -s qdisc show dev s1-eth2")
        page.wait(lambda: (page.last("answer") or {}).get("number") == number)
        text = (page.last("answer") or {})["text"]
        return max(map(int, re.findall(r"dropped (\d+)", text)))

    before = dropped(1)
    for number in (1, 2):
        page.do("run", flows=["bulk"])
        done = page.wait(lambda number=number: page.ended(number))  # type: ignore[misc]
        page.wait(page.stands)
        after = dropped(10 + number)
        told = flow(done, "bulk")["metrics"]["retransmits"]
        assert page.series[number, "queue:s1-eth2:drops"][1][-1] == after - before > 0
        assert page.series[number, "tcp:bulk:retransmits"][1][-1] == pytest.approx(told, rel=0.1)
        before = after


def test_two_runs_are_two_recordings_and_who_comes_late_knows_all(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    for number in (1, 2):
        page.do("run", flows=["rtt"])
        page.wait(lambda number=number: page.ended(number))  # type: ignore[misc]
    late = Page(page.live, loop)
    late.wait(lambda: late.last("state") and (2, "ping:rtt:rtt_s") in late.series)
    assert [one["number"] for one in late.state()["recordings"]] == [0, 1, 2]
    assert late.series[1, "ping:rtt:rtt_s"] == page.series[1, "ping:rtt:rtt_s"]


def test_held_questions_take_next_to_no_time_and_steps_are_exact(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 60s"))
    page.do("run", flows=["bulk"])
    # Once the flow has filled the queue, that never runs empty: it holds two BDPs.
    page.wait(lambda: max(page.series.get((1, QUEUE), ([], [0]))[1], default=0) > 200_000)
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    before_s = page.clock["now_s"]
    sent = []
    for number in (1, 2):
        page.do("ask", number=number, node="root", line="tc -s -j qdisc show dev s1-eth2")
        page.wait(
            lambda number=number: (  # type: ignore[misc]
                (page.last("answer") or {}).get("number") == number
            )
        )
        qdisc, *_children = json.loads((page.last("answer") or {})["text"])
        assert qdisc["backlog"] > 0
        sent.append(qdisc["bytes"])
    page.wait(page.stands)
    # A command takes some microseconds itself, in which the link goes on at its rate.
    passed_s = page.clock["now_s"] - before_s
    assert passed_s < 1e-3
    assert 0 <= sent[1] - sent[0] <= RATE_BPS / 8 * passed_s + MAX_LEAVING_BYTES
    for by_s in (0.001, 0.01, 0.1):
        before_s = page.clock["now_s"]
        page.do("step", by_s=by_s)
        page.wait(lambda before_s=before_s: page.clock["now_s"] > before_s and page.stands())  # type: ignore[misc]
        assert page.clock["now_s"] - before_s == pytest.approx(by_s, abs=1e-6)
        assert page.clock["state"] == "held"
    page.do("go")
    done = page.wait(lambda: page.ended(1))
    assert flow(done, "bulk")["state"] == "done"


def test_a_link_changed_while_held_is_another_one_from_then_on(make_page: MakePage) -> None:
    study = STUDY.replace("time: 2s", "time: 60s")
    page = make_page(study)
    page.do("run", flows=["bulk"])
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    held_s = page.clock["now_s"]
    page.do("update", text=study.replace("50mbit", "10mbit"), case=None)
    page.do("go")
    done = page.wait(lambda: page.ended(1))
    assert page.messages() == []
    points = zip(*page.series[1, "rate:s1-eth2:tx_bps"], strict=True)
    since_s = held_s - done["start_s"]
    after = sorted(value for time_s, value in points if time_s > since_s)
    assert after[len(after) // 2] == pytest.approx(10e6, rel=0.1)
    assert since_s < 55  # on a busy host, the order to hold comes late


def test_what_is_added_to_the_drawing_comes_into_the_network(make_page: MakePage) -> None:
    page = make_page()
    text = STUDY.replace("h2: 10.0.0.2/8", "h2: 10.0.0.2/8, h3: 10.0.0.3/8")
    text = text.replace("links: [[h1, s1],", "links: [[h1, s1],").replace(
        "queue: 250KB}]]", "queue: 250KB}], [h3, s1]]"
    )
    text = text.replace("rtt: {ping: h1 -> h2", "rtt: {ping: h3 -> h1")
    page.do("update", text=text, case=None)
    page.wait(lambda: "h3" in [one["name"] for one in page.state()["session"]["nodes"]])
    page.do("run", flows=["rtt"])
    done = page.wait(lambda: page.ended(1))
    assert flow(done, "rtt")["metrics"]["received"] == 3
    assert page.messages() == []


def test_what_a_running_network_cannot_take_is_reported(make_page: MakePage) -> None:
    page = make_page()
    page.do("update", text=STUDY.replace("10.0.0.2/8", "10.0.0.9/8"), case=None)
    page.wait(lambda: page.last("stale"))
    stale = page.last("stale") or {}
    assert stale["reasons"] == ["the host h2 has different addresses, routes or timing"]
    page.do("update", text=STUDY, case=None)
    page.wait(lambda: (page.last("stale") or {})["reasons"] == [])


class Screen:
    """What a terminal shows."""

    def __init__(self, page: Page, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.shown = b""
        self.is_over = False
        asyncio.run_coroutine_threadsafe(self._look(page, number), loop)

    async def _look(self, page: Page, number: int) -> None:
        listener = Listener()
        page.live.watch(number, listener)
        while (said := await listener.next()) is not None:
            assert isinstance(said, bytes)
            self.shown += said
        self.is_over = True


def test_terminals(make_page: MakePage, loop: asyncio.AbstractEventLoop) -> None:
    page = make_page()
    page.do("open-terminal", node="h1", rows=24, columns=80)
    page.wait(lambda: page.last("terminal"))
    number = (page.last("terminal") or {})["terminal"]["id"]
    screen = Screen(page, number, loop)

    def shows(text: bytes) -> Any:
        # The screen is told by another way than the page.
        return page.wait_for(lambda: text in screen.shown)

    assert shows(b"h1")
    page.live.type_at(number, b"sysctl -w net.ipv4.tcp_rmem='10240 87380 12345678'\r")
    assert shows(b"tcp_rmem = 10240 87380 12345678")
    page.wait(page.stands)
    before_s = page.clock["now_s"]
    page.live.resize(number, TerminalSize(rows=30, columns=100))
    page.live.type_at(number, b"stty size; echo on $((6 * 7))\r")
    assert shows(b"30 100")
    assert shows(b"on 42")
    page.wait(page.stands)
    assert page.clock["now_s"] - before_s < 1
    # Ctrl-C ends what runs for ever; meanwhile real time passes.
    page.live.type_at(number, b"ping 10.0.0.2\r")
    assert shows(b"icmp_seq=2")
    page.live.type_at(number, b"\x03")
    assert shows(b"packet loss")
    later = Screen(page, number, loop)
    assert page.wait_for(lambda: b"packet loss" in later.shown)
    page.live.type_at(number, b"exit\r")
    assert page.wait_for(lambda: screen.is_over)
    page.wait(lambda: (page.last("terminal") or {})["terminal"]["status"] == 0)


def test_typed_commands_have_real_time_unless_a_pace_is_set(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    page.do("open-terminal", node="h1", rows=24, columns=80)
    number = page.wait(lambda: page.last("terminal"))["terminal"]["id"]
    screen = Screen(page, number, loop)
    assert page.wait_for(lambda: b" # " in screen.shown)

    def typed(line: str, shows: bytes, *, pace: float | str | None = None) -> float:
        """Type a line; return virtual seconds in one of wall time until it shows something."""
        page.do("pace", factor=pace)
        page.wait(page.stands)
        before_s, began_s, seen = page.clock["now_s"], time.monotonic(), len(screen.shown)
        page.live.type_at(number, line.encode() + b"\r")
        assert page.wait_for(lambda: shows in screen.shown[seen:])
        took_s = time.monotonic() - began_s
        page.live.type_at(number, b"\x03")
        assert page.wait_for(lambda: b" # " in screen.shown[seen:].partition(b"^C")[2])
        page.wait(page.stands)
        return float(page.clock["now_s"] - before_s) / took_s

    assert typed("ping -c 3 10.0.0.2", b"3 received") < 1.2
    # Above real time: with a load of 9 on two CPUs it was three times as fast.
    assert typed("ping -i 0.5 10.0.0.2", b"icmp_seq=50", pace="max") > 1.5
    assert typed("ping -c 2 10.0.0.2", b"2 received", pace=1) < 1.2
    assert typed("pace max; ping -c 40 10.0.0.2", b"40 received") > 1.5
    assert page.clock["pace"] == "max"


@pytest.mark.parametrize("way", ["key", "word", "button"])
def test_a_skip_goes_fast_until_a_command_ends(
    make_page: MakePage, loop: asyncio.AbstractEventLoop, way: str
) -> None:
    page = make_page()
    numbers = []
    for node in ("h1", "h2"):
        page.do("open-terminal", node=node, rows=24, columns=80)
        page.wait(
            lambda node=node: (
                ((page.last("terminal") or {}).get("terminal", {})).get("node")  # type: ignore[misc]
                == node
            )
        )
        numbers.append((page.last("terminal") or {})["terminal"]["id"])
    number, other = numbers
    screen = Screen(page, number, loop)
    assert page.wait_for(lambda: b" # " in screen.shown)
    page.live.type_at(number, b"ping -c 100 10.0.0.2\r")
    assert page.wait_for(lambda: b"icmp_seq=2" in screen.shown)
    assert page.clock["commands"] == 1
    assert b"icmp_seq=20 " not in screen.shown
    if way == "key":
        page.live.type_at(number, b"\x1d")
    elif way == "word":
        page.live.type_at(other, b"skip\r")
    else:
        page.do("skip")
    page.wait(lambda: page.clock["skipping"])
    assert page.wait_for(lambda: b"100 received" in screen.shown, seconds=60)
    page.wait(page.stands)
    assert not page.clock["skipping"]
    assert b"^]" not in screen.shown


def test_lines_are_typed_at_several_nodes(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    page.do("type", nodes=["h1", "root"], text="ip -br link\n")
    page.wait(lambda: sum(one["event"] == "terminal" for one in page.events) == 2)
    h1, root = (one["terminal"]["id"] for one in page.events if one["event"] == "terminal")
    one, other = Screen(page, h1, loop), Screen(page, root, loop)
    assert page.wait_for(lambda: b"h1-eth0" in one.shown and b"s1-eth2" in other.shown)


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"do": "jump"}, "there is no command 'jump'"),
        ({"do": "run", "flows": ["no"]}, "no flow to run"),
        ({"do": "run", "flows": 5}, "flows: found 5, expected a list"),
        ({"do": "step", "by_s": -1}, "by_s is 1e-06 to 3600, but got -1"),
        ({"do": "step"}, "the command 'step': by_s: is missing"),
        ({"do": "pace", "factor": 0}, "factor is "),
        ({"do": "open-terminal", "node": "h9", "rows": 1, "columns": 1}, "no node 'h9'"),
        (
            {"do": "open-terminal", "node": "h1", "rows": 0, "columns": 1},
            "rows is 1 to 1000, but got 0",
        ),
        ({"do": "update", "text": "title: [", "case": None}, "small:1"),
        ({"do": "update", "text": STUDY, "case": "no"}, "there is no case 'no'"),
        ({"do": "type", "nodes": ["h7"], "text": "ls"}, "no node 'h7'"),
    ],
)
def test_bad_orders_are_reported_and_the_session_lives(
    make_page: MakePage, order: dict[str, Any], words: str
) -> None:
    page = make_page()
    name = order.pop("do")
    page.do(name, **order)
    page.wait(page.messages)
    assert words in page.messages()[0]
    page.do("ask", number=1, node="h1", line="echo on")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "on\n")


def test_a_flow_that_fails_is_reported_with_the_tools_words(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 2s, args: [--nonsense]"))
    page.do("run", flows=["bulk"])
    done = page.wait(lambda: page.ended(1))
    assert flow(done, "bulk")["state"] == "failed"
    assert "nonsense" in flow(done, "bulk")["words"]
    (message,) = [text for text in page.messages() if text.startswith("bulk failed: ")]
    assert "nonsense" in message


def test_a_flow_that_fails_while_another_starts_is_reported_at_once(make_page: MakePage) -> None:
    wrong = "  wrong: {iperf3: h1 -> h2, args: [--nonsense]}\n"
    page = make_page(STUDY.replace("flows:\n", f"flows:\n{wrong}").replace("2s}", "600s}"))
    page.do("run")
    page.wait(lambda: any(text.startswith("wrong failed: ") for text in page.messages()))
    recording = page.wait(
        lambda: (
            (found := page.recording(1))
            and flow(found, "wrong")["state"] == "failed"
            and flow(found, "bulk")["state"] == "running"
            and found
        )
    )
    assert page.clock["now_s"] - recording["start_s"] < 60


def test_flows_can_be_stopped(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 1000s"))
    page.do("run")
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    page.do("stop")
    done = page.wait(lambda: page.ended(1))
    assert {one["words"] for one in done["flows"]} == {"stopped before its end"}
    assert {one["state"] for one in done["flows"]} == {"stopped"}
    assert not [text for text in page.messages() if "failed" in text]
    page.wait(page.stands)
    page.do("ask", number=1, node="h1", line="pgrep iperf3")
    page.wait(lambda: (page.last("answer") or {}).get("text") == "")


def test_a_command_that_spins_ends_the_session_with_its_name(
    make_page: MakePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = Session.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "stall_cpu_s", 1.0)
    page = make_page()
    page.do("type", nodes=["h1"], text="while :; do :; done")
    page.wait(lambda: page.last("ended"))
    assert "spins" in (page.last("ended") or {})["words"]
    page.wait(lambda: page.is_over)


def test_a_network_that_cannot_be_is_reported(sessions: LiveSessions) -> None:
    with pytest.raises(InputError, match=r"small:2:9: kernel: "):
        sessions.create(name="small", text=STUDY.replace("6.1", "six"), case=None)
    text = STUDY + "setup: [{root: tc qdisc add dev nowhere root netem}]\n"
    with pytest.raises(InputError, match=r"`tc qdisc add dev nowhere root netem` .*nowhere"):
        sessions.create(name="small", text=text, case=None)
    assert sessions.infos() == []


def test_another_case_with_another_set_up_is_another_network(make_page: MakePage) -> None:
    study = STUDY + "cases:\n  a:\n  b: {setup: [{h1: sysctl -w net.ipv4.tcp_sack=0}]}\n"
    page = make_page(study, case="a")
    page.do("update", text=study, case="b")
    page.wait(lambda: page.last("stale"))
    assert (page.last("stale") or {})["reasons"] == ["the case b has another set-up"]


def test_lines_are_not_typed_into_a_program_that_runs(
    make_page: MakePage, loop: asyncio.AbstractEventLoop
) -> None:
    page = make_page()
    page.do("type", nodes=["h1"], text="cat > /tmp/typed")
    page.wait(lambda: page.clock["state"] == "running")
    page.do("type", nodes=["h1"], text="echo one $((1 + 1))")
    page.wait(lambda: sum(one["event"] == "terminal" for one in page.events) == 2)
    number = (page.last("terminal") or {})["terminal"]["id"]
    screen = Screen(page, number, loop)
    assert page.wait_for(lambda: b"one 2" in screen.shown)


def test_losses_are_listed_on_request(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("queue: 250KB", "queue: 60KB"))
    page.do("losses")
    page.wait(lambda: page.last("losses"))
    assert (page.last("losses") or {})["losses"] == []
    page.do("run", flows=["bulk"])
    done = page.wait(lambda: page.ended(1))
    page.do("losses")
    page.wait(lambda: (page.last("losses") or {}).get("losses"))
    (loss,) = (page.last("losses") or {})["losses"]
    assert (loss["node"], loss["interface"], loss["flow"]) == ("root", "s1-eth2", "h1 -> h2")
    assert loss["cause"].startswith("queue full (")
    assert loss["packets"] == pytest.approx(flow(done, "bulk")["metrics"]["retransmits"], rel=0.1)
    assert 0 < loss["last_s"] <= page.clock["now_s"]
