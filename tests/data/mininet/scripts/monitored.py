"""Pings of all hosts to the first, watched by pmonitor."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from time import time

from mininet.topo import SingleSwitchTopo
from mininet.util import pmonitor

net = Mininet(topo=SingleSwitchTopo(3), switch=OVSBridge, controller=None)
net.start()
first, *others = net.hosts
popens = {host: host.popen(f"ping -c 3 -i 0.5 {first.IP()}") for host in others}
for host, line in pmonitor(popens):
    if host:
        print(host.name, line.strip())
popens = {host: host.popen(f"ping {first.IP()}") for host in others}
end = time() + 2
for host, line in pmonitor(popens, timeoutms=500):
    if time() >= end:
        for process in popens.values():
            process.terminate()
        break
net.stop()
