"""Figures that contradict what the kernel counted."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.errors import Place
from longfat.execution.case_runner import run_case
from longfat.study.read import read_study
from longfat_class.analysis.checks import CHECKS
from longfat_class.analysis.counted import forged, watched
from longfat_class.analysis.shaping import limits_in_force
from longfat_class.analysis.submission import Handed, Played
from longfat_class.study.model import Part, PartKind

STUDY = """\
title: Transfers of known speed
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 20mbit, delay: 10ms}]]
flows:
  timed: {iperf3: h1 -> h2, time: 2s, omit: 1s}
  sized: {iperf3: h1 -> h2, bytes: 2MB, after: timed}
  many: {iperf3: h1 -> h2, time: 1s, parallel: 3, after: sized}
probes:
  tcp: {of: [timed, sized, many], every: 100ms}
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder: Path = tmp_path_factory.mktemp("run")
    (folder / "study.yaml").write_text(STUDY)
    (planned,) = read_study(folder / "study.yaml").cases.values()
    case = watched(planned.case)
    run = run_case(case, out=folder, name="it", study="it", parameters={})
    return Played(name="it", case=case, run=run)


def test_honest_figures_are_accepted(played: Played) -> None:
    assert list(forged(played)) == []


@pytest.mark.parametrize(
    ("flow", "name"),
    [
        *((flow, "received_bytes") for flow in ("timed", "sized", "many")),
        *((flow, "receiver_bps") for flow in ("timed", "many")),
    ],
)
def test_figures_beyond_what_was_carried_are_not(played: Played, flow: str, name: str) -> None:
    assert played.run is not None
    metrics = dict(played.run.metrics)
    metrics[f"{flow}.{name}"] *= 2
    altered = dataclasses.replace(played, run=dataclasses.replace(played.run, metrics=metrics))
    (words,) = forged(altered)
    assert words.startswith(f"{flow} reports ")
    assert "the kernel's sockets carried" in words


def test_a_probe_that_looks_seldom_has_a_finer_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY.replace("every: 100ms", "every: 1s"))
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    case = watched(planned.case)
    run = run_case(case, out=tmp_path, name="it", study="it", parameters={})
    assert list(forged(Played(name="it", case=case, run=run))) == []


SWITCHES = """\
title: Two switches and what lies between
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2, {rate: 20mbit, delay: 10ms, queue: 100KB}], [s2, h2]]
flows:
  rtt: {ping: h1 -> h2, count: 10, interval: 100ms}
  bulk: {iperf3: h1 -> h2, time: 2s, after: rtt}
  dgrams: {iperf3: h1 -> h2, time: 1s, udp: yes, rate: 5mbit, after: bulk}
setup:
"""
AROUND = {
    "a redirection from one switch to the other": """\
  - root:
      - tc qdisc add dev s1-eth1 clsact; tc qdisc add dev s2-eth2 root tbf rate 20mbit burst 20kb
        limit 100kb
      - tc filter add dev s1-eth1 ingress matchall action mirred egress redirect dev s2-eth2
""",
    "a server of the student's at the other host's address": """\
  - h1:
      - ip addr add 10.0.0.2/32 dev lo; tc qdisc add dev lo root tbf rate 20mbit burst 70kb
        limit 300kb
      - iperf3 -s -p 5201 > /dev/null & true
      - iperf3 -s -p 5202 > /dev/null & true
""",
}


def play(folder: Path, study: str) -> Played:
    (folder / "study.yaml").write_text(study)
    (planned,) = read_study(folder / "study.yaml").cases.values()
    case = dataclasses.replace(watched(planned.case), untrusted=True)
    run = run_case(case, out=folder, name="it", study="it", parameters={})
    return Played(name="it", case=case, run=run)


def test_traffic_over_its_links_is_accepted(tmp_path: Path) -> None:
    played = play(tmp_path, SWITCHES + "  - h1: 'true'\n")
    assert list(forged(played)) == []
    assert played.run is not None
    limits = limits_in_force(played.run, played.case.tcp_flows[0])
    assert limits
    assert {tuple(one.items()) for _, one in limits} == {(("s1-eth2", 20e6),)}


@pytest.mark.parametrize("way", AROUND)
def test_traffic_around_its_links_is_not(tmp_path: Path, way: str) -> None:
    reasons = "; ".join(forged(play(tmp_path, SWITCHES + AROUND[way])))
    assert "bulk, dgrams moved " in reasons
    assert "which all of it has to pass" in reasons


def test_a_ping_around_its_links_is_rejected(tmp_path: Path) -> None:
    study = SWITCHES[: SWITCHES.index("  bulk:")] + "setup:\n"
    lines = "  - h1: ip addr add 10.0.0.2/32 dev lo\n"
    (words,) = forged(play(tmp_path, study + lines))
    assert "rtt got 10 replies" in words


def test_a_shaper_that_goes_later_is_seen(tmp_path: Path) -> None:
    # From two seconds after boot there is traffic, and a second later the flow `bulk`.
    lines = "  - root: (sleep 3.2; tc qdisc del dev s1-eth2 root) & true\n"
    played = play(tmp_path, SWITCHES + lines)
    part = Part(
        name="it", kind=PartKind.SETUP, files=("x",), place=Place("x", 1, 1), rate_bps=2 * 10**7
    )
    findings = CHECKS["shaper"].findings(Handed(part=part, cases=(played,)))
    assert "with bulk under way, no queueing discipline on its way limited the rate" in str(
        findings
    )


def test_probes_that_look_on_change_nothing(tmp_path: Path) -> None:
    study = SWITCHES.replace("delay: 10ms", "delay: 10ms, loss: 1%") + "  - h1: 'true'\n"
    (tmp_path / "study.yaml").write_text(study)
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    plain = run_case(planned.case, out=tmp_path, name="plain", study="it", parameters={})
    seen = run_case(watched(planned.case), out=tmp_path, name="seen", study="it", parameters={})
    for name, value in plain.metrics.items():
        # Some nanoseconds of a clock that was read are no figure of the network's.
        assert seen.metrics[name] == pytest.approx(value, rel=1e-9, abs=1e-6), name


NAT = """\
title: Behind a router that translates addresses
memory: 256MB
network:
  hosts:
    h1: {address: 192.168.0.2/24, routes: {default: 192.168.0.1}}
    r1: {forwards: yes, nat: symmetric, routes: {default: 10.0.0.2}}
    h2: 10.0.0.2/24
  links:
    - [h1, r1, {addresses: {r1: 192.168.0.1/24}}]
    - [r1, h2, {addresses: {r1: 10.0.0.1/24}, rate: 20mbit, delay: 10ms, queue: 100KB}]
flows: {bulk: {iperf3: h1 -> h2, time: 2s}}
"""


def test_a_flow_through_nat_is_accepted(tmp_path: Path) -> None:
    assert list(forged(play(tmp_path, NAT))) == []


RING = """\
title: A ring, whose longer way is the faster one
memory: 256MB
network:
  hosts:
    h1: {address: 10.1.0.2/24, routes: {default: 10.1.0.1}}
    h2: {address: 10.2.0.2/24, routes: {default: 10.2.0.1}}
    r1: {forwards: yes, routes: {10.2.0.0/24: 10.12.0.2}}
    r2: {forwards: yes, routes: {10.1.0.0/24: 10.12.0.1}}
    r3: {forwards: yes, routes: {10.1.0.0/24: 10.13.0.1, 10.2.0.0/24: 10.23.0.2}}
  links:
    - [h1, r1, {addresses: {r1: 10.1.0.1/24}}]
    - [h2, r2, {addresses: {r2: 10.2.0.1/24}}]
    - [r1, r2, {addresses: {r1: 10.12.0.1/24, r2: 10.12.0.2/24}, rate: 5mbit, queue: 100KB}]
    - [r1, r3, {addresses: {r1: 10.13.0.1/24, r3: 10.13.0.3/24}, rate: 20mbit, queue: 100KB}]
    - [r3, r2, {addresses: {r3: 10.23.0.3/24, r2: 10.23.0.2/24}}]
flows: {bulk: {iperf3: h1 -> h2, time: 2s}}
setup:
  - r1: ip route replace 10.2.0.0/24 via 10.13.0.3
  - r2: ip route replace 10.1.0.0/24 via 10.23.0.3
"""


def test_a_way_that_lines_have_chosen_is_no_cheat(tmp_path: Path) -> None:
    played = play(tmp_path, RING)
    assert played.run is not None
    assert played.run.metrics["bulk.receiver_bps"] > 15e6
    assert list(forged(played)) == []
    part = Part(name="it", kind=PartKind.SETUP, files=("x",), place=Place("x", 1, 1))
    assert CHECKS["rate"].findings(Handed(part=part, cases=(played,))) == []
