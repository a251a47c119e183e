"""Boot a kernel, watch it, and end it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.file_size import SIGNAL_STATUS, check_file_size, file_size_error
from longfat.common.guard import FIRST_INHERITED, Guarded
from longfat.common.process import descendants, find_program, peak_bytes
from longfat.engine.machine.clock import VirtualClock
from longfat.engine.machine.host_channel import Line
from longfat.engine.machine.pace import Pacer
from longfat.engine.machine.watchdog import STALL_CPU_S, Watchdog
from longfat.engine.sandbox.confinement import MEMORY_FOLDER, SMALL_FOLDER, Contents
from longfat.engine.sandbox.quota import QuotaWatch, current_quota
from longfat.engine.sandbox.sandbox import HOST_ENVIRONMENT, current_sandbox
from longfat.engine.toolset import ENVIRONMENT
from longfat.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from longfat.engine.kernel import Kernel
    from longfat.engine.machine.output import RunOutput
    from longfat.engine.machine.pace import Pace
    from longfat.engine.sandbox.quota import Quota
    from longfat.engine.toolset import Toolset

START_OF_TIME_S = 1_700_000_000
"""The guest's date at boot, in seconds since 1970: fixed, so that results do not depend on it."""

_POLL_EVERY_S = 0.25
_PACED_POLL_EVERY_S = 0.002  # in which a machine may run ahead of its pace
_MAX_HELD_S = 0.1  # between two checks of a machine that is held
_CONSOLE_TAIL_BYTES = 3000


class Machine:
    """A booted kernel; use it as a context manager.

    Leaving the context ends the machine with all its processes. `folder` is removed
    with it if our process dies before the context is left; a caller that keeps it moves it away
    inside the context.

    Args:
        kernel: what to boot.
        program: PID 1 of the guest and its arguments, without spaces. It must
            shut the machine down at its end.
        folder: a folder of ours, which the guest does not see; the console is kept in its
            `console.log`.
        shown: folders that the guest sees, read-only, under `/tmp/longfat/`.
        cpu: the CPU to run on, see `reserve_cpu`.
        seed: determines all of the kernel's randomness, 0 to 2**64 - 1.
        memory_bytes: the machine's memory.
        writable: folders that the guest can write to, by their names under
            `/tmp/longfat/`.
        counted: those of the writable folders that count for its quota of disk and files.
        places: additional folders of the guest's root, as mount points.
        toolset: the toolset that the guest sees; it has the host's programs only, if None.
        output: takes what the guest of a machine that plays a job leaves; None for nothing.
        line: the channel of a live machine, whose guest takes orders from it; None for a
            machine that plays a job.
        stall_cpu_s: see `longfat.engine.machine.watchdog.STALL_CPU_S`.
        quota: its limits on the host; those of our environment, if None.

    Attributes:
        sandbox: the name of the sandbox that it runs in.

    Raises:
        InputError: our environment's quota cannot be read, or is less than the memory; or it
            names an unknown sandbox.
        HostError: the host lacks what a sandbox needs, or a folder is not accessible.
    """

    def __init__(
        self,
        kernel: Kernel,
        program: Sequence[str],
        *,
        folder: Path,
        shown: Mapping[str, Path],
        cpu: int,
        seed: int,
        memory_bytes: int,
        writable: Mapping[str, Path] | None = None,
        counted: Sequence[Path] = (),
        places: Sequence[str] = (),
        toolset: Toolset | None = None,
        output: RunOutput | None = None,
        line: Line | None = None,
        stall_cpu_s: float = STALL_CPU_S,
        quota: Quota | None = None,
    ) -> None:
        quota = current_quota() if quota is None else quota
        quota.check_memory(memory_bytes)
        check_file_size(memory_bytes, what="a machine's memory")
        self._console = (folder / "console.log").open("x+b", buffering=0)
        self._output = output
        # Its own, of a machine that plays a job.
        self._line = Line() if line is None else None
        self._hears_guest = self._line is not None
        line = line or self._line
        ends = line.far_descriptors if line is not None else ()
        contents = Contents(
            kernel=kernel,
            arguments=[
                f"mem={memory_bytes // 1024}K",
                *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
                *("time-travel=inf-cpu", f"time-travel-start={START_OF_TIME_S * 10**9}"),
                *("con=null", "con0=fd:0,fd:1", "ssl=null", "quiet"),
                *(f"uml_dir={SMALL_FOLDER}/", "umid=machine"),
                *kernel.boot_arguments,
                # The kernel passes what it does not know to its first program.
                *(f"{name}={value}" for name, value in ENVIRONMENT.items() if toolset is not None),
                *((f"host_line={FIRST_INHERITED},{FIRST_INHERITED + 1}",) if ends else ()),
                *(f"init={program[0]}", "--", *program[1:]),
            ],
            environment={
                # Symbol lookup takes more stack than the kernel's processes have.
                "LD_BIND_NOW": "1",
                "LONGFAT_SEED": str(seed),
                "TMPDIR": MEMORY_FOLDER,
            },
            memory_bytes=memory_bytes,
            shown=shown,
            writable=writable or {},
            places=places,
            tools={} if toolset is None else toolset.shown(),
            quota=quota,
        )
        contents.check_access()
        with contextlib.ExitStack() as stack:
            sandbox = current_sandbox()
            self.sandbox = sandbox.name
            sandboxed = stack.enter_context(sandbox.around(contents))
            self._started_s = time.monotonic()
            self._guarded = Guarded(
                sandboxed.command,
                scratch=folder,
                cpu=cpu,
                inherited=ends,
                cwd=Path("/"),
                env=HOST_ENVIRONMENT,
                # The modes of the guest's files and the sandbox's folders must not depend on
                # the user's umask.
                umask=0o022,
                stdout=self._console,
            )
            self._stack = stack.pop_all()
        if line is not None:
            line.close_far()
        watch = QuotaWatch(
            quota, folders=(folder, *counted, *sandboxed.folders), own_folders=sandboxed.own_folders
        )
        self._pulse = _Pulse(self._guarded, kernel, stall_cpu_s, watch)

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pulse.close()
        self._guarded.close()
        if self._line is not None:
            self._line.close()
        self._console.close()
        self._stack.close()

    def wait(
        self,
        *,
        limit_s: float,
        on_progress: Callable[[float], None] = lambda _: None,
        pace: Pace | None = None,
    ) -> float:
        """Wait until the guest has shut the machine down.

        Args:
            limit_s: the virtual time, in seconds since boot, at which it must have ended.
                The clock is read a few times a second: a machine that passes
                the limit and ends between two readings is not detected.
            on_progress: called a few times a second with the virtual time in seconds.
            pace: how fast virtual time may pass; as fast as it can, if None. It
                changes no result.

        Returns:
            The wall time since boot, in seconds.

        Raises:
            MachineError: the machine did not boot, stalled, passed the limit or crashed.
            HostError: a file became larger than `ulimit -f` allows.
        """
        pacer = Pacer(pace) if pace is not None else None
        wait_s = 0.01
        while (status := self._attend(wait_s)) is None:
            virtual_s = self._pulse.take()
            self._pulse.quota.check_wall()
            if pacer is None:
                wait_s = min(2 * wait_s, _POLL_EVERY_S)
            else:
                held_s = pacer.hold_s(virtual_s=virtual_s, wall_s=time.monotonic())
                self._pulse.hold(held_s > 0)
                wait_s = min(held_s, _MAX_HELD_S) or _PACED_POLL_EVERY_S
            if virtual_s > limit_s:
                raise MachineError(f"it has not ended after {limit_s:g} s of virtual time")
            on_progress(virtual_s)
        if status == SIGNAL_STATUS:
            raise file_size_error("the machine ended")
        if status != 0:
            raise MachineError(f"the kernel ended with status {status}{self.console_tail()}")
        return time.monotonic() - self._started_s

    def _attend(self, timeout_s: float) -> int | None:
        """Take what the guest sends, no longer than so; return its exit status when it has ended.

        Raises:
            MachineError: it sent what it may not send.
        """
        if self._line is None or not self._hears_guest:
            return self._guarded.wait(timeout_s=timeout_s)
        try:
            self._line.wait(timeout_s)
        except EOFError:
            self._hears_guest = False
        status = self._guarded.wait(timeout_s=0)
        if status is not None or not self._hears_guest:
            self._line.drain()
        while (frame := self._line.take()) is not None:
            if self._output is None:
                raise MachineError("the guest sent a record, and nothing was asked of it")
            self._output.take(frame)
        return status

    @property
    def peak_bytes(self) -> int:
        """Return the machine's peak memory, as far as it was sampled."""
        return self._pulse.peak_bytes

    def check(self, *, slowed: bool = False) -> None:
        """Check a running live machine; to be called a few times a second.

        Args:
            slowed: it waits for its pace, so its clock may be stopped.

        Raises:
            MachineError: it has ended, its clock stalls, or it exceeds its quota.
        """
        if (status := self._guarded.wait(timeout_s=0)) is not None:
            if status == SIGNAL_STATUS:
                raise file_size_error("the machine ended")
            raise MachineError(f"the machine ended{self.console_tail()}")
        self._pulse.quota.check_wall()
        if slowed:
            self._pulse.start_anew()
        else:
            self._pulse.take()

    def virtual_s(self) -> float:
        """Return the virtual time in seconds since boot, even while it passes; 0 if not known."""
        return self._pulse.now_s()

    def interrupt(self) -> None:
        """Let the guest read its channel, even though one of its processes is busy.

        That process is stopped for a moment, in which the kernel schedules
        another one.
        """
        self._pulse.interrupt()

    def console_tail(self) -> str:
        """Return the end of the console's output, formatted for appending to a message."""
        size = os.fstat(self._console.fileno()).st_size
        start = max(0, size - _CONSOLE_TAIL_BYTES)
        data = os.pread(self._console.fileno(), _CONSOLE_TAIL_BYTES, start)
        text = data.decode(errors="replace").strip()
        return f"; its console:\n{text}" if text else ""


class _Pulse:
    """The clock and the watchdog of a machine, whose kernel process does not exist at first."""

    def __init__(
        self, guarded: Guarded, kernel: Kernel, stall_cpu_s: float, quota: QuotaWatch
    ) -> None:
        self.quota = quota
        self._guarded = guarded
        self._kernel = kernel
        self._stall_cpu_s = stall_cpu_s
        self._pid: int | None = None
        self._process: int | None = None  # a descriptor: its number may be reused
        self._clock: VirtualClock | None = None
        self._watchdog: Watchdog | None = None
        self._polled_s = 0.0
        self._virtual_s = 0.0  # when it was last read
        self._held = False
        self.peak_bytes = 0

    def take(self) -> float:
        """Return the virtual time in seconds, 0 before boot.

        Raises:
            MachineError: it is stalled, or the machine was rebooted.
        """
        if self._clock is None:
            self._clock = self._open_clock()
        if self._clock is None or self._watchdog is None:
            return 0.0
        virtual_s = self._clock.now_s()
        now_s = time.monotonic()
        if virtual_s is None:
            self._reopen_clock()
            return 0.0
        self._virtual_s = virtual_s
        if self._pid is not None:
            self.peak_bytes = max(self.peak_bytes, peak_bytes(self._pid))
        # It walks all processes of the host, which is too expensive for every call.
        if not self._held and now_s - self._polled_s >= _POLL_EVERY_S / 2:
            self._polled_s = now_s
            self.quota.check(self._guarded.pid, kernel_pid=self._pid)
            if stall := self._watchdog.check(virtual_s):
                raise MachineError(str(stall))
        return virtual_s

    def _open_clock(self) -> VirtualClock | None:
        """Find the kernel's process; return its clock, None if there is none yet."""
        pid = find_program(self._guarded.pid, self._kernel.binary)
        if pid is None:
            return None
        try:
            if self._process is None:
                self._process = os.pidfd_open(pid)
            clock = VirtualClock(kernel_pid=pid, binary=self._kernel.binary)
        except OSError:
            return None  # it has just ended, or is about to start
        self._pid = pid
        self._watchdog = Watchdog(
            kernel_pid=pid, binary=self._kernel.binary, stall_cpu_s=self._stall_cpu_s
        )
        return clock

    def _reopen_clock(self) -> None:
        """Open the clock of a process whose memory could not be read.

        Its memory is gone shortly before the process is. And a new kernel executes its
        program twice, the second time without random addresses (7.2, arch/um/os-Linux/main.c).

        Raises:
            MachineError: another kernel runs in the process: UML reboots by exec.
        """
        assert self._pid is not None
        assert self._process is not None
        assert self._clock is not None
        try:
            clock = VirtualClock(kernel_pid=self._pid, binary=self._kernel.binary)
        except OSError:
            return
        ended = select.poll()
        ended.register(self._process, select.POLLIN)
        if ended.poll(0):
            clock.close()
            return
        before, self._clock = self._clock, clock
        before.close()
        if clock.execution != before.execution and self._virtual_s > 0:
            raise MachineError("the machine was rebooted from inside, which ends it")

    def now_s(self) -> float:
        """Return the virtual time in seconds, 0 where it is not known; nothing is checked."""
        return (self._clock.now_s() if self._clock is not None else None) or 0.0

    def interrupt(self) -> None:
        """Stop the busy process for a moment; see `Machine.interrupt`."""
        if self._pid is None:
            return
        # A running guest process is mostly stopped for the kernel that works for it, like
        # sleeping ones: it takes the signal when it continues. The kernel's own calls
        # into a process are not affected by the signal.
        for process in descendants(self._pid):
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGALRM)

    def start_anew(self) -> None:
        """Restart the stall timeout: there could be no tick until now."""
        if self._watchdog is not None:
            self._watchdog.start_anew()

    def hold(self, held: bool) -> None:
        """Stop the machine, or let it continue.

        Only the kernel's process is stopped: it traces the guest's processes, and
        would take a stop of theirs for the guest's own.
        """
        if held == self._held or self._process is None or self._watchdog is None:
            return
        with contextlib.suppress(ProcessLookupError):  # it has just ended
            signal.pidfd_send_signal(self._process, signal.SIGSTOP if held else signal.SIGCONT)
        self._held = held
        if not held:
            self._watchdog.start_anew()

    def close(self) -> None:
        """Close the clock."""
        if self._process is not None:
            os.close(self._process)
        if self._clock is not None:
            self._clock.close()
