"""Mininet's nodes, interfaces and links, which note what is asked of them.

Like Mininet's own, the API has no types: a script gives what it likes.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import contextlib
import os
import re
import shlex
import subprocess

from longfat.guest.mininet.lines import Command, commands_of, duration_s, reply
from longfat.guest.mininet.record import RECORD, Recorded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

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
        first: likewise before the first change in a running network; None without one.
    """

    shapes = False
    ignored = {"isUp": True, "status": "OK"}

    def __init__(self, name, node=None, port=None, link=None, mac=None, **params):
        self.name, self.node, self.link, self.mac = name, node, link, mac
        self.ip = self.prefixLen = self.own_ip = None
        self.options = {}
        self.first = None
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
        says = any(params.get(name) for name in _SHAPING)
        net = getattr(self.node, "net", None)
        if says and self.shapes and net and net.is_started and self.node.has_shell:
            self.first = self.options if self.first is None else self.first
            RECORD.configure(self, params)
        if not self.options or says:
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


def _keep_output(command: Command) -> None:
    """Write what a command might print into its file, which the script may read or wait for."""
    if command.file is None or command.file.startswith(("/dev/", "/proc/", "/sys/")):
        return
    mode = "a" if ">>" in command.text else "w"
    said = reply(command._replace(file=None, is_background=False))
    with contextlib.suppress(OSError, ValueError), open(command.file, mode) as file:
        file.write(said)


class _Process(subprocess.Popen):  # type: ignore[type-arg]
    """What `popen` gives: a process that takes as long as its words say, and then has ended.

    Behind it is one that prints what the command might, so that pipes can be read.
    """

    number: "int | None" = None
    end_s: "float | None" = None
    was_signalled = is_noted = False
    _answer = 0

    def poll(self):
        if not self._is_over():
            return None
        self._noted()
        return super().wait()

    def wait(self, timeout=None):
        left_s = 0.0 if self.end_s is None else self.end_s - RECORD.now_s()
        if timeout is not None and left_s > timeout and not self.was_signalled:
            RECORD.pass_time(timeout)
            raise subprocess.TimeoutExpired(self.args, timeout)
        if not self.was_signalled:
            RECORD.pass_time(left_s)
        self._noted()
        return super().wait()

    def communicate(self, input=None, timeout=None):
        self.wait(timeout)
        return super().communicate(input)

    def send_signal(self, sig):
        self._signalled()

    def terminate(self):
        self._signalled()

    kill = terminate

    def _is_over(self):
        ended = self.end_s is not None and RECORD.now_s() >= self.end_s
        return self.was_signalled or ended

    def _signalled(self):
        if self.number is not None and not self.was_signalled and not self._is_over():
            RECORD.signal(self.number)
        self.was_signalled = True

    def _noted(self):
        if self.number is not None and not self.is_noted:
            self.is_noted = True
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
    outToNode: "dict[int, Node]" = {}
    # Static ARP is of no use either: interfaces have Linux's own addresses.
    ignored = {
        "setARP": "",
        **dict.fromkeys(("write", "cleanup", "deleteIntfs", "setup")),
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
        self.address = self.gateway = self.net = self.number = None
        self._jobs_s: list[float | None] = []
        self._stdout: BinaryIO | None = None
        self._sent_s, self._sent = None, ""
        self.at = RECORD.place()
        self.has_shell = True  # until the network is stopped
        self.pid, self.waiting = 1, False
        self.lastPid = 1
        RECORD.nodes.append(self)

    # --------------------------------------------------------- what is typed

    def cmd(self, *args, **named):
        text = _line(args)
        if not self.has_shell:
            return None
        return self._type(text, "line")

    def _type(self, text, kind):
        """Note what is typed; wait as long as it takes, and return what it might print."""
        RECORD.type(self, self._net(), text, kind=kind)
        replies = []
        for command in commands_of(text):
            _keep_output(command)
            if command.is_background:
                self._jobs_s.append(self._end_s(command))
                continue
            if command.program == "wait":
                ends_s = [end_s for end_s in self._jobs_s if end_s is not None]
                RECORD.pass_time(max(ends_s, default=0.0) - RECORD.now_s())
            else:
                RECORD.pass_time(duration_s(command) or 0.0)
            replies.append(reply(command))
        asks_back = _ASKS_BACK.search(text)
        return {"?": "0\r\n", "!": "1\r\n"}[asks_back[1]] if asks_back else "".join(replies)

    def cmdPrint(self, *args, **named):
        return self.cmd(*args, **named)

    @property
    def stdout(self):
        """What its shell prints: nothing, but scripts poll it."""
        if self._stdout is None:
            out, self._stdin = os.pipe()
            self._stdout = os.fdopen(out, "rb")
            self.outToNode[out] = self
        return self._stdout

    def _net(self):
        return self.net or RECORD.net or (RECORD.nets or [None])[-1]

    def _end_s(self, command):
        span_s = duration_s(command)
        return None if span_s is None else RECORD.now_s() + span_s

    def pexec(self, *args, **named):
        return self.cmd(_argv_line(args)) or "", "", 0

    def popen(self, *args, text=False, universal_newlines=False, encoding=None, **named):
        line = _argv_line(args)
        for command in commands_of(line):
            _keep_output(command)
        RECORD.is_quiet = True
        output = named.get("stdout") is None or named["stdout"] == subprocess.PIPE
        said = "".join(map(reply, commands_of(line))) if output else ""
        done = _Process(
            ["/usr/bin/printf", "%s", said],
            stdin=-1,
            stdout=-1,
            stderr=-1,
            text=text or universal_newlines or encoding is not None,
        )
        RECORD.is_quiet = False
        if self.has_shell:
            done.number = RECORD.type(self, self._net(), line, waits=False)
            done.end_s = self._whole_s(line)
        return done

    def _whole_s(self, text):
        whole_s = RECORD.now_s()
        for command in commands_of(text):
            span_s = 0.0 if command.is_background else duration_s(command)
            if span_s is None:
                return None
            whole_s += span_s
        return whole_s

    def sendCmd(self, *args, **named):
        if self.has_shell:
            text = _line(args)
            for command in commands_of(text):
                _keep_output(command)
            self.number = RECORD.type(self, self._net(), text, waits=False)
            self._sent_s, self._sent = self._whole_s(text), text
            self.waiting = True

    def monitor(self, timeoutms=None, findPid=True):
        left_s = 0.0 if self._sent_s is None else max(0.0, self._sent_s - RECORD.now_s())
        if timeoutms is not None and left_s > timeoutms / 1000:
            RECORD.pass_time(timeoutms / 1000)
            return ""
        return self.waitOutput()

    def waitOutput(self, verbose=False, findPid=True):
        if self.number is None or not self.waiting:
            return ""
        if self._sent_s is not None:
            RECORD.pass_time(self._sent_s - RECORD.now_s())
        RECORD.wait(self.number)
        self.waiting = False
        return "".join(map(reply, commands_of(self._sent)))

    def sendInt(self, intr="\x03"):
        if self.number is not None and self.waiting:
            RECORD.signal(self.number)
            self._sent_s = RECORD.now_s()

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


def _argv_line(args):
    """Return the line of a program's arguments: words are not split again."""
    words = args[0] if len(args) == 1 else args
    return str(words) if isinstance(words, str) else shlex.join(map(str, words))


class Host(Node):
    pass


class NAT(Node):
    """A host that is a router to what is outside of the network."""

    def config(self, mac=None, ip=None, defaultRoute=None, lo="up", **params):
        results = super().config(mac, ip, defaultRoute, lo, **params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")
        return results


class CPULimitedHost(Host):
    left_out = dict.fromkeys(("setCPUFrac", "setCPUs"), (_NO_CPU, None))

    def __init__(self, name, sched="cfs", **params):
        super().__init__(name, **params)
        RECORD.warn(f"{name}: CPULimitedHost is taken as a host: {_NO_CPU}")
