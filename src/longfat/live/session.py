"""A session: a live machine, held between our calls.

Whatever is asked of a session happens at one moment of virtual time; only
`run_until` lets time pass. So the same calls give the same bytes, however long the
caller takes between them. The session knows processes, files and times, and
nothing of networks; `longfat.guest.agent` is its other side.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.init import GUEST_PLACE, guest_folder, init_program
from longfat.engine.kernel.version import NEWEST
from longfat.engine.machine import HANDOVER, Line, Machine, reserve_cpu
from longfat.engine.machine.watchdog import STALL_CPU_S
from longfat.errors import InputError, MachineError
from longfat.execution.compile import ENVIRONMENT
from longfat.model.case import DEFAULT_MEMORY_BYTES
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.packages import PACKAGES_PLACE, SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from longfat.engine.machine import Frame, Pace
    from longfat.engine.machine.host_channel import Message
    from longfat.live.folders import SharedFolder
    from longfat.model.case import File
    from longfat.model.network import HostRoot


LIVE_ENVIRONMENT = {**ENVIRONMENT, "HOME": "/root", "USER": "root", "LOGNAME": "root"}
"""The environment of a command that is given none."""

# iputils ping floods while a machine's uptime is under a second; and this is a whole
# number, to be easy to reckon with.
_START_NS = 2 * 10**9

_CHECK_EVERY_S = 0.25
_FILE_CHUNK = 1 << 16


@dataclass(eq=False, slots=True)
class Task:
    """A process of a session, as the session sees it.

    Attributes:
        number: what host and guest call it.
        pid: its number in the guest.
        status: its exit status, -N after signal N; None while it runs.
        output: what it wrote to its output, and was not taken yet.
        errors: likewise to its standard error.
        on_output: called with whether it was to standard error, and with the bytes, in
            place of keeping them.
        on_wanted: called when it has room for input, with the virtual time since boot in
            nanoseconds; time stands still meanwhile. It returns input, b"" at its end, or
            None if there is none yet: then `write_stdin` what comes by and by.
    """

    number: int
    pid: int = 0
    status: int | None = None
    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    on_output: Callable[[bool, bytes], None] | None = None
    on_wanted: Callable[[int], bytes | None] | None = None


class RefusedError(InputError):
    """The guest could not do what was asked.

    Attributes:
        status: what a shell would exit with.
    """

    def __init__(self, words: str, *, status: int = 1) -> None:
        super().__init__(words)
        self.status = status


class Session:
    """A live machine; use it as a context manager, or `close` it.

    Args:
        kernel: the kernel's version, or `newest`.
        seed: decides all of the kernel's randomness, 0 to 2**63 - 1.
        memory_bytes: the machine's memory.
        folders: folders of the host's that it sees beside what every machine sees.
        images: the images that hosts in it may have for their roots, by what the sandbox is to
            call them.
        packages: the folder of Python packages that its programs find by `PYTHONPATH`, but for
            those of hosts with roots of their own.
        host_boundary: end a packet's charge to its socket at its host's interface, as between
            separate computers; if False, where Linux ends it between namespaces.
        stall_cpu_s: see `longfat.engine.machine.watchdog.STALL_CPU_S`.
        on_wait: called a few times a second whenever the machine is waited for, also while
            it boots; what it raises ends the waiting, and leaves the machine as it is.

    Attributes:
        kernel: the kernel that was found.
        now_ns: the virtual time since boot at the last answer of the guest, in nanoseconds.
        folder: a folder that host and guest share; it ends with the session.
        why: why the last `run_until` has ended.

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
        host_boundary: bool = True,
        stall_cpu_s: float = STALL_CPU_S,
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        self.kernel = kernels.find(kernel)
        self.now_ns = 0
        self._tasks: dict[int, Task] = {}
        self._last = 0
        self._images = images
        self._packages = {} if packages is None else {SHOWN: packages}
        self._roots: dict[str, HostRoot] = {}
        self._answers: dict[int, Message] = {}
        self._unasked: set[int] = set()
        self.why = ""
        self._data: list[bytes] = []
        self._going: int | None = None
        self._checked_s = 0.0
        self._on_wait = on_wait
        self._closed = False
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(scratch_folder())
            names = {f"bind{index}": folder for index, folder in enumerate(folders)}
            places = {
                folder.place: {"shown": f"{HANDOVER}/{name}", "writable": folder.is_writable}
                for name, folder in names.items()
            }
            job = {
                "serve": True,
                "modules": ["longfat.guest.roots"] if images else [],
                "environment": LIVE_ENVIRONMENT,
                "folders": places,
                "host_boundary": host_boundary,
            }
            (self.folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
            (self.folder / "raw").mkdir()
            self._line = Line()
            stack.callback(self._line.close)
            self._machine = stack.enter_context(
                Machine(
                    self.kernel,
                    init_program(),
                    run=self.folder,
                    shown={
                        GUEST_PLACE: stack.enter_context(guest_folder()),
                        **images,
                        **self._packages,
                        **{name: one.path for name, one in names.items() if not one.is_writable},
                    },
                    writable={name: one.path for name, one in names.items() if one.is_writable},
                    places=tuple(places),
                    cpu=stack.enter_context(reserve_cpu()),
                    seed=seed,
                    memory_bytes=memory_bytes,
                    line=self._line,
                    stall_cpu_s=stall_cpu_s,
                )
            )
            self._answer(0)
            self.run_until(until_ns=_START_NS)
            self._machine.check()  # so that its clock is known, and a reboot is seen
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
        """End the machine with all that runs in it."""
        self._closed = True
        self._stack.close()

    @property
    def peak_bytes(self) -> int:
        """The most memory that the machine's processes held at once."""
        return self._machine.peak_bytes

    @property
    def sandbox(self) -> str:
        """What keeps the machine apart from the host: see `longfat.engine.sandbox.sandbox`."""
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
        """Return the end of what the machine's console said."""
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
            takes_input: it will be given input by `write_stdin`; else it has none.
            merges: its standard error goes with its output.
            on_output: see `Task`.
            on_wanted: likewise; for one that takes input, but has no terminal.
            own_root: run it with the host's own root, if it has one.

        Raises:
            RefusedError: it cannot be started.
            InputError: it stands for an image's command, and the image has none.
        """
        environment = dict(LIVE_ENVIRONMENT if environment is None else environment)
        root = self._roots.get(node) if own_root else None
        rooted = root is not None and root.runs(argv)
        if self._packages and not rooted:
            before = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = ":".join(filter(None, (before, PACKAGES_PLACE)))
        if root is not None and rooted:
            if list(argv[:2]) == ["/bin/sh", "-c"]:
                argv = [*argv[:2], root.line(argv[2])]
            # What the caller gave for itself stays.
            for name, value in root.variables.items():
                if environment.get(name) == LIVE_ENVIRONMENT.get(name):
                    environment[name] = value
            folder = "" if folder == "/" else folder
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
        if "refused" in answer:
            del self._tasks[task.number]
            raise RefusedError(answer.text("refused"), status=answer.number("status"))
        task.pid = answer.number("pid")
        return task

    def signal(self, task: Task, number: int) -> None:
        """Send a signal to a process and all of its group."""
        if task.status is None:
            self._tell("signal", process=task.number, signal=number)

    def signal_host(self, node: str, number: int) -> None:
        """Send a signal to all processes at a host, whoever started them."""
        self.pause()
        self.order("signal_node", node=node, signal=number)

    def resize(self, task: Task, rows: int, columns: int) -> None:
        """Tell a process's terminal its size."""
        self._tell("resize", process=task.number, rows=rows, columns=columns)

    def write_stdin(self, task: Task, data: bytes) -> None:
        """Give a process input; b"" ends it, unless it has a terminal."""
        for start in range(0, max(len(data), 1), _FILE_CHUNK):
            self._line.send(b"d", task.number, data[start : start + _FILE_CHUNK])

    def at_prompt(self, task: Task) -> bool:
        """Return whether somebody is waited for to type a line at a process's terminal."""
        return task.number in self.order("prompts").get("processes", list[int])

    def forget(self, task: Task) -> None:
        """Let go of a process that has ended; what it left running stays."""
        if self._tasks.pop(task.number, None) is not None:
            self.order("close", process=task.number)

    # ------------------------------------------------------------------ time

    def run_until(
        self,
        *,
        until_ns: int | None = None,
        ended: Iterable[Task] = (),
        output: Iterable[Task] = (),
        prompts: bool = False,
        keys: bool | None = None,
    ) -> str:
        """Let time pass until one of these is so.

        Args:
            until_ns: it is so late, in nanoseconds of virtual time since boot.
            ended: one of these processes has ended.
            output: one of these has written something.
            prompts: all terminals' shells wait for a person, and nothing else can run now.
            keys: whether some program (no shell) reads its terminal key by key, as editors
                and pagers do, has come to differ from this; None where it does not matter.

        Returns:
            Which: "time", "ended", "output", "prompts", "keys" or "told" (see `hold`).
        """
        self.begin(until_ns=until_ns, ended=ended, output=output, prompts=prompts, keys=keys)
        while not self.is_held:
            self.wait(_CHECK_EVERY_S)
        return self.why

    def run_pending(self) -> None:
        """Let run what can run at this moment; no time passes but what clock reads take."""
        self.run_until(until_ns=0)

    def begin(
        self,
        *,
        until_ns: int | None = None,
        ended: Iterable[Task] = (),
        output: Iterable[Task] = (),
        prompts: bool = False,
        keys: bool | None = None,
    ) -> None:
        """Begin to let time pass; `wait` until it `is_held` again. See `run_until`."""
        self.pause()
        self._going = self._send(
            "go",
            until_ns=until_ns,
            ended=[task.number for task in ended],
            output=[task.number for task in output],
            prompts=prompts,
            keys=keys,
        )

    @property
    def is_held(self) -> bool:
        """Return whether time stands still."""
        if self._going is not None and self._going in self._answers:
            self.why = self._answers.pop(self._going).text("why")
            self._going = None
        return self._going is None

    def hold(self) -> None:
        """Let no more time pass: whoever waits in `run_until` gets "told"."""
        if not self.is_held:
            self._tell("hold")

    def pause(self) -> None:
        """Hold the machine if it is not held, and wait until it is."""
        self.hold()
        while not self.is_held:
            self.wait(_CHECK_EVERY_S)

    def set_pace(self, pace: Pace | None) -> None:
        """Set how fast virtual time may pass, when it does; as fast as it can, if None."""
        self._line.set_pace(pace)
        self._tell("ask")

    def wait(self, timeout_s: float, *, also: Sequence[int] = ()) -> list[int]:
        """Take in what comes from the guest.

        Args:
            timeout_s: the longest to wait, in seconds of wall time.
            also: other descriptors to wait for.

        Returns:
            Those of `also` that can be read.

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
        """Check that the machine lives, in place of `wait`: it has to wait until we take more in.

        Raises:
            MachineError: it has ended.
        """
        self._machine.check(slowed=True)

    # ----------------------------------------------------------------- files

    def take_roots(self, roots: Mapping[str, HostRoot]) -> None:
        """Make roots of their own for hosts that are built after that.

        Args:
            roots: by host; those that are made already are passed over.

        Raises:
            InputError: the machine was not shown an image when it was booted.
            MachineError: the guest could not.
        """
        new = {host: root for host, root in roots.items() if host not in self._roots}
        for host, root in new.items():
            if root.shown not in self._images:
                raise InputError(
                    f"{host}: the machine does not have the image {root.image}, which has to be "
                    "known when it boots: name it in longfat.Network(images=[...])"
                )
        if new:
            answer = self.order("roots", roots={host: one.order(host) for host, one in new.items()})
            if "refused" in answer:
                raise MachineError(f"the root of a host: {answer.text('refused')}")
            self._roots |= new

    def write_file(self, path: str, data: bytes, *, mode: int = 0o644, node: str = "") -> None:
        """Write a file in the guest.

        Args:
            path: where.
            data: what.
            mode: its rights.
            node: a host whose own root it is to be in, if it has one.

        Raises:
            RefusedError: the guest could not.
        """
        self.pause()
        number = self._send("write", path=path, mode=mode, node=self._root_of(node))
        for start in range(0, len(data), _FILE_CHUNK):
            self._line.send(b"d", 0, data[start : start + _FILE_CHUNK])
        self._line.send(b"d", 0, b"")
        self._check_refused(self._answer(number), path)

    def write_everywhere(self, path: str, data: bytes) -> None:
        """Write a file that all nodes are to see, whatever their roots.

        Raises:
            RefusedError: the guest could not.
        """
        for node in ("", *self._roots):
            self.write_file(path, data, node=node)

    def _root_of(self, node: str) -> str:
        return node if node in self._roots else ""

    def put_files(self, files: Iterable[File]) -> None:
        """Put a case's files in place, also where the guest cannot write.

        Raises:
            InputError: the guest could not.
        """
        self.pause()
        given = [file.to_json() for file in files]
        for node in ("", *self._roots):
            answer = self.order("files", files=given, node=node)
            if "words" in answer:
                raise InputError(f"files: {answer.text('path')}: {answer.text('words')}")

    def read_file(self, path: str, *, node: str = "") -> bytes:
        """Return what is in a file of the guest.

        Args:
            path: where.
            node: a host in whose own root it is, if it has one.

        Raises:
            RefusedError: the guest could not read it.
        """
        self.pause()
        self._data.clear()
        self._check_refused(
            self._answer(self._send("read", path=path, node=self._root_of(node))), path
        )
        return b"".join(self._data)

    # -------------------------------------------------------------- exchange

    def order(self, do: str, **fields: Any) -> Message:
        """Give the agent an order and return its answer."""
        return self._answer(self._send(do, **fields))

    def _send(self, do: str, **fields: Any) -> int:
        self._last += 1
        self._line.order(self._last, do, **fields)
        return self._last

    def _tell(self, do: str, **fields: Any) -> None:
        """Give an order whose answer nobody waits for."""
        self._unasked.add(self._send(do, **fields))

    def _answer(self, number: int) -> Message:
        while number not in self._answers:
            self.wait(_CHECK_EVERY_S)
        return self._answers.pop(number)

    def _check_refused(self, answer: Message, path: str) -> None:
        if "refused" in answer:
            raise RefusedError(f"{path}: {answer.text('refused')}")

    def _handle(self, frame: Frame) -> None:
        if frame.kind == b"a":
            answer = frame.message()
            self.now_ns = max(self.now_ns, answer.number("now_ns"))
            if frame.number in self._unasked:
                self._unasked.remove(frame.number)
            else:
                self._answers[frame.number] = answer
        elif frame.kind == b"d":
            self._data.append(frame.payload)
        elif (task := self._tasks.get(frame.number)) is not None:
            if frame.kind == b"x":
                task.status = frame.message().number("status")
            elif frame.kind == b"w":
                self._answer_wanted(task, frame.message().number("now_ns"))
            elif task.on_output is not None:
                task.on_output(frame.kind == b"2", frame.payload)
            else:
                (task.errors if frame.kind == b"2" else task.output).extend(frame.payload)

    def _answer_wanted(self, task: Task, now_ns: int) -> None:
        data = task.on_wanted(now_ns) if task.on_wanted is not None else None
        if data is None:
            self._line.send(b"n", task.number, b"")
        else:
            self.write_stdin(task, data)
