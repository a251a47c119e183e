"""Mininet's topologies, networks and helpers, which note what is asked of them.

Like Mininet's own, the API has no types: a script gives what it likes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import ipaddress
import re

from longfat.guest.mininet.nodes import NAT, Host, Link, Node
from longfat.guest.mininet.record import RECORD, Recorded
from longfat.guest.mininet.switches import Controller, OVSSwitch

_OPTIONS = (
    "intf build xterms cleanup ipBase inNamespace autoSetMacs autoStaticArp autoPinCpus "
    "listenPort waitConnected"
)

# ------------------------------------------------------------------ mininet.util


def irange(start, end):
    return range(start, end + 1)


def natural(text):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(text))]


def ipParse(ip):
    *parts, last = (int(part) for part in ip.split("."))
    # What is missing is missing before the last: 10.1 is 10.0.0.1.
    return int.from_bytes([*parts, *[0] * (3 - len(parts)), last], "big")


def ipAdd(i, prefixLen=8, ipBaseNum=0x0A000000):
    most = 0xFFFFFFFF >> prefixLen
    if i > most:
        raise AssertionError("Not enough IP addresses in the subnet")
    return str(ipaddress.IPv4Address((ipBaseNum & ~most) + i))


def netParse(ipstr):
    ip, slash, length = ipstr.partition("/")
    return ipParse(ip), int(length) if slash else 24


def macColonHex(mac):
    return ":".join(f"{mac:012x}"[start : start + 2] for start in range(0, 12, 2))


def custom(cls, **params):
    return lambda *args, **named: cls(*args, **{**named, **params})


# ------------------------------------------------------------------ mininet.topo


class Topo(Recorded):
    """A topology; `places` has where the script asked for each node and link."""

    def __init__(self, *args, hopts=None, sopts=None, lopts=None, **params):
        self.name = type(self).__name__
        self.hopts, self.sopts, self.lopts = hopts or {}, sopts or {}, lopts or {}
        self._nodes: dict[str, dict[str, object]] = {}
        self._links: list[tuple[str, str, dict[str, object]]] = []
        self.places: dict[object, list[int]] = {}
        self.ports: dict[str, dict[int, tuple[str, int]]] = {}
        RECORD.topos.append(self)
        self.build(*args, **params)

    def build(self, *args, **params):
        pass

    def addNode(self, name, **opts):
        self._nodes.setdefault(name, {}).update(opts)
        self.places.setdefault(name, RECORD.place())
        return name

    def addHost(self, name, **opts):
        return self.addNode(name, **(opts or self.hopts))

    def addSwitch(self, name, **opts):
        return self.addNode(name, isSwitch=True, **(opts or self.sopts))

    def addLink(self, node1, node2, port1=None, port2=None, key=None, **opts):
        for name in (node1, node2):
            if name not in self._nodes:
                raise KeyError(f"there is no node {name!r}; there are: {', '.join(self._nodes)}")
        here, there = self.ports.setdefault(node1, {}), self.ports.setdefault(node2, {})
        port1 = len(here) + self.isSwitch(node1) if port1 is None else port1
        port2 = len(there) + self.isSwitch(node2) if port2 is None else port2
        here[port1], there[port2] = (node2, port2), (node1, port1)
        ends = {"node1": node1, "node2": node2, "port1": port1, "port2": port2}
        self.places[len(self._links)] = RECORD.place()
        self._links.append((node1, node2, {**(opts or self.lopts), **ends}))

    def port(self, src, dst):
        found = [(port, end[1]) for port, end in self.ports[src].items() if end[0] == dst]
        return found[0] if len(found) == 1 else found

    def isSwitch(self, n):
        return bool(self._nodes[n].get("isSwitch", False))

    def nodes(self, sort=True):
        return sorted(self._nodes, key=natural) if sort else list(self._nodes)

    def hosts(self, sort=True):
        return [name for name in self.nodes(sort) if not self.isSwitch(name)]

    def switches(self, sort=True):
        return [name for name in self.nodes(sort) if self.isSwitch(name)]

    def links(self, sort=False, withKeys=False, withInfo=False):
        links = sorted(self._links, key=_link_key) if sort else self._links
        keys = [0] if withKeys else []
        return [(a, b, *keys, *([info] if withInfo else [])) for a, b, info in links]

    iterLinks = links

    def nodeInfo(self, name):
        return self._nodes[name]


def _link_key(link):
    return [natural(end) for end in link[:2]]


class SingleSwitchTopo(Topo):
    def build(self, k=2, **_opts):
        switch = self.addSwitch("s1")
        for number in irange(1, k):
            self.addLink(self.addHost(f"h{number}"), switch)


class SingleSwitchReversedTopo(Topo):
    def build(self, k=2):
        switch = self.addSwitch("s1")
        for number in irange(1, k):
            self.addLink(self.addHost(f"h{number}"), switch, port1=0, port2=k - number + 1)


class MinimalTopo(SingleSwitchTopo):
    pass


class LinearTopo(Topo):
    def build(self, k=2, n=1, **_opts):
        last = None
        for i in irange(1, k):
            switch = self.addSwitch(f"s{i}")
            for j in irange(1, n):
                self.addLink(self.addHost(f"h{i}" if n == 1 else f"h{j}s{i}"), switch)
            if last:
                self.addLink(switch, last)
            last = switch


class TreeTopo(Topo):
    def build(self, depth=1, fanout=2):
        self.hostNum = self.switchNum = 1
        self.addTree(depth, fanout)

    def addTree(self, depth, fanout):
        if depth <= 0:
            self.hostNum += 1
            return self.addHost(f"h{self.hostNum - 1}")
        self.switchNum += 1
        node = self.addSwitch(f"s{self.switchNum - 1}")
        for _ in range(fanout):
            self.addLink(node, self.addTree(depth - 1, fanout))
        return node


def TreeNet(depth=1, fanout=2, **named):
    return Mininet(TreeTopo(depth, fanout), **named)


# ------------------------------------------------------------------- mininet.net


class Mininet(Recorded):
    ignored = {
        **dict.fromkeys(("startTerms", "stopXterms", "init")),
        "waitConnected": True,
        "monitor": (),
    }

    def __init__(
        self, topo=None, switch=OVSSwitch, host=Host, controller=Controller, link=Link, **options
    ):
        for name in options.keys() - set(_OPTIONS.split()):
            raise TypeError(f"Mininet has no option {name!r}")
        self.topo, self.switch, self.host, self.controller = topo, switch, host, controller
        self.link, self.intf = link, options.get("intf")
        self.ipBase = options.get("ipBase", "10.0.0.0/8")
        self.autoSetMacs = options.get("autoSetMacs", False)
        self.autoStaticArp = options.get("autoStaticArp", False)
        self.ipBaseNum, self.prefixLen = netParse(self.ipBase)
        self.nextIP = (0xFFFFFFFF >> self.prefixLen & self.ipBaseNum) or 1
        self.hosts: list[Node] = []
        self.switches: list[Node] = []
        self.controllers: list[Node] = []
        self.links: list[Link] = []
        self.nameToNode: dict[str, Node] = {}
        self.built = self.is_started = False
        RECORD.nets.append(self)
        if RECORD.net is None:
            RECORD.begin(self)
        if self.autoSetMacs:
            RECORD.warn("autoSetMacs is left out: interfaces have Linux's own addresses")
        if topo and options.get("build", True):
            self.build()

    # ---------------------------------------------------------------- nodes

    def _make(self, cls, usual, name, params):
        made = cls(name, **params)
        if not isinstance(made, Node):
            RECORD.warn(f"{name}: its class is not known and is taken as {usual.__name__}")
            made = usual(name, **params)
        made.net = self
        self.nameToNode[name] = made
        return made

    def addHost(self, name, cls=None, **params):
        ip = ipAdd(self.nextIP, ipBaseNum=self.ipBaseNum, prefixLen=self.prefixLen)
        given = {"ip": f"{ip}/{self.prefixLen}"}
        if self.autoSetMacs:
            given["mac"] = macColonHex(self.nextIP)
        self.nextIP += 1
        host = self._make(cls or self.host, Host, name, {**given, **params})
        host.warn_of(params)
        self.hosts.append(host)
        return host

    def addSwitch(self, name, cls=None, **params):
        given = {"listenPort": None, "inNamespace": False}
        switch = self._make(cls or self.switch, OVSSwitch, name, {**given, **params})
        self.switches.append(switch)
        return switch

    def addController(self, name="c0", controller=None, **params):
        made = self._add_controller(name, controller or self.controller, params)
        if made:
            why = "switches here are learning bridges, which need none"
            RECORD.warn(f"the controller is left out: {why}", who=made.name)
        return made

    def _add_controller(self, name, cls, params):
        made = name if isinstance(name, Controller) else cls and cls(name, **params)
        if made and not isinstance(made, Controller):
            made = Controller(name, **params)
        if made:
            self.controllers.append(made)
            self.nameToNode[made.name] = made
        return made

    def staticArp(self):
        self.autoStaticArp = True

    def delNode(self, node, nodes=None):
        for link in [one for one in self.links if node in (one.intf1.node, one.intf2.node)]:
            self.delLink(link)
        for several in (self.hosts, self.switches, self.controllers, RECORD.nodes):
            if node in several:
                several.remove(node)
        del self.nameToNode[node.name]

    delHost = delSwitch = delController = delNode

    def __getitem__(self, key):
        if key not in self.nameToNode:
            raise KeyError(f"there is no node {key!r}; there are: {', '.join(self.nameToNode)}")
        return self.nameToNode[key]

    def __iter__(self):
        return (node.name for node in self.values())

    def __len__(self):
        return len(self.values())

    def __contains__(self, item):
        return item in self.nameToNode

    def keys(self):
        return list(self)

    def values(self):
        return [*self.hosts, *self.switches, *self.controllers]

    def get(self, *args):
        return self[args[0]] if len(args) == 1 else [self[name] for name in args]

    getNodeByName = get

    # ---------------------------------------------------------------- links

    def addLink(self, node1, node2, port1=None, port2=None, cls=None, **params):
        ends = [self[node] if isinstance(node, str) else node for node in (node1, node2)]
        for end in ends:
            if not isinstance(end, Node):
                raise TypeError(f"an end of the link is {end!r}, where a node is needed")
        options = {"port1": port1, "port2": port2, "intf": self.intf, **params}
        for end in "12":
            number = 2 * len(self.links) + int(end)
            options.setdefault(f"addr{end}", macColonHex(0x02 << 40 | number))
        link = (cls or self.link)(*ends, **options)
        if not isinstance(link, Link):
            RECORD.warn("the link's class is not known and is taken as Link")
            link = Link(*ends, **options)
        self.links.append(link)
        return link

    def delLink(self, link):
        link.delete()
        self.links.remove(link)

    def linksBetween(self, node1, node2):
        wanted = {node1, node2}
        return [link for link in self.links if {link.intf1.node, link.intf2.node} == wanted]

    # ------------------------------------------------------------ its course

    def build(self):
        if self.topo:
            self.buildFromTopo(self.topo)
        for host in self.hosts:
            if host.defaultIntf():
                host.configDefault()
            else:  # Mininet gives it no address: it has no interface
                ip = host.params.get("ip")
                host.configDefault(ip=None, mac=None)
                host.address = host.address or ip
        self.built = True

    def buildFromTopo(self, topo):
        if not self.controllers and self.controller:
            several = self.controller if isinstance(self.controller, list) else [self.controller]
            for number, cls in enumerate(several):
                is_made = isinstance(cls, Controller)
                self._add_controller(cls if is_made else f"c{number}", cls, {})
        for name in (*topo.hosts(), *topo.switches()):
            add = self.addSwitch if topo.isSwitch(name) else self.addHost
            add(name, **topo.nodeInfo(name)).at = topo.places[name]
        for number, (*_, info) in enumerate(topo.links(withInfo=True)):
            self.addLink(**info).at = topo.places[number]
        # Mininet's own lists have names in natural order; ours, the order of the script.
        order = topo.nodes(sort=False)
        RECORD.nodes.sort(key=lambda node: order.index(node.name) if node.net is self else 0)
        self.links.sort(key=lambda link: _link_key((link.intf1.node, link.intf2.node)))

    def start(self):
        if not self.built:
            self.build()
        self.is_started = True
        RECORD.begin(self)
        RECORD.type(None, self, "", kind="start")
        for node in (*self.controllers, *self.switches):
            node.start(*([self.controllers] if node.is_switch else []))

    def stop(self):
        RECORD.end(self)
        # What a script types at the end of its nodes is no set-up.
        for node in (*self.hosts, *self.switches):
            node.has_shell = False

    def run(self, test, *args, **named):
        self.start()
        result = test(*args, **named)
        self.stop()
        return result

    def interact(self):
        self.run(lambda: None)

    # ------------------------------------------------------------- its tests

    def ping(self, hosts=None, timeout=None):
        self._ping(hosts, timeout, "ping")
        return 0.0

    def pingFull(self, hosts=None, timeout=None):
        pairs = self._ping(hosts, timeout, "pingFull")
        return [(*pair, (1, 1, 1.0, 1.0, 1.0, 0.0)) for pair in pairs]

    def _ping(self, hosts, timeout, test):
        hosts = hosts or self.hosts
        wait = f"-W {timeout} " if timeout else ""
        pairs = [(one, other) for one in hosts for other in hosts if one is not other]
        pairs = [pair for pair in pairs if pair[1].IP()]
        for one, other in pairs:
            one._type(f"ping -c1 {wait}{other.IP()}", test)
        return pairs

    def pingAll(self, timeout=None):
        self._ping(None, timeout, "pingAll")
        return 0.0

    def pingPair(self):
        self._ping(self.hosts[:2], None, "pingPair")
        return 0.0

    def pingAllFull(self):
        return self.pingFull()

    def pingPairFull(self):
        return self.pingFull(hosts=self.hosts[:2])

    def iperf(self, hosts=None, l4Type="TCP", udpBw="10M", fmt=None, seconds=5, port=5001, **named):
        client, server = hosts or (self.hosts[0], self.hosts[-1])
        is_udp = l4Type == "UDP"
        udp = "-u " if is_udp else ""
        server._type(f"iperf -p {port} {udp}-s &", "iperf")
        rate = f"-u -b {udpBw} " if is_udp else ""
        client._type(f"iperf -p {port} -t {seconds} {rate}-c {server.IP()}", "iperf")
        rates = ["10.0 Mbits/sec", "10.0 Mbits/sec"]
        return [udpBw, *rates] if is_udp else rates

    def runCpuLimitTest(self, *args, **named):
        RECORD.warn("runCpuLimitTest is left out: hosts are infinitely fast")
        return []

    def configLinkStatus(self, src, dst, status):
        ends = [self[node] if isinstance(node, str) else node for node in (src, dst)]
        for link in self.linksBetween(*ends):
            for intf in (link.intf1, link.intf2):
                intf.node._type(f"ip link set dev {intf.name} {status}", "configLinkStatus")

    def addNAT(self, name="nat0", connect=True, inNamespace=False, **params):
        nat = self.addHost(name, cls=NAT, inNamespace=True, **params)
        why = "a machine has no network of its own"
        RECORD.warn(f"addNAT: {name} is a router whose Internet is left out: {why}")
        if connect:
            self.addLink(nat, connect if isinstance(connect, Node) else self.switches[0])
            for host in self.hosts:
                if host is not nat and host.intfs:
                    host.setDefaultRoute(f"via {nat.params['ip'].partition('/')[0]}")
        return nat


class CLI:
    """A prompt at which nobody types."""

    def __init__(self, mininet=None, *args, **named):
        self.mn = mininet
