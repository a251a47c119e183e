"""The rate of an interface over time, as events change it."""

from __future__ import annotations

import math

import pytest

from longfat.model.flow_path import NotUnderstoodError
from longfat.model.flow_path.rates import interface_rates
from longfat.study.read import parse_study

STUDY = """\
title: Rates
kernel: "6.1"
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {rate: 20mbit}]]
setup:
  - h2: tc qdisc replace dev h2-eth0 root tbf rate 8mbit burst 5kb limit 50kb
events:
  - {at: 2s, for: 3s, link: [h1, h2], to: {h2: {rate: 5mbit}}}
  - {at: 3s, link: [h1, h2], to: {h2: {delay: 1ms}}}
  - {at: 9s, h2: tc qdisc del dev h2-eth0 root}
flows:
  bulk: {transfer: h1 -> h2, time: 10s}
"""


def test_a_rate_changes_and_comes_back() -> None:
    case = parse_study(STUDY, name="rates").cases["default"].case
    happened = [(0, 2.0), (1, 3.0), (0, 5.0), (2, 9.0)]
    assert interface_rates(case, "h1-eth0", happened) == [
        *((-math.inf, 20e6), (2.0, 5e6), (5.0, 20e6)),
    ]
    assert interface_rates(case, "h2-eth0", happened) == [(-math.inf, 8e6), (9.0, None)]
    assert interface_rates(case, "h1-eth0", []) == [(-math.inf, 20e6)]


def test_a_line_that_hides_what_it_does_is_not_guessed() -> None:
    text = STUDY.replace("del dev h2-eth0 root", "replace dev h2-eth0 root hfsc default 1")
    case = parse_study(text, name="rates").cases["default"].case
    with pytest.raises(NotUnderstoodError):
        interface_rates(case, "h2-eth0", [(2, 9.0)])
