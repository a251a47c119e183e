"""tcpi_total_rto of a flow's sockets is the count of timeouts of a host without other sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_cases
from longfat.study.read import parse_study
from tests.kernels import KERNELS

STUDY = """
title: Timeouts
kernel: "%s"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 20mbit, delay: 10ms}]]
flows:
  bulk: {transfer: h1 -> h2, time: 12s%s}
  counted:
    program: %s
    after: bulk
    start: 1s
    run: nstat -asz TcpExtTCPTimeouts
    metrics: {timeouts: {regex: 'TCPTimeouts +(\\d+)'}}
events:
  - {at: 2s, link: [s1, h2], down: yes, for: 4s}
probes:
  tcp: {of: bulk, every: 100ms}
"""


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("reverse", [False, True])
def test_timeouts_are_those_of_the_host(kernel: str, reverse: bool, tmp_path: Path) -> None:
    more, ends = (", reverse: yes", "h2 -> h1") if reverse else ("", "h1 -> h2")
    study = parse_study(STUDY % (kernel, more, ends), name="timeouts")
    (run,) = run_cases(study.cases, out=tmp_path)["default"]
    counted = run.metrics["counted.timeouts"]
    assert counted > 2  # after 0.2 s, and then after twice the time each
    if kernel == KERNELS[0]:
        assert "tcp.timeouts" not in run.metrics
    else:
        assert run.metrics["tcp.timeouts"] == counted
