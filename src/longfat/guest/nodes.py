"""Where commands run: the root's namespaces, or those of a host.

Entering a host is what `ip netns exec` does, without its process: its network
namespace, and a mount namespace in which /sys shows that network.
"""

import contextlib
import os
from collections.abc import Iterator

from longfat.guest import system
from longfat.guest.script import ROOT_NAMESPACE

_MOUNTS, _NETWORK = "/proc/self/ns/mnt", "/proc/self/ns/net"


class Nodes:
    """The nodes of a machine, opened when they are first entered."""

    def __init__(self) -> None:
        # What is mounted at root later on must be seen by the hosts.
        system.mount("", "/", flags=system.MS_SHARED | system.MS_REC)
        self._home = (
            os.open(_NETWORK, os.O_RDONLY | os.O_CLOEXEC),
            os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC),
        )
        self._hosts: dict[str, tuple[int, int]] = {}

    @contextlib.contextmanager
    def inside(self, node: str) -> Iterator[None]:
        """Be at a node for as long as the context lasts; what is started stays there.

        Raises:
            KeyError: there is no such node.
        """
        if node == ROOT_NAMESPACE:
            yield
            return
        if node not in self._hosts:
            self._hosts[node] = self._open(node)
        try:
            _enter(self._hosts[node])
            yield
        finally:
            _enter(self._home)

    @contextlib.contextmanager
    def inside_network(self, node: str) -> Iterator[None]:
        """Be in a host's network, and else where we are; it is cheaper than `inside`.

        Raises:
            KeyError: there is no such node.
        """
        try:
            network = os.open(f"/run/netns/{node}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            raise KeyError(node) from None
        try:
            system.enter_namespace(network)
            yield
        finally:
            system.enter_namespace(self._home[0])
            os.close(network)

    def processes(self, node: str) -> list[int]:
        """Return the processes at a host, by their numbers."""
        wanted = os.stat(f"/run/netns/{node}")
        found = []
        for name in os.listdir("/proc"):
            # One that has ended and was not waited for has no namespaces any more.
            with contextlib.suppress(OSError):
                if name.isdigit() and os.path.samestat(os.stat(f"/proc/{name}/ns/net"), wanted):
                    found.append(int(name))
        return sorted(found)

    def forget(self, node: str) -> None:
        """Let go of a host that is to be removed."""
        for descriptor in self._hosts.pop(node, ()):
            os.close(descriptor)

    def _open(self, node: str) -> tuple[int, int]:
        try:
            network = os.open(f"/run/netns/{node}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            raise KeyError(node) from None
        try:
            system.enter_namespace(network)
            system.unshare(system.CLONE_NEWNS)
            system.mount("", "/", flags=system.MS_SLAVE | system.MS_REC)
            system.unmount("/sys")
            system.mount("sysfs", "/sys", "sysfs")
            return network, os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            _enter(self._home)


def _enter(both: tuple[int, int]) -> None:
    for descriptor in both:
        system.enter_namespace(descriptor)
