"""A network in a machine: built, changed and used, with a record of the set-up.

`EditableNetwork` adds nodes and links to it. Their live objects use only this class.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution.compile import SEED_VARIABLE
from longfat.live.build import build
from longfat.live.flows import Started
from longfat.live.link_changes import reshape
from longfat.live.process import CommandFailed, Completed, Process
from longfat.live.record import Record, as_line
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.model.case import Case, Command, File
from longfat.model.network import LinkImpairments, hosts_file
from longfat.model.network import Network as Model
from longfat.model.network.check import problems
from longfat.model.traced_links import TracedLink, traced_links
from longfat.model.traffic.bulk import DEFAULT_PORT
from longfat.model.traffic.preload import preload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from longfat.live.quantities import Duration
    from longfat.live.session import Session
    from longfat.model.traffic import Flow

# Ports of servers that we start, apart from those that a user may have started.
_FIRST_PORT = DEFAULT_PORT + 100


class RunningNetwork(ABC):
    """A network in a live machine.

    Args:
        case: the kernel, the seed and the memory; its network has no nodes yet.
        session: the machine that it is built in, which ends with it.
        environment: the environment of all commands of a caller, in addition to
            `LIVE_ENVIRONMENT`.
        on_command: called with its node and itself for each command that a caller starts.
        on_build: called each time that nodes or links were built.

    Attributes:
        environment: the default environment of a caller's command.
        session: the live machine.
        record: the script of executed commands.
    """

    def __init__(
        self,
        case: Case,
        session: Session,
        *,
        environment: Mapping[str, str],
        on_command: Callable[[str, Process], None],
        on_build: Callable[[], None],
    ) -> None:
        self.session = session
        self.on_command = on_command
        self.environment = {**LIVE_ENVIRONMENT, **environment}
        self._on_build = on_build
        self._case = case
        self._built: Model | None = None
        self._setup: list[Command] = []
        self._ports = 0
        self._probes = 0
        self._traced: set[TracedLink] = set()
        self.record = Record()

    def close(self) -> None:
        """End it with everything that runs in it."""
        self.session.close()

    @abstractmethod
    def run_at(
        self, place: str, line: str, *, timeout: Duration | None = None, check: bool = False
    ) -> Completed:
        """Run a line at a node, or at root; see `Node.run`.

        Args:
            place: the node's name, or "root".
            line: the command line.
            timeout: the longest to wait, in virtual time.
            check: raise an exception if it fails.

        Raises:
            InputError: there is no such node.
        """

    @property
    def model(self) -> Model:
        """The network as a value."""
        return self._case.network

    def address_of(self, name: str) -> str:
        """Return the address by which other hosts reach a host, without prefix length.

        Raises:
            InputError: there is no such host, or it has no address.
        """
        found = self._case.network.host_addresses()
        if name not in found:
            raise InputError(f"there is no host {name!r} with an address")
        return found[name]

    def build(self) -> None:
        """Build what was added since the last time; every call that needs it does so.

        Raises:
            InputError: the nodes and links do not make a network, or Linux rejected a line.
        """
        model = self._case.network
        if model == self._built:
            return
        for problem in problems(model):
            raise InputError(problem.message)
        traced = list(traced_links(model, self._case.files))
        self.session.take_roots(model.roots)
        build(model, built=self._built, session=self.session, record=self.record)
        self.session.write_everywhere("/etc/hosts", hosts_file(model).encode())
        if self._built is None:
            # The host's servers are not reachable, and every query would wait for them.
            with contextlib.suppress(InputError):  # a link to what is not there is as good
                self.session.write_everywhere("/etc/resolv.conf", b"")
        self._built = model
        for link in traced:
            if link not in self._traced:
                self._traced.add(link)
                self.session.put_files([link.file])
                self.run_at(link.node, link.line, check=True)
        self._on_build()

    def tc(self, interface: str, line: str) -> str:
        """Run a line of tc for an interface, where that is visible.

        Args:
            interface: the interface, such as `s1-eth2`.
            line: the rest, such as `qdisc change root netem delay 30ms`; `dev` and the
                interface are inserted after the second word unless they are there.

        Returns:
            tc's output.

        Raises:
            CommandFailed: tc rejected the line.
            InputError: there is no such interface.
        """
        words = line.split()
        if "dev" not in words:
            words[2:2] = ["dev", interface]
        return self.type_at_interface(interface, " ".join(["tc", *words]))

    def type_at_interface(self, interface: str, line: str) -> str:
        """Run a line at the node where an interface is visible, as a part of the set-up.

        Raises:
            CommandFailed: it exited with another status than 0.
            InputError: there is no such interface.
        """
        try:
            (place,) = self._case.network.interfaces_by_node([interface])
        except KeyError:
            raise InputError(f"there is no interface {interface!r}") from None
        done = self.run_at(place, line, check=True)
        self.add_setup(place, line)
        return done.stdout

    def start(self, flow: Flow) -> Started:
        """Start measured traffic; see `LiveHost.iperf3` and `LiveHost.ping`."""
        self.build()
        self._ports += 1
        server = self.address_of(flow.target), _FIRST_PORT + self._ports
        found = flow.processes(address=server[0], port=server[1])
        plans = [process.rooted(self._case.network.roots) for process in found]
        processes = []
        for plan in plans:
            own = {SEED_VARIABLE: str(self._case.seed), **preload(plan.shim)}
            environment = {**LIVE_ENVIRONMENT, **own}
            now_s = self.session.now_s
            self.record.add(now_s, plan.host, as_line(plan.typed), background=plan.listens)
            task = self.session.start(
                plan.argv, node=plan.host, environment=environment, own_root=False
            )
            processes.append((plan, Process(self.session, task, plan.typed)))
            self.on_command(plan.host, processes[-1][1])
            if plan.listens:
                self.session.run_pending()
        return Started(self.session, flow, processes, server=server)

    def case(self) -> Case:
        """Return the set-up so far as a case: nodes, links, files, lines of tc and sysctl."""
        return replace(self._case, setup=tuple(self._setup))

    def add_file(self, path: str, content: bytes) -> str:
        """Put a file into the machine and into what `save` keeps.

        Args:
            path: its path in the machine.
            content: its content.

        Returns:
            The path.

        Raises:
            InputError: there is another one, or the guest cannot create it.
        """
        file = File(path=path, content=content)
        if file not in self._case.files:
            if path in {one.path for one in self._case.files}:
                raise InputError(f"this network already has a different file {path}")
            self.session.put_files([file])
            self._case = replace(self._case, files=(*self._case.files, file))
        return path

    def add_setup(self, place: str, line: str) -> None:
        """Add a line to the set-up, which `save` keeps."""
        self._setup.append(Command(node=place, line=line))

    def change_link(
        self,
        index: int,
        properties: Mapping[str, object],
        reverse: Mapping[str, object] | None,
    ) -> None:
        """Change the impairments of a link; see `LiveLink.change`."""
        link = self._case.network.links[index]
        forth, back = link.a_to_b.changed(properties), link.b_to_a.changed(properties)
        self.reshape_link(index, a_to_b=forth, b_to_a=back.changed(reverse or {}))

    def reshape_link(self, index: int, *, a_to_b: LinkImpairments, b_to_a: LinkImpairments) -> None:
        """Set a link's impairments.

        Args:
            index: the index of the link.
            a_to_b: those from its first node to its second.
            b_to_a: likewise the other way.

        Raises:
            InputError: they are invalid.
            CommandFailed: tc rejected a line; the previous ones are restored.
        """
        self.build()
        before = self._case.network
        link = replace(before.links[index], a_to_b=a_to_b, b_to_a=b_to_a)
        links = (*before.links[:index], link, *before.links[index + 1 :])
        self._change(replace(before, links=links))
        for problem in problems(self._case.network):
            self._change(before)
            raise InputError(problem.message)
        self._built = self._case.network
        try:
            reshape(
                before,
                self._case.network,
                link=index,
                run=lambda place, line: self.run_at(place, line, check=True),
            )
        except CommandFailed:
            self._change(before)
            self._built = before
            raise

    def count_probe(self) -> int:
        """Return the number of a new probe of this network, counted from 1."""
        self._probes += 1
        return self._probes

    def _change(self, model: Model) -> None:
        self._case = replace(self._case, network=model)
