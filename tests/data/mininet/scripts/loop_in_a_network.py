"""Tests one after the other; a line between them changes the link."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
for delay in (10, 30):
    s1.cmd(f"tc qdisc replace dev s1-eth1 root netem delay {delay}ms")
    print(h1.cmd("ping -c 3 -i 0.2", h2.IP()))
s1.cmd("tc qdisc del dev s1-eth1 root")
net.stop()
