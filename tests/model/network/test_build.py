from __future__ import annotations

from longfat.model.network import (
    ROOT_NAMESPACE,
    Batch,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
    build_batches,
    hosts_file,
    interface_commands,
    shape_commands,
)

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
    assert (root.program, root.node) == ("ip", ROOT_NAMESPACE)
    assert "link add s1-eth1 master s1 up type veth peer name h1-eth0 netns h1" in root.lines
    assert "link set s2-eth1 master s2 up" in root.lines
    assert h1 == Batch(
        "ip", "h1", ("link set lo up", "link set h1-eth0 up", "addr add 10.0.0.1/8 dev h1-eth0")
    )
    assert h2.node == "h2"


def test_a_host_without_a_link_has_no_address() -> None:
    lone = Network(hosts=(Host(name="h1", address="10.0.0.1/8"),), switches=(), links=())
    assert build_batches(lone)[1].lines == ("link set lo up",)


def test_a_host_costs_one_line_at_root_and_one_process() -> None:
    hosts = tuple(
        Host(name=f"h{n}", address=f"10.0.{n // 200}.{n % 200 + 1}/8") for n in range(900)
    )
    links = tuple(Link(a=host.name, b="s1") for host in hosts)
    batches = build_batches(Network(hosts=hosts, switches=(Switch(name="s1"),), links=links))
    assert len(batches) == 901
    # A namespace and a veth pair for each.
    assert len(batches[0].lines) == 2 * 900 + 3
    assert all(len(batch.lines) == 3 for batch in batches[1:])


ROUTED = Network(
    hosts=(
        Host(name="h1", address="10.0.0.1/24", routes=(Route(to="default", via="10.0.0.254"),)),
        Host(name="r1", address="10.0.0.254/24", forwards=True),
        Host(name="h2", address=None, routes=(Route(to="fd00::/16", via="fd01::ff"),)),
    ),
    switches=(Switch(name="s1"),),
    links=(
        Link(a="h1", b="s1", mtu_bytes=9000),
        Link(a="s1", b="r1", b_to_a=LinkImpairments(rate_bps=10**9, delay_s=0.01)),
        Link(
            a="r1",
            b="h2",
            a_address="fd01::ff/64",
            b_address="fd01::2/64",
            a_to_b=LinkImpairments(loss=0.01),
        ),
    ),
)


def test_routers_addresses_and_shapes() -> None:
    assert build_batches(ROUTED) == [
        Batch(
            "ip",
            ROOT_NAMESPACE,
            (
                *("link set lo up", "netns add h1", "netns add r1", "netns add h2"),
                *("link add s1 type bridge", "link set s1 up"),
                "link add s1-eth1 mtu 9000 master s1 up type veth peer name h1-eth0 netns h1 "
                "mtu 9000",
                "link add s1-eth2 master s1 up type veth peer name r1-eth0 netns r1",
                "link add r1-eth1 netns r1 up type veth peer name h2-eth0 netns h2",
            ),
        ),
        Batch(
            "ip",
            "h1",
            (
                *("link set lo up", "link set h1-eth0 up", "addr add 10.0.0.1/24 dev h1-eth0"),
                "route add default via 10.0.0.254",
            ),
        ),
        Batch("sh", "r1", ("sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",)),
        Batch(
            "ip",
            "r1",
            (
                *("link set lo up", "link set r1-eth0 up", "addr add 10.0.0.254/24 dev r1-eth0"),
                "addr add fd01::ff/64 dev r1-eth1 nodad",
            ),
        ),
        Batch(
            "ip",
            "h2",
            (
                *("link set lo up", "link set h2-eth0 up", "addr add fd01::2/64 dev h2-eth0 nodad"),
                "route add fd00::/16 via fd01::ff",
            ),
        ),
        Batch(
            "tc",
            "r1",
            (
                "qdisc add dev r1-eth0 root handle 1: netem limit 1000000000 delay 10ms",
                "qdisc add dev r1-eth0 parent 1: handle 2: wire rate 1gbit limit 2500000",
                "qdisc add dev r1-eth1 root handle 1: netem limit 1000000000 loss 1%",
            ),
        ),
    ]


def test_shapes_as_they_are_typed() -> None:
    assert shape_commands(ROUTED)[0] == (
        "r1",
        "tc qdisc add dev r1-eth0 root handle 1: netem limit 1000000000 delay 10ms",
    )


def test_a_host_is_called_by_its_first_address() -> None:
    assert ROUTED.host_addresses() == {"h1": "10.0.0.1", "r1": "10.0.0.254", "h2": "fd01::2"}


def test_hosts_can_be_called_by_name() -> None:
    assert "10.0.0.2 h2\n" in hosts_file(LAB08.host_addresses())


def test_frames_offloads_and_coalescing_become_lines() -> None:
    network = Network(
        hosts=(
            Host(name="h1", address=None, offloads="tx off"),
            Host(name="h2", address=None, rx_coalescing_s=2e-5),
        ),
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1", offloads="sg off"), Link(a="s1", b="h2")),
        frames=True,
    )
    assert interface_commands(network) == [
        ("h1", "ip link set h1-eth0 gso_max_segs 1"),
        ("h1", "ethtool -K h1-eth0 tx off sg off"),
        (ROOT_NAMESPACE, "ethtool -K s1-eth1 sg off"),
        (ROOT_NAMESPACE, "ethtool -K s1-eth2 tso off"),
        ("h2", "ip link set h2-eth0 gso_max_segs 1"),
        ("h2", "echo 1 > /sys/class/net/h2-eth0/napi_defer_hard_irqs"),
        ("h2", "echo 20000 > /sys/class/net/h2-eth0/gro_flush_timeout"),
        ("h2", "ethtool -K h2-eth0 gro on"),
    ]
    assert interface_commands(LAB08) == []
