"""Rates of classes, read from lines of tc."""

from __future__ import annotations

import pytest

from longfat.analysis.timeseries.levels import class_rates_bps

ROOT = "tc qdisc add dev s1-eth2 root handle 1: htb default 1\n"
TOP = "tc class add dev s1-eth2 parent 1: classid 1:1 htb"


@pytest.mark.parametrize(
    ("script", "rates"),
    [
        (f"{ROOT}{TOP} rate 10mbit\n", {"s1-eth2": 10e6}),
        (f"{ROOT}{TOP} rate 10mbit ceil 20mbit\n", {"s1-eth2": 20e6}),
        # A class below another one has its part of that.
        (
            f"{ROOT}{TOP} rate 10mbit\n"
            "tc class add dev s1-eth2 parent 1:1 classid 1:2 htb rate 9mbit\n",
            {"s1-eth2": 10e6},
        ),
        (f"{ROOT}{TOP} rate 10mbit; {TOP.replace('1:1', '1:2')} rate 5mbit\n", {"s1-eth2": 15e6}),
        (f"{TOP} rate 1mbit\n{TOP.replace('add', 'change')} rate 3mbit\n", {"s1-eth2": 3e6}),
        (f"{TOP} rate 1mbit\ntc qdisc del dev s1-eth2 root\n", {}),
        (f"{TOP} rate fast\n", {}),
        (
            "ip netns exec h1 tc class add dev h1-eth0 parent 1: classid 1:1 hfsc ul rate 2mbit",
            {"h1-eth0": 2e6},
        ),
    ],
)
def test_the_topmost_classes_count(script: str, rates: dict[str, float]) -> None:
    assert class_rates_bps(script) == rates
