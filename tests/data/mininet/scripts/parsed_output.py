"""A script that reads numbers out of what it ran, and runs until a time is over."""
import re
from time import sleep, time

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("iperf3 -s -D")
rtts = []
begin = time()
while time() - begin < 3:
    out = h1.cmd("ping -c 1", h2.IP())
    print(out)
    rtts.append(float(re.search(r"= [\d.]+/([\d.]+)/", out).group(1)))
    sleep(1)
out = h1.cmd("iperf3 -t 2 -c", h2.IP())
print(out)
rate = re.search(r"([\d.]+) Mbits/sec.*receiver", out).group(1)
print("largest RTT", max(rtts), "ms; rate", float(rate), "Mbit/s")
net.stop()
