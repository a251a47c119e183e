"""Names that begin with a digit, have points, or are long."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(switch=OVSBridge, controller=None)
a, b, c = net.addHost("1001"), net.addHost("h.1"), net.addHost("tenletters")
s1 = net.addSwitch("s1")
for host in (a, b, c):
    net.addLink(host, s1)
net.start()
a.cmd("tc qdisc add dev 1001-eth0 root netem delay 10ms")
c.cmd("tc qdisc add dev tenletters-eth0 root netem delay 20ms")
a.cmd("ping -c 2 -i 0.2", b.IP())
b.cmd("ping -c 2 -i 0.2", c.IP())
net.stop()
