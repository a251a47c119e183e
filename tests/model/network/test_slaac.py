"""SLAAC: addresses that are known before a run, mistakes, and what hosts form in a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError, MachineError
from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.addresses import called_addresses
from longfat.model.case import Case
from longfat.model.network import build_batches, trace_route
from longfat.model.network.neighbours import needed_neighbours
from longfat.study import read_study
from longfat.study.formats.miniedit import miniedit_text
from longfat.study.formats.mininet.write import mininet_text
from longfat.study.formats.write import study_text
from tests.study.messages import error

STUDY = """\
title: SLAAC
kernel: "6.1"
network:
  hosts:
    h1: slaac
    h2:
    h3: 2001:db8:1::3/64
    r1: {forwards: yes, routes: {2001:db8:2::/64: 2001:db8:9::2}}
    r2: {forwards: yes, routes: {2001:db8:1::/64: 2001:db8:9::1}}
  switches: [s1]
  links:
    - [h1, s1]
    - [h3, s1]
    - [s1, r1, {addresses: {r1: 2001:db8:1::1/64}}]
    - [r1, r2, {rate: 100mbit, delay: 5ms, addresses: {r1: 2001:db8:9::1/64, r2: 2001:db8:9::2/64}}]
    - [r2, h2, {addresses: {r2: 2001:db8:2::1/64, h2: slaac}}]
"""
FLOWS = """\
flows:
  ping: {ping: h1 -> h2, count: 3}
  bulk: {transfer: h2 -> h1, time: 1s, after: ping}
"""

# The SHA-256 of `h1-eth0` begins with c479bfb313, and that of `h2-eth0` with 9a511b8253.
ADDRESSES = {
    "h1": "2001:db8:1:0:c4:79ff:febf:b313",
    "h2": "2001:db8:2:0:9a:51ff:fe1b:8253",
}


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_addresses_are_known_before_a_run(tmp_path: Path) -> None:
    case = read(STUDY + FLOWS, tmp_path)
    assert read(study_text(title="again", case=case), tmp_path) == case
    assert Case.from_json(case.to_json()) == case
    called = called_addresses(case.network)
    assert {name: called[name] for name in ADDRESSES} == ADDRESSES
    assert case.network.addresses()[0] == (f"{ADDRESSES['h1']}/64", None)
    assert case.network.written_addresses()[0] == ("slaac", None)


def test_the_path_and_the_neighbours(tmp_path: Path) -> None:
    network = read(STUDY, tmp_path).network
    way = [name for _, name in trace_route(network, "h1", "h2")]
    assert way == ["h1-eth0", "s1-eth3", "r1-eth1", "r2-eth1"]
    assert trace_route(network, "h2", "h1")[0] == ("h2", "h2-eth0")
    handovers = needed_neighbours(network, [("h1", "h2", None)])
    met = {(handover.host, handover.address, handover.peer) for handover in handovers}
    assert ("r2", ADDRESSES["h2"], "h2") in met
    assert ("h1", "2001:db8:1::1", "r1") in met


def test_the_lines(tmp_path: Path) -> None:
    batches = build_batches(read(STUDY, tmp_path).network)
    (root, *_) = batches
    made = "link add s1-eth1 master s1 up type veth peer name h1-eth0 netns h1 address "
    assert f"{made}02:c4:79:bf:b3:13" in root.lines
    assert [(batch.program, batch.node, batch.lines) for batch in batches[-5:]] == [
        ("sh", "h3", ("sysctl -qw net/ipv6/conf/h3-eth0/accept_ra=0",)),
        ("slaac", "r1", ("advertise r1-eth0 2001:db8:1::/64",)),
        ("slaac", "r2", ("advertise r2-eth1 2001:db8:2::/64",)),
        ("slaac", "h1", (f"await h1-eth0 {ADDRESSES['h1']}",)),
        ("slaac", "h2", (f"await h2-eth0 {ADDRESSES['h2']}",)),
    ]


def test_a_network_without_slaac_has_no_lines_for_it(tmp_path: Path) -> None:
    text = "title: x\nnetwork: {hosts: {h1: 2001:db8::1/64}, switches: [s1], links: [[h1, s1]]}\n"
    lines = str(build_batches(read(text, tmp_path).network))
    assert "slaac" not in lines
    assert "address" not in lines


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "2001:db8:1::1/64}",
            "10.0.0.1/8}",
            "no router advertises a prefix to h1: SLAAC needs a host that forwards, with an IPv6"
            " address of a /64 on the subnet of h1-eth0",
        ),
        (
            "2001:db8:1::1/64}",
            "2001:db8:1::1/60}",
            "the prefix of r1 on the subnet of h1-eth0 is 2001:db8:1::/60: SLAAC needs one of /64",
        ),
        ("2001:db8:1::1/64}", "fe80::1/64}", "no router advertises a prefix to h1"),
        (
            "h3: 2001:db8:1::3/64",
            "h3: {address: 2001:db8:1::3/64, forwards: yes}",
            "2 routers have IPv6 addresses on the subnet of h1-eth0, where SLAAC takes one: h3"
            " (2001:db8:1::3/64), r1 (2001:db8:1::1/64)",
        ),
        ("h1: slaac", "h1: {address: slaac, forwards: yes}", "h1 forwards, and a router takes no"),
        (
            "h1: slaac",
            "h1: {address: slaac, routes: {default: 2001:db8:1::1}}",
            "h1 takes its default route by SLAAC: leave this one out",
        ),
        ("    - [h1, s1]\n", "", "h1 has no link, and so no router"),
        ("[h1, s1]", "[h1, s1, {vlan: 10}]", "a network with VLANs has no addresses by SLAAC"),
        ("[h1, s1]", "[h1, s1, {addresses: {s1: slaac}}]", "s1 is a switch, whose interfaces"),
        (
            "[h1, s1]",
            "[h1, s1, {addresses: {h1: {10: slaac}}}]",
            "only a link's interface without VLANs takes its address by SLAAC",
        ),
        (
            "    - [h1, s1]\n",
            "    - [h1, s1]\n    - [h1, r2, {addresses: {h1: slaac, r2: 2001:db8:4::1/64}}]\n",
            "h1 takes an address by SLAAC at h1-eth0 already",
        ),
        ("h1: slaac", "h1: SLAAC", "'SLAAC' has no prefix length"),
    ],
)
def test_mistakes(old: str, new: str, message: str, tmp_path: Path) -> None:
    _, words = error(STUDY.replace(old, new, 1), tmp_path)
    assert message in words


def test_a_bond_forms_no_address(tmp_path: Path) -> None:
    text = STUDY.replace("    - [h1, s1]\n", "    - [h1, s1]\n    - [h1, s1]\n", 1)
    text += "  bonds: [[h1, s1, {mode: active-backup}]]\n"
    where, words = error(text, tmp_path)
    assert "h1-bond0 is a bond: write its address" in words
    assert "network.hosts.h1" in where


def test_mistakes_are_reported_where_the_address_is_written(tmp_path: Path) -> None:
    text = STUDY.replace("r2: 2001:db8:2::1/64", "r2: 2001:db8:2::1/65")
    where, words = error(text, tmp_path)
    assert "network.links[4][2].addresses.h2" in where
    assert "the prefix of r2 on the subnet of h2-eth0 is 2001:db8:2::/65" in words


def test_mininet_has_no_slaac(tmp_path: Path) -> None:
    network = read(STUDY, tmp_path).network
    for write in (
        lambda: miniedit_text(network),
        lambda: mininet_text(title="x", network=network),
    ):
        with pytest.raises(InputError, match="a network with addresses by SLAAC cannot be written"):
            write()


SEEN = """\
setup:
  - h1: ip -6 -o addr show dev h1-eth0 scope global; ip -6 route show default
  - h2: ip -6 -o addr show dev h2-eth0 scope global -tentative; ip -6 route show default
  - h3: ip -6 -o addr show dev h3-eth0 scope global; ip -6 route show default
"""


def test_hosts_form_the_addresses_that_were_computed(tmp_path: Path) -> None:
    case = read(STUDY + SEEN + FLOWS, tmp_path)
    first = run_case(case, name="c", out=tmp_path / "a")
    assert first.metrics["ping.received"] == 3
    assert first.metrics["bulk.receiver_bps"] == pytest.approx(1e8, rel=0.12)
    script = (first.folder / "commands.sh").read_text().splitlines()
    printed = [line for line in script if line.startswith("#> ")]
    for name in ("h1", "h2"):
        own = [line for line in printed if f" {name}-eth0 " in line]
        assert f"inet6 {ADDRESSES[name]}/64 scope global dynamic" in own[0]
        assert "tentative" not in own[0]
        assert "default via fe80::" in own[1]
        assert " proto ra " in own[1]
        assert len(own) == 2
    # The advertisements concern no other host.
    own = [line for line in printed if " h3-eth0 " in line]
    assert own[0].split()[4] == "2001:db8:1::3/64"
    assert not any(" proto ra " in line for line in own)
    assert run_case(case, name="c", out=tmp_path / "b").digest == first.digest


def test_lost_advertisements_are_reported(tmp_path: Path) -> None:
    text = STUDY.replace("{r1: 2001:db8:1::1/64}", "{r1: 2001:db8:1::1/64}, to: {s1: {loss: 100%}}")
    with pytest.raises(MachineError) as caught:
        run_case(read(text + FLOWS, tmp_path), name="c", out=tmp_path / "runs")
    address = ADDRESSES["h1"]
    reason = f"h1-eth0 has no address {address} after 60 s: no router advertisement arrived"
    assert reason in caught.value.message
    assert f"`python3 -m longfat.guest.slaac await h1-eth0 {address}`" in caught.value.message


OUTAGE = """\
flows:
  ping: {ping: h1 -> h2, count: 100, interval: 100ms}
events:
  - {at: 1s, for: 1s, link: [h1, s1], down: yes}
"""


def test_a_host_forms_its_address_again(tmp_path: Path) -> None:
    run = run_case(read(STUDY + OUTAGE, tmp_path), name="c", out=tmp_path / "runs")
    # Down for a second, and then detection of duplicates of two addresses and a solicitation.
    assert 100 - 70 <= run.metrics["ping.received"] <= 100 - 20


def test_live_hosts() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, h2 = (
            net.host("h1", "slaac"),
            net.host("h2", "2001:db8:2::2/64", gateway="2001:db8:2::1"),
        )
        r1 = net.router("r1")
        net.link(h1, r1, addresses=(None, "2001:db8:1::1/64"))
        net.link(h2, r1, addresses=(None, "2001:db8:2::1/64"))
        assert net.address_of("h1") == ADDRESSES["h1"]
        assert h2.run("ping -c 1 h1").returncode == 0
        h3 = net.host("h3", "slaac")
        net.link(h3, r1, addresses=(None, "2001:db8:3::1/64"))
        assert h3.run("ping -c 1 h1").returncode == 0
        assert "slaac await h3-eth0" in net.record.text
