"""Datagrams over links that lose a tenth, each the first one, too."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
for host in (h1, h2):
    net.addLink(host, s1, bw=10, delay="5ms", loss=10)
net.start()
print(net.iperf([h1, h2], l4Type="UDP", udpBw="2M"))
net.stop()
