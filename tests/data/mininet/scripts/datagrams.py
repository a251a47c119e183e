"""Datagrams faster than the link."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("iperf -s -u &")
print(h1.cmd("iperf -u -b 30m -t 2 -c", h2.IP()))
net.stop()
