"""Tests in the background, whose output goes to files."""
from time import sleep

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("iperf3 -s -p 5202 > server.log 2>&1 &")
sleep(0.5)
h1.cmd("ping -c 4 -i 0.5 10.0.0.2 > ping.log &")
h1.cmd("iperf3 -c 10.0.0.2 -p 5202 -t 2 -i 0.5 > client.log 2>&1 &")
sleep(3)
print(h1.cmd("cat ping.log"))
h1.cmd("rm -f *.log")
net.stop()
