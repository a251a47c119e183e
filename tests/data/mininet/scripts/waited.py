"""sendCmd and waitOutput at several hosts at once."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(3), switch=OVSBridge, controller=None)
net.start()
h1, h2, h3 = net.hosts
for host in (h1, h2):
    host.sendCmd("ping -c 3 -i 0.2", h3.IP())
for host in (h1, h2):
    print(host.waitOutput())
h3.cmdPrint("ping -c 1", h1.IP())
print(h1.cmd("ip addr show h1-eth0"))
net.stop()
