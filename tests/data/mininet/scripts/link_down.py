"""A link that goes down and comes up."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import LinearTopo

net = Mininet(topo=LinearTopo(2), switch=OVSBridge, controller=None)
net.start()
h1, h2 = net.hosts
h1.cmd("ping -c 2 -i 0.2", h2.IP())
net.configLinkStatus("s1", "s2", "down")
h1.cmd("ping -c 2 -i 0.2 -W 1", h2.IP())
net.configLinkStatus("s1", "s2", "up")
h1.cmd("ping -c 2 -i 0.2", h2.IP())
net.stop()
