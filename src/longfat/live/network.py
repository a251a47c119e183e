"""A live network, in the style that Mininet's users know.

    import longfat

    with longfat.Network(seed=1) as net:
        h1, h2 = net.host("h1"), net.host("h2")
        s1 = net.switch("s1")
        net.link(h1, s1)
        net.link(s1, h2, rate="1gbit", delay="10ms")
        print(h1.run("ping -c 4 10.0.0.2").stdout)

Nodes and links are collected as values and built by `ip` and `tc` when they
are first needed; some more can be added at any time. No virtual time passes
between two calls, and the same calls give the same bytes.
"""

from __future__ import annotations

import ipaddress
import warnings
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat.engine.images import find_image
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError, LongfatError
from longfat.live.clock import Clock
from longfat.live.folders import PACKAGES, package_folders, share_folders
from longfat.live.links import LiveLink
from longfat.live.nodes import LiveHost, LiveSwitch, Node
from longfat.live.probes import Series
from longfat.live.process import Completed, Process, TimedOut
from longfat.live.quantities import seconds, size_bytes
from longfat.live.running import RunningNetwork
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, Command, File
from longfat.model.fields import fields_of, takes_fields, values_of
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    HostRoot,
    HostTiming,
    Link,
    LinkImpairments,
    Route,
    Switch,
    timing_from,
)
from longfat.model.network import Network as Model
from longfat.model.network.check import problems
from longfat.model.network.ends import cut_links
from longfat.model.network.impairments import UNIMPAIRED
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES
from longfat.model.trace_models import MODELS
from longfat.study.addresses import host_address, route_target, router_address
from longfat.study.formats.open import open_network
from longfat.study.formats.write import study_text
from longfat.study.network import name_problem, read_section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from longfat.live.probes import Hosts, Interfaces
    from longfat.live.quantities import Duration, Size

_ADDRESSES = ipaddress.ip_network("10.0.0.0/8")

# A set-up line that takes longer will never end. Idle virtual seconds cost nothing.
_SETUP_WITHIN_S = 600.0

_FEWEST_GROUPS = 2


class Network(RunningNetwork):
    """A live network; use it as a context manager, or `close` it.

    Args:
        seed: decides every random number in it: 0 to 2**63 - 1.
        kernel: the kernel's version.
        memory: the machine's memory.
        pace: virtual seconds in a second of wall time, see `Clock.pace`.
        testbed: the timing of the one computer that runs the switches and all hosts without a
            timing of their own: what `host` takes, such as {"timer_latency": "50us"}.
        frames: each packet of TCP on a link is one frame, and no GSO packet.
        folders: folders of the host's that its commands may read, by where they see them.
        writable_folders: those that they may also write to, likewise.
        packages: Python packages that are installed beside longfat, and that its commands may
            import: they find them by `PYTHONPATH`. Each is shown without what it depends on
            itself, and is run by the interpreter that the command names, so it has to be of
            pure Python.
        images: the files or folders that hosts may have for their `root`, which the machine is
            shown when it boots.
        on_command: called with its node and itself for each command that a caller starts.
        on_build: called with the network each time that nodes or links were built.
        on_wait: as for `Session`.

    Attributes:
        clock: its virtual time.
        session: the live machine under it.
        record: the script of what was done.

    Raises:
        HostError: the host lacks the kernel, or what a sandbox needs.
        InputError: a folder cannot be shown.
    """

    def __init__(
        self,
        *,
        seed: int = 1,
        kernel: str = NEWEST,
        memory: Size = DEFAULT_MEMORY_BYTES,
        pace: float | None = None,
        testbed: Mapping[str, Any] = MappingProxyType({}),
        frames: bool = False,
        folders: Mapping[str, str | Path] = MappingProxyType({}),
        writable_folders: Mapping[str, str | Path] = MappingProxyType({}),
        packages: Sequence[str] = (),
        images: Sequence[str | Path | HostRoot] = (),
        on_command: Callable[[str, Process], None] = lambda _node, _process: None,
        on_build: Callable[[Network], None] = lambda _network: None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        found = [_found(image) for image in images]
        self._images = {image.image: image for image in found}
        super().__init__(
            Case(
                kernel=kernel,
                network=Model(
                    hosts=(),
                    switches=(),
                    links=(),
                    testbed=timing_from(**testbed),
                    frames=frames,
                ),
                seed=seed,
                memory_bytes=size_bytes(memory),
            ),
            folders=share_folders({**folders, **package_folders(packages)}, writable_folders),
            environment={"PYTHONPATH": PACKAGES} if packages else {},
            images=found,
            on_command=on_command,
            on_build=lambda: on_build(self),
            on_wait=on_wait,
        )
        self._nodes: dict[str, LiveHost | LiveSwitch] = {}
        self._links: list[LiveLink] = []
        self._cut: list[LiveLink] = []
        self.clock = Clock(self.session)
        self._root = Node(self, ROOT_NAMESPACE, place=ROOT_NAMESPACE)
        self.run, self.spawn = self._root.run, self._root.spawn
        self.write_file, self.read_file = self._root.write_file, self._root.read_file
        if pace is not None:
            self.clock.pace(pace)

    @classmethod
    def of(
        cls,
        model: Model,
        *,
        files: Sequence[File] = (),
        setup: Sequence[Command] = (),
        kernel: str = NEWEST,
        seed: int = 1,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        folders: Mapping[str, str | Path] = MappingProxyType({}),
        writable_folders: Mapping[str, str | Path] = MappingProxyType({}),
        on_wait: Callable[[], None] = lambda: None,
    ) -> Network:
        """Build a network that is there as a value, and type its set-up lines.

        Args:
            model: the network.
            files: files to put into its machine before all else.
            setup: lines to run in it when it is built, in this order.
            kernel: the kernel's version.
            seed: as for `Network`.
            memory_bytes: the machine's memory.
            folders: as for `Network`.
            writable_folders: likewise.
            on_wait: as for `Session`.

        Raises:
            InputError: the network cannot be built, or a line failed or did not end.
            HostError: as for `Network`.
        """
        network = cls(
            seed=seed,
            kernel=kernel,
            memory=memory_bytes,
            folders=folders,
            writable_folders=writable_folders,
            images=list(model.roots.values()),
            on_wait=on_wait,
        )
        try:
            network.session.take_roots(model.roots)
            if files:
                network.session.put_files(files)
                network._case = replace(network._case, files=tuple(files))
            network._take(model, new=model)
            network.build()
            for command in setup:
                try:
                    done = network.run_at(command.node, command.line, timeout=_SETUP_WITHIN_S)
                except TimedOut as late:
                    raise InputError(
                        f"{command.node}: {late.message}; what is to go on is started with & "
                        "at the line's end"
                    ) from None
                if done.returncode != 0:
                    words = (done.stderr or done.stdout).strip() or "it said nothing"
                    ending = f"exited with status {done.returncode}"
                    raise InputError(f"{command.node}: `{command.line}` {ending}: {words}")
                network.add_setup(command.node, command.line)
        except BaseException:
            network.close()
            raise
        return network

    def __enter__(self) -> Network:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # ------------------------------------------------------- nodes and links

    @takes_fields(Host, HostTiming)
    def host(
        self,
        name: str,
        address: str | None = None,
        *,
        gateway: str | None = None,
        routes: Mapping[str, str] | None = None,
        profile: str | None = None,
        cpu: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a host.

        Args:
            name: its name, such as `h1`; its interfaces are `h1-eth0` and so on.
            address: address and prefix length of its first interface; the next free one of
                10.0.0.1/8, 10.0.0.2/8, ... if None.
            gateway: the router of its default route.
            routes: more routes: networks, such as "10.1.0.0/16", with their routers.
            profile: a named timing, such as "vm-2020", for what is not given of its timing.
            cpu: what its CPU's work costs, by name: {"syscall": "300ns", "copy": "80ps/B"}.
            properties: what else a host is; its timing is the network's testbed, if nothing
                of it is given.

        Raises:
            InputError: the name is taken or none, or the address is none, or a timing is.
        """
        hosts = self._case.network.hosts
        own = self._with_image(
            {key: properties.pop(key) for key in fields_of(Host) if key in properties}
        )
        return self._add_host(
            Host(
                name=name,
                address=self._next_address() if address is None else host_address(address),
                routes=_routes(gateway, routes),
                timing=timing_from(profile=profile, cpu=cpu, **properties),
                **values_of(Host, own, what="a host"),
            ),
            hosts,
        )

    @takes_fields(Host)
    def router(
        self,
        name: str,
        *,
        gateway: str | None = None,
        routes: Mapping[str, str] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a router: a host that passes packets on. Its links give it its addresses.

        Args:
            name: its name, such as `r1`.
            gateway: as for `host`.
            routes: likewise.
            properties: likewise, such as `nat="home"`.

        Raises:
            InputError: the name is taken or none, or a property has no such value.
        """
        properties = self._with_image(properties)
        own = values_of(Host, {"forwards": True, **properties}, what="a router")
        router = Host(name=name, address=None, routes=_routes(gateway, routes), **own)
        return self._add_host(router, self._case.network.hosts)

    def switch(self, name: str) -> LiveSwitch:
        """Add a switch; its interfaces are `s1-eth1` and so on, visible at root.

        Args:
            name: its name, such as `s1`.

        Raises:
            InputError: the name is taken or none.
        """
        model = self._case.network
        self._check_free(name)
        self._change(replace(model, switches=(*model.switches, Switch(name=name))))
        switch = LiveSwitch(self, name)
        self._nodes[name] = switch
        return switch

    @takes_fields(LinkImpairments, Link)
    def link(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str,
        *,
        addresses: tuple[str | None, str | None] = (None, None),
        reverse: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveLink:
        """Link two nodes.

        Args:
            a: a node or its name.
            b: the other.
            addresses: of the interfaces at `a` and `b`, with prefix length; a host's own if
                it is its first interface and None is given.
            reverse: what is to differ in the direction from `b` to `a`, by name.
            properties: what the link does to packets of each direction: numbers in base units
                (bit/s, seconds, bytes, shares from 0 to 1), or texts as in a study. A `trace`
                is a file of the host's, and begins when the link is built.

        Raises:
            InputError: there is no such node, or a property has no such value.
        """
        own = {key: properties.pop(key) for key in fields_of(Link) if key in properties}
        one_way = UNIMPAIRED.changed(self._with_trace(properties))
        model = self._case.network
        link = Link(
            a=_name(a),
            b=_name(b),
            a_to_b=one_way,
            b_to_a=one_way.changed(self._with_trace(reverse or {})),
            a_address=None if addresses[0] is None else host_address(addresses[0]),
            b_address=None if addresses[1] is None else host_address(addresses[1]),
            **values_of(Link, own, what="a link"),
        )
        for end in (link.a, link.b):
            self._check_node(end)
        self._change(replace(model, links=(*model.links, link)))
        names = self._case.network.interfaces()[-1]
        self._links.append(LiveLink(self, len(self._links), names=names))
        return self._links[-1]

    def add(self, network: Mapping[str, object]) -> None:
        """Add the nodes and links of a study's `network` section.

        Args:
            network: the section as plain data: {"hosts": {"h1": "10.0.0.1/8"}, ...}. Its links
                follow no traces from files; `link` does.

        Raises:
            InputError: something in it is wrong, or a name is taken; `place` says where.
        """
        new = read_section(network)
        now = self._case.network
        for name in new.node_names():
            self._check_free(name)
        for ours, given, default in (
            (now.testbed, new.testbed, None),
            (now.frames, new.frames, False),
        ):
            if given not in (ours, default):
                raise InputError("testbed and frames are those of the whole network: see Network")
        model = replace(
            now,
            hosts=(*now.hosts, *new.hosts),
            switches=(*now.switches, *new.switches),
            links=(*now.links, *new.links),
        )
        for problem in problems(model):
            raise InputError(problem.message)
        self._take(model, new=new, first_link=len(now.links))

    def __getitem__(self, name: str) -> LiveHost | LiveSwitch:
        """Return a node by its name.

        Raises:
            InputError: there is no such node.
        """
        self._check_node(name)
        return self._nodes[name]

    @property
    def root(self) -> Node:
        """The root namespace, where the switches' interfaces are."""
        return self._root

    @property
    def hosts(self) -> list[LiveHost]:
        """The hosts, in the order in which they were added."""
        return [node for node in self._nodes.values() if isinstance(node, LiveHost)]

    @property
    def switches(self) -> list[LiveSwitch]:
        """The switches, likewise."""
        return [node for node in self._nodes.values() if isinstance(node, LiveSwitch)]

    @property
    def links(self) -> list[LiveLink]:
        """The links, likewise."""
        return list(self._links)

    # ----------------------------------------------------------------- doing

    def run_at(
        self, place: str, line: str, *, timeout: Duration | None = None, check: bool = False
    ) -> Completed:
        """Run a line at a node, or at root; see `RunningNetwork.run_at`."""
        if place == ROOT_NAMESPACE:
            return self._root.run(line, timeout=timeout, check=check)
        return self[place].run(line, timeout=timeout, check=check)

    def sleep(self, duration: Duration) -> None:
        """Let virtual time pass.

        Args:
            duration: in seconds, or such as "5s".
        """
        self.build()
        duration_s = seconds(duration)
        self.record.wait(duration_s)
        self.session.run_until(until_ns=self.session.now_ns + round(duration_s * 1e9))

    def partition(self, *groups: Sequence[LiveHost | LiveSwitch | str]) -> None:
        """Cut groups of nodes off from each other: the links between them go down.

        Args:
            groups: nodes or their names. A node in none of them belongs to the group that it is
                linked with, itself or by other such nodes.

        Raises:
            InputError: a node is not there, in two groups or between two; no link is cut; or
                there is a partition already.
        """
        if self._cut:
            raise InputError("there is a partition already: heal it first")
        if len(groups) < _FEWEST_GROUPS:
            raise InputError("a partition has two groups of nodes or more")
        names = [[_name(node) for node in group] for group in groups]
        self._cut = [self._links[index] for index in cut_links(self._case.network, names)]
        for link in self._cut:
            link.down()

    def heal(self) -> None:
        """End the partition: the links that it cut come up again.

        Raises:
            InputError: there is none.
        """
        if not self._cut:
            raise InputError("there is no partition")
        healed, self._cut = self._cut, []
        for link in healed:
            link.up()

    def probe(
        self,
        *,
        queue: Interfaces = (),
        tcp: Hosts = (),
        rate: Interfaces = (),
        capture: Interfaces = (),
        every: Duration = 0.1,
        filter: str = "",  # noqa: A002  tcpdump's and the study file's word
        snap: Size = DEFAULT_SNAP_BYTES,
    ) -> Series:
        """Look into the network while time passes; use it in a `with`.

        Args:
            queue: interfaces whose queues to look at: names, links, or several of them.
            tcp: hosts, or their names, whose TCP sockets to look at.
            rate: interfaces whose counters to look at.
            capture: interfaces whose packets to capture.
            every: the time between two looks, in seconds or such as "10ms".
            filter: which packets to capture, as pcap-filter(7) says it; all, if empty.
            snap: how much of each packet to keep, in bytes.

        Returns:
            What there is to see, as Arrow tables and pcap files.

        Raises:
            InputError: there is no such interface or host.
        """
        return Series(
            self,
            queue=queue,
            tcp=tcp,
            rate=rate,
            capture=capture,
            every=every,
            filter=filter,
            snap=snap,
        )

    # --------------------------------------------------------- as a value

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        case: str | None = None,
        seed: int | None = None,
        kernel: str | None = None,
        memory: Size | None = None,
    ) -> Network:
        """Open the network of a study, a MiniEdit file or a Mininet script, with its set-up lines.

        What of the file cannot be carried over is told by Python's warnings.

        Args:
            path: the file, or a folder with a `study.yaml`.
            case: the case of the study; what all of its cases share, if None.
            seed: as for `Network`, in place of the file's; 1, if neither says.
            kernel: likewise.
            memory: likewise.

        Raises:
            InputError: the file cannot be read, or does not make a network.
            HostError: as for `Network`.
        """
        opened = open_network(Path(path), case=case)
        for words in opened.warnings:
            warnings.warn(f"{path}: {words}", stacklevel=2)
        opened_bytes = opened.memory_bytes or DEFAULT_MEMORY_BYTES
        return cls.of(
            opened.network,
            files=opened.files,
            setup=opened.setup,
            kernel=kernel or opened.kernel or NEWEST,
            seed=next((one for one in (seed, opened.seed) if one is not None), 1),
            memory_bytes=opened_bytes if memory is None else size_bytes(memory),
        )

    def save(self, path: str | Path, *, title: str = "A saved network") -> None:
        """Save what was set up so far as a study file: see `case`.

        Args:
            path: the file; what is there is replaced.
            title: what the study is about.

        Raises:
            InputError: the file cannot be written, or a study cannot hold a line.
        """
        text = study_text(title=title, case=self.case())
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None

    def grow(self, model: Model) -> None:
        """Add what a network has more than this one.

        Args:
            model: the whole network; its first nodes and links are this one's.

        Raises:
            ValueError: they are not.
            InputError: the nodes and links do not make a network, or Linux refused a line.
        """
        now = self._case.network
        for name in ("hosts", "switches", "links"):
            ours = getattr(now, name)
            if getattr(model, name)[: len(ours)] != ours:
                raise ValueError(f"the network's {name} are others")
        if model.testbed != now.testbed:
            raise ValueError("the network's testbed is another")
        if model.frames != now.frames:
            raise ValueError("the network's packets are others")
        added = Model(
            hosts=model.hosts[len(now.hosts) :],
            switches=model.switches[len(now.switches) :],
            links=model.links,
        )
        nodes, links = dict(self._nodes), list(self._links)
        self._take(model, new=added, first_link=len(now.links))
        try:
            self.build()
        except LongfatError:
            self._change(now)
            self._nodes, self._links = nodes, links
            raise

    def _take(self, model: Model, *, new: Model, first_link: int = 0) -> None:
        self._change(model)
        self._nodes |= {host.name: LiveHost(self, host.name) for host in new.hosts}
        self._nodes |= {switch.name: LiveSwitch(self, switch.name) for switch in new.switches}
        for index, names in enumerate(model.interfaces()[first_link:], start=first_link):
            self._links.append(LiveLink(self, index, names=names))

    def _add_host(self, host: Host, hosts: Sequence[Host]) -> LiveHost:
        self._check_free(host.name)
        self._change(replace(self._case.network, hosts=(*hosts, host)))
        live = LiveHost(self, host.name)
        self._nodes[host.name] = live
        return live

    def _with_trace(self, properties: Mapping[str, object]) -> Mapping[str, object]:
        """Return a link's properties with the trace put into the machine."""
        name = properties.get("trace")
        if name is None or name in MODELS:
            return properties
        path = Path(str(name))
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"the trace {path} cannot be read: {error.strerror}") from None
        return {**properties, "trace": self.add_file(f"/opt/traces/{path.name}", content)}

    def _with_image(self, properties: dict[str, object]) -> dict[str, object]:
        """Return a host's properties with the image that its root is."""
        image = properties.get("root")
        if image is None or isinstance(image, HostRoot):
            return properties
        if str(image) not in self._images:
            raise InputError(
                f"root: the machine does not have the image {str(image)!r}, which has to be known "
                f"when it boots: write longfat.Network(images=[{str(image)!r}])"
            )
        return {**properties, "root": self._images[str(image)]}

    def _check_node(self, name: str) -> None:
        if name not in self._nodes:
            raise InputError(f"there is no node {name!r} (there are: {', '.join(self._nodes)})")

    def _check_free(self, name: str) -> None:
        if reason := name_problem(name):
            raise InputError(reason)
        if name in self._nodes:
            raise InputError(f"the name {name!r} is taken already")

    def _next_address(self) -> str:
        taken = {
            str(host.address).partition("/")[0] for host in self._case.network.hosts if host.address
        }
        number = len(self._case.network.hosts)
        while True:
            number += 1
            address = str(_ADDRESSES[number])
            if address not in taken:
                return f"{address}/{_ADDRESSES.prefixlen}"


def _name(node: LiveHost | LiveSwitch | str) -> str:
    return node if isinstance(node, str) else node.name


def _found(image: str | Path | HostRoot) -> HostRoot:
    if isinstance(image, HostRoot):
        return image
    path = Path(image)
    if not path.exists():
        raise InputError(f"there is no image {str(image)!r}")
    return find_image(path, name=str(image))


def _routes(gateway: str | None, routes: Mapping[str, str] | None) -> tuple[Route, ...]:
    given = {**({} if gateway is None else {"default": gateway}), **(routes or {})}
    return tuple(Route(to=route_target(to), via=router_address(via)) for to, via in given.items())
