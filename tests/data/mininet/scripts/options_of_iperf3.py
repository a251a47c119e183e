"""What iperf3 can be given."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h2.cmd("iperf3 -s -D")
for options in (
    "-t 1 -u -b 2M -J",
    "-t 1 -P 3",
    "-t 1 -R",
    "-t 1 --bidir",
    "-n 1M -C reno",
    "-t 1 -w 64K -M 1000 -O 1",
):
    print(h1.cmd("iperf3 -c", h2.IP(), options))
net.stop()
