"""A session: a live machine, held between our calls.

Each call to a session happens at one moment of virtual time; only
`run_until` lets time pass. So the same calls give the same bytes, however long the
caller takes between them. The session models processes, files and times, but
not networks; `longfat.guest.agent` is its counterpart.
"""

from __future__ import annotations

import contextlib
import signal
import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from longfat.engine import kernel as kernels
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import Line
from longfat.engine.machine.watchdog import STALL_CPU_S
from longfat.errors import InputError, MachineError
from longfat.execution.compile import ENVIRONMENT
from longfat.guest.toolset import SHELL
from longfat.live.boot import boot
from longfat.live.guest_files import MAX_FILE_BYTES, GuestFiles
from longfat.live.task import MAX_OUTPUT_BYTES, RejectedError, Task
from longfat.model.case import DEFAULT_MEMORY_BYTES
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.packages import PACKAGES_PLACE, SHOWN
from longfat.model.typed_line import shell_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from longfat.engine.machine import Frame, Pace
    from longfat.engine.machine.host_channel import Message
    from longfat.live.folders import SharedFolder
    from longfat.model.case import File
    from longfat.model.network import HostRoot

TerminalState: TypeAlias = Literal["prompt", "keys", "running"]
"""What a terminal's foreground program reads: a line that it edits, single keys, or neither."""

LIVE_ENVIRONMENT = {**ENVIRONMENT, "HOME": "/root"}
"""The default environment of a command."""

# iputils ping floods while a machine's uptime is under a second; and this is a whole
# number, for easy arithmetic.
_START_NS = 2 * 10**9

_CHECK_EVERY_S = 0.25
_CHUNK = 1 << 16


class Session:
    """A live machine; use it as a context manager, or `close` it.

    Args:
        kernel: the kernel's version, or `newest`.
        seed: determines all of the kernel's randomness, 0 to 2**63 - 1.
        memory_bytes: the machine's memory.
        folders: folders of the host that it sees in addition to the default ones.
        images: the images that hosts in it may have for their roots, by their names in the
            sandbox.
        packages: the folder of Python packages for the `PYTHONPATH` of its programs, except for
            those of hosts with roots of their own.
        shared_kernel: see `longfat.model.network.Network`.
        stall_cpu_s: see `longfat.engine.machine.watchdog.STALL_CPU_S`.
        max_output_bytes: how much is kept of a process's output; one that writes more is killed,
            and `Task.is_full` is set.
        max_kept_bytes: likewise of all processes together that were not released.
        on_wait: called a few times a second whenever the machine is waited for, also while
            it boots; an exception from it ends the waiting, and leaves the machine as it is.

    Attributes:
        kernel: the kernel that was found.
        now_ns: the virtual time since boot at the last answer of the guest, in nanoseconds.
        stop_reason: why the last `run_until` has ended.

    Raises:
        HostError: the host lacks the kernel, or what a sandbox needs.
        MachineError: the machine did not boot.
    """

    def __init__(
        self,
        *,
        kernel: str = NEWEST,
        seed: int = 1,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        folders: Sequence[SharedFolder] = (),
        images: Mapping[str, Path] = MappingProxyType({}),
        packages: Path | None = None,
        shared_kernel: bool = False,
        stall_cpu_s: float = STALL_CPU_S,
        max_output_bytes: int = MAX_OUTPUT_BYTES,
        max_kept_bytes: int | None = None,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.kernel = kernels.find(kernel)
        self.now_ns = 0
        self._tasks: dict[int, Task] = {}
        self._last = 0
        self._files = GuestFiles(self, images=images)
        self._packages = {} if packages is None else {SHOWN: packages}
        self._answers: dict[int, Message] = {}
        self._without_answer: set[int] = set()
        self.stop_reason = ""
        self._max_output_bytes = max_output_bytes
        self._max_kept_bytes = max_kept_bytes
        self._on_samples: dict[int, Callable[[int, bytes], None]] = {}
        self._going: int | None = None
        self._checked_s = 0.0
        self._on_wait = on_wait
        self._closed = False
        with contextlib.ExitStack() as stack:
            self._line = Line()
            stack.callback(self._line.close)
            self._machine = boot(
                stack,
                self.kernel,
                self._line,
                folders=folders,
                shown={**images, **self._packages},
                modules=["longfat.guest.roots"] if images else [],
                environment=LIVE_ENVIRONMENT,
                shared_kernel=shared_kernel,
                seed=seed,
                memory_bytes=memory_bytes,
                stall_cpu_s=stall_cpu_s,
            )
            self.answer(0)
            self.run_until(until_ns=_START_NS)
            self._machine.check()  # so that its clock is open, and a reboot is detected
            self._stack = stack.pop_all()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the machine with everything that runs in it."""
        self._closed = True
        self._stack.close()

    @property
    def peak_bytes(self) -> int:
        """The peak memory of the machine's processes."""
        return self._machine.peak_bytes

    @property
    def sandbox(self) -> str:
        """The sandbox of the machine: see `longfat.engine.sandbox.sandbox`."""
        return self._machine.sandbox

    @property
    def now_s(self) -> float:
        """Return the virtual time since boot, in seconds."""
        return self.now_ns / 1e9

    @property
    def passing_s(self) -> float:
        """Return the virtual time since boot, in seconds, also while it passes."""
        return max(self.now_s, self._machine.virtual_s())

    def console(self) -> str:
        """Return the end of the machine's console output."""
        return self._machine.console_tail()

    # ------------------------------------------------------------- processes

    def start(
        self,
        argv: Sequence[str],
        *,
        node: str = ROOT_NAMESPACE,
        environment: Mapping[str, str] | None = None,
        folder: str = "/",
        terminal: tuple[int, int] | None = None,
        takes_input: bool = False,
        merges: bool = False,
        on_output: Callable[[bool, bytes], None] | None = None,
        on_wanted: Callable[[int], bytes | None] | None = None,
        own_root: bool = True,
    ) -> Task:
        """Start a process; it runs as soon as time may pass.

        Args:
            argv: the program and its arguments.
            node: the host it runs at, or `ROOT_NAMESPACE`.
            environment: the whole environment; that of all commands, if None.
            folder: where it runs.
            terminal: give it a terminal of so many rows and columns.
            takes_input: it gets input from `write_stdin`; otherwise it has none.
            merges: its standard error is merged with its output.
            on_output: see `Task`.
            on_wanted: likewise; for one that takes input, but has no terminal.
            own_root: run it with the host's own root, if it has one.

        Raises:
            RejectedError: it cannot be started.
            InputError: it is an image's default command, and the image has none.
        """
        environment = dict(LIVE_ENVIRONMENT if environment is None else environment)
        root = self._files.roots.get(node) if own_root else None
        rooted = root is not None and root.runs(argv)
        if self._packages and not rooted:
            before = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = ":".join(filter(None, (before, PACKAGES_PLACE)))
        if root is not None and rooted:
            argv = root.arguments(argv)
            environment = root.environment_of(environment, default=LIVE_ENVIRONMENT)
            folder = "" if folder == "/" else folder
        elif line := shell_line(argv):
            argv = [SHELL, "-c", line]
        self._last += 1
        task = Task(self._last, on_output=on_output, on_wanted=on_wanted)
        self._tasks[task.number] = task
        answer = self.order(
            "spawn",
            process=task.number,
            argv=list(argv),
            node=node,
            rooted=rooted,
            environment=environment,
            folder=folder,
            terminal=terminal,
            input=takes_input,
            asks=on_wanted is not None,
            merge=merges,
        )
        if "rejected" in answer:
            del self._tasks[task.number]
            raise RejectedError(answer.text("rejected"), status=answer.number("status"))
        task.pid = answer.number("pid")
        return task

    def signal(self, task: Task, number: int) -> None:
        """Send a signal to a process and all of its group."""
        if task.status is None:
            self._fire_and_forget("signal", process=task.number, signal=number)

    def signal_host(self, node: str, number: int) -> None:
        """Send a signal to all processes at a host, whoever started them."""
        self.pause()
        self.order("signal_node", node=node, signal=number)

    def resize(self, task: Task, rows: int, columns: int) -> None:
        """Set the size of a process's terminal."""
        self._fire_and_forget("resize", process=task.number, rows=rows, columns=columns)

    def write_stdin(self, task: Task, data: bytes) -> None:
        """Give a process input; b"" ends it, unless it has a terminal."""
        self.send_data(task.number, data)

    def at_prompt(self, task: Task) -> bool:
        """Return whether a line is expected to be typed at a process's terminal."""
        return self.terminal_state(task) == "prompt"

    def terminal_state(self, task: Task) -> TerminalState:
        """Return what the program in the foreground of a process's terminal reads."""
        answer = self.order("terminals")
        if task.number in answer.get("lines", list[int]):
            return "prompt"
        return "keys" if task.number in answer.get("keys", list[int]) else "running"

    def forget(self, task: Task) -> None:
        """Release a process that has ended; its children keep running."""
        if self._tasks.pop(task.number, None) is not None:
            self.order("close", process=task.number)

    # ------------------------------------------------------------------ time

    def run_until(
        self,
        *,
        until_ns: int | None = None,
        ended: Iterable[Task] = (),
        output: Iterable[Task] = (),
        finished: Iterable[Task] = (),
        prompts: bool = False,
        keys: bool | None = None,
    ) -> str:
        """Let time pass until one of these conditions is met.

        Args:
            until_ns: this time is reached, in nanoseconds of virtual time since boot.
            ended: one of these processes has ended.
            output: one of these has written something.
            finished: the shell in the terminal of one of these waits for input, and nothing else
                can run now.
            prompts: all terminals' shells wait for input, and nothing else can run now.
            keys: whether some program (no shell) reads its terminal key by key, as editors
                and pagers do, differs from this; None to ignore it.

        Returns:
            Which: "time", "ended", "output", "finished", "prompts", "keys" or "held" (see `hold`).
        """
        self.resume(
            until_ns=until_ns,
            ended=ended,
            output=output,
            finished=finished,
            prompts=prompts,
            keys=keys,
        )
        while not self.is_held:
            self.wait(_CHECK_EVERY_S)
        return self.stop_reason

    def run_pending(self) -> None:
        """Run everything that can run at this moment; no time passes except for clock reads."""
        self.run_until(until_ns=0)

    def resume(
        self,
        *,
        until_ns: int | None = None,
        ended: Iterable[Task] = (),
        output: Iterable[Task] = (),
        finished: Iterable[Task] = (),
        prompts: bool = False,
        keys: bool | None = None,
    ) -> None:
        """Begin to let time pass; `wait` until it `is_held` again. See `run_until`."""
        self.pause()
        self._going = self.send(
            "go",
            until_ns=until_ns,
            ended=[task.number for task in ended],
            output=[task.number for task in output],
            finished=[task.number for task in finished],
            prompts=prompts,
            keys=keys,
        )

    @property
    def is_held(self) -> bool:
        """Return whether time is stopped."""
        if self._going is not None and self._going in self._answers:
            self.stop_reason = self._answers.pop(self._going).text("why")
            self._going = None
        return self._going is None

    def hold(self) -> None:
        """Stop time: a caller that waits in `run_until` gets "held"."""
        if not self.is_held:
            self._fire_and_forget("hold")

    def pause(self) -> None:
        """Hold the machine if it is not held, and wait until it is."""
        self.hold()
        while not self.is_held:
            self.wait(_CHECK_EVERY_S)

    def set_pace(self, pace: Pace | None) -> None:
        """Set how fast virtual time may pass, when it does; as fast as it can, if None."""
        self._line.set_pace(pace)
        self._fire_and_forget("ask")

    def wait(self, timeout_s: float, *, also: Sequence[int] = ()) -> list[int]:
        """Process messages from the guest.

        Args:
            timeout_s: the longest to wait, in seconds of wall time.
            also: other descriptors to wait for.

        Returns:
            Those of `also` that are readable.

        Raises:
            MachineError: the machine has ended or stalls.
        """
        if self._closed:
            raise MachineError("the machine was closed: nothing can be done in it any more")
        self._on_wait()
        try:
            ready = self._line.wait(timeout_s, also=also)
        except EOFError:
            self._machine.check(slowed=False)
            raise MachineError(f"the machine ended{self._machine.console_tail()}") from None
        while (frame := self._line.take()) is not None:
            self._handle(frame)
        now_s = time.monotonic()
        if now_s - self._checked_s >= _CHECK_EVERY_S:
            self._checked_s = now_s
            self._machine.check(slowed=self._line.is_slowed or self.is_held)
            if not self.is_held and self._line.is_unread:
                self._machine.interrupt()
        return ready

    def leave(self) -> None:
        """Check that the machine is alive, instead of `wait`: it has to wait until we read more.

        Raises:
            MachineError: it has ended.
        """
        self._machine.check(slowed=True)

    # ----------------------------------------------------------------- files

    def take_roots(self, roots: Mapping[str, HostRoot]) -> None:
        """Create separate roots for hosts; see `GuestFiles.take_roots`, as for all below."""
        self._files.take_roots(roots)

    def write_file(self, path: str, data: bytes, *, mode: int = 0o644, node: str = "") -> None:
        """Write a file in the guest."""
        self._files.write(path, data, mode=mode, node=node)

    def write_everywhere(self, path: str, data: bytes) -> None:
        """Write a file that all nodes see, whatever their roots."""
        self._files.write_everywhere(path, data)

    def put_files(self, files: Iterable[File], *, in_roots: bool = True) -> None:
        """Write a case's files, even where the guest cannot."""
        self._files.put(files, in_roots=in_roots)

    def read_file(self, path: str, *, node: str = "", max_bytes: int = MAX_FILE_BYTES) -> bytes:
        """Return the contents of a file of the guest."""
        return self._files.read(path, node=node, max_bytes=max_bytes)

    # -------------------------------------------------------------- exchange

    def order(self, do: str, **fields: Any) -> Message:
        """Send the agent an order and return its answer."""
        return self.answer(self.send(do, **fields))

    def sample(
        self, number: int, probes: Sequence[dict[str, Any]], take: Callable[[int, bytes], None]
    ) -> None:
        """Start to sample.

        Args:
            number: the number of the samples.
            probes: what to sample.
            take: called with what was sampled: a probe's place among them, and data.

        Raises:
            InputError: a target cannot be sampled.
        """
        self._on_samples[number] = take
        answer = self.order("sample", samples=number, probes=list(probes))
        if "rejected" in answer:
            del self._on_samples[number]
            raise InputError(f"the probe cannot sample: {answer.text('rejected')}")

    def end_samples(self, number: int) -> str:
        """Stop to sample; return why it had ended before, or nothing."""
        answer = self.order("sample", samples=number, probes=[])
        self._on_samples.pop(number, None)
        return answer.text("failed") if "failed" in answer else ""

    def send(self, do: str, **fields: Any) -> int:
        """Send the agent an order and return its number, for `answer`."""
        self._last += 1
        self._line.order(self._last, do, **fields)
        return self._last

    def send_data(self, number: int, data: bytes) -> None:
        """Send data to a process, or, if the number is 0, of a file; b"" ends it."""
        for start in range(0, max(len(data), 1), _CHUNK):
            self._line.send(b"d", number, data[start : start + _CHUNK])

    def answer(self, number: int) -> Message:
        """Wait for the answer to an order, and return it."""
        while number not in self._answers:
            self.wait(_CHECK_EVERY_S)
        return self._answers.pop(number)

    def _fire_and_forget(self, do: str, **fields: Any) -> None:
        """Send an order without waiting for an answer."""
        self._without_answer.add(self.send(do, **fields))

    def _handle(self, frame: Frame) -> None:
        if frame.kind == b"a":
            answer = frame.message()
            self.now_ns = max(self.now_ns, answer.number("now_ns"))
            if frame.number in self._without_answer:
                self._without_answer.remove(frame.number)
            else:
                self._answers[frame.number] = answer
        elif frame.kind == b"d":
            self._files.receive(frame.payload)
        elif frame.kind == b"s":
            if (take := self._on_samples.get(frame.number)) is not None and frame.payload:
                take(frame.payload[0], frame.payload[1:])
        elif (task := self._tasks.get(frame.number)) is not None:
            self._handle_of_task(frame, task)

    def _handle_of_task(self, frame: Frame, task: Task) -> None:
        if frame.kind == b"x":
            task.status = frame.message().number("status")
        elif frame.kind == b"w":
            self._answer_wanted(task, frame.message().number("now_ns"))
        elif task.on_output is not None:
            task.on_output(frame.kind == b"2", frame.payload)
        else:
            self.keep_output(task, frame.kind == b"2", frame.payload)

    def keep_output(self, task: Task, is_error: bool, data: bytes) -> None:
        """Store a process's output; kill the process if it is too much."""
        max_bytes = self._max_output_bytes
        if self._max_kept_bytes is not None:
            kept_bytes = sum(one.kept_bytes for one in self._tasks.values())
            room = max(self._max_kept_bytes - kept_bytes, 0)
            max_bytes = min(max_bytes, task.kept_bytes + room)
        if task.keep(is_error, data, max_bytes=max_bytes):
            self.signal(task, signal.SIGKILL)

    def _answer_wanted(self, task: Task, now_ns: int) -> None:
        data = task.on_wanted(now_ns) if task.on_wanted is not None else None
        if data is None:
            self._line.send(b"n", task.number, b"")
        else:
            self.write_stdin(task, data)
