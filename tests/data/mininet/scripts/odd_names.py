"""Names that begin with a digit, have points, or are long, in lines of all kinds."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(switch=OVSBridge, controller=None)
a, b, c = net.addHost("1001"), net.addHost("h.1"), net.addHost("tenletters")
s1, s2 = net.addSwitch("1"), net.addSwitch("switchtwelve")
for host in (a, b, c):
    net.addLink(host, s1)
net.addLink(s1, s2)
net.start()
a.cmd("tc qdisc add dev 1001-eth0 root netem delay 10ms")
c.cmd("tc qdisc add dev %s root netem delay 20ms" % c.defaultIntf())
b.cmd("ip link set dev %s mtu 1400" % b.intf())
s1.cmd("ip link set dev 1 mtu 1400")
s2.cmd("ip link set dev switchtwelve mtu 1400")
s2.cmd("ip link set dev switchtwelve-eth1 mtu 1400")
net.get("1001").cmd("ping -c 2 -i 0.2 -I 1001-eth0", b.IP())
b.cmd("sysctl -w net.ipv4.conf.h.1-eth0.proxy_arp=1")
b.cmd("ping -c 2 -i 0.2", c.IP())
net.stop()
