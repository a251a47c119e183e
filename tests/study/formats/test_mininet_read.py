"""What Mininet scripts become: topologies, nodes, links, set-up lines.

MiniEdit exports one, and `facts.py` prints what Mininet itself is compared in.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    LinkImpairments,
    Network,
    Route,
    Switch,
)
from tests.command import longfat
from tests.paths import TESTS
from tests.study.formats.mininet_scripts import NET, read, run_here

DATA = TESTS / "data" / "mininet"


def test_what_miniedit_exports(tmp_path: Path) -> None:
    text = (DATA / "from_miniedit.py").read_text()
    found, warnings = read(text, tmp_path)
    shape = LinkImpairments(
        rate_bps=10**8, delay_s=0.01, jitter_s=0.001, loss=0.01, queue_bytes=300_000
    )
    near = LinkImpairments(delay_s=0.005)
    assert found.network == Network(
        hosts=(
            Host(name="r3", address=None, forwards=True),
            Host(name="h1", address="10.0.0.1/8"),
            Host(
                name="h2",
                address="10.0.0.2/8",
                routes=(Route(to="default", via="10.0.0.9"),),
            ),
        ),
        switches=(Switch(name="s1"), Switch(name="s2")),
        links=(
            Link(a="s1", b="s2", a_to_b=shape, b_to_a=shape),
            Link(a="h1", b="s1"),
            Link(a="h2", b="s2", a_to_b=near, b_to_a=near),
            Link(a="r3", b="s2"),
        ),
    )
    assert found.setup == (
        Command(node=ROOT_NAMESPACE, line="ifconfig s1 10.0.0.50"),
        Command(node="h1", line="vconfig add h1-eth0 5"),
    )
    assert warnings == (
        "c0: the controller is left out: switches here are learning bridges, which need none",
        "line 56: h1: `ping -c1 h2` is left out: a study has flows for traffic",
        "link s1 - s2: jitter: Mininet draws it evenly from both sides, longfat normally",
        "links with a delay and without bw: Mininet's netem drops beyond 1,000 packets on the line;"
        " here there is no limit",
    )


TOPO = """
    '''A dumbbell

    with more text.'''
    from mininet.topo import Topo
    from mininet.net import Mininet
    from mininet.link import TCLink
    from mininet.util import irange
    from functools import partial

    RATES = {"access": 100, "core": 10}

    class Dumbbell(Topo):
        "Hosts at both ends."
        def build(self, n=2, delay="5ms", **_opts):
            left, right = [self.addSwitch(name) for name in ("s1", "s2")]
            self.addLink(left, right, bw=RATES["core"], delay=delay)
            for i in irange(1, n):
                for side, switch in enumerate((left, right)):
                    host = self.addHost(f"h{i}{'ab'[side]}")
                    self.addLink(host, switch, bw=RATES["access"] if side == 0 else None)

    def run(n):
        topo = Dumbbell(n=n)
        net = Mininet(topo=topo, link=partial(TCLink, loss=1))
        net.start()
        for host in net.hosts:
            host.cmd("sysctl -w net.ipv4.tcp_sack=%d" % 0)
        net.stop()

    if __name__ == "__main__":
        run(2)
"""


def test_a_topology_of_its_own(tmp_path: Path) -> None:
    found, warnings = read(TOPO, tmp_path)
    core = LinkImpairments(rate_bps=10**7, delay_s=0.005, loss=0.01)
    access = LinkImpairments(rate_bps=10**8, loss=0.01)
    plain = LinkImpairments(loss=0.01)
    assert found.title == "A dumbbell"
    assert found.network.links == (
        Link(a="s1", b="s2", a_to_b=core, b_to_a=core),
        Link(a="h1a", b="s1", a_to_b=access, b_to_a=access),
        Link(a="h1b", b="s2", a_to_b=plain, b_to_a=plain),
        Link(a="h2a", b="s1", a_to_b=access, b_to_a=access),
        Link(a="h2b", b="s2", a_to_b=plain, b_to_a=plain),
    )
    hosts = {host.name: host.address for host in found.network.hosts}
    assert hosts == {
        "h1a": "10.0.0.1/8",
        "h1b": "10.0.0.2/8",
        "h2a": "10.0.0.3/8",
        "h2b": "10.0.0.4/8",
    }
    assert len(found.setup) == 4
    packets = "the queue holds 100 full packets here (one bandwidth-delay product, at least 100)"
    assert warnings == tuple(
        f"links of bw {rate} without max_queue_size: {packets}, 1,000 in Mininet"
        for rate in (10, 100)
    )


def test_a_topology_for_mn_custom(tmp_path: Path) -> None:
    text = TOPO[: TOPO.index("    def run")] + "    topos = {'bell': (lambda: Dumbbell(1))}\n"
    assert len(read(text, tmp_path)[0].network.hosts) == 2
    only = TOPO[: TOPO.index("    def run")]
    assert len(read(only, tmp_path)[0].network.hosts) == 4


@pytest.mark.parametrize(
    ("made", "hosts", "switches", "links"),
    [
        ("Mininet(SingleSwitchTopo(3))", "h1 h2 h3", "s1", 3),
        ("Mininet(topo=SingleSwitchTopo(k=2))", "h1 h2", "s1", 2),
        ("Mininet(MinimalTopo())", "h1 h2", "s1", 2),
        ("Mininet(LinearTopo(k=3, n=1))", "h1 h2 h3", "s1 s2 s3", 5),
        ("Mininet(LinearTopo(2, 2))", "h1s1 h2s1 h1s2 h2s2", "s1 s2", 5),
        ("TreeNet(depth=2, fanout=2)", "h1 h2 h3 h4", "s1 s2 s3", 6),
    ],
)
def test_mininets_own_topologies(
    made: str, hosts: str, switches: str, links: int, tmp_path: Path
) -> None:
    text = f"""
        from mininet.net import Mininet
        from mininet.topo import SingleSwitchTopo, MinimalTopo, LinearTopo
        from mininet.topolib import TreeNet
        net = {made}
    """
    network = read(text, tmp_path)[0].network
    assert " ".join(host.name for host in network.hosts) == hosts
    assert " ".join(switch.name for switch in network.switches) == switches
    assert len(network.links) == links
    if made.startswith("Mininet"):
        assert links_of(network) == mininets_links(made)


def links_of(network: Network) -> set[tuple[str, ...]]:
    return {tuple(sorted(pair)) for pair in network.interfaces()}


def mininets_links(made: str) -> set[tuple[str, ...]]:
    """Return what Mininet's own topology calls the interfaces of each link."""
    script = (
        "from mininet.topo import SingleSwitchTopo, MinimalTopo, LinearTopo\n"
        "def Mininet(topo): return topo\n"
        f"for a, b, link in {made}.iterLinks(withInfo=True):\n"
        '    print(f\'{a}-eth{link["port1"]} {b}-eth{link["port2"]}\')\n'
    )
    done = subprocess.run(  # Debian's own Python has Debian's Mininet
        ["/usr/bin/python3", "-c", script], capture_output=True, text=True, check=False
    )
    if "No module named 'mininet'" in done.stderr:
        pytest.skip("there is no Mininet")
    assert done.returncode == 0, done.stderr
    return {tuple(sorted(line.split())) for line in done.stdout.splitlines()}


@pytest.mark.parametrize(
    ("option", "shape"),
    [
        ("bw=2.5", LinkImpairments(rate_bps=2_500_000)),
        ("bw='10', delay='3ms'", LinkImpairments(rate_bps=10**7, delay_s=0.003)),
        ("delay=2000", LinkImpairments(delay_s=0.002)),
        ("loss=0", LinkImpairments()),
        (
            "bw=10, max_queue_size=100, use_htb=True",
            LinkImpairments(rate_bps=10**7, queue_bytes=150_000),
        ),
        (
            "bw=10, enable_ecn=True",
            LinkImpairments(
                rate_bps=10**7,
                qdisc="red limit 1000000 min 30000 max 35000 avpkt 1500 burst 20 "
                "bandwidth 10.000000mbit probability 1 ecn",
            ),
        ),
    ],
)
def test_options_of_a_link(option: str, shape: LinkImpairments, tmp_path: Path) -> None:
    found, _ = read(f"{NET}net.addLink(h1, 's1', cls=TCLink, {option})", tmp_path)
    assert found.network.links == (Link(a="h1", b="s1", a_to_b=shape, b_to_a=shape),)


def test_options_of_one_end(tmp_path: Path) -> None:
    found, _ = read(
        f"{NET}r1 = net.addHost('r1', ip=None)\nr1.cmd('sysctl net.ipv4.ip_forward=1')\n"
        "net.addLink(h1, s1, loss=2, params1={'bw': 1, 'loss': 1})\n"
        "net.addLink(s1, r1, params2={'ip': '10.0.0.254/24'})\n"
        "net.addLink(r1, h2, params1={'ip': '10.1.0.254/24'}, intfName1='r1-eth1')\n"
        "h2.setIP('10.1.0.1/24')\nh2.setDefaultRoute('via 10.1.0.254')\n"
        "h1.setIP('10.0.0.5', 24)\n",
        tmp_path,
    )
    h1, h2, r1 = found.network.hosts
    assert (h1.address, h2.address) == ("10.0.0.5/24", "10.1.0.1/24")
    assert h2.routes == (Route(to="default", via="10.1.0.254"),)
    assert r1 == Host(name="r1", address=None, forwards=True)
    # What is said of both ends wins over what is said of one, as in Mininet.
    assert found.network.links[0].a_to_b == LinkImpairments(rate_bps=10**6, loss=0.02)
    assert found.network.links[0].b_to_a == LinkImpairments(loss=0.02)
    assert found.network.links[1].b_address == "10.0.0.254/24"
    assert found.network.links[2].a_address == "10.1.0.254/24"


def test_hosts_of_a_class_of_its_own(tmp_path: Path) -> None:
    found, _ = read(
        "from mininet.net import Mininet\nfrom mininet.node import Node\n"
        "class Router(Node):\n"
        "    def config(self, **params):\n"
        "        super(Router, self).config(**params)\n"
        "        self.cmd('sysctl net.ipv4.ip_forward=1')\n"
        "        self.cmd('ethtool -K %s-eth0 gro off' % self.name)\n"
        "    def terminate(self):\n"
        "        self.cmd('sysctl net.ipv4.ip_forward=0')\n"
        "        super(Router, self).terminate()\n"
        "net = Mininet()\n"
        "net.addHost('r1', cls=Router, ip='10.0.0.1/24')\n",
        tmp_path,
    )
    assert found.network.hosts == (Host(name="r1", address="10.0.0.1/24", forwards=True),)
    assert found.setup == (Command(node="r1", line="ethtool -K r1-eth0 gro off"),)


def test_an_interface_that_is_configured_later(tmp_path: Path) -> None:
    found, _ = read(
        f"{NET}link = net.addLink(h1, s1, cls=TCLink, bw=10, delay='1ms')\n"
        "link.intf1.config(bw=5)\nnet.start()\nlink.intf2.config(up=True)\n",
        tmp_path,
    )
    (link,) = found.network.links
    assert link.a_to_b == LinkImpairments(rate_bps=5 * 10**6)
    assert link.b_to_a == LinkImpairments(rate_bps=10**7, delay_s=0.001)


def test_what_is_removed_is_not_there(tmp_path: Path) -> None:
    found, _ = read(
        f"{NET}net.addLink(h1, s1)\nlink = net.addLink(h2, s1)\nnet.delLink(link)\n"
        "net.addLink(net.addHost('h3'), s1, port2=2)\nnet.delHost(h1)\n",
        tmp_path,
    )
    assert [host.name for host in found.network.hosts] == ["h2", "h3"]
    assert [(link.a, link.b) for link in found.network.links] == [("h3", "s1")]


def test_what_is_typed_at_the_end_is_no_set_up(tmp_path: Path) -> None:
    found, _ = read(
        f"{NET}net.start()\nh1.cmd('sysctl -w a.b=1')\nnet.stop()\nh1.cmd('sysctl -w a.b=0')\n",
        tmp_path,
    )
    assert found.setup == (Command(node="h1", line="sysctl -w a.b=1"),)


def test_what_was_set_before_the_start_is_as_mininet_has_it(tmp_path: Path) -> None:
    # Mininet configures hosts when it builds: what `addHost` says wins.
    lines = "net.addLink(h2, s1)\nh2.setIP('10.0.0.5/24')\n"
    early = read(f"{NET}{lines}net.start()", tmp_path)[0].network.hosts[1]
    late = read(f"{NET}net.start()\n{lines}", tmp_path)[0].network.hosts[1]
    assert (early.address, late.address) == ("10.0.0.77/8", "10.0.0.5/24")


ANY_PYTHON = """
    import argparse, itertools, random
    from dataclasses import dataclass
    from mininet.net import Mininet
    from mininet.node import Host
    from mininet.topo import Topo

    parser = argparse.ArgumentParser()
    parser.add_argument("--racks", type=int, default=1)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    if options.seed is not None:
        random.seed(options.seed)

    @dataclass
    class Rack:
        number: int
        @property
        def hosts(self):
            yield from (f"r{self.number}h{j}" for j in range(2))

    class Base(Topo):
        def build(self, racks):
            try:
                self.core(undefined)
            except NameError:
                self.core()
            for rack in racks:
                self.rack(rack)

        def core(self, *_):
            self.top = self.addSwitch("s1")

    class Racks(Base):
        def rack(self, rack):
            edge = self.addSwitch(f"s{rack.number + 1}")
            self.addLink(edge, self.top)
            for host in rack.hosts:
                self.addLink(self.addHost(host), edge)

    class Tuned(Host):
        def config(self, cc="reno", **params):
            super().config(**params)
            self.cmd(f"sysctl -w net.ipv4.tcp_congestion_control={cc}")

    rows = map(Rack, itertools.islice(itertools.count(1), options.racks))
    net = Mininet(topo=Racks(racks=list(rows)), host=Tuned)
    net.start()
    a, b = random.sample(net.hosts, 2)
    net.addLink(a, b)
    while (number := len(net.hosts)) < 7:
        net.addHost(f"x{number}", cc="cubic")
"""


def test_any_python_works(tmp_path: Path) -> None:
    found, warnings = read(ANY_PYTHON, tmp_path, "--racks", "2", "--seed", "7")
    names = [host.name for host in found.network.hosts]
    assert names == ["r1h0", "r1h1", "r2h0", "r2h1", "x4", "x5", "x6"]
    assert len(found.network.links) == 7
    assert [command.line.rpartition("=")[2] for command in found.setup] == ["reno"] * 4
    assert warnings == ()
    assert read(ANY_PYTHON, tmp_path, "--racks", "2", "--seed", "7")[0] == found
    few = read(ANY_PYTHON, tmp_path)[0]
    assert few == read(ANY_PYTHON, tmp_path)[0]  # random, and the same each time
    with pytest.raises(InputError, match="it exits with status 2"):
        read(ANY_PYTHON, tmp_path, "--racks", "many")


def test_hosts_and_links_without_a_mininet(tmp_path: Path) -> None:
    found, _ = read(
        "from mininet.node import Node, OVSBridge\nfrom mininet.link import Link\n"
        "h1, s1 = Node('h1'), OVSBridge('s1', inNamespace=False)\nroot = Node('root', False)\n"
        "Link(h1, s1)\nh1.setIP('10.1', 8)\nh1.setIP('10.1.0.1', 24)\nroot.cmd('ip link')\n",
        tmp_path,
    )
    assert found.network.hosts == (Host(name="h1", address="10.1.0.1/24"),)
    assert found.network.links == (Link(a="h1", b="s1"),)
    assert found.setup == (Command(node=ROOT_NAMESPACE, line="ip link"),)


@pytest.mark.slow
def test_the_stand_in_answers_as_mininet_does(tmp_path: Path) -> None:
    """Names, ports, addresses and orders, of topologies and networks, built and changed."""
    if shutil.which("mn") is None or shutil.which("ovs-vsctl") is None:
        pytest.skip("there is no Mininet, or no Open vSwitch")
    ours = run_here((DATA / "facts.py").read_text(), tmp_path)
    theirs = longfat(
        "exec", "--ovs", "--bind", str(DATA), "--", "python3", str(DATA / "facts.py"), cwd=tmp_path
    )
    assert theirs.returncode == 0, theirs.stderr
    assert len(ours.splitlines()) > 100
    assert ours == theirs.stdout


def test_warnings_are_in_the_order_of_lines_and_a_pause_is_left_out(tmp_path: Path) -> None:
    script = (
        NET
        + """
net.addLink(h1, s1)
net.start()
h1.cmd("sleep 0.1")
h1.cmd("ping -c 1 10.0.0.9")
net.pingAll()
h1.cmd("ip link set lo up")
h1.cmd("ping -c 2 10.0.0.9")
"""
    )
    found, warnings = read(script, tmp_path)
    assert found.setup == (Command(node="h1", line="ip link set lo up"),)
    lines = [int(one.split()[1].rstrip(":")) for one in warnings if one.startswith("line ")]
    assert len(lines) >= 3
    assert lines == sorted(lines)
