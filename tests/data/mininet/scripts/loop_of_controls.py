"""The same network for each congestion control."""
from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
import os


def run(control):
    os.system(f"sysctl -w net.ipv4.tcp_congestion_control={control}")
    net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
    h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
    net.addLink(h1, s1)
    net.addLink(s1, h2, bw=20, delay="5ms")
    net.start()
    server = h2.popen("iperf3 -s")
    h1.cmd("iperf3 -t 2 -J -c", h2.IP(), ">", control + ".json")
    server.terminate()
    net.stop()


for control in ("reno", "cubic"):
    run(control)
