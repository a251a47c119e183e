"""Routes with several next hops: their mistakes, their path, and their use in a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.case import Case
from longfat.model.network import Route, trace_route
from longfat.model.network.neighbours import needed_neighbours
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import error

STUDY = """\
title: ECMP
kernel: "6.1"
network:
  hosts:
    h1: {address: 10.0.1.1/24, routes: {default: 10.0.1.254}}
    h2: {address: 10.0.2.1/24, routes: {default: 10.0.2.254}}
    a: {forwards: yes, routes: {10.0.2.0/24: [10.1.0.2, 10.2.0.2]}}
    b: {forwards: yes, routes: {10.0.1.0/24: [10.1.1.1, 10.2.1.1]}}
    x: {forwards: yes, routes: {10.0.1.0/24: 10.1.0.1, 10.0.2.0/24: 10.1.1.2}}
    y: {forwards: yes, routes: {10.0.1.0/24: 10.2.0.1, 10.0.2.0/24: 10.2.1.2}}
  links:
    - [h1, a, {addresses: {a: 10.0.1.254/24}}]
    - [h2, b, {addresses: {b: 10.0.2.254/24}}]
    - [a, x, {rate: 100mbit, addresses: {a: 10.1.0.1/24, x: 10.1.0.2/24}}]
    - [a, y, {rate: 100mbit, addresses: {a: 10.2.0.1/24, y: 10.2.0.2/24}}]
    - [b, x, {rate: 100mbit, addresses: {b: 10.1.1.2/24, x: 10.1.1.1/24}}]
    - [b, y, {rate: 100mbit, addresses: {b: 10.2.1.2/24, y: 10.2.1.1/24}}]
flows:
  bulk: {transfer: h1 -> h2, parallel: 8, time: 4s}
"""


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_next_hops_are_read_and_written(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    route = Route(to="10.0.2.0/24", via="10.1.0.2", others=("10.2.0.2",))
    assert case.network.hosts[2].routes[0] == route
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert Case.from_json(case.to_json()) == case
    plain = case.to_json()["network"]["hosts"][0]["routes"]
    assert plain == ({"to": "default", "via": "10.0.1.254"},)


def test_the_first_next_hop_is_followed_and_all_are_met(tmp_path: Path) -> None:
    network = read(STUDY, tmp_path).network
    assert [name for _, name in trace_route(network, "h1", "h2")] == [
        "h1-eth0",
        "a-eth1",
        "x-eth1",
        "b-eth0",
    ]
    met = {(one.host, one.peer) for one in needed_neighbours(network, [("h1", "h2", None)])}
    assert {("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("y", "b"), ("y", "a")} <= met


@pytest.mark.parametrize(
    ("hops", "message"),
    [
        ("[]", "found a sequence, expected the address of a router, or a list of them"),
        ("[10.1.0.2, 10.1.0.2]", "the router 10.1.0.2 is written twice here"),
        ("[10.1.0.2, x]", "'x' is not the address of a router, such as 10.0.0.254"),
        (
            "[10.1.0.2, 10.9.0.2]",
            "10.9.0.2 is on none of the networks of a (it is on: 10.0.1.0/24, 10.1.0.0/24, "
            "10.2.0.0/24)",
        ),
    ],
)
def test_mistakes(hops: str, message: str, tmp_path: Path) -> None:
    _, found = error(STUDY.replace("[10.1.0.2, 10.2.0.2]", hops), tmp_path)
    assert found == message


def test_connections_use_all_next_hops(tmp_path: Path) -> None:
    run = run_case(read(STUDY, tmp_path), name="c", out=tmp_path / "runs")
    assert run.metrics["bulk.receiver_bps"] > 1.8e8


def test_a_live_router_has_several_next_hops() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, x, y = net.host("h1", routes={"10.9.0.0/16": ["10.0.0.2", "10.0.0.3"]}), "x", "y"
        net.link(h1, net.host(x))
        net.link(h1, net.host(y, "10.0.0.3/8"))
        shown = h1.run("ip route show 10.9.0.0/16").stdout
        assert "nexthop via 10.0.0.2" in shown
        assert "nexthop via 10.0.0.3" in shown
        assert h1.sysctl("net.ipv4.fib_multipath_hash_policy") == "3"


def test_next_hops_of_ipv6() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1 = net.host("h1", "2001:db8::1/64", routes={"default": ["2001:db8::2", "2001:db8::3"]})
        net.link(h1, net.host("h2", "2001:db8::2/64"))
        assert h1.run("ip -6 route show default").stdout.count("2001:db8::") == 2
