"""Lines that no packet meets, ends that are no neighbours, and queues below a burst."""

from __future__ import annotations

import pytest

from tests.model.lint.network_check import warnings

FAST = "rate: 1gbit, delay: 5ms"
HTB = "tc qdisc add dev r1-eth1 root handle 1: htb default 10"
CLASS = "tc class add dev r1-eth1 parent 1: classid 1:10 htb rate {}"
TBF = "tc qdisc add dev r1-eth1 root handle 1: tbf rate {} burst {} limit {}"
SLOW = "tbf rate 9mbit burst 9999 limit 99999"
NETEM = "tc qdisc add dev r1-eth1 root handle 1: netem {}"
PRIO = "tc qdisc add dev r1-eth1 root handle 1: prio"
BELOW = "tc qdisc add dev r1-eth1 parent 1:{} {}"
FILTER = "tc filter add dev r1-eth1 parent 1: protocol ip u32 match u32 0 0 flowid 1:3"
OFF = "sysctl -w net.ipv4.ip_forward=0"
ON = "sysctl -w net.ipv4.ip_forward=1"
LENGTH = "ip link set dev r1-eth1 txqueuelen 5"
RMEM = "sysctl -w net.ipv4.tcp_rmem='4096 131072 {}'"


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        # Queues below what TCP sends at once.
        ([HTB, CLASS.format("100mbit"), BELOW.format(10, "pfifo limit 1")], "holds 1 packet, and"),
        ([HTB, CLASS.format("100mbit"), BELOW.format(10, "pfifo limit 2")], "holds 2 packets"),
        ([HTB, CLASS.format("100mbit"), BELOW.format(10, "pfifo limit 10")], None),
        ([HTB, CLASS.format("900mbit"), BELOW.format(10, "bfifo limit 125000")], "up to 65,536"),
        ([HTB, CLASS.format("900mbit"), BELOW.format(10, "bfifo limit 250000")], None),
        ([TBF.format("900mbit", 200000, 30000)], "`tbf limit 30000`"),
        ([TBF.format("900mbit", 600000, 125000)], None),
        ([TBF.format("100mbit", 200000, 250000), BELOW.format(1, "pfifo limit 1")], None),
        # A queue that is not where packets wait.
        ([TBF.format("100mbit", 10000, 250000), BELOW.format(1, "netem delay 9ms")], "no effect"),
        ([TBF.format("100mbit", 10000, 250000), BELOW.format(1, "netem limit 99")], None),
        ([NETEM.format("delay 9ms"), BELOW.format(1, SLOW)], None),
        (
            [
                NETEM.format("delay 9ms rate 9mbit"),
                BELOW.format(1, SLOW),
            ],
            "never in the tbf",
        ),
        # Bands of prio.
        ([PRIO, BELOW.format(3, "netem delay 50ms")], "or `parent 1:2`"),
        ([PRIO, BELOW.format(2, "netem delay 50ms")], None),
        ([PRIO, BELOW.format(3, "netem delay 50ms"), FILTER], None),
        # Interfaces and lengths that matter for nothing.
        (["h1: tc qdisc add dev lo root netem delay 50ms"], "write `dev h1-eth0`"),
        ([LENGTH], "none is made at r1-eth1 after this line"),
        ([HTB, CLASS.format("100mbit"), LENGTH], "none is made at r1-eth1 after this line"),
        ([LENGTH, HTB, CLASS.format("100mbit")], None),
        (["h1: ip link set dev h1-eth0 mtu 1500 txqueuelen 5"], "`limit` of a qdisc"),
        # The other end.
        (["h1: " + RMEM.format(9999999)], "which only sends data"),
        (["h2: " + RMEM.format(9999999)], None),
        (["h2: " + RMEM.format(9999999).replace("rmem", "wmem")], "write the line at `h1`"),
        (["h2: sysctl -w net.ipv4.tcp_congestion_control=bbr"], "only receives data"),
        (["h2: sysctl -w net.ipv4.tcp_congestion_control=dctcp"], None),
        (["h1: sysctl -w net.ipv4.tcp_congestion_control=bbr"], None),
        (
            ["h2: tc qdisc add dev h2-eth0 root tbf rate 10mbit burst 9999 limit 99999"],
            "`rate 10mbit` at `dev r1-eth1` of r1",
        ),
        (["h2: tc qdisc add dev h2-eth0 root tbf rate 100kbit burst 9999 limit 99999"], None),
        (
            [
                TBF.format("100mbit", 10000, 250000),
                "h2: tc qdisc add dev h2-eth0 root tbf rate 10mbit burst 9999 limit 99999",
            ],
            None,
        ),
        # Memory, and numbers that the kernel refuses.
        (["h2: " + RMEM.format(2147483647)], None),
        (["root: sysctl -w net.core.wmem_max=2147483648"], "refuses numbers above 2147483647"),
        # Neighbours and gateways.
        ([OFF], "h1 sends what is for h2 to r1, which does not forward, and a line switches"),
        ([OFF, ON], None),
        (["ip addr replace 10.0.1.253/24 dev r1-eth0"], None),
        (
            ["ip addr del 10.0.1.254/24 dev r1-eth0; ip addr add 10.0.9.254/24 dev r1-eth0"],
            "no network in common",
        ),
        (["ip addr flush dev r1-eth0", "ip addr add 10.0.1.9/24 dev r1-eth0"], None),
        (["ip addr flush dev r1-eth0", "./addresses.sh"], None),
    ],
)
def test_lines_without_effect(lines: list[str], part: str | None) -> None:
    texts = warnings(*lines, first=FAST)
    if part is None:
        assert texts == []
    else:
        assert any(part in text for text in texts), texts


def test_buffers_above_the_memory() -> None:
    lines = ["h2: " + RMEM.format(268435456)]
    assert any("write `memory: 1GB`" in text for text in warnings(*lines, more="memory: 128MB\n"))
    assert warnings(*lines, more="memory: 512MB\n") == []


@pytest.mark.parametrize("flow", ["reverse: yes", "congestion: bbr"])
def test_settings_of_the_end_that_they_matter_for(flow: str) -> None:
    assert warnings("h2: sysctl -w net.ipv4.tcp_congestion_control=bbr", flow=flow) == []


def test_a_router_that_an_event_opens() -> None:
    events = "events:\n  - {at: 1s, r1: sysctl -w net.ipv4.ip_forward=1}\n"
    assert warnings(OFF, more=events) == []
