#!/usr/bin/env python3
"""Exercise 3: CUBIC and Reno compete for a link of 50 Mbit/s."""

from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo


class Dumbbell(Topo):
    """h1 and h2 send, h3 and h4 receive; the link between s1 and s2 is the bottleneck."""

    def build(self):
        """Make hosts, switches and links."""
        left, right = self.addSwitch("s1"), self.addSwitch("s2")
        # Yours: 50 Mbit/s, 10 ms, a queue of 100 packets.
        self.addLink(left, right)
        for number in (1, 2):
            self.addLink(self.addHost(f"h{number}"), left)
        for number in (3, 4):
            self.addLink(self.addHost(f"h{number}"), right)


net = Mininet(topo=Dumbbell(), switch=OVSBridge, controller=None)
net.start()
h1, h2, h3, h4 = net.get("h1", "h2", "h3", "h4")
for server in (h3, h4):
    server.cmd("iperf3 -s -D")

# Yours: two flows of 5 s that compete, the first by CUBIC and the second by Reno.
h1.cmd(f"iperf3 -c {h3.IP()} -t 5 > cubic.txt")
h2.cmd(f"iperf3 -c {h4.IP()} -t 5 > reno.txt")

net.stop()
