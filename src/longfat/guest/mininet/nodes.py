"""Mininet's nodes, interfaces and links, which note what is asked of them.

Like Mininet's own, the API has no types: a script gives what it likes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import re
import subprocess

from longfat.guest.mininet.record import RECORD, Recorded

_NO_CPU = "hosts are infinitely fast"
_REASONS = {
    "mac": "interfaces have Linux's own addresses",
    "cpu": _NO_CPU,
    "cores": _NO_CPU,
    "privateDirs": "hosts share one file system",
}
_KNOWN = frozenset(("ip", "defaultRoute", "inNamespace", "isSwitch", "name", "lo"))
_ASKS_BACK = re.compile(r"echo \$([?!])\s*$")
_SHAPING = ("bw", "delay", "loss", "max_queue_size")


class Intf(Recorded):
    """An interface.

    Attributes:
        own_ip: an address that is its own, and not that of its host.
        options: what its link's options say of it; as they were last said.
    """

    shapes = False
    ignored = {"isUp": True, "status": "OK"}

    def __init__(self, name, node=None, port=None, link=None, mac=None, **params):
        self.name, self.node, self.link, self.mac = name, node, link, mac
        self.ip = self.prefixLen = self.own_ip = None
        self.options = {}
        params.pop("moveIntfFn", None)
        self.params = params
        if node is not None:
            node.addIntf(self, port=port)
            if link is None:
                RECORD.warn(f"Intf {name} is left out: a machine has no network of its own")
        self.config(**params)

    def config(self, mac=None, ip=None, ifconfig=None, up=True, **params):
        if mac is not None:
            self.setMAC(mac)
        if ip is not None:
            self.own_ip = self._address(ip, 8)
        if ifconfig is not None:
            self.ifconfig(ifconfig)
        # Where nothing of a shape is said, TCIntf leaves the shape that there is.
        if not self.options or any(params.get(name) for name in _SHAPING):
            self.options = params
        return {}

    def _address(self, ip, length):
        if "/" in ip:
            ip, length = ip.split("/")
        elif length is None:
            raise ValueError(f"the address {ip} has no prefix length")
        self.ip, self.prefixLen = ip, length
        return f"{ip}/{length}"

    def setIP(self, ipstr, prefixLen=None):
        address = self._address(ipstr, prefixLen)
        if self is self.node.defaultIntf():
            self.node.address = address
        else:
            self.own_ip = address
        return ""

    def setMAC(self, macstr):
        self.mac = macstr
        return ""

    def IP(self):
        return self.ip

    def MAC(self):
        return self.mac

    updateIP, updateMAC = IP, MAC

    def cmd(self, *args, **named):
        return self.node.cmd(*args, **named)

    def ifconfig(self, *args):
        return self.cmd("ifconfig", self.name, *args)

    def tc(self, cmd, tc="tc"):
        return self.cmd(cmd % (tc, self))

    def delete(self):
        self.node.delIntf(self)

    def __str__(self):
        return self.name


class TCIntf(Intf):
    shapes = True


class Link(Recorded):
    intf_class: type[Intf] | None = None
    ignored = {"stop": None, "status": "(OK OK)"}

    def __init__(self, node1, node2, port1=None, port2=None, **params):
        self.at = RECORD.place()
        params.pop("fast", None)
        intf = params.pop("intf", None) or Intf
        ends = []
        for number, node, port in (("1", node1, port1), ("2", node2, port2)):
            keys = ("cls", "addr", "params", "intfName")
            cls, mac, own, name = (params.pop(f"{key}{number}", None) for key in keys)
            own = dict(own or {})
            port = own.pop("port", None) if port is None else port
            ends.append((cls or self.intf_class or intf, node, port, name, mac, own))
        intfs = []
        for cls, node, port, name, mac, own in ends:
            number = node.newPort() if port is None else port
            name = name or f"{node.name}-eth{number!r}"
            # What is said of both ends wins, as in Mininet.
            own |= params
            intfs.append(cls(name, node=node, port=number, link=self, mac=mac, **own))
        self.intf1, self.intf2 = intfs
        RECORD.links.append(self)

    def delete(self):
        self.intf1.delete()
        self.intf2.delete()
        RECORD.links.remove(self)

    def __str__(self):
        return f"{self.intf1}<->{self.intf2}"


class TCLink(Link):
    intf_class = TCIntf


class _Ended(subprocess.Popen):  # type: ignore[type-arg]
    """What `popen` gives: a process that has ended, in place of the command of a number."""

    number = None

    def wait(self, timeout=None):
        self._noted()
        return super().wait(timeout)

    def communicate(self, input=None, timeout=None):
        self._noted()
        return super().communicate(input, timeout)

    def _noted(self):
        if self.number is not None:
            RECORD.wait(self.number)


class Node(Recorded):
    """A node: a host, if it is no switch and no controller.

    Attributes:
        address: its address, as the script says it.
        gateway: its default route, likewise.
        net: the `Mininet` that it is of; None if it is made without one.
        number: of the last command that the script did not wait for.
    """

    portBase = 0
    is_switch = False
    # Static ARP is of no use either: interfaces have Linux's own addresses.
    ignored = {
        **dict.fromkeys(("monitor", "setARP"), ""),
        **dict.fromkeys(("sendInt", "write", "cleanup", "deleteIntfs", "setup")),
        "intfIsUp": True,
    }

    def __init__(self, name, inNamespace=True, **params):
        if not isinstance(name, str):
            raise TypeError(f"a node's name is a text, and not {name!r}")
        self.name = name
        self.inNamespace = params.get("inNamespace", inNamespace)
        self.params = params
        self.intfs, self.ports, self.nameToIntf = {}, {}, {}
        self._last_port = self.portBase - 1
        self.address = params.get("ip")
        self.gateway = self.net = self.number = None
        self.at = RECORD.place()
        self.has_shell = True  # until the network is stopped
        self.pid, self.waiting = 1, False
        RECORD.nodes.append(self)

    # --------------------------------------------------------- what is typed

    def cmd(self, *args, **named):
        text = _line(args)
        if not self.has_shell:
            return None
        net = self.net or (RECORD.nets or [None])[-1]
        RECORD.type(self, net, text)
        asks_back = _ASKS_BACK.search(text)
        return {"?": "0\r\n", "!": "1\r\n"}[asks_back[1]] if asks_back else ""

    cmdPrint = cmd

    def pexec(self, *args, **named):
        self.cmd(*args)
        return "", "", 0

    def popen(self, *args, text=False, universal_newlines=False, **named):
        self.sendCmd(*args)
        RECORD.is_quiet = True
        done = _Ended(
            ["/bin/true"], stdin=-1, stdout=-1, stderr=-1, text=text or universal_newlines
        )
        RECORD.is_quiet = False
        done.number = self.number
        return done

    def sendCmd(self, *args, **named):
        RECORD.warn(f"{self.name}: `{_line(args)}` is left out: a study has flows for traffic")
        if self.has_shell:
            net = self.net or (RECORD.nets or [None])[-1]
            self.number = RECORD.type(self, net, _line(args), waits=False)

    def waitOutput(self, verbose=False, findPid=True):
        if self.number is not None:
            RECORD.wait(self.number)
        return ""

    # ----------------------------------------------------------- interfaces

    def newPort(self):
        return self._last_port + 1

    def addIntf(self, intf, port=None, moveIntfFn=None):
        port = self.newPort() if port is None else port
        self.intfs[port] = self.nameToIntf[intf.name] = intf
        self.ports[intf] = port
        self._last_port = max(self._last_port, port)

    def delIntf(self, intf):
        del self.intfs[self.ports.pop(intf)], self.nameToIntf[intf.name]
        self._last_port = max(self.intfs, default=self.portBase - 1)

    def defaultIntf(self):
        return self.intfs[min(self.intfs)] if self.intfs else None

    def intf(self, intf=None):
        if not intf:
            return self.defaultIntf()
        return self.nameToIntf[intf] if isinstance(intf, str) else intf

    def intfList(self):
        return [self.intfs[port] for port in sorted(self.intfs)]

    def intfNames(self):
        return [str(intf) for intf in self.intfList()]

    def connectionsTo(self, node):
        pairs = [(one.link.intf1, one.link.intf2) for one in self.intfList() if one.link]
        pairs = [pair if pair[0].node is self else pair[::-1] for pair in pairs]
        return [pair for pair in pairs if pair[1].node is node]

    linkTo = lambda self, node, link=Link: link(self, node)

    # -------------------------------------------------------- configuration

    def setIP(self, ip, prefixLen=8, intf=None, **named):
        found = self.intf(intf)
        if found is not None:
            return found.setIP(ip, prefixLen, **named)
        self.address = ip if "/" in ip else f"{ip}/{prefixLen}"
        return ""

    def setMAC(self, mac, intf=None):
        found = self.intf(intf)
        return found and found.setMAC(mac)

    def setDefaultRoute(self, intf=None):
        self.gateway = intf if isinstance(intf, str) and " " in intf else f"dev {intf}"

    def setHostRoute(self, ip, intf):
        return self.cmd(f"ip route add {ip} dev {intf}")

    def IP(self, intf=None):
        found = self.intf(intf)
        return found and found.IP()

    def MAC(self, intf=None):
        found = self.intf(intf)
        return found and found.MAC()

    def setParam(self, results, method, **param):
        ((name, value),) = param.items()
        if value is not None and hasattr(type(self), method):
            args = value if isinstance(value, list) else [] if isinstance(value, dict) else [value]
            named = value if isinstance(value, dict) else {}
            results[name] = getattr(self, method)(*args, **named)

    def config(self, mac=None, ip=None, defaultRoute=None, lo="up", **params):
        results: dict[str, object] = {}
        self.setParam(results, "setMAC", mac=mac)
        self.setParam(results, "setIP", ip=ip)
        self.setParam(results, "setDefaultRoute", defaultRoute=defaultRoute)
        return results

    def configDefault(self, **more):
        self.params.update(more)
        self.config(**self.params)

    def warn_of(self, options):
        """Note which of a script's options of a host are left out."""
        is_ours = type(self).__module__ == __name__  # another class may know more
        for option, value in options.items():
            if option in _REASONS and value:
                RECORD.warn(f"{self.name}: {option} is left out: {_REASONS[option]}")
            elif is_ours and option not in _KNOWN and option not in _REASONS:
                RECORD.warn(f"{self.name}: {option} is not known and is left out")

    def terminate(self):
        self.has_shell = False

    def stop(self, deleteIntfs=False):
        self.terminate()

    def __str__(self):
        return self.name


def _line(args):
    words = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
    return " ".join(map(str, words))


class Host(Node):
    pass


class CPULimitedHost(Host):
    left_out = dict.fromkeys(("setCPUFrac", "setCPUs"), (_NO_CPU, None))

    def __init__(self, name, sched="cfs", **params):
        super().__init__(name, **params)
        RECORD.warn(f"{name}: CPULimitedHost is taken as a host: {_NO_CPU}")


class Switch(Node):
    portBase = 1
    is_switch = True
    ignored = {"start": None, "attach": None, "detach": None, "connected": True, "isOldOVS": False}
    left_out = dict.fromkeys(("vsctl", "dpctl"), ("switches are Linux bridges", ""))

    def __init__(self, name, dpid=None, opts="", listenPort=None, **params):
        super().__init__(name, **params)
        digits = re.search(r"\d+", name)
        derived = f"{int(digits[0]):x}" if digits else ""
        self.dpid = (str(dpid).replace(":", "") if dpid else derived).zfill(16)

    def defaultIntf(self):
        return None

    def setIP(self, *args, **named):
        RECORD.warn(f"{self.name}: setIP is left out: switches have no addresses")


class OVSSwitch(Switch):
    pass


class Controller(Node):
    """A controller, which the network has none of: see `Mininet.addController`."""

    ignored = {"start": None}

    def __init__(self, name, inNamespace=False, **params):
        super().__init__(name, inNamespace=inNamespace, **params)
        RECORD.nodes.remove(self)
        self.ip, self.port = params.get("ip", "127.0.0.1"), params.get("port", 6653)

    def IP(self, intf=None):
        return self.ip

    def cmd(self, *args, **named):
        RECORD.warn(f"what is typed at the controller {self.name} is left out")
        return ""
