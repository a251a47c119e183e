"""A script whose flow needs larger buffers than Linux has by itself: Mininet sets them."""
from mininet.link import TCLink
from mininet.net import Mininet

net = Mininet(link=TCLink, controller=None)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=100, delay="150ms")
net.start()
h2.cmd("iperf3 -s -D")
print(h1.cmd("iperf3 -f m -t 20 -c", h2.IP()))
net.stop()
