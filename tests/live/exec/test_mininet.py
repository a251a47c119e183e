"""Mininet, as the distribution has it, runs in a machine without a change."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from longfat.engine.toolset import HOST_PATH
from tests.command import run_command
from tests.paths import REPOSITORY

DOCS = REPOSITORY / "docs/mininet.md"

pytestmark = pytest.mark.skipif(
    shutil.which("mn") is None or shutil.which("ovs-vsctl") is None,
    reason="Mininet or Open vSwitch is not installed",
)

# What MiniEdit exports: its controller, a router, both kinds of hosts' addresses.
EDITED = """\
#!/usr/bin/env python
from mininet.net import Mininet
from mininet.node import Controller, RemoteController, OVSController
from mininet.node import CPULimitedHost, Host, Node
from mininet.node import OVSKernelSwitch, UserSwitch, IVSSwitch
from mininet.cli import CLI
from mininet.log import setLogLevel, info
from mininet.link import TCLink, Intf
from subprocess import call

def myNetwork():
    net = Mininet( topo=None, build=False, ipBase='10.0.0.0/8')
    c0=net.addController(name='c0', controller=Controller, protocol='tcp', port=6633)
    s1 = net.addSwitch('s1', cls=OVSKernelSwitch)
    r2 = net.addHost('r2', cls=Node, ip='0.0.0.0')
    r2.cmd('sysctl -w net.ipv4.ip_forward=1')
    h1 = net.addHost('h1', cls=Host, ip='10.0.0.1', defaultRoute='via 10.0.0.254')
    h2 = net.addHost('h2', cls=Host, ip='192.168.0.1/24', defaultRoute='via 192.168.0.254')
    net.addLink(h1, s1, cls=TCLink, bw=10, delay='5ms')
    net.addLink(s1, r2)
    net.addLink(r2, h2)
    net.build()
    for controller in net.controllers:
        controller.start()
    net.get('s1').start([c0])
    r2.cmd('ifconfig r2-eth0 10.0.0.254/8; ifconfig r2-eth1 192.168.0.254/24')
    CLI(net)
    net.stop()

if __name__ == '__main__':
    setLogLevel( 'info' )
    myNetwork()
"""


def run(*arguments: str, given: str = "", cwd: Path | str = "/") -> str:
    """Return what a command said in a machine of its own, on both its outputs."""
    options = ("--kernel", "6.1", "--timeout", "10min")
    command = ("longfat", "exec", *options, *arguments)
    done = run_command(*command, given=given, stderr=subprocess.STDOUT, cwd=cwd)
    assert done.returncode == 0, done.stdout
    return str(done.stdout).replace("\r\n", "\n")


def test_hosts_reach_each_other_through_a_controllers_switches() -> None:
    said = run(
        *("--ovs", "--", "mn", "--topo", "linear,3"),
        *("--link", "tc,bw=10,delay=10ms", "--test", "pingall"),
    )
    assert "*** Results: 0% dropped (6/6 received)" in said


def test_a_controllers_switches_learn_again_after_their_flows_are_removed() -> None:
    """As with the reference controller, of which Mininet's mobility.py makes use."""
    said = run(
        *("--ovs", "--typed", "--", "mn", "--topo", "linear,2"),
        given="pingall\ndpctl del-flows\npingall\nexit\n",
    )
    assert said.count("*** Results: 0% dropped (2/2 received)") == 2


def test_iperf_measures_the_link_and_ends() -> None:
    said = run("--ovs", "--", "mn", "--link", "tc,bw=10", "--test", "iperf")
    server, client = re.findall(r"'([\d.]+) Mbits/sec'", said)
    assert 9 < float(server) < 10
    assert 9 < float(client) < 10


def test_the_same_test_gives_the_same_bytes() -> None:
    command = ("--ovs", "--", "mn", "--switch", "ovsk,failMode=standalone", "--controller", "none")
    said = run(*command, "--test", "pingall")
    assert "0% dropped (2/2 received)" in said
    assert re.search(r"completed in \d+\.\d+ seconds", said)
    assert run(*command, "--test", "pingall") == said


@pytest.mark.skipif(
    shutil.which("brctl", path=HOST_PATH) is None, reason="bridge-utils is not installed"
)
def test_linux_bridges_need_no_open_vswitch() -> None:
    said = run("mn", "--switch", "lxbr", "--controller", "none", "--test", "pingall")
    assert "0% dropped (2/2 received)" in said


def test_lines_for_its_prompt() -> None:
    given = "h1 ping -c 3 h2\nlink s1 h1 down\npingall\nlink s1 h1 up\nh1 ping -c 1 h2\n"
    said = run("--ovs", "--typed", "--", "mn", "--link", "tc,delay=5ms", given=given)
    assert "mininet> h1 ping -c 3 h2\nPING 10.0.0.2" in said
    assert "3 packets transmitted, 3 received, 0% packet loss" in said
    assert "mininet> pingall\n" in said
    assert "100% dropped (0/2 received)" in said
    assert "1 packets transmitted, 1 received" in said
    assert "*** Done\n" in said


def test_the_script_in_the_documentation(tmp_path: Path) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    (tmp_path / "dumbbell.py").write_text(script)
    said = run("--ovs", "--bind", ".", "python3", "dumbbell.py", cwd=tmp_path)
    assert "lost: 0.0 %" in said
    assert "rtt min/avg/max/mdev = 20.0" in said
    (rate,) = re.findall(r"([\d.]+) Mbits/sec +receiver", said)
    assert 17 < float(rate) < 20
    assert "without the link: 66.6" in said


UNSTOPPED = """\
from mininet.net import Mininet
from mininet.node import Controller
from mininet.topo import SingleSwitchTopo

Mininet(topo=SingleSwitchTopo(2), controller=Controller).start()
raise SystemExit(0)
"""


def test_a_script_at_a_terminal_that_leaves_its_network_running(tmp_path: Path) -> None:
    (tmp_path / "unstopped.py").write_text(UNSTOPPED)
    assert run("--ovs", "--typed", "--bind", ".", "python3", "unstopped.py", cwd=tmp_path) == ""


def test_a_script_that_miniedit_exports(tmp_path: Path) -> None:
    (tmp_path / "edited.py").write_text(EDITED)
    said = run(
        *("--ovs", "--typed", "--bind", "."),
        *("python3", "edited.py"),
        given="h1 ping -c 2 192.168.0.1\nexit\n",
        cwd=tmp_path,
    )
    assert "2 packets transmitted, 2 received, 0% packet loss" in said


def test_hosts_with_cpu_limits() -> None:
    said = run("--ovs", "--", "mn", "--host", "cfs,cpu=0.5", "--test", "pingall")
    assert "h1 (cfs 50000/100000us)" in said
    assert "*** Results: 0% dropped (2/2 received)" in said


LIMITED = """\
from mininet.net import Mininet
from mininet.node import CPULimitedHost, OVSBridge
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(1), host=CPULimitedHost, switch=OVSBridge, controller=None)
net.start()
h1 = net.get("h1")
h1.setCPUFrac(0.1)
h1.setCPUs(1)
print(h1.popen("cat /proc/self/cgroup | grep -o 'cpu.*'", shell=True).communicate()[0].decode())
print(open("/sys/fs/cgroup/cpuset/h1/cpuset.cpus").read())
net.stop()
print(h1.cgroupDel())
"""


def test_limited_hosts_are_in_groups_and_their_processes_too(tmp_path: Path) -> None:
    (tmp_path / "limited.py").write_text(LIMITED)
    said = run("--ovs", "--bind", ".", "--", "python3", "limited.py", cwd=tmp_path)
    assert said.split() == ["cpu,cpuacct:/h1", "1", "True"]


NAT = """\
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), switch=OVSBridge, controller=None)
net.addNAT().configDefault()
net.start()
print(open("/etc/network/interfaces").read().splitlines()[-1])
print("lost:", net.pingAll())
net.stop()
"""


def test_a_nat_notes_its_interface(tmp_path: Path) -> None:
    (tmp_path / "nat.py").write_text(NAT)
    said = run("--ovs", "--bind", ".", "--", "python3", "nat.py", cwd=tmp_path)
    assert "iface nat0-eth0 inet manual\n" in said
    assert said.endswith("lost: 0.0\n")


def test_a_bare_ptcp_is_the_reference_controllers_port() -> None:
    line = "controller ptcp: & sleep 1; ss -Htln | grep -o '0.0.0.0:6[0-9]*'; kill $!"
    assert run("--ovs", "--", "sh", "-c", line) == "0.0.0.0:6633\n"
