"""Processes beside each other, one of which the script ends."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from signal import SIGINT
from time import sleep

net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2, bw=20, delay="5ms")
net.start()
server = h2.popen(["iperf3", "-s"])
sleep(0.5)
ping = h1.popen("ping", "-i", "0.1", h2.IP())
sleep(1)
client = h1.popen("iperf3 -t 2 -c " + h2.IP())
out, error = client.communicate()
ping.send_signal(SIGINT)
print(out.decode(), ping.communicate()[0].decode())
server.terminate()
net.stop()
