"""Policers: their values, mistakes in them, and what they let pass in a machine."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.case import Case
from longfat.model.flow_path import bottleneck
from longfat.model.network import LinkImpairments, Network, Policer, build_batches
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import error

STUDY = """\
title: A policer
kernel: "6.1"
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links:
    - [h1, s1, {rate: 1gbit}]
    - [s1, h2, {delay: 5ms, to: {h2: {police: {rate: 100mbit, burst: 50KB}}}}]
flows:
  udp: {iperf3: h1 -> h2, udp: yes, rate: 200mbit, time: 3s}
  reno: {iperf3: h1 -> h2, time: 5s, congestion: reno, after: udp}
  back: {iperf3: h1 -> h2, time: 2s, reverse: yes, after: reno}
  filter: {program: h2 -> h1, run: tc -s filter show dev h2-eth0 ingress, after: back}
probes:
  queue: {of: h2-eth0, every: 100ms}
"""
POLICER = Policer(rate_bps=10**8, burst_bytes=51200)


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_a_policer_is_read_and_written(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    assert case.network.links[1].a_to_b.policer == POLICER
    assert case.network.links[1].b_to_a.policer is None
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert Case.from_json(case.to_json()) == case
    assert "policed to 100 Mbit/s" in case.network.links[1].a_to_b.summary()
    found = bottleneck(case, case.flows[1])
    assert found is not None
    assert (found.interface, found.rate_bps, found.queue) == ("s1-eth2", 1e8, None)


def test_a_network_without_policers_has_no_lines_for_them(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    plain = dataclasses.replace(
        case.network.links[1], a_to_b=LinkImpairments(delay_s=0.005), b_address=None
    )
    network = dataclasses.replace(case.network, links=(case.network.links[0], plain))
    lines = [line for batch in build_batches(network) for line in batch.lines]
    assert not any("police" in line or "tso" in line for line in lines)
    assert "policer" not in str(dataclasses.replace(case, network=network).to_json())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{rate: 100mbit}", "the policer has no burst: write burst: a size"),
        ("{burst: 50KB}", "the policer has no rate: write rate: a rate"),
        (
            "100mbit",
            "found '100mbit', expected a policer (such as {rate: 100mbit, burst: 500KB})",
        ),
        (
            "{rate: 100mbit, burst: 1KB}",
            "the policer's burst of 1024 bytes lets no full packet pass: at least 1500",
        ),
        (
            "{rate: 100mbit, burst: 50KB, peak: 1mbit}",
            "unknown field 'peak' (there are: rate, burst)",
        ),
    ],
)
def test_mistakes(text: str, message: str, tmp_path: Path) -> None:
    _, found = error(STUDY.replace("{rate: 100mbit, burst: 50KB}", text), tmp_path)
    assert found.startswith(message)


def test_an_event_cannot_change_a_policer(tmp_path: Path) -> None:
    event = "events: [{at: 1s, link: [s1, h2], police: {rate: 1mbit, burst: 50KB}}]\n"
    place, message = error(STUDY + event, tmp_path)
    assert place.endswith("events[0].police")
    assert message.startswith("a policer is built with its link")


def test_a_policer_in_a_machine(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    run = run_case(case, name="c", out=tmp_path / "runs")
    metrics = run.metrics
    # A datagram of 1448 bytes is an IP packet of 1476, of which the policer counts all bytes; its
    # burst comes on top, once in the three seconds.
    expected_bps = 1e8 * 1448 / 1476 + 51200 * 8 / 3
    assert metrics["udp.receiver_bps"] == pytest.approx(expected_bps, rel=0.005)
    # Reno needs 83 packets in flight; the burst is a third of that, and losses halve the window.
    assert 3e7 < metrics["reno.receiver_bps"] < 7e7
    assert metrics["back.receiver_bps"] > 9e8  # the other direction is not policed
    text = next(tmp_path.glob("runs/**/raw/filter.client.txt")).read_text()
    assert "police" in text
    assert "rate 100Mbit burst 50Kb" in text
    dropped = int(text.partition("dropped ")[2].partition(",")[0])
    assert metrics["queue.drops"] == dropped
    lost = metrics["udp.loss"] * 3 * 2e8 / 8 / 1448
    assert dropped == pytest.approx(lost + metrics["reno.retransmits"], rel=0.02)


def test_a_live_network_has_policers() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, h2 = net.host("h1"), net.host("h2")
        link = net.link(h1, h2, police={"rate": "10mbit", "burst": "20KB"})
        assert isinstance(net.model, Network)
        received = h1.iperf3(h2, time=1, udp=True, rate="20mbit")["receiver_bps"]
        assert received == pytest.approx(1e7 * 1448 / 1476 + 20480 * 8, rel=0.01)
        with pytest.raises(InputError, match="a policer is built with its link"):
            link.change(police=None)
        with pytest.raises(InputError, match="the policer has no burst"):
            net.link(h1, h2, police={"rate": "10mbit"})
