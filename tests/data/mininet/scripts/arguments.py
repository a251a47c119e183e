"""A script with options."""
import argparse

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge

parser = argparse.ArgumentParser()
parser.add_argument("-b", "--bandwidth", type=float, default=5)
parser.add_argument("-t", "--time", type=int, default=2)
args = parser.parse_args()
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2, bw=args.bandwidth)
net.start()
h2.cmd("iperf -s &")
print(h1.cmd(f"iperf -c {h2.IP()} -t {args.time}"))
h2.cmd("kill %iperf")
net.stop()
