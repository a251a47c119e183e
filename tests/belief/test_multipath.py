"""By hash policy 1 a connection may change its path, by 3 it keeps it."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.study import read_study

STUDY = """\
title: Two paths, and outages before them
kernel: "KERNEL"
network:
  hosts:
    h1: {address: 10.0.1.1/24, routes: {default: 10.0.1.254}}
    h2: {address: 10.0.2.1/24, routes: {default: 10.0.2.254}}
    r1: {forwards: yes, routes: {10.0.2.0/24: [10.1.1.2, 10.1.2.2]}}
    r2: {forwards: yes, routes: {10.0.1.0/24: 10.1.2.1}}
  links:
    - [h1, r1, {rate: 150mbit, delay: 5us, addresses: {r1: 10.0.1.254/24}}]
    - [h2, r2, {addresses: {r2: 10.0.2.254/24}}]
    - [r1, r2, {rate: 100mbit, delay: 1ms, addresses: {r1: 10.1.1.1/24, r2: 10.1.1.2/24}}]
    - [r1, r2, {rate: 100mbit, delay: 1ms, addresses: {r1: 10.1.2.1/24, r2: 10.1.2.2/24}}]
setup:
  - r1: sysctl -w net.ipv4.fib_multipath_hash_policy=POLICY
flows:
  x: {transfer: h1 -> h2, time: 6s}
events:
  - {at: 1s, every: 1s, times: 4, for: 500ms, link: [h1, r1], loss: 100%}
probes:
  paths: {kind: rate, of: [r1-eth1, r1-eth2]}
"""


@pytest.mark.parametrize(("policy", "paths"), [(1, 2), (3, 1)])
def test_a_connection_stays_on_its_path(policy: int, paths: int, tmp_path: Path) -> None:
    text = STUDY.replace("POLICY", str(policy)).replace("KERNEL", "7.2")
    (tmp_path / "study.yaml").write_text(text)
    case = read_study(tmp_path / "study.yaml").cases["default"].case
    metrics = run_case(case, name="c", out=tmp_path).metrics
    rates = (metrics["paths.r1_eth1_tx_bps"], metrics["paths.r1_eth2_tx_bps"])
    assert sum(rate_bps > 1e6 for rate_bps in rates) == paths, rates
