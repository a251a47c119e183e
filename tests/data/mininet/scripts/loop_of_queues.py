"""The same network for each size of its queue."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

for size in (20, 200):
    net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
    h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
    net.addLink(h1, s1)
    net.addLink(s1, h2, bw=10, delay="5ms", max_queue_size=size)
    net.start()
    h2.cmd("iperf3 -s -D")
    print(h1.cmd("iperf3 -t 2 -c", h2.IP()))
    net.stop()
