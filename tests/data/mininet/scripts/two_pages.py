"""Two pages from one server, the second by another program."""
import time

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
server = h1.popen("python3 -m http.server 8000")
time.sleep(1)
for _ in range(2):
    print(h2.cmd("curl -s -o /dev/null -w %{time_total} " + h1.IP() + ":8000/"))
server.terminate()
net.stop()
