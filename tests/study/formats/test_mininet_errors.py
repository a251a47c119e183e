"""Mistakes in Mininet scripts, and what cannot be carried over: messages with their places."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.study.formats.mininet_scripts import NET, error, read

NUL_ERROR = "ValueError" if sys.version_info < (3, 12) else "SyntaxError"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("net.addLink(h1, h3)", "10:17: NameError: name 'h3' is not defined"),
        ("net.addLink(h1, 'hh1')", "10:1: KeyError: there is no node 'hh1'; there are: h1, h2, s1"),
        ("net.addLink(h1, net)", "10:1: TypeError: an end of the link is <"),
        ("net.addLink(h1, h1)", "10:1: the link leads from h1 to itself"),
        ("net.addHost('h1')", "10:1: there are two nodes with the name 'h1'"),
        ("net.addHost('a b')", "10:1: 'a b' cannot be a node's name"),
        ("net.addHost('\\x1b[31m')", "10:1: '\\x1b[31m' cannot be a node's name"),
        ("net.addHost(7)", "10:1: TypeError: a node's name is a text, and not 7"),
        ("net.addHost(sys.argv[1])", "10:13: IndexError: list index out of range"),
        ("for n in open('names'):\n    net.addHost(n)", "10:10: FileNotFoundError: [Errno 2] "
         "No such file or directory: 'names': put it beside the script, whose text has to name it"),
        ("1 / 0", "10:1: ZeroDivisionError: division by zero"),
        ("def f():\n    raise ValueError\nf()", "11:5: ValueError"),
        ("import of_mine", "10:1: ModuleNotFoundError: No module named 'of_mine': install it for "
         "/usr/bin/python3, or put it beside the script"),
        ("import mininet.wifi", "10:1: ModuleNotFoundError: No module named 'mininet.wifi'"),
        ("sys.exit('no root')", "10:1: no root"),
        ("sys.exit(2)", "10:1: it exits with status 2"),
        ("net.addLink(h1, s1, delay='soon')", "10:1: link h1 - s1: 'soon' is not a time"),
        ("net.addLink(h1, s1, delay=None, bw='fast')", "10:1: link h1 - s1: bw is 'fast', where a"),
        ("net.addLink(h1, s1, bw=float('nan'))", "10:1: link h1 - s1: bw is nan, which is no such"),
        ("net.addLink(h1, s1, bw=10**400)", "10:1: link h1 - s1: bw is 1000"),
        ("net.addLink(h1, s1, bw=True)", "10:1: link h1 - s1: bw is True, where a number"),
        ("net.addLink(h1, s1, loss=101)", "10:1: link h1 - s1: a loss of 101 % is more than all"),
        ("net.addLink(h1, s1, **options())", "10:23: NameError: name 'options' is not defined"),
        ("h1.setIP('10.0.0.300')", "7:6: '10.0.0.300/8' is not an address"),
        ("h1.setIP('10.0.0.77')", "the address 10.0.0.77 is that of h1 already"),
        ("Mininet(ipBase='10.0.0.0/30', topo=SingleSwitchTopo(9))", "Not enough IP addresses"),
        ("s2 = net.addSwitch('s2')\nnet.addLink(s1, s2)\nnet.addLink(s1, s2)",
         "12:1: the link closes a loop of switches"),
        ("def f(): return f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("while True:\n    net.addLink(h1, s1)", "11:5: RuntimeError: more than 20,000 nodes"),
        ("print 'hello'", "10:1: not Python 3: Missing parentheses in call to 'print'"),
        ("(" * 500 + ")" * 500, "not Python 3: too many nested parentheses"),
        ("l = net.addLink(h1, s1, cls=TCLink, bw=9)\nnet.addLink(h2, s1)\nnet.start()\n"
         "net.pingAll()\nl.intf1.config(bw='fast')\nl.intf1.config(bw=5)\nnet.pingAll()",
         "14:1: h1-eth0: a number is needed for bw, loss and max_queue_size: bw='fast'"),
        ("exec('x = (')", "10:1: SyntaxError: '(' was never closed"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_script(lines: str, message: str, tmp_path: Path) -> None:
    said = error(NET + lines, tmp_path)
    assert message in said
    assert said.startswith("net.py:")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "net.py:1:1: the script makes no network"),
        ("import os\n", "net.py:1:1: the script makes no network"),
        ("x = '\\ud800'\n", "net.py:1:1: the script makes no network"),
        ("\0", f"net.py:1:1: {NUL_ERROR}: source code string cannot contain null bytes"),
        ("from mininet.net import Mininet\nMininet()", "net.py:1:1: the script makes no network"),
    ],
)
def test_what_is_no_network(text: str, message: str, tmp_path: Path) -> None:
    assert error(text, tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("h1.cmd('tc qdisc add dev h1-eth0 root fq')", None),
        ("h1.cmd('iperf -s &')", "line 10: h1: `iperf -s &` is left out: a study has flows"),
        ("h1.sendCmd('iperf -s')", "line 10: h1: `iperf -s` is left out: a study has flows"),
        ("print(h1.popen('x -s').communicate())", "line 10: h1: `x -s` is left out: a study has"),
        ("s1.cmd('ovs-vsctl set bridge s1 stp=1')", "line 10: s1: `ovs-vsctl set bridge s1 stp=1` "
         "is left out: switches are Linux bridges"),
        ("h1.cmd('python3 -m http.server &')", "line 10: h1: `python3 -m http.server &` runs in "
         "the background"),
        ("net.addLink(h1, s1), net.addLink(h2, s1), net.start()\nnet.pingAll()",
         "line 11: pingAll is left out: a study has flows for traffic"),
        ("os.system('true a')", "line 10: `true a` is left out: it is typed at the host, not at a "
         "node"),
        ("import subprocess\nsubprocess.call(['true', 'a'])", "line 11: `true a` is left out: it"),
        ("from mininet.util import quietRun\nquietRun('true a')", "line 11: `true a` is left out"),
        ("h1.unheard(of=1).and_more[3]", "line 10: `h1.unheard` is not known and is left out"),
        ("net.unheard()", "line 10: `net.unheard` is not known and is left out"),
        ("from mininet.util import unheard\nunheard(net)", "line 10: `mininet.util.unheard` is"),
        ("from mininet.node import ASwitch\ns2 = net.addSwitch('s2', cls=ASwitch)",
         "line 11: s2: its class is not known and is taken as OVSSwitch"),
        ("h1.setCPUFrac(f=0.5)", "line 10: `h1.setCPUFrac` is not known and is left out"),
        ("from mininet.node import CPULimitedHost\nnet.addHost('h3', cls=CPULimitedHost, cpu=.5)",
         "line 11: h3: CPULimitedHost is taken as a host: hosts are infinitely fast"),
        ("h3 = net.addHost('h3', mac='00:00:00:00:00:01')", "line 10: h3: mac is left out"),
        ("h3 = net.addHost('h3', vlan=5)", "line 10: h3: vlan is not known and is left out"),
        ("net.addLink(h1, s1, port2=5)", "line 10: the interface s1-eth5 is s1-eth1 here"),
        ("net.addLink(h1, s1, bw=5, foo=3)", "link h1 - s1: the option foo is not known and is"),
        ("net.addLink(h1, s1, bw=5)", "link h1 - s1: bw: Mininet ignores that without TCLink"),
        ("net.addLink(h1, s1, bw=5, speedup=3)", "link h1 - s1: speedup is left out"),
        ("net.addLink(h1, s1, bw=2000)", "link h1 - s1: bw 2000: Mininet ignores more than 1000"),
        ("net.addNAT().configDefault()", "line 10: addNAT: nat0 is a router whose Internet is "
         "left out: a machine has no network"),
        ("from mininet.link import Intf\nIntf('eth1', node=s1)", "line 11: Intf eth1 is left out"),
        ("Mininet(autoSetMacs=True)", "line 10: autoSetMacs is left out: interfaces have Linux's"),
        ("n2 = Mininet()\nn2.addHost('h9')", "it makes 2 networks: the first is taken"),
        ("net.start()\n1 / 0", "line 11: the script ends here: ZeroDivisionError: "),
        ("net.start()\nsys.exit('enough')", "line 11: the script ends here: enough"),
        ("h1.cmd('echo \\x1b[31m')", None),
        ("h1.cmd('ping \\x1b[31m')", "line 10: h1: `ping \\x1b[31m` is left out"),
    ],
)  # fmt: skip
def test_what_is_left_out_is_reported(lines: str, message: str | None, tmp_path: Path) -> None:
    found, warnings = read(NET + lines, tmp_path)
    assert len(found.network.hosts) >= 2
    assert bool(warnings) == (message is not None)
    if message is not None:
        assert any(message in text for text in warnings), warnings
