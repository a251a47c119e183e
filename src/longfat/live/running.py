"""The machine's side of a live network: it is built, changed and used, with a record of all that.

`longfat.live.Network` has one, and so have its nodes, links and probes. Changes of a link are
the lines of `longfat.model.network.link_changes`; here they are run, and undone where the
kernel rejects one.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution.compile import SEED_VARIABLE
from longfat.live.build import Record, as_line, build
from longfat.live.flows import Started
from longfat.live.losses import LossCounter
from longfat.live.process import CommandFailed, Completed, Process, TimedOut
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.model.addresses import called_addresses, configured_hosts
from longfat.model.case import Case, Command, File
from longfat.model.network import (
    ROOT_NAMESPACE,
    LinkImpairments,
    hosts_file,
    shaped_interfaces,
)
from longfat.model.network import Network as Model
from longfat.model.network.addressing import complete
from longfat.model.network.check import problems
from longfat.model.network.link_changes import change_lines, deletion
from longfat.model.network.routing import target_addresses
from longfat.model.traced_links import TracedLink, traced_links
from longfat.model.traffic.bulk import DEFAULT_PORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from longfat.analysis.losses import Loss
    from longfat.live.session import Session
    from longfat.live.task import Task
    from longfat.model.network.addressing import Addressing
    from longfat.model.network.tc import QdiscLine
    from longfat.model.traffic import Flow


# Ports of servers that we start, apart from those that a user may have started.
FIRST_PORT = DEFAULT_PORT + 100

# A set-up line that takes longer will never end. Idle virtual seconds cost nothing.
_MAX_SETUP_S = 600.0


class RunningNetwork:
    """A network in a live machine.

    Args:
        case: the kernel, the seed and the memory; its network has no nodes yet.
        session: the machine that it is built in, which ends with it.
        environment: the environment of all commands of a caller, in addition to
            `LIVE_ENVIRONMENT`.
        on_command: called with its node and itself for each command that a caller starts.
        on_build: called each time that nodes or links were built.
        addressing: what addresses and routes are assigned automatically.

    Attributes:
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
        addressing: Addressing,
    ) -> None:
        self.session = session
        self._addressing = addressing
        self._complete_hosts: frozenset[str] = frozenset()
        self._on_command = on_command
        self._environment = {**LIVE_ENVIRONMENT, **environment}
        self._on_build = on_build
        self._case = case
        self._built: Model | None = None
        self._setup: list[Command] = []
        self._ports = 0
        self._probes = 0
        self._losses = LossCounter()
        self._traced: set[TracedLink] = set()
        self.record = Record()

    def close(self) -> None:
        """End it with everything that runs in it."""
        self.session.close()

    def start_command(
        self,
        place: str,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        on_output: Callable[[str], None] | None = None,
        takes_input: bool = False,
    ) -> Process:
        """Start a caller's command; see `Node.run` and `Node.spawn`.

        Args:
            place: the name of a host, or `ROOT_NAMESPACE`.
            command: as for `Node.run`, as are the others.
            env: likewise.
            cwd: likewise.
            on_output: likewise.
            takes_input: it gets input, and is recorded as one that runs in the background.

        Raises:
            InputError: there is no command.
            RejectedError: it could not be started.
        """
        self.build()
        given = command if isinstance(command, str) else tuple(command)
        if given == ():
            raise InputError("a command is a line, or a program and its arguments: it is empty")
        session = self.session
        self.record.add(session.now_s, place, as_line(given), background=takes_input)
        task = session.start(
            ["/bin/sh", "-c", given] if isinstance(given, str) else given,
            node=place,
            environment={**self._environment, **(env or {})},
            folder=cwd,
            takes_input=takes_input,
        )
        process = Process(session, task, given)
        if on_output is not None:
            _pass_on(session, task, on_output)
        self._on_command(place, process)
        return process

    def run_line(self, node: str, line: str) -> Completed:
        """Run a line of the set-up to its end.

        Args:
            node: the name of a node, or `ROOT_NAMESPACE`.
            line: the line.

        Raises:
            CommandFailed: it exited with another status than 0.
            InputError: there is no such node.
        """
        done = self.start_command(self._place_of(node), line).complete()
        if done.returncode != 0:
            raise CommandFailed(done)
        return done

    def _place_of(self, node: str) -> str:
        """Return where a node's commands run: the name of a host, or `ROOT_NAMESPACE`."""
        names = self.model.node_names()
        if node != ROOT_NAMESPACE and node not in names:
            raise InputError(f"there is no node {node!r} (there are: {', '.join(names)})")
        return node if any(host.name == node for host in self.model.hosts) else ROOT_NAMESPACE

    @property
    def model(self) -> Model:
        """The network as a value."""
        return self._case.network

    @property
    def built_links(self) -> int:
        """How many of its links were built, which are the first ones."""
        return 0 if self._built is None else len(self._built.links)

    def address_of(self, name: str) -> str:
        """Return the address by which other hosts reach a host, without prefix length.

        Raises:
            InputError: there is no such host, or it has no address.
        """
        addresses = called_addresses(self.completed(self.model), self._setup)
        if name in addresses:
            return addresses[name]
        if all(host.name != name for host in self.model.hosts):
            raise InputError(f"there is no host {name!r}")
        linked = any(name in (link.a, link.b) for link in self.model.links)
        raise InputError(f"{name} has no address" + ("" if linked else ": link it first"))

    def names_by_address(self) -> dict[str, str]:
        """Return the hosts by the addresses that others reach them by, without prefix length."""
        return {at: name for name, at in called_addresses(self.model, self._setup).items()}

    def completed(self, model: Model) -> Model:
        """Return a network with the addresses and routes that are assigned automatically."""
        configured = configured_hosts(self._setup) | self._complete_hosts
        return complete(model, self._addressing, excluded=configured)

    def check(self, model: Model) -> None:
        """Check a network that this one is to become.

        Raises:
            InputError: its nodes and links do not make a network.
        """
        for problem in problems(self.completed(model)):
            raise InputError(problem.message)

    def keep_addresses(self, hosts: Iterable[str]) -> None:
        """Give no addresses and routes to hosts that have all that they are to have."""
        self._complete_hosts = self._complete_hosts.union(hosts)

    def build(self) -> None:
        """Build what was added since the last time; every call that needs it does so.

        Addresses and routes that are assigned automatically are kept from then on.

        Raises:
            InputError: the nodes and links do not make a network, or Linux rejected a line.
        """
        if self.model == self._built:
            return
        self.check(self.model)
        model = self.completed(self.model)
        self.change(model)
        traced = list(traced_links(model, self._case.files))
        self.session.take_roots(model.roots)
        build(model, built=self._built, session=self.session, record=self.record)
        self._write_hosts()
        if self._built is None:
            # The host's servers are not reachable, and every query would wait for them.
            with contextlib.suppress(InputError):  # a link to what is not there is as good
                self.session.write_everywhere("/etc/resolv.conf", b"")
        self._built = model
        for link in traced:
            if link not in self._traced:
                self._traced.add(link)
                self.session.put_files([link.file])
                self.run_line(link.node, link.line)
        self._on_build()

    def type_at_interface(self, interface: str, line: str) -> str:
        """Run a line at the node where an interface is visible, as a part of the set-up.

        Raises:
            CommandFailed: it exited with another status than 0.
            InputError: there is no such interface.
        """
        try:
            (place,) = self.model.interfaces_by_node([interface])
        except KeyError:
            raise InputError(f"there is no interface {interface!r}") from None
        done = self.run_line(place, line)
        self.add_setup(place, line)
        return done.stdout

    def start(self, flow: Flow) -> Started:
        """Start measured traffic; see `LiveHost.iperf3` and `LiveHost.ping`."""
        self.build()
        self._ports += 1
        address = flow.address or self.address_of(flow.target)
        server = address, FIRST_PORT + self._ports
        found = flow.processes(address=server[0], port=server[1])
        plans = [process.rooted(self.model.roots) for process in found]
        processes = []
        for plan in plans:
            own = {SEED_VARIABLE: str(self._case.seed)}
            environment = {**LIVE_ENVIRONMENT, **own}
            now_s = self.session.now_s
            self.record.add(now_s, plan.host, as_line(plan.typed), background=plan.listens)
            task = self.session.start(
                plan.argv, node=plan.host, environment=environment, own_root=False
            )
            processes.append((plan, Process(self.session, task, plan.typed)))
            self._on_command(plan.host, processes[-1][1])
            if plan.listens:
                self.session.run_pending()
        return Started(self.session, flow, processes, server=server)

    def case(self) -> Case:
        """Return the set-up so far as a case: nodes, links, files, lines of tc and sysctl."""
        network = self.completed(self.model)
        return replace(self._case, network=network, setup=tuple(self._setup))

    def add_file(self, path: str, content: bytes) -> str:
        """Put a file into the machine and into what `save` keeps; see `Network.add_file`."""
        file = File(path=path, content=content)
        if file not in self._case.files:
            if path in {existing.path for existing in self._case.files}:
                raise InputError(f"this network already has a different file {path}")
            self.session.put_files([file])
            self._case = replace(self._case, files=(*self._case.files, file))
        return path

    def put_files(self, files: Sequence[File]) -> None:
        """Put the files of a case into the machine, before anything is built.

        Raises:
            InputError: the guest cannot create one.
        """
        self.session.put_files(files)
        self._case = replace(self._case, files=tuple(files))

    def run_setup(self, commands: Sequence[Command]) -> None:
        """Run set-up lines, in this order, and keep them.

        Raises:
            InputError: a line failed or did not end.
        """
        for command in commands:
            process = self.start_command(self._place_of(command.node), command.line)
            try:
                done = process.complete(_MAX_SETUP_S)
            except TimedOut as late:
                raise InputError(
                    f"{command.node}: {late.message}; to run a command in the "
                    "background, end the line with &"
                ) from None
            if done.returncode != 0:
                words = (done.stderr or done.stdout).strip() or "it printed nothing"
                ending = f"exited with status {done.returncode}"
                raise InputError(f"{command.node}: `{command.line}` {ending}: {words}")
            self.add_setup(command.node, command.line)

    def add_setup(self, place: str, line: str) -> None:
        """Add a line to the set-up, which `save` keeps."""
        before = called_addresses(self.model, self._setup)
        self._setup.append(Command(node=place, line=line))
        if called_addresses(self.model, self._setup) != before:
            self._write_hosts()

    def _write_hosts(self) -> None:
        hosts = hosts_file(called_addresses(self.model, self._setup))
        self.session.write_everywhere("/etc/hosts", hosts.encode())

    def change_link(
        self,
        index: int,
        properties: Mapping[str, object],
        reverse: Mapping[str, object] | None,
    ) -> None:
        """Change the impairments of a link; see `LiveLink.change`."""
        link = self.model.links[index]
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
        before = self.model
        old = before.links[index]
        if (a_to_b.policer, b_to_a.policer) != (old.a_to_b.policer, old.b_to_a.policer):
            raise InputError(
                "police: a policer is built with its link: change its filter by lines of tc"
            )
        link = replace(old, a_to_b=a_to_b, b_to_a=b_to_a)
        links = (*before.links[:index], link, *before.links[index + 1 :])
        self.change(replace(before, links=links))
        for problem in problems(self.model):
            self.change(before)
            raise InputError(problem.message)
        self._built = self.model
        try:
            _reshape(before, self.model, link=index, run=self.run_line)
        except CommandFailed:
            self.change(before)
            self._built = before
            raise

    def losses(self, *, new: bool) -> tuple[Loss, ...]:
        """Return where packets were lost; see `Network.losses`."""
        names = {
            address: host.name
            for host in self.model.hosts
            for address in sorted(target_addresses(self.model, host.name))
        }
        return self._losses.read(self.session, {**names, **self.names_by_address()}, new=new)

    def count_probe(self) -> int:
        """Return the number of a new probe of this network, counted from 1."""
        self._probes += 1
        return self._probes

    def change(self, model: Model) -> None:
        """Replace the network as a value, which `build` builds."""
        self._case = replace(self._case, network=model)


def _pass_on(session: Session, task: Task, on_output: Callable[[str], None]) -> None:
    def keep(is_error: bool, data: bytes) -> None:
        session.keep_output(task, is_error, data)
        on_output(data.decode(errors="replace"))

    task.on_output = keep


def _reshape(before: Model, after: Model, *, link: int, run: Callable[[str, str], object]) -> None:
    """Change a link's impairments; if that fails, restore the previous ones.

    Args:
        before: the network that is built.
        after: the same, except for the impairments of one link.
        link: the index of the link.
        run: runs a line at a node (a host or a switch).

    Raises:
        CommandFailed: `run` raised it, because tc rejected a line.
    """
    ends = before.interfaces()[link]
    undo: list[tuple[str, QdiscLine]] = []
    for node, was, will in zip(
        (before.links[link].a, before.links[link].b),
        shaped_interfaces(before, ends),
        shaped_interfaces(after, ends),
        strict=True,
    ):
        for number, line in enumerate(change_lines(was, will)):
            try:
                run(node, str(line))
            except CommandFailed:
                for place, again in undo:
                    with contextlib.suppress(CommandFailed):  # there may be nothing to delete
                        run(place, str(again))
                raise
            if number == 0:  # the previous qdiscs do not exist any more
                undo += [(node, again) for again in (deletion(was.name), *was.lines)]
