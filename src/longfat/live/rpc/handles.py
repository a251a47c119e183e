"""The objects that a session's messages identify by numbers: links, processes and traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.live.nodes import LiveHost, Node
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from longfat.live.flows import Started
    from longfat.live.links import LiveLink
    from longfat.live.network import Network
    from longfat.live.process import Process

T = TypeVar("T")


class Numbered(Generic[T]):
    """Objects by their numbers, counted from 1.

    Args:
        what: their kind, for messages.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._things: list[T] = []
        self._numbers: dict[int, int] = {}  # by identity

    def number(self, thing: T) -> int:
        """Return the number of an object, which is assigned one if it has none."""
        if id(thing) not in self._numbers:
            self._things.append(thing)
            self._numbers[id(thing)] = len(self._things)
        return self._numbers[id(thing)]

    def find(self, number: int) -> T:
        """Return the object with a number.

        Raises:
            InputError: there is none.
        """
        if not 1 <= number <= len(self._things):
            raise InputError(f"there is no {self._what} {number} (so far: {len(self._things)})")
        return self._things[number - 1]


class Handles:
    """The objects of a session.

    Args:
        network: its network.

    Attributes:
        processes: the spawned processes.
        traffic: the started traffic.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.processes: Numbered[Process] = Numbered("process")
        self.traffic: Numbered[Started] = Numbered("traffic")

    def node(self, name: str) -> Node:
        """Return a node, or root.

        Raises:
            InputError: there is none with this name.
        """
        return self.network.root if name == ROOT_NAMESPACE else self.network[name]

    def host(self, name: str) -> LiveHost:
        """Return a host or router.

        Raises:
            InputError: there is none with this name.
        """
        hosts = {host.name: host for host in self.network.hosts}
        if name not in hosts:
            raise InputError(
                f"there is no host {name!r}{nearest(name, hosts)} (there are: {listed(hosts)})"
            )
        return hosts[name]

    def link(self, link: LiveLink) -> int:
        """Return the number of a link, counted from 1 in the order of the network."""
        return self.network.links.index(link) + 1

    def find_link(self, number: int) -> LiveLink:
        """Return the link with a number.

        Raises:
            InputError: there is none.
        """
        links = self.network.links
        if not 1 <= number <= len(links):
            raise InputError(f"there is no link {number} (there are: {len(links)})")
        return links[number - 1]
