"""A script that follows files which its hosts write, and reads them in the end."""
import json
import select
from subprocess import PIPE, Popen
from time import time

from mininet.link import TCLink
from mininet.net import Mininet

net = Mininet(link=TCLink, controller=None)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=10, delay="5ms")
net.start()
h2.cmd("iperf3 -s -D")
h1.cmd("ping -c 3 %s > ping.txt &" % h2.IP())
tail = Popen(["tail", "-f", "ping.txt"], stdout=PIPE)
poll, end = select.poll(), time() + 4
poll.register(tail.stdout)
while time() < end:
    if poll.poll(500):
        print(tail.stdout.readline())
tail.terminate()
h1.cmd("iperf3 -t 2 -J -c %s > iperf.json" % h2.IP())
with open("iperf.json") as file:
    rate = json.load(file)["end"]["sum_received"]["bits_per_second"]
h1.cmd("ping -c %d %s" % (2 if rate > 1e6 else 1, h2.IP()))
net.stop()
