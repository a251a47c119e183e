"""VLANs: their values and mistakes, the path in them, and what a machine's bridges have."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.case import Case
from longfat.model.network import NoRouteError, VlanAddress, build_batches, trace_route
from longfat.model.network.neighbours import needed_neighbours
from longfat.study import read_study
from longfat.study.formats.miniedit import miniedit_text
from longfat.study.formats.write import study_text
from tests.study.messages import error

R1 = "addresses: {r1: {10: 10.0.10.254/24, 20: 10.0.20.254/24}}"
STUDY = f"""\
title: VLANs
kernel: "6.1"
network:
  hosts:
    h1: {{address: 10.0.10.1/24, routes: {{default: 10.0.10.254}}}}
    h2: {{address: 10.0.20.1/24, routes: {{default: 10.0.20.254}}}}
    h3: {{address: 10.0.10.3/24, routes: {{default: 10.0.10.254}}}}
    r1: {{forwards: yes}}
  switches: [s1, s2]
  links:
    - [h1, s1, {{vlan: 10}}]
    - [h2, s1, {{vlan: 20}}]
    - [s1, s2]
    - [h3, s2, {{vlan: 10}}]
    - [s2, r1, {{rate: 100mbit, {R1}}}]
"""
FLOWS = """\
flows:
  same: {ping: h1 -> h3, count: 2}
  routed: {ping: h1 -> h2, count: 2}
  router: {ping: h2 -> r1, count: 2, address: 10.0.20.254}
  udp: {iperf3: h1 -> h2, udp: yes, rate: 120mbit, time: 2s, args: [-l, "1400"], after: routed}
  shown: {program: r1 -> h1, run: ip -d link show r1-eth0.20, after: udp}
"""


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_vlans_are_read_and_written(tmp_path: Path) -> None:
    case = read(STUDY + FLOWS, tmp_path)
    link = case.network.links[4]
    assert link.b_vlan_addresses == (
        VlanAddress(vlan=10, address="10.0.10.254/24"),
        VlanAddress(vlan=20, address="10.0.20.254/24"),
    )
    assert case.network.host_addresses()["r1"] == "10.0.10.254"
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert Case.from_json(case.to_json()) == case
    more = STUDY.replace("[s1, s2]\n    - [h3", "[s1, s2, {vlan: 5, vlans: [10, 20]}]\n    - [h3")
    more = more.replace("{10: 10.0.10.254", "{untagged: 10.0.1.254/24, 10: 10.0.10.254")
    case = read(more, tmp_path)
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert case.network.links[4].b_address == "10.0.1.254/24"
    with pytest.raises(InputError, match="a network with VLANs cannot be written for Mininet"):
        miniedit_text(case.network)


def test_the_path_in_vlans(tmp_path: Path) -> None:
    network = read(STUDY, tmp_path).network
    way = [name for _, name in trace_route(network, "h1", "h2")]
    assert way == ["h1-eth0", "s1-eth3", "s2-eth3", "r1-eth0", "s2-eth1", "s1-eth2"]
    assert [name for _, name in trace_route(network, "h1", "h3")] == [
        *("h1-eth0", "s1-eth3", "s2-eth2"),
    ]
    met = {(one.host, one.interface) for one in needed_neighbours(network, [("h1", "h2", None)])}
    assert met == {
        *(("h1", "h1-eth0"), ("h2", "h2-eth0"), ("r1", "r1-eth0.10"), ("r1", "r1-eth0.20")),
    }
    apart = read(STUDY.replace("[h3, s2, {vlan: 10}]", "[h3, s2, {vlan: 20}]"), tmp_path)
    with pytest.raises(NoRouteError, match=r"h1 finds no interface .* 10.0.10.3 in its VLAN"):
        trace_route(apart.network, "h1", "h3")
    narrow = read(STUDY.replace("- [s1, s2]", "- [s1, s2, {vlans: 10}]"), tmp_path)
    with pytest.raises(NoRouteError, match=r"r1 finds no interface .* 10.0.20.1 in its VLAN"):
        trace_route(narrow.network, "h1", "h2")


def test_a_network_without_vlans_has_no_lines_for_them(tmp_path: Path) -> None:
    text = "title: x\nnetwork: {hosts: {h1: 10.0.0.1/8}, switches: [s1], links: [[h1, s1]]}\n"
    case = read(text, tmp_path)
    assert "vlan" not in str(build_batches(case.network))
    assert "vlan" not in str(case.to_json())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{vlan: 20}", "{vlan: 4095}", "4095 is outside of what is allowed: 1 to 4094"),
        ("{vlan: 20}", "{vlan: twenty}", "found 'twenty', expected the number of a VLAN"),
        (
            "{vlan: 20}",
            "{vlan: 20, vlans: [20, 30]}",
            "the VLAN 20 is that without tags: leave it out",
        ),
        ("{10: 10.0.10.254", "{red: 10.0.10.254", "'red' is not the number of a VLAN"),
        (
            "{10: 10.0.10.254/24, 20: 10.0.20.254/24}",
            "{10: 10.0.10.254/24, 20: 10.0.10.254/24}",
            "the address 10.0.10.254 is that of r1 already",
        ),
        (
            "- [s1, s2]",
            "- [s1, s2, {addresses: {s1: {10: 10.0.10.7/24}}}]",
            "s1 is a switch, whose interfaces have no addresses",
        ),
        (
            "- [s1, s2]",
            "- [s1, s2]\n    - [h1, h3, {vlan: 10}]",
            "VLANs are those of a switch's port, and this link has no switch",
        ),
        (
            "- [s1, s2]",
            "- [s1, s2]\n    - [router1, s1, {addresses: {router1: {1000: 10.0.9.1/24}}}]",
            "the interface router1-eth0.1000 has more than 15 characters: give its node a shorter"
            " name",
        ),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = STUDY
    if "router1" in new:
        text = STUDY.replace("    r1: {forwards", "    router1:\n    r1: {forwards")
    _, found = error(text.replace(old, new), tmp_path)
    assert found.startswith(message)


def test_vlans_in_a_machine(tmp_path: Path) -> None:
    run = run_case(read(STUDY + FLOWS, tmp_path), name="c", out=tmp_path / "runs")
    for flow in ("same", "routed", "router"):
        assert run.metrics[f"{flow}.received"] == 2
    # On the trunk a datagram of 1400 bytes is a frame of 1446, with the tag's 4 bytes.
    expected = 1e8 * 1400 / 1446
    assert run.metrics["udp.receiver_bps"] == pytest.approx(expected, rel=0.01)
    assert "vlan protocol 802.1Q id 20" in (run.raw / "shown.client.txt").read_text()


def test_vlans_of_a_live_network() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, h2, h3 = net.host("h1"), net.host("h2"), net.host("h3")
        r1, s1 = net.router("r1"), net.switch("s1")
        net.link(h1, s1, vlan=10)
        net.link(h2, s1, vlan=10)
        net.link(h3, s1, vlan=20)
        net.link(s1, r1, addresses=(None, {10: "10.9.0.1/24", 20: "10.9.1.1/24"}))
        assert h1.ping(h2, count=1)["received"] == 1
        assert h1.ping(h3, count=1)["received"] == 1
        assert [node for node, _ in trace_route(net.model, "h1", "h3")].count("r1") == 1
        rows = [line.split() for line in net.root.run("bridge vlan show").stdout.splitlines()]
        assert ["s1-eth1", "10", "PVID", "Egress", "Untagged"] in rows
        at = rows.index(["s1-eth4", "10"])
        assert rows[at + 1] == ["20"]
