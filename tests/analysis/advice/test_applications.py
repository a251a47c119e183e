"""What limited calls, requests and videos: each of the reasons, made in a machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.advice.diagnosis import Diagnosis, diagnose
from longfat.execution import run_case
from longfat.model.case import Case
from tests.study.messages import read

STUDY = """\
title: Applications
kernel: "6.1"
memory: 512MB
network:
  frames: yes
  hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {{{link}}}]]
flows:
{flows}
"""


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., dict[str, Diagnosis]]:
    def run(link: str, *flows: str, events: str = "") -> dict[str, Diagnosis]:
        text = STUDY.format(link=link, flows="\n".join(f"  {flow}" for flow in flows))
        case: Case = read(text + events, tmp_path).cases["default"].case
        return {one.flow: one for one in diagnose(run_case(case, name="x", out=tmp_path))}

    return run


CASES: dict[str, tuple[tuple[Any, ...], str]] = {
    "a good call": (
        ("rate: 10mbit, delay: 10ms", "call: {cbr: h1 -> h2, time: 4s}"),
        r"MOS of 4\.\d.*nothing that a listener would notice",
    ),
    "a long path": (
        ("rate: 10mbit, delay: 400ms", "call: {cbr: h1 -> h2, time: 4s}"),
        r"lost to the path's own delay, 400 ms one way",
    ),
    "losses": (
        ("rate: 10mbit, delay: 10ms, loss: 10%", "call: {cbr: h1 -> h2, time: 20s}"),
        r"losses: .* were lost on the way",
    ),
    "a full queue": (
        (
            "rate: 4mbit, delay: 10ms, queue: 250kB",
            "bulk: {transfer: h1 -> h2, time: 10s}",
            "call: {cbr: h1 -> h2, time: 10s}",
        ),
        r"delay varies: it waits .* for late datagrams",
    ),
    "too fast a call": (
        ("rate: 1mbit, delay: 10ms", "call: {cbr: h1 -> h2, time: 4s, rate: 2mbit, size: 1000}"),
        r"it sends 2\.08 Mbit/s with headers, and s1-eth2 carries 1\.00 Mbit/s",
    ),
    "short requests": (
        (
            "rate: 100mbit, delay: 20ms",
            "call: {requests: h1 -> h2, time: 5s, every: 200ms, size: 10kB}",
        ),
        r"The path itself: .* most of it for round trips",
    ),
    "too many requests": (
        (
            "rate: 2mbit, delay: 10ms",
            "call: {requests: h1 -> h2, time: 5s, every: 50ms, size: 30kB}",
        ),
        r"The load is too much: .* and h2-eth0 carries 2\.00 Mbit/s",
    ),
    "a video over a fast link": (
        ("rate: 100mbit, delay: 10ms", "call: {video: h1 -> h2, time: 10s, ladder: [1mbit]}"),
        r"limits call: its ladder: it played the highest bitrate",
    ),
    "a video over a slow link": (
        (
            "rate: 500kbit, delay: 10ms",
            "call: {video: h1 -> h2, time: 20s, ladder: [1mbit]}",
        ),
        r"limits call: the link: h2-eth0 carries 500 kbit/s, less than the lowest bitrate",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_limits(told: Callable[..., dict[str, Diagnosis]], name: str) -> None:
    given, words = CASES[name]
    found = told(*given)["call"]
    assert re.search(words, found.verdict), found.verdict
    assert found.recommendation.words
    assert all(fact.text for fact in found.facts)


def test_a_link_that_events_slow_down(told: Callable[..., dict[str, Diagnosis]]) -> None:
    found = told(
        "rate: 10mbit, delay: 10ms",
        "bulk: {transfer: h1 -> h2, time: 8s}",
        "call: {cbr: h1 -> h2, time: 8s, rate: 1mbit, size: 1000}",
        events="events: [{at: 4s, link: [s1, h2], rate: 500kbit}]\n",
    )
    assert "carries 500 kbit/s (events changed the rate of s1-eth2" in found["call"].verdict
    (rate,) = [fact for fact in found["bulk"].facts if fact.key == "rate_bps"]
    assert rate.text == "10.0 Mbit/s  (at first; 500 kbit/s from 4 s)"


def test_the_bdp_is_that_of_the_rate_while_data_flowed(
    told: Callable[..., dict[str, Diagnosis]],
) -> None:
    found = told(
        "rate: 10mbit, delay: 10ms",
        "before: {transfer: h1 -> h2, time: 3s}",
        "across: {transfer: h2 -> h1, time: 8s}",
        "after: {transfer: h1 -> h2, start: 5s, time: 3s}",
        "call: {iperf3: h1 -> h2, udp: yes, rate: 5mbit, start: 5s, time: 2s}",
        events="events: [{at: 4s, link: [s1, h2], rate: 2mbit}]\n",
    )
    bdp = {name: fact for name in found for fact in found[name].facts if fact.key == "bdp_bytes"}
    # 20 ms of RTT: 10 and 2 Mbit/s, and for `across` half of the time each.
    assert bdp["before"].value == pytest.approx(25_000)
    assert bdp["after"].value == pytest.approx(5_000)
    assert bdp["across"].value == pytest.approx(15_000, rel=0.05)
    assert re.search(r"rate: [56]\.\d+ Mbit/s on average", bdp["across"].text)
    assert "where the link carries 2.00 Mbit/s, and after had" in found["after"].verdict
    sentences = [finding.sentence for finding in found["across"].causes]
    full = r"with [56]\.\d+ Mbit/s on average, was full"
    assert any(re.search(full, sentence) for sentence in sentences)
    assert "more than s1-eth2 carries (2.00 Mbit/s with headers)" in found["call"].verdict
