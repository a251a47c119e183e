"""A script that repeats each of its measurements in a fresh network."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo


class Pair(Topo):
    def build(self, delay):
        self.addLink(self.addHost("h1"), self.addHost("h2"), bw=10, delay=delay)


for delay in ("5ms", "20ms"):
    for repetition in range(3):
        net = Mininet(topo=Pair(delay=delay), link=TCLink, controller=None)
        net.start()
        net["h1"].cmd("ping -c 2 10.0.0.2 > %s-%d.txt" % (delay, repetition))
        net.stop()
