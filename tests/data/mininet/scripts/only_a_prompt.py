"""A network to be worked in by hand."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.cli import CLI
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(2), switch=OVSBridge, controller=None)
net.start()
CLI(net)
net.stop()
