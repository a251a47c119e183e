"""A script that adds a route which its router has already, and goes on."""
from mininet.net import Mininet
from mininet.node import Node

net = Mininet(controller=None)
h1 = net.addHost("h1", ip="10.1.0.2/24", defaultRoute="via 10.1.0.1")
h2 = net.addHost("h2", ip="10.2.0.2/24", defaultRoute="via 10.2.0.1")
r = net.addHost("r", cls=Node, ip="10.1.0.1/24")
net.addLink(h1, r, intfName2="r-eth1")
net.addLink(h2, r, intfName2="r-eth2", params2={"ip": "10.2.0.1/24"})
net.start()
r.cmd("sysctl -w net.ipv4.ip_forward=1")
r.cmd("ip route add 10.1.0.0/24 via 10.1.0.2")
print(h1.cmd("ping -c 2", h2.IP()))
net.stop()
