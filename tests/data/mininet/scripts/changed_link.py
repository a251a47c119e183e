"""A link that changes before the tests, between them and during them."""
import time

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
first = net.addLink(h1, s1, delay="1ms")
second = net.addLink(h2, s1, bw=20, delay="5ms", max_queue_size=100)
net.start()
first.intf1.config(delay="10ms")
print(h1.cmd("ping -c 2 -i 0.2", h2.IP()))
second.intf2.config(bw=8, delay="30ms", max_queue_size=50)
print(h1.cmd("ping -c 2 -i 0.2", h2.IP()))
server = h2.popen("iperf3 -s -1")
time.sleep(0.1)
client = h1.popen(["iperf3", "-t", "4", "-f", "m", "-c", h2.IP()])
time.sleep(2)
second.intf2.config(bw=2, max_queue_size=50)
print(client.communicate()[0].decode())
server.wait()
first.intf1.config(delay="1ms")
net.stop()
