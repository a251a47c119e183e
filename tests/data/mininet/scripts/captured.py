"""Packets of a transfer."""
from time import sleep

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("tcpdump -i h2-eth0 -s 96 -w /tmp/h2.pcap tcp port 5201 &")
h2.cmd("iperf3 -s -1 -D")
sleep(0.5)
h1.cmd("iperf3 -c", h2.IP(), "-n 500K")
h2.cmd("kill %tcpdump")
net.stop()
