"""A live network, with an API similar to Mininet's.

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

import warnings
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat import shown_in_notebook
from longfat.engine.images import find_image, images_shown
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.execution.tools import packages_for_guests
from longfat.live.clock import Clock
from longfat.live.folders import (
    NAMED_PLACE,
    check_places,
    package_folders,
    read_packages,
    share_folders,
)
from longfat.live.links import LiveLink
from longfat.live.nodes import LiveHost, LiveSwitch, Node
from longfat.live.probes import Series
from longfat.live.process import Completed, Process, seconds, size_bytes
from longfat.live.running import RunningNetwork
from longfat.live.session import Session
from longfat.live.task import MAX_OUTPUT_BYTES
from longfat.live.topology import Topology
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, Command, File
from longfat.model.fields import fields_of, takes_fields, values_of
from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    HostRoot,
    HostTiming,
    Link,
    LinkImpairments,
    timing_from,
)
from longfat.model.network import Network as Model
from longfat.model.network.addressing import Addressing
from longfat.model.packages import PinnedPackage
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES
from longfat.study.formats.open import open_network
from longfat.study.formats.write import study_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from longfat.analysis.losses import Loss
    from longfat.live.flows import Started
    from longfat.live.folders import SharedFolder
    from longfat.live.probes import Hosts, Interfaces
    from longfat.live.process import Duration, Size
    from longfat.model.traffic import Flow


class Network:
    """A live network; use it as a context manager, or `close` it.

    Args:
        seed: determines every random number in it: 0 to 2**63 - 1.
        kernel: the kernel's version.
        memory: the machine's memory.
        pace: virtual seconds in a second of wall time, see `Clock.pace`.
        testbed: the timing of the one computer that runs the switches and all hosts without a
            timing of their own: what `host` takes, such as {"timer_latency": "50us"}.
        frames: each TCP packet on a link is one frame, not a GSO packet.
        shared_kernel: all hosts share a kernel, as in Mininet: what waits at a switch stays
            charged to its sender's socket.
        addresses: the family of the addresses that are assigned automatically, with routes, where
            none are given: "ipv4" or "ipv6"; "none": neither are; that of the given ones, if None.
        folders: folders of the host that its commands may read, by their paths in the machine.
        writable_folders: those that they may also write to, likewise.
        shared: further folders, checked already.
        packages: Python packages that its commands may import: they find them by `PYTHONPATH`.
            Those that are pinned as in a requirements file (NAME==VERSION --hash=sha256:DIGEST)
            are installed into the cache, with all that they need, which has to be named, too;
            a `Path` is a lock file of such lines. A plain name is that of a package
            that is installed beside longfat; it is shown without what it depends on itself, and
            has to be of pure Python.
        images: the files or folders that hosts may have for their `root`, which the machine
            gets when it boots.
        on_command: called with its node and itself for each command that a caller starts.
        on_build: called with the network each time that nodes or links were built.
        on_wait: as for `Session`.
        max_output_bytes: as for `Session`.
        max_kept_bytes: as for `Session`.

    Attributes:
        clock: its virtual time.
        session: the live machine under it.
        record: the script of executed commands.

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
        shared_kernel: bool = False,
        addresses: str | None = None,
        folders: Mapping[str, str | Path] = MappingProxyType({}),
        writable_folders: Mapping[str, str | Path] = MappingProxyType({}),
        shared: Sequence[SharedFolder] = (),
        packages: Sequence[str | Path | PinnedPackage] = (),
        images: Sequence[str | Path | HostRoot] = (),
        on_command: Callable[[str, Process], None] = lambda _node, _process: None,
        on_build: Callable[[Network], None] = lambda _network: None,
        on_wait: Callable[[], None] = lambda: None,
        max_output_bytes: int = MAX_OUTPUT_BYTES,
        max_kept_bytes: int | None = None,
    ) -> None:
        given = {} if addresses is None else {"addresses": addresses}
        roots = [_read_image(image) for image in images]
        pinned, names = read_packages(packages)
        case = Case(
            kernel=kernel,
            network=Model(
                hosts=(),
                switches=(),
                links=(),
                testbed=timing_from(**testbed),
                frames=frames,
                shared_kernel=shared_kernel,
            ),
            seed=seed,
            memory_bytes=size_bytes(memory),
            packages=pinned,
        )
        session = Session(
            kernel=kernel,
            seed=seed,
            memory_bytes=case.memory_bytes,
            folders=check_places(
                [
                    *share_folders({**folders, **package_folders(names)}, writable_folders),
                    *shared,
                ]
            ),
            images=images_shown(roots),
            packages=packages_for_guests(pinned).folder if pinned else None,
            shared_kernel=shared_kernel,
            on_wait=on_wait,
            max_output_bytes=max_output_bytes,
            max_kept_bytes=max_kept_bytes,
        )
        self._running = RunningNetwork(
            case,
            session,
            environment={"PYTHONPATH": NAMED_PLACE} if names else {},
            on_command=on_command,
            on_build=lambda: on_build(self),
            addressing=Addressing(**values_of(Addressing, given, what="a network")),
        )
        self.session = session
        self.record = self._running.record
        self.clock = Clock(session)
        self._topology = Topology(self._running, images=roots)
        self._root = Node(self._running, ROOT_NAMESPACE, place=ROOT_NAMESPACE)
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
        packages: Sequence[PinnedPackage] = (),
        setup: Sequence[Command] = (),
        kernel: str = NEWEST,
        seed: int = 1,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        shared: Sequence[SharedFolder] = (),
        on_wait: Callable[[], None] = lambda: None,
        max_output_bytes: int = MAX_OUTPUT_BYTES,
        max_kept_bytes: int | None = None,
    ) -> Network:
        """Build a network from a value, and run its set-up lines.

        Args:
            model: the network.
            files: files to put into its machine first.
            packages: Python packages that its commands may import.
            setup: lines to run in it when it is built, in this order.
            kernel: the kernel's version.
            seed: as for `Network`.
            memory_bytes: the machine's memory.
            shared: folders of the host that the machine sees.
            on_wait: as for `Session`.
            max_output_bytes: as for `Session`.
            max_kept_bytes: as for `Session`.

        Raises:
            InputError: the network cannot be built, or a line failed or did not end.
            HostError: as for `Network`.
        """
        network = cls(
            seed=seed,
            kernel=kernel,
            memory=memory_bytes,
            shared_kernel=model.shared_kernel,
            shared=shared,
            packages=packages,
            images=list(model.roots.values()),
            on_wait=on_wait,
            max_output_bytes=max_output_bytes,
            max_kept_bytes=max_kept_bytes,
        )
        try:
            network.session.take_roots(model.roots)
            if files:
                network._running.put_files(files)
            network._topology.take(model, new=model)
            network._running.keep_addresses(host.name for host in model.hosts)
            network.build()
            network._running.run_setup(setup)
        except BaseException:
            network.close()
            raise
        return network

    def _repr_svg_(self) -> str:
        """Return its drawing, for a notebook."""
        return shown_in_notebook("network", self.model)

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
        routes: Mapping[str, str | Sequence[str]] | None = None,
        profile: str | None = None,
        cpu: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a host.

        Args:
            name: its name, such as `h1`; its interfaces are `h1-eth0` and so on.
            address: address and prefix length of its first interface, or "slaac"; one of its
                subnet if None: 10.0.0.1/8, 10.0.0.2/8 and so on in a network without routers.
            gateway: the router of its default route.
            routes: more routes: networks, such as "10.1.0.0/16", with their routers, each one
                address or several that share the traffic (ECMP).
            profile: a named timing, such as "vm-2020", the default for its timing.
            cpu: the cost of its CPU's work, by name: {"syscall": "300ns", "copy": "80ps/B"}.
            properties: other properties of a host; its timing is the network's testbed, if nothing
                of it is given.

        Raises:
            InputError: the name is taken or invalid, or the address or a timing is invalid.
        """
        own = {key: properties.pop(key) for key in fields_of(Host) if key in properties}
        return self._topology.add_host(
            name,
            address,
            gateway=gateway,
            routes=routes,
            properties=own,
            timing=timing_from(profile=profile, cpu=cpu, **properties),
        )

    @takes_fields(Host)
    def router(
        self,
        name: str,
        *,
        gateway: str | None = None,
        routes: Mapping[str, str | Sequence[str]] | None = None,
        **properties: object,
    ) -> LiveHost:
        """Add a router: a host that forwards packets.

        Args:
            name: its name, such as `r1`.
            gateway: as for `host`.
            routes: likewise.
            properties: likewise, such as `nat="home"`.

        Raises:
            InputError: the name is taken or invalid, or a property has no such value.
        """
        return self._topology.add_router(
            name, gateway=gateway, routes=routes, properties=properties
        )

    def switch(self, name: str) -> LiveSwitch:
        """Add a switch; its interfaces are `s1-eth1` and so on, visible at root.

        Args:
            name: its name, such as `s1`.

        Raises:
            InputError: the name is taken or invalid.
        """
        return self._topology.add_switch(name)

    @takes_fields(LinkImpairments, Link)
    def link(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str,
        *,
        addresses: tuple[str | Mapping[int, str] | None, str | Mapping[int, str] | None] = (
            None,
            None,
        ),
        reverse: Mapping[str, object] | None = None,
        **properties: object,
    ) -> LiveLink:
        """Link two nodes.

        Args:
            a: a node or its name.
            b: the other.
            addresses: of the interfaces at `a` and `b`, with prefix length, "slaac", or by VLAN,
                such as {10: "10.0.10.1/24"}; if None, a host's own if it is its first interface,
                else one of its subnet.
            reverse: the differences in the direction from `b` to `a`, by name.
            properties: the link's impairments in each direction: numbers in base units
                (bit/s, seconds, bytes, shares from 0 to 1), or texts as in a study. A `trace`
                is a file of the host, and begins when the link is built.

        Raises:
            InputError: there is no such node, or a property has no such value.
        """
        return self._topology.add_link(
            a, b, addresses=addresses, reverse=reverse or {}, properties=properties
        )

    def bond(
        self,
        a: LiveHost | LiveSwitch | str,
        b: LiveHost | LiveSwitch | str | Sequence[LiveSwitch | str],
        *,
        mode: str,
        **properties: object,
    ) -> str:
        """Make one interface of the parallel links between nodes.

        They are linked by then, but no command was run and no time has passed since.

        Args:
            a: a node or its name.
            b: the other; or several switches, for a bond of the host `a` alone.
            mode: how packets are spread: "active-backup", "802.3ad" and others.
            properties: its other fields, as in a study: hash, miimon, primary and so on.

        Returns:
            The bond's interface at `a`, such as "h1-bond0"; at the host, if `a` is a switch
            that needs none.

        Raises:
            InputError: there is no such node, or a value is wrong.
        """
        return self._topology.add_bond(a, b, properties={"mode": mode, **properties})

    def tunnel(
        self,
        a: LiveHost | str,
        b: LiveHost | str,
        *,
        kind: str,
        addresses: tuple[str, str],
        endpoints: tuple[str | None, str | None] = (None, None),
        mtu: Size | None = None,
    ) -> str:
        """Make a tunnel between two hosts, which are linked by then.

        Args:
            a: a host or its name.
            b: the other.
            kind: "gre", "ipip" or "wireguard".
            addresses: those in the tunnel, at `a` and `b`, with prefix length.
            endpoints: the outer addresses; if None, those from which the ends' packets are sent.
            mtu: the largest packet in it; that of the path less the tunnel's headers, if None.

        Returns:
            The tunnel's interface at `a`, such as "h1-tun0".

        Raises:
            InputError: there is no such host, or a value is wrong.
        """
        properties: dict[str, object] = {"kind": kind, "mtu": mtu}
        return self._topology.add_tunnel(
            a, b, addresses=addresses, endpoints=endpoints, properties=properties
        )

    def add(self, network: Mapping[str, object]) -> None:
        """Add the nodes and links of a study's `network` section.

        Args:
            network: the section as plain data: {"hosts": {"h1": "10.0.0.1/8"}, ...}. Its links
                do not follow traces from files; `link` does.

        Raises:
            InputError: something in it is wrong, or a name is taken; `place` is its location.
        """
        self._topology.add_section(network)

    def grow(self, model: Model) -> None:
        """Add and build the nodes and links that another network has in addition to this one's.

        Args:
            model: the whole network; its first nodes and links are this one's.

        Raises:
            ValueError: its first nodes or links, its testbed or its kind of packets differ.
            InputError: the nodes and links do not make a network, or a command that builds
                them failed.
        """
        self._topology.grow(model)

    def __getitem__(self, name: str) -> LiveHost | LiveSwitch:
        """Return a node by its name.

        Raises:
            InputError: there is no such node.
        """
        return self._topology.node(name)

    @property
    def hosts(self) -> list[LiveHost]:
        """The hosts, in the order in which they were added."""
        return [node for node in self._topology.nodes.values() if isinstance(node, LiveHost)]

    @property
    def switches(self) -> list[LiveSwitch]:
        """The switches, likewise."""
        return [node for node in self._topology.nodes.values() if isinstance(node, LiveSwitch)]

    @property
    def links(self) -> list[LiveLink]:
        """The links, likewise."""
        return list(self._topology.links)

    @property
    def root(self) -> Node:
        """The root namespace, where the switches' interfaces are."""
        return self._root

    # ----------------------------------------------------------------- actions

    def close(self) -> None:
        """End it with everything that runs in it."""
        self._running.close()

    def build(self) -> None:
        """Build what was added since the last time; every call that needs it does so.

        Raises:
            InputError: the nodes and links do not make a network, or Linux rejected a line.
        """
        self._running.build()

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
        if place == ROOT_NAMESPACE:
            return self._root.run(line, timeout=timeout, check=check)
        return self[place].run(line, timeout=timeout, check=check)

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
        return self._running.type_at_interface(interface, " ".join(["tc", *words]))

    def start(self, flow: Flow) -> Started:
        """Start measured traffic; see `LiveHost.iperf3` and `LiveHost.ping`."""
        return self._running.start(flow)

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
        return self._running.add_file(path, content)

    def reshape_link(self, index: int, *, a_to_b: LinkImpairments, b_to_a: LinkImpairments) -> None:
        """Set a link's impairments; see `LiveLink.change`.

        Args:
            index: the index of the link.
            a_to_b: those from its first node to its second.
            b_to_a: likewise the other way.

        Raises:
            InputError: they are invalid.
            CommandFailed: tc rejected a line; the previous ones are restored.
        """
        self._running.reshape_link(index, a_to_b=a_to_b, b_to_a=b_to_a)

    def add_setup(self, place: str, line: str) -> None:
        """Add a line to the set-up, which `save` keeps."""
        self._running.add_setup(place, line)

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
                linked with, directly or by other such nodes.

        Raises:
            InputError: a node does not exist, is in two groups or between two; no link is cut; or
                there is a partition already.
        """
        self._topology.partition(groups)

    def heal(self) -> None:
        """End the partition: the links that it cut come up again.

        Raises:
            InputError: there is none.
        """
        self._topology.heal()

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
        """Sample the network while time passes; use it in a `with`.

        Args:
            queue: interfaces whose queues to sample: names, links, or several of them.
            tcp: hosts, or their names, whose TCP sockets to sample.
            rate: interfaces whose counters to sample.
            capture: interfaces whose packets to capture.
            every: the sampling interval, in seconds or such as "10ms".
            filter: which packets to capture, as in pcap-filter(7); all, if empty.
            snap: how much of each packet to keep, in bytes.

        Returns:
            The samples, as Arrow tables and pcap files.

        Raises:
            InputError: there is no such interface or host.
        """
        return Series(
            self._running,
            queue=queue,
            tcp=tcp,
            rate=rate,
            capture=capture,
            every=every,
            filter=filter,
            snap=snap,
        )

    def losses(self, *, new: bool = False) -> list[Loss]:
        """Return where packets were lost, and why, as the kernel counted it.

        Reading takes no virtual time. The `flow` of a loss is the hosts of its packets, such as
        `h1 -> h2`, and its times are those of the clock.

        Args:
            new: only what was lost since the last call; else since the machine's boot.

        Raises:
            InputError: the kernel does not count the packets that it drops.
        """
        return list(self._running.losses(new=new))

    # --------------------------------------------------------- as a value

    @property
    def model(self) -> Model:
        """The network as a value."""
        return self._running.completed(self._running.model)

    def case(self) -> Case:
        """Return the set-up so far as a case: nodes, links, files, lines of tc and sysctl."""
        return self._running.case()

    def address_of(self, name: str) -> str:
        """Return the address by which other hosts reach a host, without prefix length.

        Raises:
            InputError: there is no such host, or it has no address.
        """
        return self._running.address_of(name)

    def names_by_address(self) -> dict[str, str]:
        """Return the hosts by the addresses that others reach them by, without prefix length."""
        return self._running.names_by_address()

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

        Without `case`, a study of several cases is opened for manual work: the network
        that they have in common, or else that of the first, and of the set-up lines only those
        that belong to the network.

        What cannot be converted from the file is reported by Python's warnings.

        Args:
            path: the file, or a folder with a `study.yaml`.
            case: the case of the study, where it has several.
            seed: as for `Network`, in place of the file's; 1, if neither specifies one.
            kernel: likewise.
            memory: likewise.

        Raises:
            InputError: the file cannot be read, or does not make a network.
            HostError: as for `Network`.
        """
        opened = open_network(Path(path), case=case, by_hand=True)
        for words in opened.warnings:
            warnings.warn(f"{path}: {words}", stacklevel=2)
        opened_bytes = opened.memory_bytes or DEFAULT_MEMORY_BYTES
        return cls.of(
            opened.network,
            files=opened.files,
            packages=opened.packages,
            setup=opened.setup,
            kernel=kernel or opened.kernel or NEWEST,
            seed=next((one for one in (seed, opened.seed) if one is not None), 1),
            memory_bytes=opened_bytes if memory is None else size_bytes(memory),
        )

    def save(self, path: str | Path, *, title: str = "A saved network") -> None:
        """Save the set-up so far as a study file: see `case`.

        Args:
            path: the file; an existing one is replaced.
            title: the title of the study.

        Raises:
            InputError: the file cannot be written, or a study cannot hold a line.
        """
        text = study_text(title=title, case=self.case())
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _read_image(image: str | Path | HostRoot) -> HostRoot:
    if isinstance(image, HostRoot):
        return image
    path = Path(image)
    if not path.exists():
        raise InputError(f"there is no image {str(image)!r}")
    return find_image(path, name=str(image))
