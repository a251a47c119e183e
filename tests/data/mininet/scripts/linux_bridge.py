"""Linux's own bridge."""
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import LinearTopo

net = Mininet(topo=LinearTopo(2), switch=LinuxBridge, controller=None)
net.start()
net.pingPair()
net.stop()
