"""Hosts with names of ten letters; a rate that steps during a transfer; reno and cubic."""
import time
from mininet.net import Mininet
from mininet.link import TCLink
from mininet.node import OVSBridge

for cc in ("reno", "cubic"):
    net = Mininet(link=TCLink, switch=OVSBridge, controller=None)
    c, w, s = net.addHost("webclient1"), net.addHost("2001"), net.addSwitch("9")
    net.addLink(c, s, bw=20, delay="5ms", max_queue_size=50)
    link = net.addLink(w, s, delay="2ms")
    net.start()
    w.cmd("iperf3 -s -D")
    c.cmd("sysctl -w net.ipv4.tcp_congestion_control=%s" % cc)
    c.cmd("iperf3 -f m -c %s -t 8 > /tmp/out.txt &" % w.IP())
    for rate in (10, 5, 15):
        time.sleep(2)
        c.cmd("tc class change dev webclient1-eth0 parent 5:0 classid 5:1 htb rate %dmbit burst 15k" % rate)
    time.sleep(3)
    print(c.cmd("cat /tmp/out.txt"))
    w.cmd("pkill iperf3")
    link.intf1.config(delay="12ms")
    print(c.cmd("ping -c 3 -i 0.2 %s" % w.IP()))
    net.stop()
