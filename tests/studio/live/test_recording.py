"""What a recording keeps: true lines, levels to compare with, and marks of what happened."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tests.studio.live.conftest import STUDY, MakePage, Page

LOSSY = STUDY.replace("queue: 250KB", "queue: 60KB").replace("time: 2s", "time: 3s")
CHANGED = STUDY.replace("rate: 50mbit", "rate: 20mbit")
EVENTS = (
    STUDY.replace("time: 2s", "time: 3s")
    + """\
events:
  - {link: [s1, h2], at: 1s, for: 1s, rate: 10mbit}
"""
)


def finite(values: list[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def capacities(page: Page) -> list[tuple[float, float]]:
    """Return the capacities of the first run's path, and since when each held."""
    levels = (page.recording(1) or {})["levels"]
    return [(one["from_s"], one["value"]) for one in levels if one["quantity"] == "throughput_bps"]


def typed(page: Page, node: str, line: str) -> None:
    page.do("type", nodes=[node], text=line)
    page.wait(
        lambda: any(
            line in mark["text"]
            for one in page.events
            if one["event"] == "recording"
            for mark in one["recording"]["marks"]
        )
    )


def test_throughput_is_never_above_the_capacity_and_ends_with_its_flow(
    make_page: MakePage,
) -> None:
    page = make_page(LOSSY)
    page.do("run")
    done = page.wait(lambda: page.ended(1))
    times, values = page.series[1, "tcp:bulk:throughput_bps"]
    assert any(value > 0 for value in page.series[1, "tcp:bulk:retransmits"][1])
    assert max(finite(values)) < 50e6
    assert max(finite(page.series[1, "tcp:bulk:throughput_raw_bps"][1])) < 1.3 * 50e6
    # While it goes on it is never 0, though there is less than a sample in a round trip.
    assert min(value for time_s, value in zip(times, values, strict=True) if 1 < time_s < 2.9) > 5e6
    # A socket that waits for its end is no flow that has become slow.
    assert finite(values)[-1] > 5e6
    assert sum(map(math.isnan, values)) == 1
    for quantity in ("throughput_bps", "rtt_s", "cwnd_bytes"):
        assert math.isnan(page.series[1, f"tcp:bulk:{quantity}"][1][-1]), quantity
    levels = {one["quantity"]: (one["label"], one["value"]) for one in done["levels"]}
    assert levels["throughput_bps"] == ("capacity", 50e6)
    assert levels["cwnd_bytes"] == ("BDP", 50e6 * 0.02 / 8)
    assert levels["rtt_s"] == ("idle path", 0.02)


def test_a_flow_that_comes_again_has_a_gap_before(make_page: MakePage) -> None:
    page = make_page(STUDY)
    for name in ("one", "other"):
        typed(page, "root", f"sleep 0.7; iperf h1 h2 1  # the {name}".replace("  ", " "))
        page.wait(page.stands)
    typed(page, "h1", "sleep 0.3")  # what has ended is seen when time passes
    key = (0, "tcp:h1 → h2:throughput_bps")
    page.wait(lambda: sum(map(math.isnan, page.series.get(key, ([], []))[1])) == 2)
    times, values = page.series[key]
    gaps = [
        after - before
        for (before, one), (after, _) in pairwise(zip(times, values, strict=True))
        if after - before > 0.5
        if not math.isnan(one)
    ]
    assert gaps == []


def test_links_are_measured_by_what_is_installed(make_page: MakePage) -> None:
    page = make_page(STUDY)

    def limit(name: str) -> float | None:
        found = (page.last("recording") or {"recording": {"series": []}})["recording"]["series"]
        known = [one["limit"] for one in found if one["key"] == f"rate:{name}:tx_bps"]
        return known[0] if known else None

    typed(page, "h1", "ping -c 1 10.0.0.2")
    page.wait(lambda: limit("s1-eth2") == 50e6)
    assert limit("h1-eth0") is None
    typed(page, "h1", "tc qdisc replace dev h1-eth0 root tbf rate 8mbit burst 20k limit 100k")
    typed(page, "h1", "ping -c 2 10.0.0.2")
    page.wait(lambda: limit("h1-eth0") == 8e6)
    # A dump of qdiscs shows no classes: their rates are those of the lines that made them.
    typed(page, "h1", "tc qdisc replace dev h1-eth0 root handle 5: htb default 10")
    typed(page, "h1", "tc class add dev h1-eth0 parent 5: classid 5:1 htb rate 6mbit ceil 7mbit")
    typed(page, "h1", "tc class add dev h1-eth0 parent 5:1 classid 5:10 htb rate 3mbit")
    typed(page, "h1", "ping -c 2 10.0.0.2")
    page.wait(lambda: limit("h1-eth0") == 7e6)


def test_tcp_over_a_path_without_a_rate_is_warned_of(make_page: MakePage) -> None:
    unlimited = STUDY.replace("rate: 50mbit, ", "").replace("queue: 250KB", "loss: 1%")
    page = make_page(unlimited.replace("time: 2s", "bytes: 1MB"))
    page.do("run", flows=["bulk"])
    page.wait(lambda: any("nothing on the path limits" in one for one in page.messages()))
    limited = make_page(STUDY.replace("time: 2s", "bytes: 1MB"))
    limited.do("run", flows=["bulk"])
    limited.wait(lambda: limited.ended(1))
    assert limited.messages() == []


def test_changes_and_typed_lines_are_marks_at_their_times(make_page: MakePage) -> None:
    page = make_page(STUDY.replace("time: 2s", "time: 60s"))
    page.do("run", flows=["bulk"])
    page.wait(lambda: (1, "tcp:bulk:throughput_bps") in page.series)
    page.do("hold")
    page.wait(lambda: page.clock["state"] == "held")
    now_s = page.clock["now_s"]
    changed = CHANGED.replace("time: 2s", "time: 60s")
    page.do("update", text=changed, case=None)
    page.wait(lambda: (page.recording(1) or {})["marks"])
    recording = page.recording(1)
    assert recording is not None
    (mark,) = recording["marks"]
    assert mark["kind"] == "change"
    assert mark["text"].startswith("s1 - h2: 20 Mbit/s")
    assert recording["start_s"] + mark["at_s"] == pytest.approx(now_s, abs=1e-3)
    page.do("go")
    page.wait(lambda: len(capacities(page)) == 2)
    assert [value for _, value in capacities(page)] == [50e6, 20e6]
    assert capacities(page)[1][0] == pytest.approx(mark["at_s"], abs=0.03)
    typed(page, "h1", "echo two words")
    recording = page.recording(1)
    assert recording is not None
    assert [one["kind"] for one in recording["marks"]] == ["change", "command"]
    assert recording["marks"][1]["text"] == "h1: echo two words"


def test_run_plays_no_other_network_than_the_one_that_is_drawn(make_page: MakePage) -> None:
    page = make_page(STUDY)
    moved = STUDY.replace("10.0.0.2/8", "10.0.0.9/8")
    page.do("run", text=moved, case=None)
    needed = page.wait(lambda: page.last("restart-needed"))
    assert "h2" in " ".join(needed["reasons"])
    page.do("run", text="title: [", case=None)
    page.wait(page.messages)
    assert page.recording(1) is None
    page.do("run", text=CHANGED, case=None, flows=["bulk"])
    done = page.wait(lambda: page.ended(1))
    (flow,) = done["flows"]
    assert flow["metrics"]["receiver_bps"] == pytest.approx(20e6, rel=0.1)


def test_events_of_the_study_are_played_and_marked(make_page: MakePage) -> None:
    page = make_page(EVENTS)
    page.do("run")
    done = page.wait(lambda: page.ended(1))
    marks = [(one["kind"], round(one["at_s"], 3)) for one in done["marks"]]
    assert marks == [("event", 1.0), ("event", 2.0)]
    # The capacity is that of the qdisc, whoever has changed it.
    assert [value for _, value in capacities(page)] == [50e6, 10e6, 50e6]
    assert [at_s for at_s, _ in capacities(page)] == [
        0.0,
        pytest.approx(1.0, abs=0.03),
        pytest.approx(2.0, abs=0.03),
    ]
    times, values = page.series[1, "tcp:bulk:throughput_bps"]
    within = [v for t, v in zip(times, values, strict=True) if 1.6 < t < 1.95]
    assert max(within) < 12e6
    assert max(finite(values)) > 40e6
    # All was taken back, so the next run has the network that is drawn.
    page.do("run", flows=["rtt"])
    page.wait(lambda: page.recording(2))
    assert page.last("restart-needed") is None


def test_after_an_event_for_good_the_next_run_asks_for_a_new_network(make_page: MakePage) -> None:
    page = make_page(EVENTS.replace(", for: 1s", ""))
    page.do("run")
    page.wait(lambda: page.ended(1))
    page.do("run")
    assert "event" in page.wait(lambda: page.last("restart-needed"))["reasons"][0]


def test_a_fix_is_tried_before_the_flows_start_and_said_beside_the_numbers(
    make_page: MakePage,
) -> None:
    page = make_page(STUDY)
    page.do("run", flows=["bulk"])
    first = page.wait(lambda: page.ended(1))
    assert len(first["differences"]) == 1
    line = "sysctl -w net.ipv4.tcp_congestion_control=reno"
    page.do("run", flows=["bulk"], lines=[{"node": "h1", "line": line}])
    again = page.wait(lambda: page.ended(2))
    assert "1 run before it" in again["differences"][1]
    assert line in again["differences"][2]
    page.do("run", lines=[{"node": "h1", "line": "sysctl -w net.none=1"}])
    page.wait(lambda: any("net.none" in one for one in page.messages()))
    assert page.recording(3) is None


def test_a_typed_ping_is_a_curve_at_its_own_times(make_page: MakePage) -> None:
    page = make_page(STUDY)
    typed(page, "h1", "ping -c 3 -i 0.5 10.0.0.2")
    key = (1, "ping:ping h1 → h2:rtt_s")
    page.wait(lambda: len(page.series.get(key, ([], []))[0]) == 3)
    times, values = page.series[key]
    # The first waits for ARP, which takes a second round trip.
    assert values == [pytest.approx(0.04, rel=0.05), *[pytest.approx(0.02, rel=0.05)] * 2]
    assert times[1] - times[0] == pytest.approx(0.48, abs=0.01)
    assert times[2] - times[1] == pytest.approx(0.5, abs=0.01)
    typed(page, "h1", "ping -c 1 10.0.0.2")
    # It is a recording of its own, which starts when the line was typed.
    key = (2, "ping:ping h1 → h2:rtt_s")
    page.wait(lambda: len(page.series.get(key, ([], []))[0]) == 1)
    times, values = page.series[key]
    assert times == [pytest.approx(0.02, rel=0.1)]
    assert values == [pytest.approx(0.02, rel=0.05)]
