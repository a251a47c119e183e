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
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat import shown_in_notebook
from longfat.engine.images import find_image, images_shown
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.execution.tools import packages_for_guests
from longfat.live.clock import Clock
from longfat.live.editable import EditableNetwork, name_of
from longfat.live.folders import check_places, share_folders
from longfat.live.nodes import LiveHost, LiveSwitch, Node
from longfat.live.packages import NAMED_PLACE, package_folders, read_packages
from longfat.live.probes import Series
from longfat.live.process import Completed, Process, TimedOut
from longfat.live.quantities import seconds, size_bytes
from longfat.live.session import Session
from longfat.live.task import MAX_OUTPUT_BYTES
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, Command, File
from longfat.model.network import ROOT_NAMESPACE, HostRoot, timing_from
from longfat.model.network import Network as Model
from longfat.model.network.ends import cut_links
from longfat.model.packages import PinnedPackage
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES
from longfat.study.formats.open import open_network
from longfat.study.formats.write import study_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from longfat.live.folders import SharedFolder
    from longfat.live.links import LiveLink
    from longfat.live.probes import Hosts, Interfaces
    from longfat.live.quantities import Duration, Size

# A set-up line that takes longer will never end. Idle virtual seconds cost nothing.
_SETUP_WITHIN_S = 600.0

_FEWEST_GROUPS = 2


class Network(EditableNetwork):
    """A live network; use it as a context manager, or `close` it.

    Args:
        seed: determines every random number in it: 0 to 2**63 - 1.
        kernel: the kernel's version.
        memory: the machine's memory.
        pace: virtual seconds in a second of wall time, see `Clock.pace`.
        testbed: the timing of the one computer that runs the switches and all hosts without a
            timing of their own: what `host` takes, such as {"timer_latency": "50us"}.
        frames: each TCP packet on a link is one frame, not a GSO packet.
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
        roots = [_read_image(image) for image in images]
        pinned, names = read_packages(packages)
        case = Case(
            kernel=kernel,
            network=Model(
                hosts=(), switches=(), links=(), testbed=timing_from(**testbed), frames=frames
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
            on_wait=on_wait,
            max_output_bytes=max_output_bytes,
            max_kept_bytes=max_kept_bytes,
        )
        super().__init__(
            case,
            session,
            images=roots,
            environment={"PYTHONPATH": NAMED_PLACE} if names else {},
            on_command=on_command,
            on_build=lambda: on_build(self),
        )
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
                network.session.put_files(files)
                network._case = replace(network._case, files=tuple(files))
            network._take(model, new=model)
            network.build()
            for command in setup:
                try:
                    done = network.run_at(command.node, command.line, timeout=_SETUP_WITHIN_S)
                except TimedOut as late:
                    raise InputError(
                        f"{command.node}: {late.message}; to run a command in the "
                        "background, end the line with &"
                    ) from None
                if done.returncode != 0:
                    words = (done.stderr or done.stdout).strip() or "it printed nothing"
                    ending = f"exited with status {done.returncode}"
                    raise InputError(f"{command.node}: `{command.line}` {ending}: {words}")
                network.add_setup(command.node, command.line)
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

    @property
    def root(self) -> Node:
        """The root namespace, where the switches' interfaces are."""
        return self._root

    # ----------------------------------------------------------------- actions

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
                linked with, directly or by other such nodes.

        Raises:
            InputError: a node does not exist, is in two groups or between two; no link is cut; or
                there is a partition already.
        """
        if self._cut:
            raise InputError("there is a partition already: heal it first")
        if len(groups) < _FEWEST_GROUPS:
            raise InputError("a partition has two groups of nodes or more")
        names = [[name_of(node) for node in group] for group in groups]
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
