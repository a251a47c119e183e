from __future__ import annotations

from longfat.network import ROOT, Batch, Host, Link, Network, Switch, build_batches, hosts_file

LAB08 = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
    switches=(Switch(name="s1"), Switch(name="s2")),
    links=(Link(a="h1", b="s1"), Link(a="s1", b="s2"), Link(a="h2", b="s2")),
)


def test_interfaces_are_numbered_as_mininet_does() -> None:
    assert LAB08.interfaces() == [
        ("h1-eth0", "s1-eth1"),
        ("s1-eth2", "s2-eth1"),
        ("h2-eth0", "s2-eth2"),
    ]


def test_switches_live_at_root_and_hosts_in_namespaces() -> None:
    root, h1, h2 = build_batches(LAB08)
    assert root.node == ROOT
    assert "link add h1-eth0 netns h1 type veth peer name s1-eth1" in root.lines
    assert "link set s1-eth2 master s1" in root.lines
    assert h1 == Batch(
        "h1", ("link set lo up", "addr add 10.0.0.1/8 dev h1-eth0", "link set h1-eth0 up")
    )
    assert h2.node == "h2"


def test_a_host_without_a_link_has_no_address() -> None:
    lone = Network(hosts=(Host(name="h1", address="10.0.0.1/8"),), switches=(), links=())
    assert build_batches(lone)[1].lines == ("link set lo up",)


def test_hosts_can_be_called_by_name() -> None:
    assert "10.0.0.2 h2\n" in hosts_file(LAB08)
