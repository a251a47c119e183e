"""Bonds: their values and mistakes, the lines that make them, and what they do in a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution import run_case
from longfat.live import Network as LiveNetwork
from longfat.model.case import Case
from longfat.model.network import build_batches, trace_route
from longfat.model.network.neighbours import needed_neighbours
from longfat.study import read_study
from longfat.study.formats.miniedit import miniedit_text
from longfat.study.formats.mininet.write import mininet_text
from longfat.study.formats.write import study_text
from tests.study.messages import error

STUDY = """\
title: Bonds
kernel: "6.1"
network:
  hosts:
    h1: 10.0.0.1/24
    h2: 10.0.0.2/24
  switches: [s1, s2]
  links:
    - [h1, s1, {rate: 400mbit}]
    - [s1, s2]
    - [h2, s1, {rate: 100mbit}]
    - [h2, s1, {rate: 100mbit}]
  bonds:
    - [h2, s1, {mode: balance-xor, hash: layer3+4}]
"""
FLOWS = """\
flows:
  many: {transfer: h1 -> h2, time: 2s, parallel: 16}
  back: {transfer: h2 -> h1, time: 2s, parallel: 16, after: many}
probes:
  links: {kind: rate, of: [h2-bond0, s1-bond0, h2-eth0, h2-eth1]}
"""

# One link to each of two switches.
DUAL = STUDY.replace("- [h2, s1, {rate: 100mbit}]\n  bonds", "- [h2, s2, {rate: 100mbit}]\n  bonds")
DUAL = DUAL.replace("[h2, s1, {mode: balance-xor, hash: layer3+4}]", "[h2, [s1, s2], {OF}]")
DUAL = DUAL.replace("{OF}", "{mode: active-backup, miimon: 50ms}")


def read(text: str, folder: Path) -> Case:
    file = folder / "study.yaml"
    file.write_text(text)
    return read_study(file).cases["default"].case


def test_bonds_are_read_and_written(tmp_path: Path) -> None:
    for text in (STUDY + FLOWS, DUAL):
        case = read(text, tmp_path)
        assert read(study_text(title="again", case=case), tmp_path) == case
        assert Case.from_json(case.to_json()) == case
    ends = {end.node: end for end in case.network.bond_ends()}
    assert list(ends) == ["h2"]  # with active-backup a switch has no bond
    assert ends["h2"].slaves == ("h2-eth0", "h2-eth1")
    for write in (
        lambda: miniedit_text(case.network),
        lambda: mininet_text(title="x", network=case.network),
    ):
        with pytest.raises(InputError, match="a network with bonds cannot be written for Mininet"):
            write()


def test_a_network_without_bonds_has_no_lines_for_them(tmp_path: Path) -> None:
    text = "title: x\nnetwork: {hosts: {h1: 10.0.0.1/8}, switches: [s1], links: [[h1, s1]]}\n"
    case = read(text, tmp_path)
    assert "bond" not in str(build_batches(case.network))
    assert "bond" not in str(case.to_json())


def test_the_lines_of_both_ends(tmp_path: Path) -> None:
    text = STUDY.replace("layer3+4}", "layer3+4, miimon: 50ms, updelay: 200ms}")
    root, _, h2 = build_batches(read(text, tmp_path).network)[:3]
    options = "type bond mode balance-xor miimon 50 xmit_hash_policy layer3+4 updelay 200"
    assert h2.lines == (
        "link set lo up",
        f"link add h2-bond0 {options}",
        "link set h2-eth0 master h2-bond0",
        "link set h2-eth1 master h2-bond0",
        "link set h2-bond0 up",
        "addr add 10.0.0.2/24 dev h2-bond0",
    )
    assert root.lines[-5:] == (
        f"link add s1-bond0 {options}",
        "link set s1-eth3 master s1-bond0",
        "link set s1-eth4 master s1-bond0",
        "link set s1-bond0 up",
        "link set s1-bond0 master s1",
    )
    assert "link add s1-eth3 type veth peer name h2-eth0 netns h2" in root.lines


def test_the_path_and_the_neighbours(tmp_path: Path) -> None:
    network = read(STUDY, tmp_path).network
    assert [name for _, name in trace_route(network, "h1", "h2")] == ["h1-eth0", "s1-eth3"]
    assert [name for _, name in trace_route(network, "h2", "h1")] == ["h2-eth0", "s1-eth1"]
    met = needed_neighbours(network, [("h1", "h2", None)])
    assert {(one.interface, one.peer_interface) for one in met} == {
        ("h1-eth0", "h2-bond0"),
        ("h2-bond0", "h1-eth0"),
    }


BOND = "[h2, s1, {mode: balance-xor, hash: layer3+4}]"


@pytest.mark.parametrize(
    ("bond", "message"),
    [
        ("[h2, s1]", "a bond has two ends and its properties: write a bond as [NODE, NODE, "),
        ("[h2, s1, {miimon: 1s}]", "the bond has no mode: write a bond as"),
        ("[h2, s9, {mode: 802.3ad}]", "there is no node 's9' (there are: h1, h2, s1, s2)"),
        ("[h2, h2, {mode: 802.3ad}]", "h2 is written twice: a bond leads from one node to others"),
        ("[h2, s1, {mode: lacp}]", "'lacp' is not a mode of bonding (there are: active-backup, "),
        ("[h2, s2, {mode: 802.3ad}]", "no link leads from h2 to s2"),
        (
            "[h1, s1, {mode: 802.3ad}]",
            "a bond has several links, and one leads from h1 to s1",
        ),
        (
            f"{BOND}\n    - [s1, h2, {{mode: 802.3ad}}]",
            "the links of s1 and h2 are in another bond already",
        ),
        (
            "[h2, s1, {mode: active-backup, hash: layer2}]",
            "active-backup selects links without a hash: that is one of balance-xor",
        ),
        (
            "[h2, s1, {mode: balance-xor, lacp_fast: yes}]",
            "balance-xor has no LACP, which is 802.3ad's",
        ),
        (
            "[h2, s1, {mode: 802.3ad, primary: h2-eth0}]",
            "802.3ad uses all links, and has no primary one",
        ),
        (
            "[h2, s1, {mode: active-backup, primary: h2-eth7}]",
            "'h2-eth7' is no interface of the bond (there are: h2-eth0, s1-eth3, h2-eth1, s1-eth4)",
        ),
        (
            "[h2, s1, {mode: 802.3ad, updelay: 150ms}]",
            "it is not a multiple of miimon, and Linux would round it down",
        ),
        ("[h2, s1, {mode: 802.3ad, miimon: 1500us}]", "it is not a whole number of milliseconds"),
    ],
)
def test_mistakes(bond: str, message: str, tmp_path: Path) -> None:
    _, found = error(STUDY.replace(BOND, bond), tmp_path)
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            DUAL.replace("active-backup", "802.3ad"),
            "802.3ad needs one node at the other end, which bonds the links, too: towards several",
        ),
        (
            DUAL.replace("[h2, [s1, s2]", "[s1, [h2, s2]"),
            "a bond with several nodes at its other end is one of a host and switches",
        ),
        (
            STUDY.replace("[h2, s1, {rate: 100mbit}]\n  bonds", "[h2, s1, {vlan: 7}]\n  bonds"),
            "the links between h2 and s1 are bonded: give all of them the same vlan",
        ),
        (
            STUDY.replace(
                "[h2, s1, {rate: 100mbit}]\n  bonds",
                "[h2, s1, {addresses: {h2: 10.0.1.1/24}}]\n  bonds",
            ),
            "the links between h2 and s1 are bonded: the address is that of the bond, so write it",
        ),
        (
            STUDY.replace("[h2, s1, {rate: 100mbit}]", "[h1, h2]").replace(
                BOND, "[h1, h2, {mode: balance-tlb}]"
            ),
            "balance-tlb is a mode of a host's links to switches",
        ),
        (
            (STUDY + FLOWS).replace("kind: rate", "kind: queue"),
            "h2-bond0 is a bond, whose links have the queues: h2-eth0, h2-eth1",
        ),
        (
            STUDY + FLOWS + "events:\n  - {at: 1s, link: [h2, s1], down: yes}\n",
            "2 links lead from h2 to s1, so it is not clear which is meant: write an interface in"
            " place of its node, such as [h2-eth0, s1]",
        ),
    ],
)
def test_mistakes_of_links(text: str, message: str, tmp_path: Path) -> None:
    _, found = error(text, tmp_path)
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("mode", "many", "back"),
    [
        ("balance-xor, hash: layer3+4", 200, 200),
        ("balance-rr", 200, 200),
        ("active-backup", 100, 100),
        ("broadcast", 100, 100),
        ("balance-tlb", 100, None),  # the host selects by load, and its switch has no choice
        ("balance-alb", 100, None),
    ],
)
def test_modes_in_a_machine(mode: str, many: float, back: float | None, tmp_path: Path) -> None:
    text = (STUDY + FLOWS).replace("balance-xor, hash: layer3+4", mode)
    if "active" in mode or "lb" in mode:
        text = text.replace("h2-bond0, s1-bond0", "h2-bond0")
    metrics = run_case(read(text, tmp_path), name="c", out=tmp_path / "runs").metrics
    assert metrics["many.receiver_bps"] == pytest.approx(many * 1e6 * 0.95, rel=0.06)
    if back is not None:
        assert metrics["back.receiver_bps"] == pytest.approx(back * 1e6 * 0.95, rel=0.06)


def test_lacp_between_hosts_and_between_switches(tmp_path: Path) -> None:
    text = """\
title: x
kernel: "6.1"
network:
  hosts: {h1: 10.0.0.1/24, h2: "2001:db8::2/64", h3: "2001:db8::3/64"}
  switches: [s1, s2]
  links:
    - [h1, s1, {vlan: 10}]
    - [h2, s2, {vlan: 20}]
    - [s1, s2, {rate: 10mbit}]
    - [s1, s2, {rate: 10mbit}]
    - [h3, s1, {vlan: 20, mtu: 1500}]
  bonds: [[s1, s2, {mode: 802.3ad, hash: layer3+4, lacp_fast: yes}]]
flows:
  ping: {ping: h3 -> h2, count: 3, start: 2s}
  many: {transfer: h3 -> h2, time: 2s, start: 3s, parallel: 16}
"""
    case = read(text, tmp_path)
    first = run_case(case, name="c", out=tmp_path / "a")
    assert first.metrics["ping.received"] == 3
    assert first.metrics["many.receiver_bps"] == pytest.approx(2e7 * 0.94, rel=0.06)
    assert run_case(case, name="c", out=tmp_path / "b").digest == first.digest


OUTAGE = """\
flows:
  udp: {cbr: h1 -> h2, time: 3s, size: 1000, rate: 8mbit}
  tcp: {transfer: h2 -> h1, time: 3s}
events:
  - {at: 1010ms, for: 1s, link: [h2-eth0, s1], down: yes}
probes:
  links: {kind: rate, of: [h2-eth0, h2-eth1]}
"""


@pytest.mark.parametrize("primary", ["", ", primary: h2-eth0"])
def test_a_link_that_an_event_sets_down(primary: str, tmp_path: Path) -> None:
    text = DUAL.replace("miimon: 50ms", f"miimon: 50ms{primary}")
    run = run_case(read(text + OUTAGE, tmp_path), name="c", out=tmp_path / "runs")
    # A thousand datagrams a second are lost until the carrier is looked at: every 50 ms, and up to
    # a jiffy later.
    assert 2940 <= run.metrics["udp.received"] < 3000
    assert run.metrics["tcp.receiver_bps"] > 8e7
    first, second = (run.metrics[f"links.h2_eth{n}_tx_bps"] for n in (0, 1))
    assert (first > 2 * second) if primary else (first < 0.7 * second)


def test_bonds_of_a_live_network() -> None:
    with LiveNetwork(kernel="6.1") as net:
        h1, h2 = net.host("h1"), net.host("h2")
        s1 = net.switch("s1")
        net.link(h1, s1, addresses=(None, None))
        links = [net.link(h2, s1, vlan=10) for _ in range(2)]
        with pytest.raises(InputError, match="'lacp' is not a mode of bonding"):
            net.bond(h2, s1, mode="lacp")
        assert net.bond(h2, s1, mode="802.3ad", hash="layer2+3") == "h2-bond0"
        net.link(h1, s1, vlan=10, addresses=("10.0.0.9/8", None))
        assert "mode 802.3ad" in h2.run("ip -d link show h2-bond0").stdout
        assert "10 PVID" in net.root.run("bridge vlan show dev s1-bond0").stdout
        del links
        h3 = net.host("h3")
        net.link(h3, s1)
        net.link(h3, s1)
        h3.run("true")
        with pytest.raises(InputError, match="the links of h3 and s1 are up already"):
            net.bond(h3, s1, mode="balance-xor")
