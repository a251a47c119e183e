"""Mininet's scripts, read without running them.

`tests/data/mininet/from_miniedit.py` is written as MiniEdit exports one. Mininet's own
topologies are held against Mininet, where it is installed.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

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
    build_batches,
)
from longfat.study.formats.mininet import MininetNetwork, read_mininet
from longfat.study.formats.mininet_script import mininet_text
from longfat.study.formats.open import open_network
from tests.paths import TESTS
from tests.study.formats.test_mininet import NETWORK, SETUP
from tests.study.formats.test_write import networks

DATA = TESTS / "data" / "mininet"


def read(text: str, folder: Path) -> tuple[MininetNetwork, tuple[str, ...]]:
    file = folder / "net.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return read_mininet(file)


def error(text: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(text, folder)
    return str(caught.value).replace(str(folder), "")


def test_what_miniedit_exports() -> None:
    found, warnings = read_mininet(DATA / "from_miniedit.py")
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
    assert warnings == ()


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


NET = """
from mininet.net import Mininet
from mininet.node import Node
from mininet.link import TCLink
import sys, os, random
net = Mininet()
h1 = net.addHost('h1')
h2 = net.addHost('h2', ip='10.0.0.77')
s1 = net.addSwitch('s1')
"""


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
        "net.addLink(h1, s1, bw=10, params1={'bw': 1})\n"
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
    assert found.network.links[0].a_to_b == LinkImpairments(rate_bps=10**6)
    assert found.network.links[0].b_to_a == LinkImpairments(rate_bps=10**7)
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


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("net.addLink(h1, h3)", "10:1: an end of `net.addLink(h1, h3)` is not known"),
        ("net.addLink(h1, 'hh1')", "10:1: there is no node 'hh1'; did you mean 'h1'? (there are: "),
        ("net.addLink(h1, h1)", "10:1: the link leads from h1 to itself"),
        ("net.addHost('h1')", "10:1: there are two nodes with the name 'h1'"),
        ("net.addHost('a b')", "10:1: 'a b' cannot be a node's name"),
        ("net.addHost(sys.argv[1])", "10:1: a node's name, in `net.addHost(sys.argv[1])`, is not "
         "known without running the script: write it out"),
        ("for n in open('names'):\n    net.addHost(n)", "10:1: what is in `open('names')` is not "
         "known without running the script, and nodes or links depend on it"),
        ("[net.addHost(n) for n in os.listdir()]", "10:1: how often"),
        ("if os.getuid():\n    net.addLink(h1, s1)", "10:1: whether `os.getuid()` holds is not "
         "known without running the script, and nodes or links depend on it"),
        ("x = net.addHost('h3') if os.getuid() else 1", "10:5: whether `os.getuid()` holds"),
        ("net.addLink(h1, s1, bw=random.random())", "10:1: link h1 - s1: bw is not known"),
        ("net.addLink(h1, s1, delay='soon')", "10:1: link h1 - s1: 'soon' is not a time"),
        ("net.addLink(h1, s1, bw='fast')", "10:1: link h1 - s1: bw is 'fast', where a number"),
        ("net.addLink(h1, s1, loss=101)", "10:1: a loss of 101 % is more than all"),
        ("net.addLink(h1, s1, **options())", "10:1: what stands in `options()` is not known"),
        ("other = open('x')\nother.addHost('h5')", "11:1: what `other.addHost` adds to is not"),
        ("h1.setIP('10.0.0.300')", "7:6: '10.0.0.300/8' is not an address"),
        ("h1.setIP('10.0.0.77')", "the address 10.0.0.77 is that of h1 already"),
        ("s2 = net.addSwitch('s2')\nnet.addLink(s1, s2)\nnet.addLink(s1, s2)",
         "12:1: the link closes a loop of switches"),
        ("def f(): return f()\nf()", "10:17: functions call each other too deep"),
        ("while True:\n    net.addLink(h1, s1)", "the script does too much to be followed"),
        ("x = []\nfor i in range(99999):\n    x.append(i)\n    x.extend(x)", "too much"),
        ("print 'hello'", "10:1: not Python 3: Missing parentheses in call to 'print'"),
        ("-" * 5000 + "1", ""),
        ("(" * 500 + ")" * 500, "not Python 3: too many nested parentheses"),
    ],
)  # fmt: skip
def test_what_cannot_be_known(lines: str, message: str, tmp_path: Path) -> None:
    said = error(NET + lines, tmp_path)
    assert message in said
    assert said.startswith("/net.py:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "/net.py:1:1: the script makes no network"),
        ("import os\n", "/net.py:1:1: the script makes no network"),
        ("\0", "/net.py:1:1: "),
        ("x = '\\ud800'\n", "/net.py:1:1: the script makes no network"),
    ],
)
def test_what_is_no_network(text: str, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path).startswith(message)
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    with pytest.raises(InputError, match=r"not Python 3|no Python script"):
        read_mininet(tmp_path / "latin.py")
    with pytest.raises(InputError, match="there is no such file"):
        read_mininet(tmp_path / "none.py")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("h1.cmd('tc qdisc add dev h1-eth0 root fq')", None),
        ("h1.cmd('iperf -s &')", "line 10: h1: `iperf -s &` is left out: a study has flows"),
        ("h1.cmd(os.environ['X'])", "line 10: what is typed at h1 is left out: it is not known"),
        ("s1.cmd('ovs-vsctl set bridge s1 stp=1')", "line 10: s1: `ovs-vsctl set bridge s1 stp=1` "
         "is left out: switches are Linux bridges"),
        ("h1.cmd('python3 -m http.server &')", "line 10: h1: `python3 -m http.server &` runs in "
         "the background"),
        ("net.pingAll()", "line 10: pingAll is left out: a study has flows for traffic"),
        ("os.system('sudo mn -c')", "line 10: `os.system('sudo mn -c')` is left out: it is typed "
         "at the host, not at a node"),
        ("helper(net)", "line 10: `helper(net)` is not known and is left out"),
        ("h1.setCPUFrac(f=0.5)", "line 10: h1: setCPUFrac is left out: hosts are infinitely fast"),
        ("h3 = net.addHost('h3', mac='00:00:00:00:00:01')", "line 10: h3: mac is left out"),
        ("net.addLink(h1, s1, port2=5)", "line 10: the interface s1-eth5 is s1-eth1 here"),
        ("net.addLink(h1, s1).intf1.config(bw=5)", "`net.addLink(h1, s1).intf1.config(bw=5)` is "
         "not known and is left out"),
        ("if os.getuid():\n    h1.cmd('ls')", "line 10: whether `os.getuid()` holds is not known "
         "without running the script: what is typed there is left out"),
        ("net.addLink(h1, s1, bw=5, speedup=3)", "link h1 - s1: speedup is left out"),
        ("net.addLink(h1, s1, bw=2000)", "link h1 - s1: bw 2000: Mininet ignores more than 1000"),
        ("raise SystemExit(1)", "line 10: `raise SystemExit(1)`: the script ends here"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_told(lines: str, told: str | None, tmp_path: Path) -> None:
    found, warnings = read(NET + lines, tmp_path)
    assert len(found.network.hosts) >= 2
    assert bool(warnings) == (told is not None)
    if told is not None:
        assert any(told in text for text in warnings), warnings


def test_nothing_of_it_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    text = f"""
        import os, pathlib
        from mininet.net import Mininet
        os.system("touch {mark}")
        open({str(mark)!r}, "w").write("x")
        exec("open({str(mark)!r}, 'w')")
        pathlib.Path({str(mark)!r}).touch()
        __import__("os").system("touch {mark}")
        ().__class__.__base__.__subclasses__()
        "{{0.__class__.__init__.__globals__}}".format(pathlib)
        class Mininet2(Mininet):
            open({str(mark)!r}, "w")
        net = Mininet()
        net.addHost("h1")
    """
    assert read(text, tmp_path)[0].network.hosts
    assert not mark.exists()


@pytest.mark.parametrize(
    "bomb",
    [
        "x = 9 ** 9 ** 9",
        "x = 'a' * 10 ** 9",
        "x = 1\nfor i in range(1000):\n    x = x * 99999999",
        "x = 'a'\nfor i in range(1000):\n    x = x + x",
        "x = [1]\nfor i in range(1000):\n    x = [x, x]\ny = str(x)\nz = x == [x]\nw = {(x,): 1}",
        "x = (1,)\nfor i in range(1000):\n    x = (x, x)\ny = {x: 1}\nz = x < x",
        "x = (1,)\nfor i in range(1000):\n    x = (x, x)\nw = sorted([x, x])\nv = max(x, x)",
        "x = '%1000000000d' % 1\ny = '{:>1000000000}'.format(1)\nz = f'{1:>1000000000}'",
        "x = '%*d' % (1000000000, 1)\ny = 'a'.ljust(10 ** 9)",
        "x = ('a' * 9999).replace('a', 'b' * 9999)",
        "x = ('a' * 99999).join(['b'] * 99999)",
        "x = list(range(10 ** 12))",
        "x = [i for i in range(10 ** 12)]",
        "x = sum([[1] * 99] * 99999, [])",
        "x = int('9' * 100000)",
        "d = {}\nfor i in range(1000):\n    d = {'a': d, 'b': d}\nx = '%s' % d",
    ],
)
def test_a_bomb_does_no_harm(bomb: str, tmp_path: Path) -> None:
    try:
        found, _ = read(f"{bomb}\n{NET}", tmp_path)
    except InputError as caught:
        assert "too much" in caught.message
    else:
        assert len(found.network.hosts) == 2


def test_a_script_of_ours_comes_back(tmp_path: Path) -> None:
    found, warnings = read(mininet_text(title="Ours", network=NETWORK, setup=SETUP), tmp_path)
    assert found.title == "Ours"
    assert found.network == NETWORK
    assert found.setup == SETUP
    assert warnings == ()


@given(network=networks())
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_network_comes_back(network: Network, tmp_path: Path) -> None:
    setup = (
        Command(node=ROOT_NAMESPACE, line="ping -c 1 10.0.0.1"),
        Command(node=network.hosts[0].name, line='echo "it\'s $HOME"'),
    )
    file = tmp_path / "net.py"
    file.write_text(mininet_text(title="x", network=network, setup=setup), encoding="utf-8")
    opened = open_network(file)
    assert opened.setup == setup
    # Which of two ways an address was written in makes no difference to what is built.
    assert as_built(opened.network) == as_built(network)


def as_built(network: Network) -> list[tuple[str, str, list[str]]]:
    return [(one.program, one.node, sorted(one.lines)) for one in build_batches(network)]


def test_damaged_scripts(tmp_path: Path) -> None:
    chance = random.Random(1)
    texts = [(DATA / "from_miniedit.py").read_text(), textwrap.dedent(TOPO), NET]
    pieces = re.findall(r"\w+|[^\w\s]|\s+", "".join(texts))
    for _ in range(400):
        words = re.findall(r"\w+|[^\w\s]|\s+", chance.choice(texts))
        for _ in range(chance.randint(1, 4)):
            words[chance.randrange(len(words))] = chance.choice(pieces)
        file = tmp_path / "any.py"
        file.write_text("".join(words))
        try:
            found, warnings = read_mininet(file)
        except InputError as caught:
            assert caught.place is not None, caught.message
        else:
            assert all(isinstance(text, str) for text in warnings)
            ast.parse(mininet_text(title="x", network=found.network, setup=found.setup))


@pytest.mark.parametrize(
    "line",
    [
        "tc qdisc add dev h1-eth0 root handle 1: tbf rate 0bit burst 1600 limit 3000",
        f"tc qdisc add dev h1-eth0 root handle 1: tbf rate 1mbit burst 1600 limit {'9' * 5000}",
        f"tc qdisc add dev h1-eth0 root handle 1: tbf rate {'9' * 400}bit burst 1 limit 1",
        f"tc qdisc add dev h1-eth0 root handle 1: netem limit 1 delay {'9' * 400}s",
    ],
)
def test_a_typed_line_with_odd_numbers_stays_as_it_is(line: str, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(
        "from mininet.net import Mininet\n"
        "net = Mininet()\n"
        "h1, h2 = net.addHost('h1'), net.addHost('h2')\n"
        "net.addLink(h1, h2)\n"
        f"h1.cmd({line!r})\n"
    )
    found, _ = read_mininet(path)
    assert [command.line for command in found.setup] == [line]
