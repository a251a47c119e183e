"""Where commands run: the root's namespaces, or those of a host.

Entering a host is what `ip netns exec` does, without its process: its network
namespace, and a mount namespace in which /sys shows that network.
"""

from __future__ import annotations

import contextlib
import os

from longfat.guest import mounts, system
from longfat.guest.script import ROOT_NAMESPACE, at_node, at_root_of
from longfat.guest.shell import Begun, run
from longfat.guest.toolset import SHELL, host_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

NOT_STARTED = 127
"""The exit status of a line whose program cannot be started."""

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
        self._roots: dict[str, dict[str, Any]] = {}

    @property
    def home(self) -> tuple[int, int]:
        """Descriptors of the root's namespaces: of its network, and of its mounts."""
        return self._home

    def take_roots(self, roots: dict[str, dict[str, Any]]) -> None:
        """Make roots of their own for hosts that were not entered yet.

        Args:
            roots: by host, see `longfat.guest.roots.make_root`.

        Raises:
            OSError: the kernel refused a mount.
        """
        from longfat.guest.roots import make_root  # noqa: PLC0415  see `longfat.guest.main`

        for node, order in roots.items():
            make_root(order)
            self._roots[node] = order

    def in_root(self, node: str) -> contextlib.AbstractContextManager[None]:
        """Be in a host's own root, and else where we are: for files."""
        from longfat.guest.roots import inside  # noqa: PLC0415  it is loaded by now

        return inside(self._roots[node])

    @property
    def roots(self) -> dict[str, dict[str, Any]]:
        """The roots of the hosts that have their own, as `take_roots` got them."""
        return self._roots

    def environment(self, node: str) -> dict[str, str]:
        """Return the environment of what runs with a host's own root."""
        return host_environment(self._roots[node]["environment"])

    def run(self, command: dict[str, Any]) -> tuple[int, str]:
        """Run a line that was typed to its end; return what `longfat.guest.shell.run` does.

        Args:
            command: its `node` and `line`, and whether it runs with the host's own root
                (`rooted`).
        """
        node, argv = command["node"], ["/bin/sh", "-c", command["line"]]
        if not command["rooted"]:
            with self.inside(node):
                return run([SHELL, *argv[1:]])
        from longfat.guest.roots import without_shell  # noqa: PLC0415  it is loaded by now

        try:
            with self.inside(node, rooted=True):
                return run(without_shell(argv), environment=self.environment(node))
        except OSError as error:  # no program for this machine
            return NOT_STARTED, str(error.strerror)

    def begin(self, command: dict[str, Any]) -> Begun:
        """Begin to run a line, see `run`.

        Raises:
            OSError: the host's own root has no such program, or it cannot be started.
        """
        node, argv = command["node"], ["/bin/sh", "-c", command["line"]]
        if not command["rooted"]:
            with self.inside(node):
                return Begun([SHELL, *argv[1:]], name=argv[0])
        from longfat.guest.roots import program_of, without_shell  # noqa: PLC0415  likewise

        with self.inside(node, rooted=True):
            environment = self.environment(node)
            argv = without_shell(argv)
            program = program_of(argv, environment)
            return Begun([program, *argv[1:]], name=argv[0], environment=environment)

    def typed(self, command: dict[str, Any]) -> str:
        """Return a line, see `run`, as one types it at root."""
        if command["rooted"]:
            return at_root_of(self._roots[command["node"]], command["node"], command["line"])
        return at_node(command["node"], command["line"])

    @contextlib.contextmanager
    def inside(self, node: str, *, rooted: bool = False) -> Iterator[None]:
        """Be at a node for as long as the context lasts; what is started stays there.

        Args:
            node: the node.
            rooted: be in the host's own root, which it must have.

        Raises:
            KeyError: there is no such node.
        """
        if node == ROOT_NAMESPACE:
            yield
            return
        if node not in self._hosts:
            self._hosts[node] = self._open(node)
        try:
            enter_node(self._hosts[node])
            if rooted:
                from longfat.guest.roots import enter  # noqa: PLC0415  it is loaded by now

                enter(self._roots[node])
            yield
        finally:
            enter_node(self._home)

    @contextlib.contextmanager
    def starting(self, node: str) -> Iterator[Sequence[str]]:
        """Be where a program of a flow is started; yield what its command begins with."""
        with self.inside(node):
            yield ()

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
            mounts.mount_sys()
            if node in self._roots:
                from longfat.guest.roots import mount_sys  # noqa: PLC0415  it is loaded by now

                mount_sys(self._roots[node])
            return network, os.open(_MOUNTS, os.O_RDONLY | os.O_CLOEXEC)
        finally:
            enter_node(self._home)


def enter_node(both: tuple[int, int]) -> None:
    """Move to a node's namespaces: of its network, and of its mounts."""
    for descriptor in both:
        system.enter_namespace(descriptor)
