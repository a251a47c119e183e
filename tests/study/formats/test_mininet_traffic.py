"""What of a script becomes which part of a study, as far as that needs no run."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.model.events import TypedLine
from longfat.study.formats.mininet.helpers import helper_files
from longfat.study.formats.mininet.machine import Typed
from longfat.study.formats.mininet.names import with_interfaces
from longfat.study.formats.mininet.schedule import anchor_of, schedule_of
from tests.study.formats.mininet_scripts import read

NET = """
from mininet.net import Mininet
from mininet.link import TCLink
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(h2, s1)
net.start()
"""


@pytest.mark.parametrize(
    ("lines", "flow"),
    [
        ("h1.cmd('ping -c 7 -i 0.01 -s 100 -W 1 10.0.0.2')",
         "ping h1 -> h2 7 requests, every 10 ms, 100 B of payload, -W, 1"),
        ("h1.cmd('timeout 0.02 ping -i 0.01 10.0.0.2 &')",
         "ping h1 -> h2 2 requests, every 10 ms"),
        ("h1.popen('iperf3 -c 10.0.0.2 -b 5M -u')", "iperf3 h1 -> h2"),
        ("h1.popen('iperf -c 10.0.0.2 -b 10M -u')", "10.5 Mbit/s per stream, UDP, -l, 1470"),
        ("h1.popen('iperf3 -c 10.0.0.2 --forever')", "program h1 -> h2 iperf3 -c 10.0.0.2 --for"),
        ("h1.popen('ping -c 1 10.0.0.99')", "program h1 -> h2 ping -c 1 10.0.0.99"),
        ("h1.cmd('./x 10.0.0.2')", "program h1 -> h2 cd /tmp; ./x 10.0.0.2"),
        ("h1.cmd('export A=b'); h1.cmd('cd /tmp'); h1.cmd('./x')", "export A=b; cd /tmp; ./x"),
        ("h1.cmd('for i in 1 2; do ping -c1 10.0.0.2; done')", "for i in 1 2; do ping -c1 10.0"),
        ("h2.popen('mptcpize run iperf3 -s')\nh1.popen('mptcpize run iperf3 -c 10.0.0.2')",
         "program h1 -> h2 mptcpize run iperf3 -c 10.0.0.2"),
        ("import time\nh1.cmd('while true; do ping -c1 10.0.0.2; sleep 1; done > f &')\n"
         "time.sleep(0.01)\nnet.stop()", "ping -c1 10.0.0.2; sleep 1; done > f, at most 1 s"),
        ("h1.cmd('for a in 1; do\\nping 10.0.0.2\\ndone')",
         "program h1 -> h2 eval \"$(printf %b 'for a in 1; do\\nping 10.0.0.2\\ndone')\""),
        ("net.ping([h1, h2], timeout=2)", "ping h1 -> h2 1 request, -W, 2"),
    ],
)  # fmt: skip
def test_a_command_is_a_flow(lines: str, flow: str, tmp_path: Path) -> None:
    (run,) = read(NET + lines, tmp_path)[0].runs
    first = run.traffic.flows[0]
    assert flow in f"{first.tool} {first.source} -> {first.target} {first.summary()}"


def test_a_large_ping_all_is_a_flow_for_each_host(tmp_path: Path) -> None:
    hosts = "for n in range(3, 8):\n    net.addLink(net.addHost(f'h{n}'), s1)\n"
    text = NET.replace("net.start()", f"{hosts}net.start()\nnet.pingAll()")
    (run,) = read(text, tmp_path)[0].runs
    assert [flow.name for flow in run.traffic.flows] == [f"pings_h{n}" for n in range(1, 8)]
    assert run.traffic.flows[0].summary() == (
        "for a in 10.0.0.2 10.0.0.3 10.0.0.4 10.0.0.5 10.0.0.6 10.0.0.7; do ping -c1 $a; done"
    )


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("tc qdisc add dev wan root netem", "tc qdisc add dev r1-eth1 root netem"),
        ("sysctl -w net.ipv4.conf.wan.rp_filter=0", "sysctl -w net.ipv4.conf.r1-eth1.rp_filter=0"),
        ("ip link add link wan name wan.5 type vlan id 5",
         "ip link add link r1-eth1 name r1-eth1.5 type vlan id 5"),
        ("cat /tmp/wan.txt wan.txt my-wan wan-x", "cat /tmp/wan.txt wan.txt my-wan wan-x"),
        ("tcpdump -i lan and wan", "tcpdump -i wan and r1-eth1"),
    ],
)  # fmt: skip
def test_lines_name_interfaces_as_they_are_here(line: str, changed: str) -> None:
    assert with_interfaces(line, {"wan": "r1-eth1", "lan": "wan"}) == changed


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("ip link set dev 1 mtu 1400", "ip link set dev s1 mtu 1400"),
        ("ip link set 1 up; sleep 1", "ip link set s1 up; sleep 1"),
        ("ip link set dev x master 1", "ip link set dev x master s1"),
        ("sysctl net.ipv4.conf.1.forwarding=1", "sysctl net.ipv4.conf.s1.forwarding=1"),
        ("cat /sys/class/net/1/mtu", "cat /sys/class/net/s1/mtu"),
        ("ping -c 1 -i 1 10.0.0.1", "ping -c 1 -i 1 10.0.0.1"),
        ("tc qdisc add dev 1-eth1 root netem limit 1",
         "tc qdisc add dev s1-eth1 root netem limit 1"),
    ],
)  # fmt: skip
def test_a_bridge_named_by_a_number(line: str, changed: str) -> None:
    assert with_interfaces(line, {"1": "s1", "1-eth1": "s1-eth1"}) == changed


def test_files_beside_a_script(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    for name in ("mine.py", "own/__init__.py", "own/part.py", "topo.json", ".secret", "other"):
        (tmp_path / name).write_text("import deeper\n" if name == "mine.py" else "")
    (tmp_path / "deeper.py").write_text("")
    (tmp_path / "link.json").symlink_to("/etc/passwd")
    script = b"import mine\nfrom own import part\nopen('./topo.json')\n"
    script += b"open('.secret'), open('link.json'), open('../x'), open('/etc/passwd')\n"
    found = helper_files(tmp_path / "net.py", script)
    assert sorted(found) == ["deeper.py", "mine.py", "own/__init__.py", "own/part.py", "topo.json"]


def test_switches_that_forward_nothing_are_noted(tmp_path: Path) -> None:
    text = NET.replace("switch=OVSBridge, ", "")
    (run,) = read(text, tmp_path)[0].runs
    assert any(note.startswith("s1: it forwards nothing in Mininet") for note in run.notes)
    options = text.replace('"s1")', '"s1", failMode="standalone", stp=True, dpid="5")')
    (run,) = read(options, tmp_path)[0].runs
    assert [note for note in run.notes if "s1" in note] == [
        "line 6: s1: stp is left out: a bridge here has no spanning tree"
    ]


CHANGES = """
link.intf2.config(bw=8)
h1.cmd('sysctl -w net.ipv4.tcp_ecn=0')
link.intf2.config(bw=5, max_queue_size=7)
link.intf2.config(up=True)
h1.cmd('ping -c 2 10.0.0.2')
link.intf2.config(bw=1, delay='3ms')
h1.cmd('ping -c 2 10.0.0.2')
link.intf2.config(delay='4ms')
h1.cmd('ping -c 2 10.0.0.2')
link.intf2.config(bw=9)
"""


def test_a_link_that_changes_is_an_event_once_there_was_traffic(tmp_path: Path) -> None:
    text = NET.replace("net.addLink(h1, s1)", "link = net.addLink(h1, s1, bw=20, delay='1ms')")
    found, _ = read(text + CHANGES, tmp_path)
    (run,) = found.runs
    rates = [one.line for one in run.traffic.setup if "s1-eth1 parent 5:0 classid" in one.line]
    assert rates == [
        "tc class add dev s1-eth1 parent 5:0 classid 5:1 htb rate 5.000000Mbit burst 15k"
    ]
    netems = [
        one.line for one in run.traffic.setup if "s1-eth1" in one.line and "netem" in one.line
    ]
    assert netems == ["tc qdisc add dev s1-eth1 parent 5:1 handle 10: netem limit 7"]
    typed = [event for event in run.traffic.events if isinstance(event, TypedLine)]
    events = [(event.after, event.node, event.line) for event in typed]
    second, third = "ping_h1_h2", "ping_h1_h2_2"
    assert events == [
        (second, "root", "tc qdisc del dev s1-eth1 root"),
        (second, "root", "tc qdisc add dev s1-eth1 root handle 5:0 htb default 1"),
        (
            second,
            "root",
            "tc class add dev s1-eth1 parent 5:0 classid 5:1 htb rate 1.000000Mbit burst 15k",
        ),
        (second, "root", "tc qdisc add dev s1-eth1 parent 5:1 handle 10: netem delay 3ms"),
        (third, "root", "tc qdisc del dev s1-eth1 root"),
        (third, "root", "tc qdisc add dev s1-eth1 root handle 10: netem delay 4ms"),
    ]
    assert any("Mbit burst 15k" in note or "left out: it comes after" in note for note in run.notes)
    # The network alone is as it is left.
    assert found.network.links[0].b_to_a.rate_bps == 9_000_000


def test_a_limit_of_packets_on_a_line_without_a_rate(tmp_path: Path) -> None:
    text = NET.replace("net.addLink(h1, s1)", "net.addLink(h1, s1, delay='9ms', max_queue_size=4)")
    found, notes = read(text + "h1.cmd('ping -c 2 10.0.0.2')", tmp_path)
    line = "tc qdisc add dev s1-eth1 root handle 10: netem delay 9ms limit 4"
    assert line in [one.line for one in found.runs[0].traffic.setup]
    assert not any("max_queue_size" in note for note in found.runs[0].notes)
    why = "Mininet's netem drops beyond 4 packets on the line"
    assert f"link h1 - s1: max_queue_size is left out: {why}" in notes


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ("bw=10", "links of bw 10 without max_queue_size: the queue holds 100 full packets here "
         "(one bandwidth-delay product, at least 100), 1,000 in Mininet"),
        ("bw=400, delay='5ms'", "links of bw 400 without max_queue_size: the queue holds 330 "),
        ("delay='5ms'", "links with a delay and without bw: Mininet's netem drops beyond "),
        ("bw=10, max_queue_size=50", None),
        ("bw=10, enable_red=True", None),
        ("loss=1", None),
    ],
)  # fmt: skip
def test_a_default_queue_that_differs_is_noted(
    options: str, note: str | None, tmp_path: Path
) -> None:
    text = NET.replace("net.addLink(h1, s1)", f"net.addLink(h1, s1, {options})")
    found, notes = read(text + "h1.cmd('ping -c 2 10.0.0.2')", tmp_path)
    about = [one for one in notes if one.startswith("links ")]
    assert [one.startswith(note or "-") for one in about] == ([True] if note else [])
    # As a whole study has Mininet's own lines for links with a rate.
    whole = [one for one in found.runs[0].notes if one.startswith("links of bw")]
    assert whole == []


def test_of_commands_that_end_together_the_last_one_is_waited_for() -> None:
    def typed(text: str, number: int, time_s: float) -> Typed:
        return Typed(node="h1", text=text, at=(number, 1), number=number, time_s=time_s)

    lines = [typed("ping -c 3 -i 0.2 h2", 1, 0.0), typed("nc h2", 2, 0.4)]
    first, second = schedule_of(lines).actions
    first.end_s = first.known_end_s = 0.4 + 5e-16  # as a sum of its pauses may have it
    second.end_s = second.known_end_s = 0.4
    (third,) = schedule_of([typed("iperf3 -c h2", 3, 0.4)]).actions
    assert anchor_of(third, [first, second])[0] is second
