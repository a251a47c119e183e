"""A host that forwards between two networks."""
from mininet.net import Mininet
from mininet.node import Node, OVSBridge
from mininet.topo import Topo


class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")

    def terminate(self):
        self.cmd("sysctl net.ipv4.ip_forward=0")
        super().terminate()


class NetworkTopo(Topo):
    def build(self, **_opts):
        router = self.addNode("r0", cls=LinuxRouter, ip="192.168.1.1/24")
        for number, address in ((1, "192.168.1"), (2, "172.16.0")):
            switch = self.addSwitch(f"s{number}")
            self.addLink(
                switch,
                router,
                intfName2=f"r0-eth{number}",
                params2={"ip": f"{address}.1/24"},
            )
            host = self.addHost(
                f"h{number}", ip=f"{address}.100/24", defaultRoute=f"via {address}.1"
            )
            self.addLink(host, switch)


net = Mininet(topo=NetworkTopo(), switch=OVSBridge, controller=None, waitConnected=True)
net.start()
print(net["r0"].cmd("route -n"))
print(net["h1"].cmd("ping -c 2", net["h2"].IP()))
net.stop()
