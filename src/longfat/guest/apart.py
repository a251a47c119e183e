"""Where lines of strangers run: apart from the programs that measure.

A student who is graded is root in the machine that measures. So these lines get the network of
their node, where they may do anything, and else a machine of their own: other mounts, in which
what they replace is seen by no program but theirs; other process numbers, by which no process of
ours can be named; no folder from which results are taken; /proc/sys and /sys read-only but for
/proc/sys/net; and of root's capabilities those alone that networks and ordinary files need. A host
with a root of its own has another one for them, of the same image.

Sources: capabilities(7), mount_namespaces(7), pid_namespaces(7).
"""

from __future__ import annotations

import contextlib
import os
import signal

from longfat.guest import system
from longfat.guest.mounts import link_descriptors
from longfat.guest.nodes import NOT_STARTED, Nodes, enter_node
from longfat.guest.script import ROOT_NAMESPACE
from longfat.guest.shell import Begun, find_program
from longfat.guest.toolset import SHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# Without CAP_SYS_ADMIN nobody mounts, enters namespaces or loads programs into the kernel;
# without CAP_DAC_READ_SEARCH nobody opens a file by its handle.
_CAPABILITIES = (
    *("chown", "dac_override", "fowner", "fsetid", "ipc_lock", "kill", "net_admin"),
    *("net_bind_service", "net_broadcast", "net_raw", "setgid", "setpcap", "setuid"),
    *("sys_chroot", "sys_nice"),
)
_DEVICES = ("full", "null", "ptmx", "pts", "random", "tty", "urandom", "zero")
_MASKED = ("kcore", "kmsg", "sysrq-trigger")


class Apart(Nodes):
    """The nodes of a machine, as strangers see them.

    To be made when the network is built, and before any line of theirs runs.

    Args:
        nodes: the nodes as they are.

    Raises:
        OSError: the kernel refused, or there is no setpriv(1) to drop capabilities.
    """

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._home = nodes.home
        self._hosts: dict[str, tuple[int, int]] = {}
        self._roots = nodes.roots
        self._drop = _dropping()
        # Of ours: theirs does not show us to ourselves.
        self._proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._our_pids = self._namespace("pid")
        try:
            system.unshare(system.CLONE_NEWNS)
            system.mount("", "/", flags=system.MS_PRIVATE | system.MS_REC)
            _hide_places()
            mounts = self._namespace("mnt")
            self._their_pids = self._hold()
        finally:
            enter_node(self._home)
        self._place = self._home[0], mounts

    def run(self, command: dict[str, Any]) -> tuple[int, str]:
        """Run a line; see `Nodes.run`."""
        try:
            return self.begin(command).wait()
        except FileNotFoundError as error:  # a host's own root has no such program
            return NOT_STARTED, str(error.strerror)

    def begin(self, command: dict[str, Any]) -> Begun:
        """Begin to run a line; see `Nodes.begin`."""
        node, argv = command["node"], [SHELL, "-c", command["line"]]
        environment = None
        if command["rooted"]:
            argv[0] = "/bin/sh"  # that of the image
            environment = self.environment(node)
            argv = self._changing_root(node, argv, environment=environment)
        with self.starting(node) as prefix:
            return Begun([*prefix, *argv], name=prefix[0], environment=environment)

    @contextlib.contextmanager
    def starting(self, node: str) -> Iterator[Sequence[str]]:
        """Be where a stranger's program is started; see `Nodes.starting`."""
        with self.inside(node):
            system.enter_namespace(self._their_pids)
            try:
                yield self._drop
            finally:
                system.enter_namespace(self._our_pids)

    @contextlib.contextmanager
    def inside(self, node: str, *, rooted: bool = False) -> Iterator[None]:
        """Be at a node as strangers see it; see `Nodes.inside`."""
        if node not in self._hosts:
            self._hosts[node] = self._place if node == ROOT_NAMESPACE else self._open(node)
        try:
            enter_node(self._hosts[node])
            if rooted:
                from longfat.guest.roots import enter  # noqa: PLC0415  it is loaded by now

                enter(self._roots[node])
            yield
        finally:
            enter_node(self._home)

    def in_root(self, node: str) -> contextlib.AbstractContextManager[None]:
        """Be in a host's own root as strangers see it; see `Nodes.in_root`."""
        return self.inside(node, rooted=True)

    def _changing_root(
        self, node: str, argv: list[str], *, environment: dict[str, str]
    ) -> list[str]:
        """Return a command that runs another with a host's own root.

        Capabilities are dropped before that, by a program that no image need have.

        Raises:
            FileNotFoundError: the root has no such program.
            OSError: there is no unshare(1), of util-linux.
        """
        from longfat.guest.roots import program_of, without_shell  # noqa: PLC0415  likewise

        changing = find_program("unshare", path=os.environ["PATH"])
        if changing is None:
            raise OSError("there is no unshare(1), of util-linux")
        with self.inside(node, rooted=True):
            argv = without_shell(argv)
            program, folder = program_of(argv, environment), os.getcwd()
        at = self._roots[node]["at"]
        return [changing, f"--root={at}", f"--wd={folder}", program, *argv[1:]]

    def _open(self, node: str) -> tuple[int, int]:
        with self._nodes.inside_network(node):
            network = self._namespace("net")
        try:
            enter_node((network, self._place[1]))
            system.unshare(system.CLONE_NEWNS)
            system.unmount("/sys")
            system.mount("sysfs", "/sys", "sysfs", flags=system.MS_RDONLY)
            if node in self._roots:
                at = self._roots[node]["at"]
                system.mount("sysfs", f"{at}/sys", "sysfs", flags=system.MS_RDONLY)
            return network, self._namespace("mnt")
        finally:
            enter_node(self._home)

    def _namespace(self, kind: str) -> int:
        return os.open(f"self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)

    def _hold(self) -> int:
        """Begin a namespace of processes, with a first one that does nothing; return it."""
        near, far = os.pipe()
        try:
            system.unshare(system.CLONE_NEWPID)
            pid = os.fork()
            if not pid:
                _be_first(far, roots=self._roots)
            os.close(far)
            if os.read(near, 1) != b"+":
                raise OSError("no first process for lines of strangers")
            return os.open(f"{pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)
        finally:
            os.close(near)
            system.enter_namespace(self._our_pids)


def _dropping() -> Sequence[str]:
    """Return the beginning of a command that runs with `_CAPABILITIES` alone."""
    path = find_program("setpriv", path=os.environ["PATH"])
    if path is None:
        raise OSError("there is no setpriv(1), of util-linux")
    kept = ",".join(f"+{name}" for name in _CAPABILITIES)
    return (path, "--inh-caps", "-all", "--bounding-set", f"-all,{kept}", "--")


def _hide_places() -> None:
    """Put memory of their own over all places where ours is written or read."""
    _cover("/run", keep=("longfat",))
    for place in ("/tmp", "/var/tmp"):
        if os.path.isdir(place):
            _cover(place, mode=0o1777)
    _cover("/dev", keep=_DEVICES)
    os.mkdir("/dev/shm")
    link_descriptors()
    system.unmount("/sys")
    system.mount("sysfs", "/sys", "sysfs", flags=system.MS_RDONLY)


def _cover(place: str, *, keep: Sequence[str] = (), mode: int = 0o755) -> None:
    """Mount memory over a folder in which some entries stay as they are."""
    kept = {}
    for name in keep:
        with contextlib.suppress(FileNotFoundError):
            kept[name] = os.open(f"{place}/{name}", os.O_PATH | os.O_CLOEXEC)
    system.mount("tmpfs", place, "tmpfs", options=f"mode={mode:o}")
    for name, descriptor in kept.items():
        source, target = f"/proc/self/fd/{descriptor}", f"{place}/{name}"
        if os.path.isdir(source):
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o600))
        system.mount(source, target, flags=system.MS_BIND | system.MS_REC)
        os.close(descriptor)


def _be_first(ready: int, *, roots: dict[str, dict[str, Any]]) -> None:
    """Be the first process of a namespace, in the child of a fork: until the machine ends."""
    try:
        system.mount("proc", "/proc", "proc")
        for name in _MASKED:
            with contextlib.suppress(FileNotFoundError):
                system.mount("/dev/null", f"/proc/{name}", flags=system.MS_BIND)
        for place, flags in (("/proc/sys/net", 0), ("/proc/sys", system.MS_RDONLY)):
            system.mount(place, place, flags=system.MS_BIND | system.MS_REC)
            if flags:
                system.mount("", place, flags=system.MS_REMOUNT | system.MS_BIND | flags)
        _make_roots(roots)
        # Whoever it inherits children from does not wait for them.
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        # The way to the host is among these; then lines may run.
        os.closerange(0, ready)
        os.closerange(ready + 1, os.sysconf("SC_OPEN_MAX"))
        os.write(ready, b"+")
        os.close(ready)
        while True:
            signal.pause()
    finally:
        os._exit(1)


def _make_roots(roots: dict[str, dict[str, Any]]) -> None:
    """Make roots for hosts that have their own: of their images, with memory of their own."""
    if not roots:
        return
    from longfat.guest.roots import make_root  # noqa: PLC0415  it is loaded by now

    for order in roots.values():
        make_root(order)
        # With what is masked there.
        system.mount("/proc", f"{order['at']}/proc", flags=system.MS_BIND | system.MS_REC)
