"""The topologies that Mininet has ready, in its own words, so that scripts can ask for them."""

SOURCE = """
class SingleSwitchTopo(Topo):
    def build(self, k=2, **_opts):
        switch = self.addSwitch("s1")
        for number in range(1, k + 1):
            self.addLink(self.addHost("h%s" % number), switch)


class MinimalTopo(SingleSwitchTopo):
    def build(self):
        SingleSwitchTopo.build(self, k=2)


class LinearTopo(Topo):
    def build(self, k=2, n=1, **_opts):
        last = None
        for i in range(1, k + 1):
            switch = self.addSwitch("s%s" % i)
            for j in range(1, n + 1):
                host = self.addHost("h%s" % i if n == 1 else "h%ss%d" % (j, i))
                self.addLink(host, switch)
            if last:
                self.addLink(switch, last)
            last = switch


class TreeTopo(Topo):
    def build(self, depth=1, fanout=2):
        self.hostNum = 1
        self.switchNum = 1
        self.addTree(depth, fanout)

    def addTree(self, depth, fanout):
        if depth == 0:
            node = self.addHost("h%s" % self.hostNum)
            self.hostNum += 1
            return node
        node = self.addSwitch("s%s" % self.switchNum)
        self.switchNum += 1
        for _ in range(fanout):
            child = self.addTree(depth - 1, fanout)
            self.addLink(node, child)
        return node


def TreeNet(depth=1, fanout=2, **kwargs):
    return Mininet(TreeTopo(depth, fanout), **kwargs)
"""
"""What `mininet.topo` and `mininet.topolib` do, for what they are asked here."""
