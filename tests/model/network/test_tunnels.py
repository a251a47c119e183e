"""Tunnels: their values and mistakes, the path of what they carry, and their use in a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.case import Case
from longfat.model.flow_path import bottleneck
from longfat.model.network import trace_route, tunnel_commands
from longfat.model.network.neighbours import needed_neighbours
from longfat.model.network.routing import tunnel_ends
from longfat.study import read_study
from longfat.study.formats.write import study_text
from tests.study.messages import error

TUNNEL = "[r1, r2, {kind: gre, addresses: {r1: 10.9.0.1/30, r2: 10.9.0.2/30}}]"
STUDY = f"""\
title: A tunnel
kernel: "6.1"
network:
  hosts:
    h1: {{address: 192.168.1.1/24, routes: {{default: 192.168.1.254}}}}
    h2: {{address: 192.168.2.1/24, routes: {{default: 192.168.2.254}}}}
    r1: {{forwards: yes, routes: {{default: 203.0.113.2, 192.168.2.0/24: 10.9.0.2}}}}
    r2: {{forwards: yes, routes: {{default: 198.51.100.2, 192.168.1.0/24: 10.9.0.1}}}}
    isp: {{forwards: yes}}
  links:
    - [h1, r1, {{addresses: {{r1: 192.168.1.254/24}}}}]
    - [h2, r2, {{addresses: {{r2: 192.168.2.254/24}}}}]
    - [r1, isp, {{rate: 100mbit, addresses: {{r1: 203.0.113.1/24, isp: 203.0.113.2/24}}}}]
    - [r2, isp, {{delay: 1ms, addresses: {{r2: 198.51.100.1/24, isp: 198.51.100.2/24}}}}]
  tunnels:
    - {TUNNEL}
flows:
  ping: {{ping: h1 -> h2, count: 3}}
  ends: {{ping: r1 -> r2, count: 1, address: 10.9.0.2, after: ping}}
  udp: {{iperf3: h1 -> h2, udp: yes, rate: 120mbit, time: 2s, args: [-l, "1300"], after: ends}}
  shown: {{program: r1 -> r2, run: ip -d link show r1-tun0, after: udp}}
"""


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_a_tunnel_is_read_and_written(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    assert case.network.tunnel_interfaces() == [("r1-tun0", "r2-tun0")]
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert Case.from_json(case.to_json()) == case
    whole = STUDY.replace("}}]\nflows", "}, endpoints: {r2: 198.51.100.1}, mtu: 1400}]\nflows")
    case = read(whole, tmp_path)
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert [end.mtu_bytes for end in tunnel_ends(case.network)] == [1400, 1400]


def test_the_path_through_a_tunnel(tmp_path: Path) -> None:
    case = read(STUDY, tmp_path)
    way = [("h1", "h1-eth0"), ("r1", "r1-eth1"), ("isp", "isp-eth1"), ("r2", "r2-eth0")]
    assert trace_route(case.network, "h1", "h2") == way
    assert trace_route(case.network, "r1", "r2", address="10.9.0.2") == way[1:3]
    found = bottleneck(case, case.flows[2])
    assert found is not None
    assert found.interface == "r1-eth1"
    ends = tunnel_ends(case.network)
    assert [end.endpoint for end in ends] == ["203.0.113.1", "198.51.100.1"]
    assert [end.mtu_bytes for end in ends] == [1476, 1476]
    met = [one.interface for one in needed_neighbours(case.network, [("h1", "h2", None)])]
    assert sorted(met) == [
        *("h1-eth0", "h2-eth0", "isp-eth0", "isp-eth1"),
        *("r1-eth0", "r1-eth1", "r2-eth0", "r2-eth1"),
    ]


def test_addresses_of_ipv6_in_a_tunnel_over_ipv4(tmp_path: Path) -> None:
    text = """\
title: x
kernel: "6.1"
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  links: [[h1, h2]]
  tunnels: [[h1, h2, {kind: gre, addresses: {h1: "2001:db8::1/64", h2: "2001:db8::2/64"}}]]
flows: {p: {ping: h1 -> h2, count: 2, address: "2001:db8::2"}}
"""
    run = run_case(read(text, tmp_path), name="c", out=tmp_path / "runs")
    assert run.metrics["p.received"] == 2


@pytest.mark.parametrize(
    ("tunnel", "message"),
    [
        ("[r1, r2]", "a tunnel has two hosts and its properties: write a tunnel as [HOST, HOST, "),
        ("[r1, r9, {kind: gre}]", "there is no host 'r9' (there are: h1, h2, r1, r2, isp)"),
        ("[r1, r1, {kind: gre}]", "the tunnel leads from r1 to itself"),
        ("[r1, r2, {kind: gre}]", "the tunnel has no addresses: write a tunnel as [HOST, HOST, "),
        (
            "[r1, r2, {addresses: {r1: 10.9.0.1/30, r2: 10.9.0.2/30}}]",
            "the tunnel has no kind: write a tunnel as",
        ),
        (
            "[r1, r2, {kind: sit, addresses: {r1: 10.9.0.1/30, r2: 10.9.0.2/30}}]",
            "'sit' is not a kind of tunnel (there are: gre, ipip, wireguard)",
        ),
        (
            "[r1, r2, {kind: gre, addresses: {r1: 10.9.0.1/30}}]",
            "r2 has no address in the tunnel: write one",
        ),
        (
            "[r1, r2, {kind: gre, addresses: {r1: 10.9.0.1/30, r2: 10.9.0.6/30}}]",
            "10.9.0.1/30 and 10.9.0.6/30 are not in one network",
        ),
        (
            "[r1, r2, {kind: gre, addresses: {r1: 192.168.1.1/24, r2: 192.168.1.2/24}}]",
            "the address 192.168.1.1 is that of h1 already",
        ),
        (
            '[r1, r2, {kind: ipip, addresses: {r1: "2001:db8::1/64", r2: "2001:db8::2/64"}}]',
            "a tunnel of IPIP carries IPv4 alone: take gre or wireguard",
        ),
        (
            "[r1, r2, {kind: gre, addresses: {r1: 10.9.0.1/30, r2: 10.9.0.2/30}, "
            "endpoints: {r1: here}}]",
            "'here' is not an address, such as 10.0.0.1",
        ),
        (
            f"{TUNNEL}\n    - [r1, r2, {{kind: gre, addresses: {{r1: 10.8.0.1/30, "
            "r2: 10.8.0.2/30}}]",
            "there is a tunnel of gre from 203.0.113.1 to 198.51.100.1 already, and Linux could "
            "not tell their packets apart",
        ),
    ],
)
def test_mistakes(tunnel: str, message: str, tmp_path: Path) -> None:
    # Routes by the tunnel's address would be mistakes, too.
    text = STUDY.replace(", 192.168.2.0/24: 10.9.0.2", "").replace(", 192.168.1.0/24: 10.9.0.1", "")
    text = text.partition("flows:")[0].replace(TUNNEL, tunnel)
    _, found = error(text, tmp_path)
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("kind", "link", "overhead"),
    [
        ("gre", "gre remote 198.51.100.1 local 203.0.113.1 ttl 64", 24),
        ("ipip", "ipip any remote 198.51.100.1 local 203.0.113.1 ttl 64", 20),
        ("wireguard", "wireguard", 60),
    ],
)
def test_a_tunnel_in_a_machine(kind: str, link: str, overhead: int, tmp_path: Path) -> None:
    case = read(STUDY.replace("kind: gre", f"kind: {kind}"), tmp_path)
    run = run_case(case, name="c", out=tmp_path / "runs")
    assert run.metrics["ping.received"] == 3
    assert run.metrics["ends.received"] == 1
    shown = (run.raw / "shown.client.txt").read_text()
    assert link in shown
    assert f"mtu {1500 - overhead} " in shown
    # A datagram of 1300 bytes has a header of 28 bytes, which makes it a multiple of 16.
    frame = 1300 + 28 + overhead + 14
    assert run.metrics["udp.receiver_bps"] == pytest.approx(1e8 * 1300 / frame, rel=0.01)


def test_tunnels_of_a_live_network() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, h2 = net.host("h1"), net.host("h2")
        net.link(h1, h2, mtu=9000)
        name = net.tunnel(h1, h2, kind="ipip", addresses=("10.9.0.1/30", "10.9.0.2/30"))
        assert "mtu 8980 " in h1.run(f"ip link show {name}").stdout
        assert h1.ping(h2, count=1, address="10.9.0.2")["received"] == 1
        net.tunnel(h1, h2, kind="wireguard", addresses=("10.8.0.1/30", "10.8.0.2/30"))
        assert h1.ping(h2, count=1, address="10.8.0.2")["received"] == 1
        assert "latest handshake" in h1.run("wg show h1-tun1").stdout
        assert ("h1", "ip link set h1-tun0 up") in tunnel_commands(net.model)
        with pytest.raises(InputError, match="there is a tunnel of ipip from"):
            net.tunnel(h1, h2, kind="ipip", addresses=("10.7.0.1/30", "10.7.0.2/30"))
        with pytest.raises(InputError, match="'sit' is not a kind of tunnel"):
            net.tunnel(h1, h2, kind="sit", addresses=("10.7.0.1/30", "10.7.0.2/30"))
