"""A program beside the script."""
import os
from time import sleep

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("python3 answer.py 7000 &")
sleep(0.5)
print(h1.cmd("python3 ask.py %s 7000" % h2.IP()))
print(h1.cmd("./missing"))
net.stop()
