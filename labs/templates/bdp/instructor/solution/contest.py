#!/usr/bin/env python3
"""Exercise 3: CUBIC and Reno compete for a link of 50 Mbit/s."""

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo


class Dumbbell(Topo):
    """h1 and h2 send, h3 and h4 receive; the link between s1 and s2 is the bottleneck."""

    def build(self):
        """Make hosts, switches and links."""
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(left, right, cls=TCLink, bw=50, delay="10ms", max_queue_size=100)
        for number in (1, 2):
            self.addLink(self.addHost(f"h{number}"), left)
        for number in (3, 4):
            self.addLink(self.addHost(f"h{number}"), right)


net = Mininet(topo=Dumbbell(), switch=OVSBridge, controller=None)
net.start()
h1, h2, h3, h4 = net.get("h1", "h2", "h3", "h4")
for server in (h3, h4):
    server.cmd("iperf3 -s -D")

h1.cmd(f"iperf3 -c {h3.IP()} -t 5 -C cubic > cubic.txt &")
h2.cmd(f"iperf3 -c {h4.IP()} -t 5 -C reno > reno.txt")

net.stop()
