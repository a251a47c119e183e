"""What is said of a grid that is wrong, and where."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import open_network
from longfat.study.read import parse_study
from tests.study.messages import error, read

STUDY = """\
title: A study
grid:
  cc: [cubic, bbr]
  rtt: [10ms, 50ms, 100ms]
  flows: [1, 8, 64]
let: {rate: 100mbit, bdp: rate * rtt}
where: [cc == cubic or rtt < 1s]
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: $<rate>, delay: $<rtt / 2>, queue: $<bdp>}]]
setup:
  - h1: sysctl -w net.ipv4.tcp_congestion_control=$<cc>
flows:
  bulk: {iperf3: h1 -> h2, parallel: $<flows>}
"""

CC = "cc: [cubic, bbr]"
DELAY = "$<rtt / 2>"
FLOWS = "flows: [1, 8, 64]"
LET = "let: {rate: 100mbit, bdp: rate * rtt}"
WHERE = "where: [cc == cubic or rtt < 1s]"


def test_the_study_is_right(tmp_path: Path) -> None:
    assert len(read(STUDY, tmp_path).cases) == 18


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (CC, "cc: []", "3:7: grid.cc", "the list is empty"),
        (CC, "cc: cubik", "3:7: grid.cc", "there is no list 'cubik'"),
        (CC, "cc: {from: 1}", "3:7: grid.cc", "the range has no 'to'"),
        (CC, "cc: [cubic, bbr, cubic]", "3:20: grid.cc[2]", "is here twice"),
        (CC, "cc: [1ms, 0.001s]", "3:13: grid.cc[1]", "twice, first as '1ms'"),
        (CC, "cc: [1ms, 1mbit]", "3:13: grid.cc[1]", "'1ms' is a time and '1mbit' is a rate"),
        (CC, "cc: [1ms, 1mss]", "3:13: grid.cc[1]", "unknown unit 'mss'"),
        (CC, "cc: [1 bbp]", "3:8: grid.cc[0]", "did you mean 'bdp'?"),
        (CC, "cc: [10G]", "3:8: grid.cc[0]", "could be a rate or a size"),
        (CC, "cc: [2 cc]", "3:7: grid.cc", "'cc' is derived from itself: cc -> cc"),
        (CC, "c-c: [a]", "3:3: grid.c-c", "no hyphen"),
        (CC, "min: [a]", "3:3: grid.min", "a word of the expressions"),
        (CC, "ms: [a]", "3:3: grid.ms", "it is a unit"),
        (CC, "rate: [a]", "6:7: let.rate", "the name 'rate' is taken already, in line 3"),
        (FLOWS, "flows: {from: 0, to: 9, steps: 3, scale: log}", "5:17: grid.flows.from", "no 0"),
        (FLOWS, "flows: {from: 1, to: 9, steps: 1}", "5:34: grid.flows.steps", "2 to 10000"),
        (FLOWS, "flows: {from: 1, to: 1, steps: 2}", "5:24: grid.flows.to", "where it begins"),
        (FLOWS, "flows: {from: 1, to: 1s, steps: 2}", "5:24: grid.flows.to", "of two kinds"),
        (
            FLOWS,
            "flows: {from: 1, to: 2e6, steps: 9999}\n  more: [1, 2]",
            "3:3: grid",
            "the grid has 119,988 combinations (cc has 2, rtt has 3, flows has 9,999, more has 2 "
            "values), and at most 100,000 are possible",
        ),
        (DELAY, "$<rrt / 2>", "10:45: network.links[0][2].delay", "did you mean 'rtt'?"),
        (DELAY, "$<rtt + rate>", "10:49: network.links[0][2].delay", "a time and a rate"),
        (DELAY, "$<rtt * rtt>", "10:45: network.links[0][2].delay", "which no tool reads"),
        (DELAY, "$<cc / 2>", "10:45: network.links[0][2].delay", "'cc' is a text"),
        (DELAY, "$<rtt == 2s>", "10:45: network.links[0][2].delay", "true or false"),
        (DELAY, "$<>", "10:45: network.links[0][2].delay", "no expression"),
        (DELAY, "$<rtt", "10:43: network.links[0][2].delay", "no > ends it"),
        (DELAY, "$<rtt ** 2>", "10:50: network.links[0][2].delay", "cannot be read from '*"),
        (DELAY, "$<max(rtt, 1ms)>", "10:43: network.links[0][2].delay", "must be quoted"),
        (DELAY, "$<a.b.c>", "10:45: network.links[0][2].delay", "nothing has been measured yet"),
        (DELAY, "'${rtt}'", "10:44: network.links[0][2].delay", "is written $<rtt>"),
        (DELAY, "${rtt}", "10:44: network.links[0][2].delay", "is written $<"),
        (LET, "let: {rate: bdp / 1s, bdp: rate * rtt}", "6:13: let.rate", "derived from itself"),
        (LET, "let: {rate: max(1bit, 2bit), bdp: rate * rtt}", "6:23: let.2bit)", "must be quoted"),
        (LET, "let: {rate: 100mbit, bdp: rate * rtt, x: 3}", "6:42: let.x", "used nowhere"),
        (WHERE, "where: [cc == cubik]", "7:15: where[0]", "did you mean 'cubic'?"),
        (WHERE, "where: [cc < cubic]", "7:12: where[0]", "only == and !="),
        (WHERE, "where: [cc]", "7:9: where[0]", "'cc' is a text"),
        (WHERE, "where: [rtt]", "7:9: where[0]", "compare it"),
        (WHERE, "where: [cc == 1]", "7:15: where[0]", "this is a number"),
        (WHERE, "where: [1 > 2]", "7:9: where[0]", "names no parameter"),
        (
            WHERE,
            "where: [rtt > 1s]",
            "7:8: where",
            "the conditions leave nothing of the grid's 18 combinations",
        ),
        ("title: A study", "title: A $<cc>", "1:8: title", "belongs into case_title"),
        ("title: A study", "title: A study\ncases: {a: }", "2:8: cases", "leave out one"),
        ("h1: 10.0.0.1/8", "h$<flows>: 10.0.0.1/8", "9:11: network.hosts.h$<flows>", "is a name"),
    ],
)
def test_it_is_reported_where(tmp_path: Path, old: str, new: str, place: str, message: str) -> None:
    assert STUDY.count(old) == 1
    where, said = error(STUDY.replace(old, new), tmp_path)
    assert message in said
    if "YAML" not in said:
        assert where == place


def test_a_parameter_that_makes_no_difference(tmp_path: Path) -> None:
    where, said = error(STUDY.replace("$<flows>", "2"), tmp_path)
    assert where == "5:10: grid.flows"
    assert "the parameter 'flows' is used nowhere" in said


def test_a_value_that_is_wrong_in_one_case_only(tmp_path: Path) -> None:
    where, said = error(STUDY.replace("$<flows>", "$<flows * 3>"), tmp_path)
    assert where == "14:38: flows.bulk.parallel"
    assert said == (
        "in the case 'cubic-10ms-flows64', with flows: 64: 192 is outside of what is allowed: "
        "1 to 128"
    )
    where, said = error(STUDY.replace(DELAY, "$<40ms - rtt>"), tmp_path)
    assert where == "10:43: network.links[0][2].delay"
    assert "in the case 'cubic-50ms-flows1', with rtt: 50ms: -10.0 ms is negative" in said
    where, said = error(STUDY.replace(DELAY, "$<1s / (flows - 8)>"), tmp_path)
    assert "-143 ms is negative" in said
    where, said = error(STUDY.replace(DELAY, "$<1s / (9 - flows - 1)>"), tmp_path)
    assert "in the case 'cubic-10ms-flows8', with flows: 8: '1s / (9 - flows - 1)' has no" in said


def test_ten_million_cases_are_reported_at_once(tmp_path: Path) -> None:
    many = ", ".join(str(i) for i in range(50))
    text = STUDY.replace("rtt: [10ms", f"n: [{many}]\n  m2: [{many}]\n  k2: [{many}]\n  rtt: [10ms")
    _, said = error(text, tmp_path)
    assert "the grid has 2,250,000 combinations" in said


def test_fields_of_a_grid_without_one(tmp_path: Path) -> None:
    text = "title: x\nnetwork: {hosts: {h1: 10.0.0.1/8}}\n"
    for field in ("lists", "let", "where", "case_title"):
        where, said = error(f"{text}{field}: {{}}\n", tmp_path)
        assert where == f"3:{len(field) + 3}: {field}"
        assert "the study has no field grid" in said


def test_a_list_that_nobody_names(tmp_path: Path) -> None:
    where, said = error(f"{STUDY}lists: {{x: [1]}}\n", tmp_path)
    assert where == "15:12: lists.x"
    assert "is no parameter's" in said


def test_a_network_is_that_of_a_case(tmp_path: Path) -> None:
    read(STUDY, tmp_path)
    with pytest.raises(InputError, match="name a case"):
        open_network(tmp_path)
    opened = open_network(tmp_path, case="bbr-50ms-flows8")
    assert opened.network.links[0].a_to_b.delay_s == 0.025


PIECES = (
    *("$<", ">", "$$<", "cc", "rtt", "bdp", "0", "9e99", "10ms", "*", "/", "(", ")", "sqrt("),
    *("[", "]", "{", "}", ": ", ", ", "null", "'", '"', "%", "let", "from", "values", "\n", "=="),
)


def test_a_broken_grid_is_reported_without_a_traceback() -> None:
    draw = random.Random(6)
    told = 0
    for _ in range(400):
        text = STUDY
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(text))
            cut = at + draw.randint(0, 5) * draw.randint(0, 1)
            text = text[:at] + draw.choice(PIECES) + text[cut:]
        try:
            parse_study(text, name="study.yaml")
        except InputError as problem:
            told += 1
            assert problem.place is not None
    assert told > 200
