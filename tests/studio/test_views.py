"""What the page is told of a diagnosis: an answer in a line, lines to type, fields of the study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from longfat.analysis.advice.diagnosis import Diagnosis, diagnose
from longfat.analysis.advice.facts import Fact
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import STUDY, Line, Recommendation
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.execution import run_cases
from longfat.studio.views import advice_of
from longfat.study.read import parse_study


def cause(cause: RootCause) -> Finding:
    return Finding(cause=cause, sentence="", remedy=Recommendation(words=""), share=1.0)


FOUND = Diagnosis(
    flow="bulk",
    title="h1 -> h2, 1 stream, cubic",
    certain=True,
    limit=Limit.LOSS,
    duration_s=10.0,
    seconds={Limit.LOSS: 10.0},
    spans=(),
    causes=(cause(RootCause.SHORT_QUEUE),),
    verdict="The congestion window after losses limited bulk all the time.",
    facts=(
        Fact(key="receiver_bps", label="throughput", value=59e7, text="590 Mbit/s"),
        Fact(key="rate_bps", label="rate of s1-eth2", value=1e10, text="10.0 Gbit/s"),
    ),
    recommendation=Recommendation(
        words="Take more streams.",
        lines=(
            Line(node=STUDY, text="parallel: 9", why=""),
            Line(node="h1", text="sysctl -w net.ipv4.tcp_congestion_control=bbr", why=""),
        ),
    ),
)


def test_the_answer_says_how_much_of_what_and_why() -> None:
    assert advice_of(FOUND)["answer"] == "bulk got 590 Mbit/s of 10.0 Gbit/s. Cause: short queue."
    window = replace(FOUND, causes=(cause(RootCause.RECEIVE_WINDOW),), facts=FOUND.facts[:1])
    assert advice_of(window)["answer"] == "bulk got 590 Mbit/s. Cause: receive window."
    assert advice_of(replace(FOUND, causes=()))["answer"] == FOUND.verdict


def test_the_answer_says_what_became_of_the_rtt() -> None:
    rtts = (
        Fact(key="idle_rtt_s", label="RTT, idle path", value=0.04, text="40.0 ms"),
        Fact(key="mean_rtt_s", label="RTT of the flow, mean", value=0.139, text="139 ms"),
    )
    answer = advice_of(replace(FOUND, facts=(*FOUND.facts, *rtts)))["answer"]
    assert answer.endswith("Cause: short queue. RTT 139 ms (idle path 40.0 ms).")


def test_fields_of_the_study_are_no_lines_for_a_node() -> None:
    (fix,) = advice_of(FOUND)["fixes"]
    line = "sysctl -w net.ipv4.tcp_congestion_control=bbr"
    assert fix["lines"] == [{"node": "h1", "line": line}]
    assert fix["study"] == [{"field": "parallel", "value": "9"}]
    assert fix["takes_from"] == []


def test_alternatives_are_fixes_of_their_own() -> None:
    fair = Line(node="root", text="tc qdisc replace dev s1-eth2 root fq_codel", why="")
    bbr = Line(node="h1", text="sysctl -w a=1", why="", takes_from=("other",))
    recommendation = Recommendation(words="", lines=(fair,), alternatives=(bbr,))
    first, second = advice_of(replace(FOUND, recommendation=recommendation))["fixes"]
    assert [line["line"] for line in first["lines"]] == [fair.text]
    assert first["takes_from"] == []
    assert [line["line"] for line in second["lines"]] == [bbr.text]
    assert second["takes_from"] == ["other"]


EVENTFUL = """\
title: Narrower
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 20mbit, delay: 5ms, queue: 50KB}]]
flows:
  bulk: {transfer: h1 -> h2, time: 4s}
probes:
  tcp: {of: bulk, every: 50ms}
events:
  - {at: 2s, link: [h1, h2], rate: 5mbit}
"""


def test_a_rate_that_events_change_is_that_of_the_start(tmp_path: Path) -> None:
    (run,) = run_cases(parse_study(EVENTFUL, name="narrower").cases, out=tmp_path)["default"]
    (found,) = diagnose(run)
    rates = "20.0 Mbit/s (at first; 5.00 Mbit/s from 2 s)"
    assert f" Mbit/s of {rates}. Cause: standing queue." in advice_of(found)["answer"]
    assert any("of the start" in note for note in found.notes)
