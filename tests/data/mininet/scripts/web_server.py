"""A page from a server."""
import time

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
h1.cmd("mkdir -p /tmp/www; head -c 200000 /dev/zero > /tmp/www/page")
h1.cmd("cd /tmp/www")
h1.cmd("python3 -m http.server 80 > /tmp/server.log 2>&1 &")
time.sleep(1)
print(h2.cmd("wget -nv -O /dev/null http://%s/page" % h1.IP()))
h1.cmd("kill %python3")
net.stop()
