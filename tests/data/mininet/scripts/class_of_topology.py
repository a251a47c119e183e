"""A topology with parameters, and Mininet's own test of throughput."""
from functools import partial

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo
from mininet.util import dumpNodeConnections


class Line(Topo):
    def build(self, length=2, bw=10, **_opts):
        last = None
        for number in range(1, length + 1):
            switch = self.addSwitch(f"s{number}")
            self.addLink(self.addHost(f"h{number}", ip=f"10.0.0.{number}/24"), switch)
            if last:
                self.addLink(last, switch, bw=bw, delay="2ms")
            last = switch


def main():
    net = Mininet(
        topo=Line(length=3, bw=15), link=partial(TCLink), switch=OVSBridge, controller=None
    )
    net.start()
    dumpNodeConnections(net.hosts)
    if net.pingAll() > 0:
        raise SystemExit("lost")
    h1, h3 = net.getNodeByName("h1", "h3")
    net.iperf((h1, h3), seconds=2)
    net.stop()


if __name__ == "__main__":
    main()
