"""The nodes of a live network: where commands run."""

from __future__ import annotations

import shlex
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.engine.kernel.cache import check_clocks
from longfat.errors import InputError
from longfat.live.flows import Measured, Started
from longfat.live.process import CommandFailed, Completed, Process, TimedOut
from longfat.model.fields import fields_of, takes_fields, values_of
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.network.clock import HostClock, clock_line
from longfat.model.traffic import FLOWS, Flow, Iperf3, Ping, Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.live.process import Duration
    from longfat.live.running import RunningNetwork


_MAX_MODE = 0o7777


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spawned:
    """A background command at a host, and a function that restarts it."""

    process: Process
    env: Mapping[str, str] | None
    cwd: str
    on_output: Callable[[str], None] | None


class Node:
    """A node, where commands run.

    Attributes:
        name: its name.
    """

    def __init__(self, network: RunningNetwork, name: str, *, place: str) -> None:
        self._network = network
        self.name = name
        self._place = place

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def run(
        self,
        command: str | Sequence[str],
        *,
        timeout: Duration | None = None,
        input: str | bytes | None = None,  # noqa: A002  subprocess's word
        check: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        on_output: Callable[[str], None] | None = None,
    ) -> Completed:
        """Run a command to its end, like subprocess.run, in virtual time.

        Args:
            command: a line for the shell, or a program and its arguments.
            timeout: its time limit, in virtual time; it is killed then.
            input: what it reads from its standard input; nothing, if None.
            check: raise `CommandFailed` if its exit status is not 0.
            env: what to add to its environment.
            cwd: the folder it runs in.
            on_output: called with each piece of its output and standard error as it comes,
                at the moment of virtual time at which it was written.

        Raises:
            TimedOut: the timeout has passed.
            CommandFailed: see `check`.
            InputError: there is no command.
            RejectedError: it could not be started.
        """
        process = self._network.start_command(
            self._place,
            command,
            env=env,
            cwd=cwd,
            on_output=on_output,
            takes_input=input is not None,
        )
        if input is not None:
            process.write(input)
            process.close_input()
        try:
            done = process.complete(timeout)
        except TimedOut:
            process.kill()
            process.wait()
            raise
        if check and done.returncode != 0:
            raise CommandFailed(done)
        return done

    def spawn(
        self,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        on_output: Callable[[str], None] | None = None,
    ) -> Process:
        """Start a command, like subprocess.Popen.

        It runs as far as it can at this moment, so a server listens when this
        returns, and continues while time passes.

        Args:
            command: see `run`, as for the others.
            env: likewise.
            cwd: likewise.
            on_output: likewise.

        Raises:
            RejectedError: it could not be started.
        """
        process = self._network.start_command(
            self._place, command, env=env, cwd=cwd, on_output=on_output, takes_input=True
        )
        self._network.session.run_pending()
        return process

    def sysctl(self, name: str, value: str | int | None = None) -> str:
        """Read a kernel setting of this node, or set it.

        Args:
            name: its name, such as `net.ipv4.tcp_rmem`.
            value: its new value; it is only read, if None.

        Returns:
            Its value now.

        Raises:
            CommandFailed: there is no such setting, or it cannot have this value.
        """
        if value is not None:
            line = f"sysctl -w {name}={shlex.quote(str(value))}"
            self.run(line, check=True)
            self._network.add_setup(self._place, line)
        return self.run(["sysctl", "-n", name], check=True).stdout.strip()

    def write_file(self, path: str, data: str | bytes, *, mode: int = 0o644) -> None:
        """Write a file. Nodes share one file system except for /sys; not so a host with a `root`.

        Args:
            path: where.
            data: its new content.
            mode: its permissions.

        Raises:
            InputError: there are no such permissions.
            RejectedError: it cannot be written.
        """
        if not 0 <= mode <= _MAX_MODE:
            raise InputError(f"mode: permissions go from 0 to 0o7777, but this is {mode}")
        content = data.encode() if isinstance(data, str) else data
        self._network.session.write_file(path, content, mode=mode, node=self._place)

    def read_file(self, path: str) -> bytes:
        """Return the contents of a file.

        Args:
            path: the file.

        Raises:
            RejectedError: it cannot be read.
        """
        return self._network.session.read_file(path, node=self._place)


class LiveHost(Node):
    """A host: a network namespace of its own."""

    def __init__(self, network: RunningNetwork, name: str) -> None:
        super().__init__(network, name, place=name)
        self._spawned: list[_Spawned] = []

    @property
    def address(self) -> str:
        """The address by which other hosts reach it, without prefix length.

        Raises:
            InputError: it has none.
        """
        return self._network.address_of(self.name)

    def spawn(
        self,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        on_output: Callable[[str], None] | None = None,
    ) -> Process:
        """Start a command, like subprocess.Popen; see `Node.spawn`. `restart` starts it again."""
        process = super().spawn(command, env=env, cwd=cwd, on_output=on_output)
        self._spawned = [spawned for spawned in self._spawned if spawned.process.returncode is None]
        self._spawned.append(_Spawned(process=process, env=env, cwd=cwd, on_output=on_output))
        return process

    def pause(self) -> None:
        """Stop all processes at it, by SIGSTOP, until `resume`.

        Its kernel continues: packets are acknowledged, and wait for processes that do not read
        them, as on a computer whose programs are starved, or swap. `down` of its links cuts it
        off as well.
        """
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue its processes, by SIGCONT."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """End all processes at it, by SIGKILL, whoever started them.

        Its kernel continues, and closes their connections, as after a crash of the programs. For
        a computer that loses its power, cut its links first: then its peers are not notified.
        """
        self._spawned = [spawned for spawned in self._spawned if spawned.process.returncode is None]
        self._signal(signal.SIGKILL)
        self._network.session.run_pending()

    def restart(self) -> list[Process]:
        """Restart what `spawn` had started and what ran until `kill`, in the same order.

        Running processes are killed first. Memory is lost, and files are kept.

        Returns:
            The new processes.

        Raises:
            RejectedError: one could not be started.
        """
        if any(spawned.process.returncode is None for spawned in self._spawned):
            self.kill()
        again, self._spawned = self._spawned, []
        return [
            self.spawn(
                spawned.process.args, env=spawned.env, cwd=spawned.cwd, on_output=spawned.on_output
            )
            for spawned in again
        ]

    @takes_fields(HostClock)
    def set_clock(self, **changes: object) -> None:
        """Set its clock, or let it run faster or slower from now on.

        Args:
            changes: what changes: how far the clock is ahead from now on, its drift, or
                both. Other properties are unchanged.

        Raises:
            InputError: there is no such value, or the kernel has one clock for all hosts.
        """
        check_clocks([self.name], self._network.session.kernel)
        values = values_of(HostClock, changes, what="a clock")
        line = clock_line(offset_s=values.get("offset_s"), drift_ppm=values.get("drift_ppm"))
        self.run(line, check=True)

    def _signal(self, number: int) -> None:
        self._network.build()
        self._network.session.signal_host(self.name, number)

    def start(self, tool: str, target: LiveHost | str, **options: object) -> Started:
        """Start measured traffic to another host; a server, if it needs one, is started, too.

        Args:
            tool: the tool: "iperf3", "ping", "transfer", or one of a plug-in.
            target: the host or its name.
            options: the fields that a study has for it: numbers in base units (bit/s, seconds,
                bytes), or texts such as "10gbit".

        Returns:
            The traffic; `result()` waits for its end.

        Raises:
            InputError: there is no such tool or field, or a field has no such value.
        """
        if tool not in FLOWS:
            raise InputError(f"there is no tool {tool!r} (there are: {', '.join(FLOWS)})")
        cls = FLOWS[tool]
        timing = fields_of(Flow).keys() - {"address"}
        if late := [key for key in options if key in timing]:
            raise InputError(f"{late[0]}: traffic of a live network starts when it is called")
        values = values_of(cls, options, what=tool)
        for key, field in fields_of(cls).items():
            if field.is_required and options.get(key) is None:
                raise InputError(f"{tool} needs {key}: {field.kind.what}")
        if conflict := cls.conflict(options):
            raise InputError(conflict[1])
        name = str(getattr(target, "name", target))
        return self._network.start(cls(name=tool, source=self.name, target=name, **values))

    @takes_fields(Ping, without=Flow)
    def ping(self, target: LiveHost | str, **options: object) -> Measured:
        """Ping another host; options and errors are those of `start`.

        Args:
            target: the host or its name.
            options: as for `start`.

        Returns:
            Its metrics, such as `avg_s` and `loss`.

        Raises:
            CommandFailed: ping failed; missing replies are no failure.
        """
        return self.start("ping", target, **options).result()

    @takes_fields(Iperf3, without=Flow)
    def iperf3(self, target: LiveHost | str, **options: object) -> Measured:
        """Send bulk traffic to another host by iperf3; options and errors are those of `start`.

        Args:
            target: the host or its name.
            options: as for `start`.

        Returns:
            Its metrics, such as `receiver_bps` and `retransmits`, and iperf3's JSON.

        Raises:
            CommandFailed: iperf3 failed.
        """
        return self.start("iperf3", target, **options).result()

    @takes_fields(Transfer, without=Flow)
    def transfer(self, target: LiveHost | str, **options: object) -> Measured:
        """Send bulk traffic by longfat's own program, which costs less CPU time than iperf3.

        Options and errors are those of `start`.

        Args:
            target: the host or its name.
            options: as for `start`.

        Returns:
            Its metrics, such as `receiver_bps`.

        Raises:
            CommandFailed: it failed.
        """
        return self.start("transfer", target, **options).result()


class LiveSwitch(Node):
    """A switch: a bridge at root, where its commands run."""

    def __init__(self, network: RunningNetwork, name: str) -> None:
        super().__init__(network, name, place=ROOT_NAMESPACE)


def name_of(node: LiveHost | LiveSwitch | str) -> str:
    """Return the name of a node that a caller gave as an object or by its name."""
    return node if isinstance(node, str) else node.name
