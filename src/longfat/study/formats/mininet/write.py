"""From a network to a Python script for Mininet 2.3 that builds the same network.

Links are plain veth pairs, and what shapes them are the very lines of `tc` that
run here: Mininet's own TCLink shapes in another order, with other queues, and
not above 1 Gbit/s. Switches are Open vSwitch bridges without a controller, which
every Mininet has. A line that fails ends the script.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.model.network import ROOT_NAMESPACE, shape_commands, tunnel_commands
from longfat.model.network.build import FORWARD_LINE
from longfat.model.network.devices import device_stem
from longfat.study.formats.mininet.names import with_interfaces
from longfat.study.formats.mininet_options import addressing, check_writable, interface_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.case import Command
    from longfat.model.network import Network

_HEAD = """\
#!/usr/bin/env python3
{docstring}

import shlex
import sys

from mininet.cli import CLI
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node, OVSBridge

"""

_ROUTER = f'''\

class Router(Node):
    """A host that passes on packets that are not for itself."""

    def config(self, **params):
        result = super().config(**params)
        self.cmd({FORWARD_LINE!r})
        return result

'''

_RUN = '''\

def run(node, line):
    """Type a line at a node; a line that fails ends the script, and one that reads has no input."""
    said = node.cmd(f"eval {shlex.quote(line)} < /dev/null")
    status = node.cmd("echo $?").strip()
    if status != "0":
        raise RuntimeError(f"{node.name}: {line}: {said.strip()} (status {status})")


'''

_TAIL = """\


def main():
    setLogLevel("info")
    net = Mininet(controller=None, switch=OVSBridge)
    try:
        build(net)
        net.start()
        set_up(net)
        CLI(net)
    finally:
        net.stop()


if __name__ == "__main__":
    sys.exit(main())
"""


def mininet_text(*, title: str, network: Network, setup: Sequence[Command] = ()) -> str:
    """Return a network as a Python script for Mininet.

    Args:
        title: what the network is.
        network: the network.
        setup: lines that are typed before the prompt comes.

    Returns:
        The script's text.

    Raises:
        InputError: its links have VLANs or are bonded.
    """
    check_writable(network)
    docstring = f"{title}\n\nA network for Mininet 2.3; run it as root.\n"
    parts = [_HEAD.format(docstring=_docstring(docstring))]
    if any(host.forwards for host in network.hosts):
        parts.append(_ROUTER)
    parts += [_RUN, _build(network), _set_up(network, setup), _TAIL]
    return "".join(parts)


def _docstring(text: str) -> str:
    if all(character.isprintable() or character == "\n" for character in text) and not set(text) & {
        "\\",
        '"',
    }:
        return f'"""{text}"""'
    return repr(text)


def _build(network: Network) -> str:
    lines = ["def build(net):", '    """Make the nodes and links."""']
    own = addressing(network)
    for host in network.hosts:
        words = [repr(host.name)]
        if host.forwards:
            words.append("cls=Router")
        words.append(f"ip={own[host.name].ip!r}")
        if own[host.name].gateway is not None:
            words.append(f"defaultRoute={f'via {own[host.name].gateway}'!r}")
        lines.append(f"    net.addHost({', '.join(words)})")
    lines += [
        f"    net.addSwitch({switch.name!r}, dpid={f'{number:x}'!r})"
        for number, switch in enumerate(network.switches, start=1)
    ]
    lines += [
        f"    net.addLink({link.a!r}, {link.b!r}, intfName1={at_a!r}, intfName2={at_b!r})"
        for link, (at_a, at_b) in zip(network.links, network.interfaces(), strict=True)
    ]
    return "\n".join(lines) + "\n\n\n"


def _set_up(network: Network, setup: Sequence[Command]) -> str:
    typed = [(command.node, command.line) for command in interface_lines(network)]
    typed += tunnel_commands(network)
    typed += [(name, line) for name, own in addressing(network).items() for line in own.lines]
    typed += shape_commands(network)
    # Mininet names a bridge as its switch.
    bridges = {
        stem: switch.name
        for switch in network.switches
        if (stem := device_stem(switch.name)) != switch.name
    }
    typed += [
        (one.node, with_interfaces(one.line, bridges) if bridges else one.line) for one in setup
    ]
    lines = [
        "def set_up(net):",
        '    """Type what the network needs besides, and its set-up lines."""',
    ]
    if any(node == ROOT_NAMESPACE for node, _ in typed):
        lines.append('    root = Node("root", inNamespace=False)')
    for node, line in typed:
        where = "root" if node == ROOT_NAMESPACE else f"net[{node!r}]"
        lines.append(f"    run({where}, {line!r})")
    if not typed:
        lines.append("    del net")
    return "\n".join(lines) + "\n"
