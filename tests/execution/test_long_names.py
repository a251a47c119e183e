"""Nodes whose names are too long for Linux's interface names, or numbers, in a real machine."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, LinkImpairments, Network, Switch
from longfat.model.network.devices import device_stem
from longfat.model.probes import Capture, Queue, Rate
from longfat.model.traffic import Ping
from longfat.study.formats.write import study_text
from longfat.study.read import read_study
from tests.kernels import KERNELS

SWITCH = "distribution-switch-floor-3"
PORT = f"{device_stem(SWITCH)}-eth2"
CASE = Case(
    kernel="6.1",
    network=Network(
        hosts=(
            Host(name="frankfurt-core", address="10.0.0.1/8"),
            Host(name="h2", address="10.0.0.2/8", routes=()),
        ),
        switches=(Switch(name=SWITCH),),
        links=(
            Link(a="frankfurt-core", b=SWITCH),
            Link(a=SWITCH, b="h2", a_to_b=LinkImpairments(delay_s=0.01, rate_bps=10_000_000)),
        ),
    ),
    setup=(),
    flows=(Ping(name="rtt", source="frankfurt-core", target="h2", count=3, interval_s=0.2),),
    probes=(
        Queue(name="queue", of=(PORT,), every_s=0.1),
        Rate(name="rate", of=(PORT,), every_s=0.1),
        Capture(name="packets", of=f"{device_stem('frankfurt-core')}-eth0"),
    ),
    seed=1,
    memory_bytes=256 << 20,
)


@pytest.mark.parametrize("kernel", KERNELS)
def test_such_a_network_is_shaped_probed_and_captured(kernel: str, tmp_path: Path) -> None:
    run = run_case(dataclasses.replace(CASE, kernel=kernel), name="long", out=tmp_path)
    assert run.metrics["rtt.min_s"] == pytest.approx(0.01, rel=0.05)
    assert run.series("queue")["interface"].cast("string").unique().to_pylist() == [PORT]
    assert run.series("rate").num_rows
    assert (run.folder / "raw" / "packets.pcap").stat().st_size > 6 * 100
    assert f"altname {SWITCH}-eth2" in (run.folder / "commands.sh").read_text()


def test_a_line_with_the_full_name_fails_with_the_short_one_as_hint(tmp_path: Path) -> None:
    line = f"tc qdisc add dev {SWITCH}-eth1 root pfifo"
    case = dataclasses.replace(CASE, setup=(Command(node=ROOT_NAMESPACE, line=line),))
    with pytest.raises(InputError) as caught:
        run_case(case, name="long", out=tmp_path)
    short = f"{device_stem(SWITCH)}-eth1"
    assert f"write {short} for {SWITCH}-eth1" in str(caught.value)


def test_a_probe_of_the_full_name_is_told_the_short_one() -> None:
    reason = CASE.probes[0].target_problem(f"{SWITCH}-eth2", network=CASE.network, flows={})
    assert reason is not None
    assert f"write {PORT}" in reason


# What a program could take for a process, an interface's index or a number of another base.
NUMBERS = """
title: Names that begin with digits
memory: 256MB
network:
  hosts: {1: 10.0.0.1/8, 0x10: 10.0.0.2/8, 1e3: 10.0.0.3/8}
  switches: [2, 007]
  links:
    - [1, 2, {rate: 10mbit, delay: 5ms, to: {1: {delay: 15ms}}}]
    - [0x10, 2]
    - [2, 007]
    - [1e3, 007]
setup:
  - 1: ip link set dev 1-eth0 mtu 1400
  - root: ip link set dev 2 mtu 1400 && bridge link show dev 2-eth2 && ip link show dev 007
flows:
  rtt: {ping: 1 -> 0x10, count: 2, interval: 100ms}
  far: {ping: 0x10 -> 1e3, count: 2, interval: 100ms}
events:
  - {at: 50ms, 1: ip route show dev 1-eth0 | grep -q 10.0.0.0/8}
probes:
  rate: {kind: rate, of: [2-eth1, 007-eth1], every: 50ms}
  packets: {kind: capture, of: 1-eth0}
claims:
  - default.rate.if_2_eth1_tx > 0
"""


@pytest.mark.parametrize("kernel", KERNELS)
def test_names_that_are_numbers(kernel: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(NUMBERS)
    study = read_study(tmp_path / "study.yaml")
    case = dataclasses.replace(study.cases["default"].case, kernel=kernel)
    run = run_case(case, name="numbers", out=tmp_path)
    assert run.metrics["rtt.min_s"] == pytest.approx(0.02, rel=0.01)
    assert run.metrics["far.loss"] == 0
    assert run.metrics["rate.if_2_eth1_tx_bps"] > 0
    assert (run.folder / "raw" / "packets.pcap").stat().st_size > 4 * 100
    assert "10.0.0.1/8" in (run.folder / "commands.sh").read_text()
    text = study_text(title="numbers", case=case)
    (tmp_path / "again.yaml").write_text(text)
    assert read_study(tmp_path / "again.yaml").cases["default"].case.network == case.network
