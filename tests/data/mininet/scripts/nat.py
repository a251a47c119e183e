"""Hosts behind a router to the outside."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), switch=OVSBridge, controller=None)
net.addNAT().configDefault()
net.start()
net.pingAll()
print(net["h1"].cmd("ip route"))
net.stop()
