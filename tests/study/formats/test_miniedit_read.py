"""MiniEdit's files as they are read: the network, warnings and messages.

The files in tests/data/miniedit are ours, made after the format's description.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
)
from longfat.study.formats.miniedit import read_miniedit
from longfat.study.formats.miniedit.nodes import split_lines
from tests.paths import TESTS

DATA = TESTS / "data" / "miniedit"


def test_a_drawing() -> None:
    drawn, warnings = read_miniedit(DATA / "dumbbell.mn")
    shape = LinkImpairments(
        rate_bps=10**8, delay_s=0.02, jitter_s=0.001, loss=0.01, queue_bytes=200 * 1500
    )
    near = LinkImpairments(delay_s=0.005)
    assert drawn.network == Network(
        hosts=(
            Host(name="h2", address="10.0.0.2/8"),
            Host(name="h1", address="10.0.0.1/8"),
            # Mininet gives an address without a prefix length this one.
            Host(name="h3", address="10.0.0.33/8"),
        ),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=(
            Link(a="s1", b="s2", a_to_b=shape, b_to_a=shape),
            Link(a="h1", b="s1"),
            Link(a="h2", b="s1", a_to_b=near, b_to_a=near),
            Link(a="s2", b="h3"),
        ),
        shared_kernel=True,
    )
    # Interfaces are numbered in the order of the links.
    assert drawn.network.interfaces()[0] == ("s1-eth1", "s2-eth1")
    assert drawn.setup == ()
    assert drawn.positions["h3"] == (560.0, 210.0)
    assert warnings == (
        "c0: the controller is left out: switches here are learning bridges, which need none",
        "link s1 - s2: jitter: Mininet draws it evenly from both sides, longfat normally",
        "links with a delay and without bw: Mininet's netem drops beyond 1,000 packets on the line;"
        " here there is no limit",
    )


def test_what_cannot_be_carried_is_reported() -> None:
    drawn, warnings = read_miniedit(DATA / "everything.mn")
    reported = {tuple(text.split(": ", 1)) for text in warnings}
    for who, what in [
        ("application", "switchType ivs"),
        ("application", "dpctl"),
        ("application", "sflow"),
        ("application", "netflow"),
        ("application", "openFlowVersions"),
        ("application", "the field colour"),
        ("the file", "the field nodes"),
        ("c0", "the controller"),
        ("h1", "sched"),
        ("h1", "cpu"),
        ("h1", "cores"),
        ("h1", "privateDirectory"),
        ("h1", "externalInterfaces"),
        ("h1", "stopCommand"),
        ("h2", "defaultRoute 192.168.7.7"),
        ("h2", "startCommand `python3 -m http.server &` runs in the background"),
        ("h2", "the field dimage"),
        ("s1", "dpid"),
        ("s1", "dpctl"),
        ("s1", "stopCommand"),
        ("s1", "sflow"),
        ("s1", "netflow"),
        ("s1", "externalInterfaces"),
        ("s2", "switchType user"),
        ("s2", "startCommand `ovs-vsctl show`"),
        ("s3", "the router has no addresses"),
        ("link h1 - s1", "bw 2000"),
        ("link h1 - s1", "speedup"),
        ("link s1 - s2", "delay 50 has no unit"),
        ("link s1 - s2", "bw 0"),
        ("link h2 - s2", "max_queue_size"),
        ("link h2 - s2", "jitter is left out"),
        ("link c0 - s1", "is left out"),
    ]:
        assert any(one == who and words.startswith(what) for one, words in reported), (who, what)
    assert len(drawn.network.links) == 4
    assert drawn.network.links[0].a_to_b == LinkImpairments(rate_bps=2 * 10**9, queue_bytes=1518)
    assert drawn.network.links[1].a_to_b == LinkImpairments(delay_s=50e-6)
    assert drawn.network.hosts == (
        Host(name="h1", address="10.0.0.1/24", routes=(Route(to="default", via="10.0.0.254"),)),
        Host(name="h2", address="10.0.0.2/8"),
        Host(name="s3", address=None, forwards=True),
    )


def test_what_is_typed() -> None:
    drawn, _ = read_miniedit(DATA / "everything.mn")
    assert [(command.node, command.line) for command in drawn.setup] == [
        ("h1", "ip link add link h1-eth0 name h1-eth0.20 type vlan id 20"),
        # ifconfig takes the prefix length of the address's class.
        ("h1", "ip addr add 172.16.0.1/16 dev h1-eth0.20"),
        ("h1", "ip link set h1-eth0.20 up"),
        ("h1", "ip link add link h1-eth0 name h1-eth0.30 type vlan id 30"),
        ("h1", "ip addr add 192.168.1.1/28 dev h1-eth0.30"),
        ("h1", "ip link set h1-eth0.30 up"),
        ("h1", "sysctl -w net.ipv4.tcp_rmem='1 2 3'"),
        ("h1", "ip link show"),
        ("h2", "python3 -m http.server &"),
        (ROOT_NAMESPACE, "ip addr add 10.0.0.200/8 dev s1"),
        (ROOT_NAMESPACE, "tc qdisc add dev s1-eth1 root netem delay 1ms"),
    ]


def test_the_first_version_of_the_format() -> None:
    drawn, warnings = read_miniedit(DATA / "version1.mn")
    assert drawn.network.hosts == (
        Host(name="h1", address="192.168.0.1/8"),
        Host(name="h2", address="192.168.5.5/16"),
    )
    assert drawn.network.switches == (Switch(name="s1"),)
    assert drawn.network.links[0].b_to_a == LinkImpairments(rate_bps=10**7)
    assert warnings[1:] == (
        "links of bw 10 without max_queue_size: the queue holds 100 full packets here (one"
        " bandwidth-delay product, at least 100), 1,000 in Mininet",
    )


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        ("tc qdisc show; ip link show;", ["tc qdisc show", "ip link show"]),
        ("sysctl -w a='1; 2'; ip link show", ["sysctl -w a='1; 2'", "ip link show"]),
        ("cd /tmp; ip link show", ["cd /tmp; ip link show"]),
        ("for i in 1 2; do ip link show; done", ["for i in 1 2; do ip link show; done"]),
        ("ip link show | cat; ip link show", ["ip link show | cat; ip link show"]),
        ("a\n\n b", ["a", "b"]),
        ("ip link show 'x; ip link show", ["ip link show 'x; ip link show"]),
        ("ip link show x\\; ip link show", ["ip link show x\\; ip link show"]),
    ],
)
def test_several_commands_on_one_line(command: str, lines: list[str]) -> None:
    assert split_lines(command) == lines


def error(text: str | bytes, folder: Path) -> str:
    file = folder / "net.mn"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_miniedit(file)
    return str(caught.value).removeprefix(str(folder))


def test_a_loop_of_switches_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        read_miniedit(DATA / "loop.mn")
    assert (
        "a loop of switches, s3 - s1 - s2 - s3, in which a frame would circle"
        in caught.value.message
    )
    assert caught.value.place is not None
    line = (DATA / "loop.mn").read_text().splitlines()[caught.value.place.line - 1 :][:5]
    assert '"dest": "s1"' in "".join(line)


H1 = '{"number": "1", "opts": {"hostname": "h1", "nodeNum": 1}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "/net.mn:1:1: the file is empty"),
        ("{", "/net.mn:1:2: not JSON: Expecting property name enclosed in double quotes"),
        ("[]", "/net.mn:1:1: found a sequence, expected a MiniEdit file"),
        ("{}", "/net.mn:1:1: this is no MiniEdit file: it has no hosts and no switches and no "
         "links"),
        ('{"hosts": [], "switches": [], "links": [], "version": "3"}',
         "/net.mn:1:1: MiniEdit's file version '3' is not known, only 1 and 2"),
        (b'{"a": "\xff"}', "/net.mn:1:1: the file is not JSON, or nested too deep"),
        ("[" * 100_000, "/net.mn:1:1: the file is not JSON, or nested too deep"),
        (f'{{"hosts": [{H1}, {H1}], "switches": [], "links": []}}',
         "/net.mn:1:71: hosts[1]: there are two nodes with the name 'h1'"),
        (f'{{"hosts": [{H1}], "switches": [],\n "links": [{{"src": "h1", "dest": "s1"}}]}}',
         "/net.mn:2:34: links[0].dest: there is no node 's1' (there are: h1)"),
        (f'{{"hosts": [{H1}], "switches": [],\n "links": [{{"src": "h1"}}]}}',
         "/net.mn:2:12: links[0]: the link has no dest"),
        ('{"hosts": [{"number": "1", "opts": {"ip": "x"}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: ip: 'x/8' is not an address: 'x/8' does not appear to be an "
         "IPv4 or IPv6 interface"),
        ('{"hosts": [{"number": "300"}], "switches": [], "links": [],\n'
         ' "application": {"ipBase": "10.0.0.0/24"}}',
         "/net.mn:1:12: hosts[0]: h300 has no ip, and ipBase '10.0.0.0/24' has none with its "
         "number"),
        ('{"hosts": [{"opts": {}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: the node has neither a hostname nor a number"),
        ('{"hosts": [{"number": "1", "opts": {"hostname": "a b"}}], "switches": [], "links": []}',
         "/net.mn:1:12: hosts[0]: 'a b' cannot be a node's name: write a letter or a digit, then "
         "up to 31 letters, digits, - or _"),
    ],
)  # fmt: skip
def test_messages(text: str | bytes, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path) == message


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ('{"bw": "fast"}', "links[0].opts.bw: found 'fast', expected a number (bw)"),
        ('{"bw": -1}', "links[0].opts.bw: found '-1', expected a number (bw)"),
        ('{"delay": "soon"}', "links[0].opts.delay: 'soon' is not a time: write a number with "
         "s, ms, us, ns or min, such as 20ms"),
        ('{"loss": 101}', "links[0].opts: a loss of 101 % is more than all"),
    ],
)  # fmt: skip
def test_wrong_options(option: str, message: str, tmp_path: Path) -> None:
    text = (
        f'{{"hosts": [{H1}], "switches": [{{"number": "1"}}],\n\t'
        f'"links": [{{"src": "h1", "dest": "s1", "opts": {option}}}]}}'
    )
    assert error(text, tmp_path).partition(": ")[2] == message
