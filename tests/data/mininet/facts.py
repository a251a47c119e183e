"""Prints what scripts can see of Mininet, to compare it with the stand-in."""

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import Node, OVSBridge
from mininet.topo import (
    LinearTopo,
    MinimalTopo,
    SingleSwitchReversedTopo,
    SingleSwitchTopo,
    Topo,
)
from mininet.topolib import TreeTopo
from mininet.util import ipAdd, ipParse, irange, macColonHex, natural, netParse


class Mixed(Topo):
    def build(self):
        core, edge = self.addSwitch("s10"), self.addSwitch("s2", dpid="abc")
        self.addLink(core, edge, port1=7, bw=3)
        for i in (10, 2, 1):
            host = self.addHost("h%d" % i, **({"ip": "10.9.0.%d/16" % i} if i == 2 else {}))
            self.addLink(edge, host)
            self.addLink(host, core, port1=5 if i == 1 else None)


class Router(Node):
    def config(self, **params):
        result = super().config(**params)
        print("config", self.name, sorted(params), sorted(result))
        return result


def show_topo(topo):
    print("==", type(topo).__name__, topo.hosts(), topo.switches(), topo.nodes())
    for a, b, info in topo.links(sort=True, withInfo=True):
        print(a, b, info["port1"], info["port2"], topo.port(a, b), topo.isSwitch(b))


def show(net):
    for host in net.hosts:
        intfs = [(i.name, i.IP(), i.prefixLen, host.ports[i]) for i in host.intfList()]
        print(host, intfs, host.IP(), host.params.get("ip"), host.defaultIntf(), host.intfNames())
        if net.autoSetMacs:
            print(host.MAC())
    for switch in net.switches:
        ports = [(i.name, switch.ports[i]) for i in switch.intfList() if i.name != "lo"]
        print(switch, switch.dpid, ports, switch.portBase)
    for link in net.links:
        print(link, link.intf1.node, link.intf2.node, link.intf1.params.get("bw"))
    print(list(net), len(net), "h1" in net, net.keys(), *net.get(*list(net)[:2]))


def make(**options):
    return Mininet(controller=None, switch=OVSBridge, **options)


for topo in (
    SingleSwitchTopo(3),
    SingleSwitchReversedTopo(2),
    LinearTopo(3),
    LinearTopo(2, 3),
    TreeTopo(2, 3),
    MinimalTopo(),
    Mixed(),
):
    show_topo(topo)
    if isinstance(topo, (MinimalTopo, Mixed, SingleSwitchReversedTopo)):
        net = make(topo=topo)
        show(net)
        net.stop()
        print(net.hosts[0].cmd("true"))
for options in (
    {"ipBase": "192.168.5.0/24"},
    {"ipBase": "172.16.0.7/12"},
    {"ipBase": "10.0.0.0"},
    {"autoSetMacs": True, "link": TCLink},
):
    net = make(topo=Mixed(), **options)
    show(net)
    net.stop()

net = make()
a, c = net.addHost("h1"), net.addHost("h3", ip=None)
b = net.addHost("h2", cls=Router, ip="10.0.0.99/24", defaultRoute="via 10.0.0.1")
s = net.addSwitch("s1")
first = net.addLink(a, s, params1={"ip": "10.3.3.3/24"}, port2=4)
net.addLink("h2", s)
net.addLink(b, a, intfName1="foo0", params2={"ip": "10.7.0.1/16"})
net.addLink(c, s, params1={"ip": "10.8.8.8/24"})
a.setIP("10.55.0.1", 16)
show(net)
net.build()
show(net)
a.setIP("10.66.0.1", 16, intf="h1-eth1")
a.setIP("10.67.0.1")
b.setIP("10.68.0.1/30")
b.intf("foo0").setIP("10.69.0.1/16")
show(net)
for x, y in ((a, s), (a, b), (s, a)):
    print([[str(one) for one in pair] for pair in x.connectionsTo(y)])
print(repr(a.cmd("echo $?")), a.newPort(), s.newPort(), a.intf(), a.intf("h1-eth1"))
net.start()
print([str(link) for link in net.linksBetween(a, s)], a.pexec("true")[2])
net.delLink(first)
print(a.intfNames(), len(net.links))
net.delHost(c)
print(list(net))
net.stop()

print(ipAdd(5), ipAdd(300, 16, ipParse("10.2.0.0")), ipParse("10.1"))
print(netParse("10.0.0.0"), netParse("10.2/16"), macColonHex(258), list(irange(1, 3)))
print(sorted(["h10", "h2", "h1"], key=natural))
