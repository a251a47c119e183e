"""The netlink sockets by which a machine is looked at: at most two for each node.

The kernel keeps all such sockets in a table that grows and shrinks with their
number, and draws a random number whenever it does (lib/rhashtable.c): a socket
more, at another time, and the next loss of netem's is another one. So they are
opened for every node and in any case: in a live machine when the node comes, in a
played case before the traffic.
"""

import os

from longfat.guest import system
from longfat.guest.netlink import ROUTE, SOCK_DIAG, Netlink, reply_buffer
from longfat.guest.script import ROOT_NAMESPACE


class Sockets:
    """The sockets of all nodes; what was not opened before is when it is asked for."""

    def __init__(self) -> None:
        self._buffer = reply_buffer()
        self._opened: dict[tuple[str, int], Netlink] = {}

    def open(self, node: str) -> None:
        """Open both of a node.

        Raises:
            OSError: there is no such node.
        """
        for protocol in (ROUTE, SOCK_DIAG):
            self.at(node, protocol)

    def at(self, node: str, protocol: int) -> Netlink:
        """Return a socket of a node: of interfaces and queues (`ROUTE`), or of `SOCK_DIAG`.

        Raises:
            OSError: there is no such node.
        """
        if (node, protocol) not in self._opened:
            self._opened[node, protocol] = self._open(node, protocol)
        return self._opened[node, protocol]

    def forget(self, node: str) -> None:
        """Close those of a node that is to be removed."""
        for protocol in (ROUTE, SOCK_DIAG):
            if one := self._opened.pop((node, protocol), None):
                one.close()

    def _open(self, node: str, protocol: int) -> Netlink:
        if node == ROOT_NAMESPACE:
            return Netlink(protocol, buffer=self._buffer)
        # A socket stays in the namespace where it was made.
        there = os.open(f"/run/netns/{node}", os.O_RDONLY)
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            system.enter_namespace(there)
            return Netlink(protocol, buffer=self._buffer)
        finally:
            system.enter_namespace(home)
            os.close(there)
            os.close(home)
