"""PID 1 of a live machine: does what the host orders, and nothing else.

Between two orders the agent waits for the host, and so does the whole
machine: it is *held*, and no virtual time passes. Only the order `go` lets it
run, until something has happened that the order names.

Orders are frames of JSON with a field `do`; each has a number and gets one answer
of that number, with `now_ns`, the virtual time since boot:

    spawn    process, argv, node, rooted, environment, folder, terminal, input, asks, merge
             -> {pid} or {rejected, status}
    signal   process, signal
    signal_node  node, signal: to all processes at a host
    resize   process, rows, columns
    close    process: forget one that has ended
    roots    roots: see `longfat.guest.roots`, by host -> {} or {rejected}
    write    path, mode, node (whose own root it is; "" for the machine's); then frames of
             data, the last of them empty -> {} or {rejected}
    files    files: see `longfat.guest.files`, node -> {} or {path, words} of one that cannot be
    read     path, node, max_bytes -> frames of data, then {} or {rejected}
    batches  batches: lines that build a network; hosts; interfaces: how many they have
             -> {times_ns, failed}
    forget   node: a host that is to be removed
    sample   samples, probes: start to sample -> {} or {rejected}; without
             probes, end those of this number -> {} or {failed}
    losses   -> what the kernel dropped since boot: see `longfat.guest.drops.read_live`
    flush    samples, sample: send what was sampled; with `sample`, a sample of now too
    ask      let the host set the pace now
    terminals -> {lines, keys}: the processes at whose terminals a line is edited, and those
             at whose terminals a program reads key by key
    go       until_ns (0: until nothing can run at this moment; null: for ever),
             ended: [process], output: [process], finished: [process], prompts, keys -> {why}
             where why is "time", "ended", "output", "finished" (one of these is at a prompt),
             "prompts" (all are), "keys" or "held"
    hold     ends a `go`

All but `roots`, `write`, `files`, `read`, `batches`, `sample` and `flush` may come while the
machine runs, too.

A command that `asks` gets its input when it has room for it: a frame reports to the host that it
is wanted, and the machine waits until the host sends some, or says that there is none yet.
So input that is there comes at a moment which depends on nothing but the command.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import select
import time
from signal import SIGCHLD, SIGINT, set_wakeup_fd
from signal import signal as set_handler

from longfat.guest import drops, system
from longfat.guest.batches import do_plain, flush_link_watch, run_batches
from longfat.guest.command import Command, CommandRejected
from longfat.guest.files import put_files
from longfat.guest.host_channel import Line
from longfat.guest.nodes import Nodes
from longfat.guest.output import FOLDER, Stream
from longfat.guest.sample import Samples
from longfat.guest.script import ROOT_NAMESPACE
from longfat.guest.sockets import Sockets
from longfat.guest.timers import Recheck, Timer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ORDER, DATA, NONE_YET = b"o", b"d", b"n"
ANSWER, ENDED, WANTED, SAMPLES = b"a", b"x", b"w", b"s"

_NAMESPACES = "/run/netns"
_PRIORITY = 60
_SIGNAL_KEYS = b"\x03\x1a\x1c"  # Ctrl-C, Ctrl-Z, Ctrl-\
_MAX_PROCESSES = 4096
# A host takes two, and each of its commands four.
_MAX_DESCRIPTORS = 16384
# A process that reads the clock over and over is never done; then time goes on with it.
_PENDING_WITHIN_NS = 5_000_000
# Longer than such a process runs before it must let others run: a shell beside it has
# then seen what was typed.
_PROMPT_WITHIN_NS = 30_000_000
# Without a size for its buffer, Python asks whether a file is a terminal, and the kernel
# lets every system call that fails take a microsecond.
_FILE_CHUNK = 65536
_NO_NAME = "the name holds a NUL character, or half of a surrogate pair"


def serve() -> None:
    """Do what the host orders until it is gone.

    Raises:
        EOFError: the host is gone.
    """
    os.makedirs(f"{FOLDER}/raw")  # for captures
    system.renew_random_numbers()
    system.set_sysctl("kernel/threads-max", _MAX_PROCESSES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (_MAX_DESCRIPTORS, _MAX_DESCRIPTORS))
    system.put_softirqs_first(_PRIORITY + 10)
    system.share_by_turns(_PRIORITY)
    drops.begin()
    Agent().serve()


class Agent:
    """The agent of a machine."""

    def __init__(self) -> None:
        self._line = Line()
        self._nodes = Nodes()
        self._sockets = Sockets()
        self._sockets.open(ROOT_NAMESPACE)
        self._commands: dict[int, Command] = {}
        self._readers: dict[int, Command] = {}
        self._writers: dict[int, Command] = {}
        self._samples: dict[int, Samples] = {}
        self._failed_samples: dict[int, str] = {}
        self._poll = select.epoll()
        self._poll.register(self._line, select.EPOLLIN)
        self._is_held = False
        self._heard: set[int] = set()
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        set_wakeup_fd(wake)
        for number in (SIGCHLD, SIGINT):  # Python's own handler of SIGINT would end us
            set_handler(number, _nothing)
        self._poll.register(self._wake, select.EPOLLIN)
        self._timer = Timer()
        self._poll.register(self._timer.fd, select.EPOLLIN)
        self._recheck = Recheck()
        self._terminals_raised = False
        self._had_command = False
        self._poll.register(self._recheck.fd, select.EPOLLIN)

    def serve(self) -> None:
        """Take orders, one after the other, and wait for the next."""
        self._answer(0, {})
        while True:
            self._take()

    def _answer(self, number: int, message: dict[str, Any]) -> None:
        self._line.send_json(ANSWER, number, {**message, "now_ns": time.monotonic_ns()})

    def _take(self) -> None:
        """Take one frame of the host's."""
        kind, number, payload = self._line.receive()
        if kind != ORDER:
            if command := self._commands.get(number):
                self._take_input(command, payload if kind == DATA else None)
            return
        order = json.loads(payload)
        name = order.pop("do")
        answer = getattr(self, f"_do_{name}")(**order)
        self._answer(number, answer or {})

    # ---------------------------------------------------------------- orders

    def _do_spawn(self, process: int, **order: Any) -> dict[str, Any]:
        if not self._had_command:
            self._had_command = True
            system.sync_link_changes()
            do_plain(["link set lo up"])
        try:
            command = Command(process, order, nodes=self._nodes)
        except CommandRejected as rejected:
            return {"rejected": rejected.words, "status": rejected.status}
        self._commands[process] = command
        for descriptor in command.outputs:
            self._readers[descriptor] = command
            self._poll.register(descriptor, select.EPOLLIN)
        self._ask_for_input(command)
        return {"pid": command.pid}

    def _do_signal(self, process: int, signal: int) -> None:
        if process in self._commands:
            self._commands[process].signal(signal)

    def _do_signal_node(self, node: str, signal: int) -> None:
        for pid in self._nodes.processes(node):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal)

    def _do_resize(self, process: int, rows: int, columns: int) -> None:
        if process in self._commands:
            self._commands[process].resize(rows, columns)

    def _do_close(self, process: int) -> None:
        command = self._commands.pop(process, None)
        if command is not None:
            command.is_asking = False
            for descriptor in list(command.outputs):
                self._drop(command, descriptor)
            command.close()

    def _do_roots(self, roots: dict[str, dict[str, Any]]) -> dict[str, Any]:
        try:
            self._nodes.take_roots(roots)
        except OSError as error:
            return {"rejected": f"{error.strerror} ({error.filename})"}
        return {}

    def _at(self, node: str) -> contextlib.AbstractContextManager[None]:
        return self._nodes.in_root(node) if node else contextlib.nullcontext()

    def _do_write(self, path: str, mode: int, node: str) -> dict[str, Any]:
        rejected: dict[str, Any] = {}
        descriptor = -1
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            with self._at(node):
                descriptor = os.open(path, flags, mode)
            os.fchmod(descriptor, mode)
        except OSError as error:
            rejected = {"rejected": error.strerror}
        except ValueError:
            rejected = {"rejected": _NO_NAME}
        while data := memoryview(self._line.receive()[2]):
            try:
                while data and not rejected:
                    data = data[os.write(descriptor, data) :]
            except OSError as error:
                rejected = {"rejected": error.strerror}
        if descriptor >= 0:
            os.close(descriptor)
        return rejected

    def _do_files(self, files: list[dict[str, Any]], node: str) -> dict[str, Any] | None:
        with self._at(node):
            return put_files(files, skips_missing=not node and bool(self._nodes.roots))

    def _do_read(self, path: str, node: str, max_bytes: int) -> dict[str, Any]:
        try:
            with self._at(node):
                opened = open(path, "rb", buffering=_FILE_CHUNK)  # noqa: SIM115  closed below
            left = max_bytes
            with opened as file:
                while data := file.read(_FILE_CHUNK):
                    left -= len(data)
                    if left < 0:
                        return {"rejected": f"it is larger than {max_bytes} bytes"}
                    self._line.send(DATA, 0, data)
        except OSError as error:
            return {"rejected": error.strerror}
        except ValueError:
            return {"rejected": _NO_NAME}
        return {}

    def _do_batches(
        self, batches: list[dict[str, Any]], hosts: list[str], interfaces: int
    ) -> dict[str, Any]:
        rest = functools.partial(self._line.run_pending, _PENDING_WITHIN_NS)
        found = run_batches(batches, nodes=self._nodes, rest=rest)
        if not found["failed"]:
            for host in hosts:
                self._sockets.open(host)
            flush_link_watch(interfaces)
        return found

    def _do_forget(self, node: str) -> None:
        self._nodes.forget(node)
        self._sockets.forget(node)

    def _do_sample(self, samples: int, probes: list[dict[str, Any]]) -> dict[str, Any]:
        if not probes:
            if samples in self._samples:
                self._finish(samples)
            self._end_samples(samples)
            words = self._failed_samples.pop(samples, None)
            return {} if words is None else {"failed": words}
        try:
            places = {order["kind"]: place for place, order in enumerate(probes)}

            def sink(order: dict[str, Any]) -> Stream:
                head = bytes([places[order["kind"]]])
                return Stream(lambda data: self._line.send(SAMPLES, samples, head + data))

            self._samples[samples] = Samples(probes, sink=sink, sockets=self._sockets)
        except OSError as error:
            return {"rejected": str(error)}
        self._poll.register(self._samples[samples].clock, select.EPOLLIN)
        return {}

    def _do_flush(self, samples: int, sample: bool = False) -> None:
        if samples in self._samples:
            if sample:
                self._finish(samples)
            self._samples[samples].flush()

    def _finish(self, samples: int) -> None:
        # What is there no more at this moment was there until now: no failure.
        with contextlib.suppress(OSError):
            self._samples[samples].finish()

    def _do_losses(self) -> dict[str, Any]:
        names = sorted(os.listdir(_NAMESPACES)) if os.path.isdir(_NAMESPACES) else []
        return drops.read_live([ROOT_NAMESPACE, *names], sockets=self._sockets)

    def _do_ask(self) -> None:
        self._line.ask()

    def _do_terminals(self) -> dict[str, Any]:
        open_terminals = [
            (number, command)
            for number, command in self._commands.items()
            if command.terminal is not None and command.status is None
        ]
        return {
            "lines": [number for number, command in open_terminals if command.at_prompt],
            "keys": [number for number, command in open_terminals if command.takes_keys],
        }

    def _do_hold(self) -> None:
        self._is_held = True

    def _do_go(
        self,
        *,
        until_ns: int | None,
        ended: list[int],
        output: list[int],
        finished: list[int],
        prompts: bool,
        keys: bool | None,
    ) -> dict[str, Any]:
        self._is_held = False
        self._heard = set()
        if until_ns == 0:
            while self._line.run_pending(_PENDING_WITHIN_NS) and self._turn(wait=False):
                pass
            self._turn(wait=False)
            return {"why": "time"}
        self._timer.set(until_ns)
        self._recheck.start(wanted=prompts or keys is not None or bool(finished))
        while True:
            if why := self._has_come(ended=ended, output=output):
                return {"why": why}
            if self._recheck.passed:
                self._recheck.later()
                if why := self._persons_turn(finished=finished, prompts=prompts, keys=keys):
                    return {"why": why}
            self._turn(wait=True)

    def _has_come(self, *, ended: list[int], output: list[int]) -> str:
        """Return which of the others that a `go` may wait for is so."""
        if any(self._has_ended(number) for number in ended):
            return "ended"
        if self._heard.intersection(output):
            return "output"
        if self._is_held:
            return "held"
        return "time" if self._timer.passed else ""

    # ---------------------------------------------------------------- events

    def _turn(self, *, wait: bool) -> bool:
        """See to what has happened.

        Args:
            wait: wait until something does.

        Returns:
            Whether anything happened.
        """
        # It may have come together with the order that lets time pass.
        if self._line.holds_frame:
            self._take()
            self._recheck.soon()
            return True
        events = self._poll.poll(None if wait else 0)
        if any(descriptor != self._recheck.fd for descriptor, _ in events):
            self._recheck.soon()
        for descriptor, _ in events:
            if descriptor == self._wake:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._wake, _FILE_CHUNK)
                self._reap()
            elif descriptor == self._line.fileno():
                self._take()
            elif descriptor == self._timer.fd:
                self._timer.read()
            elif descriptor == self._recheck.fd:
                self._recheck.read()
                self._raise_terminals(False)
            elif descriptor in self._writers:
                command = self._writers[descriptor]
                self._give(command, None)
                self._ask_for_input(command)
            elif descriptor in self._readers:
                self._read(self._readers[descriptor], descriptor)
            else:
                self._look(descriptor)
        return bool(events)

    def _look(self, clock: int) -> None:
        for number, samples in list(self._samples.items()):
            if samples.clock == clock:
                try:
                    samples.look()
                except OSError as error:  # what it looks at is there no more
                    self._failed_samples[number] = str(error)
                    self._end_samples(number)

    def _end_samples(self, number: int) -> None:
        samples = self._samples.pop(number, None)
        if samples is not None:
            self._poll.unregister(samples.clock)
            samples.close()

    def _persons_turn(self, *, finished: list[int], prompts: bool, keys: bool | None) -> str:
        """Return which of what concerns persons at terminals is so, now and when all is quiet."""
        if not self._seems_persons_turn(finished=finished, prompts=prompts, keys=keys):
            return ""
        self._line.run_pending(_PROMPT_WITHIN_NS)
        if self._turn(wait=False):
            return ""
        return self._seems_persons_turn(finished=finished, prompts=prompts, keys=keys)

    def _seems_persons_turn(self, *, finished: list[int], prompts: bool, keys: bool | None) -> str:
        commands = self._commands.values()
        if prompts and all(command.at_prompt for command in commands):
            return "prompts"
        if any(
            number not in self._commands or self._commands[number].at_prompt for number in finished
        ):
            return "finished"
        if keys is not None and any(command.takes_keys for command in commands) != keys:
            return "keys"
        return ""

    def _has_ended(self, number: int) -> bool:
        return number not in self._commands or self._commands[number].status is not None

    def _reap(self) -> None:
        """Learn who has ended: our commands, and orphans that became ours."""
        by_pid = {command.pid: command for command in self._commands.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            command = by_pid.get(pid)
            if command is not None and command.status is None:
                for descriptor in list(command.outputs):
                    while self._read(command, descriptor):
                        pass
                command.status = os.waitstatus_to_exitcode(status)
                self._line.send_json(ENDED, command.number, {"status": command.status})

    def _read(self, command: Command, descriptor: int) -> bool:
        """Pass on what a command wrote; return whether there was anything."""
        data = command.read(descriptor)
        if data is None:
            return False
        if not data:
            self._drop(command, descriptor)
            return False
        self._line.send(command.outputs[descriptor], command.number, data)
        self._heard.add(command.number)
        return True

    def _drop(self, command: Command, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        self._readers.pop(descriptor)
        self._writers.pop(descriptor, None)
        command.drop(descriptor)

    def _take_input(self, command: Command, data: bytes | None) -> None:
        """Take input of a command that came from the host; None if there is none yet."""
        is_answer = command.is_asking
        command.is_asking = False
        command.may_ask = data is not None
        if data is not None:
            if command.terminal is not None and any(key in data for key in _SIGNAL_KEYS):
                self._raise_terminals(True)
            self._give(command, data)
            if not is_answer:
                self._ask_for_input(command)

    def _raise_terminals(self, now: bool) -> None:
        """Let what was typed come through now, or when nothing else can run."""
        if now or self._terminals_raised:
            system.raise_terminals(_PRIORITY - 10 if now else 0)
        self._terminals_raised = now

    def _ask_for_input(self, command: Command) -> None:
        """Let the host send input for as long as the command has room; no time passes."""
        while command.wants_input:
            command.is_asking = True
            self._line.send_json(WANTED, command.number, {"now_ns": time.monotonic_ns()})
            while command.is_asking:
                self._take()

    def _give(self, command: Command, data: bytes | None) -> None:
        """Give a command more input, or what it had no room for; the rest goes later."""
        full = command.flush() if data is None else command.write(data)
        waits = next((fd for fd, waiting in self._writers.items() if waiting is command), None)
        if full == waits:
            return
        if waits is not None:
            self._writers.pop(waits)
            self._watch(waits)
        if full is not None:
            self._writers[full] = command
            self._watch(full)

    def _watch(self, descriptor: int) -> None:
        """Wait for what a command's descriptor is to be waited for now."""
        events = select.EPOLLIN if descriptor in self._readers else 0
        events |= select.EPOLLOUT if descriptor in self._writers else 0
        # A descriptor that was closed is out of it by itself.
        with contextlib.suppress(OSError):
            self._poll.unregister(descriptor)
        if events:
            self._poll.register(descriptor, events)


def _nothing(_signal: int, _frame: object) -> None:
    """Be there, so that the signal wakes us."""
