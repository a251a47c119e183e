"""A bottleneck that the script makes by lines of tc, and changes while a test runs."""
import subprocess
from time import sleep

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(switch=OVSBridge, controller=None)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1)
net.addLink(s1, h2)
net.start()
subprocess.call("tc qdisc add dev s1-eth2 root handle 1: tbf rate 20mbit burst 15k limit 60k", shell=True)
s1.cmd("tc qdisc add dev s1-eth1 root netem delay 10ms")
h2.cmd("iperf3 -s -D")
client = h1.popen("iperf3 -c 10.0.0.2 -t 4")
sleep(2)
s1.cmd("tc qdisc change dev s1-eth2 root handle 1: tbf rate 5mbit burst 15k limit 60k")
client.wait()
net.stop()
