"""Hosts that work at the same time, each in a thread."""
from threading import Thread

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

net = Mininet(topo=SingleSwitchTopo(3), switch=OVSBridge, controller=None)
net.start()
h1, h2, h3 = net.hosts


def work(host, count):
    host.cmd(f"ping -c {count} -i 0.5 {h3.IP()}")
    host.cmd(f"ping -c 1 {h3.IP()}")


threads = [Thread(target=work, args=one) for one in ((h1, 5), (h2, 3))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
net.stop()
