"""A script that samples a queue in a process of its own, fetches pages, and keeps all in files."""
import os
from multiprocessing import Process
from time import sleep

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from samples import sample_queue

if not os.path.exists("out/q20"):
    os.makedirs("out/q20")
net = Mininet(switch=OVSBridge, controller=None, link=TCLink)
h1, h2, s1 = net.addHost("h1"), net.addHost("h2"), net.addSwitch("s1")
net.addLink(h1, s1, bw=100)
net.addLink(s1, h2, bw=5, delay="2ms", max_queue_size=20)
net.start()
sampler = Process(target=sample_queue, args=("s1-eth2", "out/q20/queue.txt"))
sampler.start()
h1.cmd("echo begun > out/q20/log.txt")
h1.popen("python3 -m http.server 80", shell=True)
h2.popen("iperf -s -w 32m", shell=True)
sleep(1)
h1.popen("iperf -c %s -t 4 -w 32m > out/q20/iperf.txt" % h2.IP(), shell=True)
times = []
for _ in range(2):
    said = h2.cmd("curl -o /dev/null -s -w '%%{time_total}' %s/out/" % h1.IP())
    times.append(float(said))
    sleep(1)
clients = [Process(target=h1.cmd, args=("ping -c %d %s" % (n, h2.IP()),)) for n in (2, 3)]
for client in clients:
    client.start()
for client in clients:
    client.join()
print(sum(times) / len(times))
sampler.terminate()
net.stop()
