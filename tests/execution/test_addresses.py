"""Flows to addresses that set-up lines make, in a machine."""

from __future__ import annotations

from pathlib import Path

from longfat.execution import run_case
from longfat.study import read_study

STUDY = """\
title: Addresses of set-up lines
network:
  hosts: {h1: , h2: , h3: 10.0.0.3/24, h4: 10.0.0.4/24}
  switches: [s1]
  links: [[h1, s1], [h2, s1], [h3, s1, {rate: 10mbit}], [h4, s1]]
setup:
  - h1: |
      ip link add link h1-eth0 name h1-eth0.10 type vlan id 10
      ip link set h1-eth0.10 up
      ip addr add 10.1.0.1/24 dev h1-eth0.10
  - root: |
      ip -n h2 link add link h2-eth0 name h2-eth0.10 type vlan id 10
      ip -n h2 link set h2-eth0.10 up
      ip -n h2 addr add 10.1.0.2/24 dev h2-eth0.10
  - h3: |
      ip link add t0 type gre local 10.0.0.3 remote 10.0.0.4
      ip addr add 192.168.7.1/24 dev t0
      ip link set t0 up
  - h4: |
      ip link add t0 type gre local 10.0.0.4 remote 10.0.0.3
      ip addr add 192.168.7.2/24 dev t0
      ip link set t0 up
flows:
  vlan: {ping: h1 -> h2, count: 2}
  name: {program: h1 -> h2, run: ping -c 1 h2}
  tunnel: {ping: h3 -> h4, count: 2, address: 192.168.7.2}
  iperf3: {iperf3: h3 -> h4, time: 1s, address: 192.168.7.2, after: tunnel}
  transfer: {transfer: h3 -> h4, time: 1s, address: 192.168.7.2, after: iperf3}
  cbr: {cbr: h3 -> h4, time: 100ms, address: 192.168.7.2, after: transfer}
  requests: {requests: h3 -> h4, time: 100ms, size: 1KB, address: 192.168.7.2, after: cbr}
  video: {video: h3 -> h4, time: 10s, address: 192.168.7.2, after: requests}
"""


def test_flows_to_addresses_of_set_up_lines(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    case = read_study(file).cases["default"].case
    run = run_case(case, name="default", out=tmp_path)
    metrics = run.metrics
    assert metrics["vlan.received"] == metrics["tunnel.received"] == 2
    assert metrics["name.status"] == 0
    # A segment of 1,438 bytes with timestamps goes in a packet of 1,476 bytes, with 24 bytes of
    # the tunnel's and 14 of Ethernet.
    for flow in ("iperf3", "transfer"):
        assert abs(metrics[f"{flow}.receiver_bps"] / 1e7 - 1424 / 1514) < 0.01
    assert metrics["cbr.received"] == 5
    assert metrics["requests.unfinished"] == 0
    assert metrics["video.stalls"] == 0
