"""The `events` field: what is read, what becomes of it, and what is refused where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from longfat.analysis.compare.changes import case_changes
from longfat.model.case import Case
from longfat.model.events import LinkChange, Partition, PropertyChange, TypedLine
from longfat.model.flow_path import setup_lines
from longfat.model.network import LinkImpairments
from longfat.model.network.tc import QdiscLine, parse_line
from longfat.model.timeline import Step, timeline
from longfat.study.formats.write import study_text
from tests.study.messages import error, read

BASE = """\
title: A study
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2, {rate: 20mbit, delay: 10ms}], [s2, h2], [h3, s2]]
flows:
  bulk: {iperf3: h1 -> h2, time: 30s}
  rtt: {ping: h1 -> h2, count: 61}
"""
"""Eight lines: what a test adds starts in line 9."""


def case_of(events: str, folder: Path, *, base: str = BASE, name: str = "default") -> Case:
    return read(f"{base}events:\n{events}", folder).cases[name].case


def steps(events: str, folder: Path) -> tuple[Step, ...]:
    case = case_of(events, folder)
    return timeline(case.network, setup=case.setup, events=case.events)


def typed(found: tuple[Step, ...]) -> list[tuple[float, str]]:
    return [(step.at_s, f"{one.node}: {one.line}") for step in found for one in step.commands]


EVERY_KIND = """\
  - at: 10s
    link: [s2, s1]
    rate: 5mbit
    to: {s2: {loss: 1%}, s1: {delay: }}
  - {at: 20s, link: [s1, s2], down: yes, for: 2s}
  - {at: 25s, link: [s2, h3], down: yes}
  - {at: 26s, link: [s2, h3], up: yes}
  - {at: 30s, every: 5s, times: 3, [h1, h2]: ip route show}
  - {after: bulk, at: 1s, root: "echo a: b"}
  - {at: 40s, partition: [[h1, s1], [s2, h3]], for: 5s}
"""


def test_every_kind_is_read(tmp_path: Path) -> None:
    case = case_of(EVERY_KIND, tmp_path)
    assert case.events == (
        LinkChange(
            at_s=10.0,
            a="s2",
            b="s1",
            a_to_b=PropertyChange(
                given=LinkImpairments(rate_bps=5_000_000), taken_back=("delay_s",)
            ),
            b_to_a=PropertyChange(given=LinkImpairments(rate_bps=5_000_000, loss=0.01)),
        ),
        LinkChange(at_s=20.0, a="s1", b="s2", down=True, for_s=2.0),
        LinkChange(at_s=25.0, a="s2", b="h3", down=True),
        LinkChange(at_s=26.0, a="s2", b="h3", up=True),
        TypedLine(at_s=30.0, every_s=5.0, times=3, node="h1", line="ip route show"),
        TypedLine(at_s=30.0, every_s=5.0, times=3, node="h2", line="ip route show"),
        TypedLine(at_s=1.0, after="bulk", node="root", line="echo a: b"),
        Partition(at_s=40.0, groups=(("h1", "s1"), ("s2", "h3")), for_s=5.0),
    )
    # What is written into a manifest, or into a study, comes back as the same value.
    assert Case.from_json(json.loads(json.dumps(case.to_json()))) == case
    assert read(study_text(title="x", case=case), tmp_path).cases["default"].case == case


def test_a_case_without_events_has_none_in_its_digest(tmp_path: Path) -> None:
    plain = read(BASE, tmp_path).cases["default"].case
    assert "events" not in plain.to_json()
    assert case_of(EVERY_KIND, tmp_path).digest != plain.digest


def test_a_case_adds_to_the_common_events(tmp_path: Path) -> None:
    text = f"{BASE}events:\n  - {{at: 1s, h1: 'true'}}\ncases:\n  a:\n  b:\n    events:\n"
    text += "      - at: 2s\n        h2: |\n          # a comment\n          one\n          two\n"
    cases = read(text, tmp_path).cases
    assert [event.summary() for event in cases["a"].case.events] == ["h1: true"]
    lines = [event.summary() for event in cases["b"].case.events]
    assert lines == ["h1: true", "h2: one", "h2: two"]
    assert [place.line for place in cases["b"].places.events] == [10, 18, 19]


def test_a_grid_fills_events(tmp_path: Path) -> None:
    text = f"{BASE}events: [{{at: $<when>, h1: 'true'}}]\ngrid: {{when: [1s, 2s]}}\n"
    found = read(text, tmp_path).cases.values()
    assert [planned.case.events[0].at_s for planned in found] == [1.0, 2.0]


def test_lines_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    events = """\
  - {at: 5s, h1: last}
  - {at: 1s, every: 2s, times: 3, h1: again}
  - {at: 3s, h2: beside}
  - {after: bulk, at: 1s, h1: later}
"""
    found = steps(events, tmp_path)
    assert typed(found) == [
        (1.0, "h1: again"),
        (3.0, "h1: again"),
        (3.0, "h2: beside"),
        (5.0, "h1: last"),
        (5.0, "h1: again"),
        (1.0, "h1: later"),
    ]
    assert [step.after for step in found][-2:] == [None, "bulk"]


def test_a_change_comes_from_what_the_link_does_then(tmp_path: Path) -> None:
    events = """\
  - {at: 10s, for: 5s, link: [s1, s2], to: {s2: {rate: 5mbit, queue: 30000}}}
  - {at: 12s, link: [s1, s2], to: {s2: {loss: 1%}}}
  - {at: 15s, link: [s1, s2], to: {s2: {rate: , delay: 20ms}}}
"""
    tc = "root: tc qdisc"
    assert typed(steps(events, tmp_path)) == [
        (
            10.0,
            f"{tc} change dev s1-eth2 parent 1: handle 2: wire rate 5mbit limit 30000 cut 2500",
        ),
        (12.0, f"{tc} change dev s1-eth2 root handle 1: netem limit 1000000000 delay 10ms loss 1%"),
        # The rate comes back first, and with it the queue.
        (
            15.0,
            f"{tc} change dev s1-eth2 parent 1: handle 2: wire rate 20mbit limit 151400 cut 10000",
        ),
        (15.0, f"{tc} del dev s1-eth2 parent 1:"),
        (15.0, f"{tc} change dev s1-eth2 root handle 1: netem limit 1000000000 delay 20ms loss 1%"),
    ]


def test_each_of_ten_thousand_lines_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_lines = 0

    def counted(line: str) -> QdiscLine | None:
        nonlocal read_lines
        read_lines += 1
        return parse_line(line)

    monkeypatch.setattr(setup_lines, "parse_line", counted)
    line = "tc qdisc change dev s1-eth2 root handle 1: netem delay 10ms"
    found = steps(f"  - {{every: 1ms, at: 1s, times: 10000, root: '{line}'}}\n", tmp_path)
    assert len(found) == 10_000
    assert 10_000 <= read_lines <= 40_000  # once in each place that plays the events through


def test_down_and_up_are_of_both_ends(tmp_path: Path) -> None:
    found = steps("  - {at: 3s, link: [h1, s1], down: yes, for: 2s}\n", tmp_path)
    assert typed(found) == [
        (3.0, "h1: ip link set h1-eth0 down"),
        (3.0, "root: ip link set s1-eth1 down"),
        (5.0, "h1: ip link set h1-eth0 up"),
        (5.0, "root: ip link set s1-eth1 up"),
    ]
    assert [step.words for step in found] == ["h1 - s1 down", "h1 - s1 up"]


def test_a_partition_cuts_the_links_between_groups(tmp_path: Path) -> None:
    found = steps("  - {at: 3s, partition: [[h1, s1], [h2, s2], [h3]]}\n", tmp_path)
    assert typed(found) == [
        (3.0, "root: ip link set s1-eth2 down"),
        (3.0, "root: ip link set s2-eth1 down"),
        (3.0, "h3: ip link set h3-eth0 down"),
        (3.0, "root: ip link set s2-eth3 down"),
    ]
    # What is in no group goes with its neighbour.
    found = steps("  - {at: 3s, partition: [[h1], [s1, h2]]}\n", tmp_path)
    assert {line for _, line in typed(found)} == {
        "h1: ip link set h1-eth0 down",
        "root: ip link set s1-eth1 down",
    }


MISTAKES = {
    "{link: [s1, s2], down: yes}": "10:5: events[0]: here is no time: write at",
    "{at: 1s, link: [s1, h2], down: yes}": "10:20: events[0].link: no link leads from s1 to h2",
    "{at: 1s, link: [s1, s9], down: yes}": "10:20: events[0].link: there is no node 's9'",
    "{at: 1s, link: [s1], down: yes}": "10:20: events[0].link: a link has two ends, and here are 1",
    "{at: 1s, link: [s1, s2]}": "10:5: events[0]: nothing changes of the link",
    "{at: 1s, link: [s1, s2], ratte: 5mbit}": "10:30: events[0].ratte: unknown field 'ratte'; did",
    "{at: 1s, link: [s1, s2], queue: 10}": "events[0].queue: 10 bytes hold no full packet",
    "{at: 1s, link: [h1, s1], jitter: 1ms}": "events[0].jitter: there is a jitter and no delay",
    "{at: 1s, link: [h1, s1], to: {h1: {jitter: 1ms}}}": "jitter: there is a jitter and no delay",
    "{at: 1s, link: [s1, s2], to: {h1: {rate: 1mbit}}}": "'h1' is no end of this link",
    "{at: 1s, link: [s1, s2], down: yes, up: yes}": "events[0].up: it cannot go down and come up",
    "{at: 1s, link: [s1, s2], down: yes, loss: 1%}": "events[0].loss: a link that goes down keeps",
    "{at: 1s, link: [s1, s2], up: yes}": "events[0].up: s1 - s2 is up at 1s",
    "{at: 1s, link: [s1, s2], up: yes, for: 1s}": "events[0].for: up is for good",
    "{at: 1s, link: [s1, s2], down: 2s}": "events[0].down: found '2s', expected true or false",
    "{at: -1s, h1: 'true'}": "10:10: events[0].at: '-1s' is negative",
    "{at: 1s, h9: 'true'}": "10:14: events[0].h9: there is no host 'h9' (there are: root, h1",
    "{at: 1s, s1: 'true'}": "events[0].s1: 's1' is a switch",
    "{at: 1s}": "10:5: events[0]: nothing happens: beside its time an event has link, partition",
    "{at: 1s, lnik: [s1, s2], rate: 5mbit}": "and here are lnik, rate",
    "{at: 1s, every: 5s, h1: 'true'}": "events[0].every: this would never end: write times",
    "{at: 1s, times: 5, h1: 'true'}": "events[0].times: it happens several times, but has",
    "{at: 70s, h1: 'true'}": "10:10: events[0].at: the traffic ends 60s after its start",
    "{at: 50s, every: 5s, times: 3, h1: 'true'}": "events[0].times: the traffic ends 60s after its",
    "{after: rtt, at: 1s, h1: 'true'}": "events[0].at: this would happen 61s after its start",
    "{after: bluk, at: 1s, h1: 'true'}": "10:13: events[0].after: there is no flow 'bluk'; did you",
    "{at: 1s, every: 1s, times: 3, for: 2s, link: [s1, s2], rate: 5mbit}": (
        "events[0].for: this event itself holds the rate of s1 - s2 until 3s, and at 2s it would"
    ),
    "{at: 1s, root: tc qdisc change dev s2-eth2 root netem delay 30ms}": (
        "events[0].root: s2-eth2 has no netem at root by then (there is: nothing)"
    ),
    "{at: 1s, root: tc qdisc change dev s1-eth2 root tbf rate 1mbit}": (
        "s1-eth2 has no tbf at root by then (there is: netem at root, wire at parent 1:)"
    ),
    "{at: 1s, partition: [[h1], [h1, s2]]}": "events[0].partition: h1 is written twice",
    "{at: 1s, partition: [[h1], [s2]]}": "events[0].partition: s1 is linked with nodes of several",
    "{at: 1s, partition: [[h1, s1, s2]]}": "expected a list of groups of nodes",
}


@pytest.mark.parametrize("event", MISTAKES)
def test_what_is_wrong_is_reported(event: str, tmp_path: Path) -> None:
    assert MISTAKES[event] in ": ".join(error(f"{BASE}events:\n  - {event}\n", tmp_path))


CONTRADICTIONS = {
    ("{at: 1s, link: [s1, s2], rate: 5mbit, for: 5s}", "{at: 3s, link: [s2, s1], rate: 1mbit}"): (
        "events[1].rate: another event holds the rate of s1 - s2 until 6s, and at 3s it would "
        "change: let the one end before the other begins (the other event: line 10)"
    ),
    ("{at: 1s, link: [s1, s2], down: yes}", "{at: 3s, link: [s1, s2], down: yes}"): (
        "events[1].down: s1 - s2 is down at 3s already (the other event: line 10)"
    ),
    ("{at: 1s, link: [s1, s2], loss: 1%}", "{after: bulk, link: [s1, s2], loss: 2%}"): (
        "events[1].after: the order of this link's changes is not known: another event counts "
        "from the traffic's start, and this one from the end of 'bulk'"
    ),
    (
        "{at: 1s, link: [s1, s2], loss: 1%}",
        "{at: 2s, root: tc qdisc replace dev s1-eth2 root netem delay 1ms}",
    ): "10:36: events[0].loss: the qdiscs of s1-eth2 are typed, by `tc qdisc replace",
}


@pytest.mark.parametrize("both", CONTRADICTIONS, ids=lambda both: both[1])
def test_contradictions_are_reported(both: tuple[str, str], tmp_path: Path) -> None:
    text = f"{BASE}events:\n  - {both[0]}\n  - {both[1]}\n"
    assert CONTRADICTIONS[both] in ": ".join(error(text, tmp_path))


def test_what_a_size_takes_is_not_guessed_at(tmp_path: Path) -> None:
    """When a transfer by bytes ends is known only when it has run."""
    base = re.sub("time: 30s", "bytes: 1MB", BASE)
    assert case_of("  - {at: 3600s, h1: 'true'}\n", tmp_path, base=base).events


def test_events_need_traffic(tmp_path: Path) -> None:
    base = BASE[: BASE.index("flows:")]
    place, message = error(f"{base}events: [{{at: 1s, h1: 'true'}}]\n", tmp_path)
    assert place.startswith("6:")
    assert "there is no traffic" in message


def test_two_links_between_two_nodes_are_not_told_apart(tmp_path: Path) -> None:
    base = BASE.replace("[h1, s1],", "[h1, h2], [h1, h2],")
    text = f"{base}events: [{{at: 1s, link: [h1, h2], down: yes}}]\n"
    assert "2 links lead from h1 to h2" in error(text, tmp_path)[1]


def test_changes_of_events_are_compared(tmp_path: Path) -> None:
    one = case_of("  - {at: 1s, link: [s1, s2], rate: 5mbit}\n", tmp_path)
    other = case_of("  - {at: 2s, link: [s1, s2], down: yes, for: 2s}\n", tmp_path)
    (change,) = case_changes(one, other)
    assert (change.path, change.before, change.after) == (
        "events[0]",
        "at 1s: s1 - s2: 5 Mbit/s",
        "at 2s, for 2s: s1 - s2 down",
    )
