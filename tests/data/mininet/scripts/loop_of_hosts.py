"""Stars of two and three hosts."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

for number in (2, 3):
    net = Mininet(topo=SingleSwitchTopo(number), switch=OVSBridge, controller=None)
    net.start()
    net.pingAll()
    net.stop()
