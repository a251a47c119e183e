"""A script, played: each event at its time, and what the kernel does against what it should.

Times are those of the script, in ns: an event that the script causes is made at its time
exactly, and what the kernel sends has the time at which it sent it. The rules of what a time
refers to, and how far off it may be, are packetdrill's.
"""

import contextlib
import ctypes
import errno
import json
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from longfat.guest import mounts, system
from longfat.guest.output import Output
from longfat.guest.toolset import SHELL
from longfat_packetdrill.guest import assertions, wire
from longfat_packetdrill.guest.calls import Calls, Prepared
from longfat_packetdrill.guest.device import Device
from longfat_packetdrill.guest.expecting import Expecting, Times
from longfat_packetdrill.guest.failures import FailureError, ScriptFailedError
from longfat_packetdrill.guest.flow import (
    SYN_ACKED,
    SYN_SENT,
    SYNACK_ACKED,
    SYNACK_SENT,
    Flows,
    inbound_bytes,
)
from longfat_packetdrill.guest.program import KEPT_OUTPUT, Program
from longfat_packetdrill.guest.waiting import (
    FloodError,
    OverLimitError,
    Waiting,
    Worker,
    take_no_time,
)

# Just before a tick of the kernel, which has 100 a second. Its timers end with a tick: one of
# 40 ms that is set just before one ends 40.25 ms later, and just after one 49.75 ms later.
_EARLIEST_NS, _BEFORE_TICK_NS, _TICK_NS = 2_000_000_000, 250_000, 10_000_000
# How long a call that has to end is waited for.
_CALL_PATIENCE_NS = 1_000_000_000
# What the kernel's own threads take to read the clock, many times over: nothing that a script
# could mean is shorter.
_NOTHING_NS = 10_000
_PCAP_HEAD = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 1 << 18, 101)
_MAX_CAPTURE = 48 << 20
_NEVER_NS = 2**62
# Where this package is seen once /tmp is the guest's own.
_ASSERTIONS = f"{mounts.HOME}/guest/longfat_packetdrill/guest/assertions.py"

Event = dict[str, Any]


class Player:
    """Plays a script.

    Args:
        plan: the script, as `longfat_packetdrill` made it.
        folder: where its commands run.
        limit_ns: how long it may take, in ns of virtual time.
        output: the way to the host.
        captures: send it the packets, as `packets.pcap`.

    Raises:
        RuntimeError: the interface cannot be set up.
    """

    def __init__(
        self, plan: dict[str, Any], *, folder: str, limit_ns: int, output: Output, captures: bool
    ) -> None:
        self._plan = plan
        self._settings: dict[str, Any] = plan["settings"]
        self._folder, self._output = folder, output
        self._capture = output.stream("packets.pcap") if captures else None
        if self._capture is not None:
            self._capture.write(_PCAP_HEAD)
        self._captured = 0
        self._device = Device(self._settings)
        self._waiting = Waiting(self._device, limit_ns=limit_ns, record=self._record)
        self._limit_ns = limit_ns
        self._flows = Flows(self._settings)
        self._calls = Calls(self._settings, self._flows)
        self._expecting = Expecting(self._settings, self._flows, self._waiting)
        self._blocking = Worker(self._waiting)
        self._code: list[dict[str, Any]] = []
        self._commands_said = b""
        self._warnings: list[dict[str, Any]] = []
        self._now_ns = 0
        self._last: Event | None = None
        self._last_due_ns = 0
        self._has_begun = False
        self._packets = self._late_ns = 0
        self._deviation: tuple[int, int] | None = None
        self._kinds: dict[str, Callable[[Event], None]] = {
            "packet": self._packet,
            "call": self._call,
            "command": self._command,
            "code": self._play_code,
        }

    def play(self) -> dict[str, Any]:
        """Play it, and return what came of it."""
        failure = None
        done = 0
        try:
            os.chdir(self._folder)
            signal.signal(signal.SIGALRM, _over)
            if self._plan["before"]:
                system.await_fine_timers()
            for event in self._plan["before"]:
                self._guarded(event, self._command)
            self._begin()
            for event in self._plan["events"]:
                self._play(event)
                done += 1
            self._end()
        except FailureError as error:
            failure = error.failure
        try:
            if (after := self._plan["after"]) is not None:
                self._guarded(after, self._command)
            if failure is None:
                self._run_code()
        except FailureError as error:
            failure = failure or error.failure
        if self._capture is not None:
            self._capture.flush()
        return {
            "failure": failure,
            "warnings": self._warnings,
            "events": done,
            "packets": self._packets,
            "virtual_ns": self._now_ns,
            "late_ns": self._late_ns,
            "deviation_ns": self._deviation[0] if self._deviation else None,
            "deviation_line": self._deviation[1] if self._deviation else None,
            "output": self._commands_said.decode(errors="replace"),
        }

    def _begin(self) -> None:
        earliest = max(_EARLIEST_NS, time.monotonic_ns())
        start_ns = (earliest // _TICK_NS + 2) * _TICK_NS - _BEFORE_TICK_NS
        take_no_time()
        self._waiting.start(start_ns)
        self._has_begun = True
        self._calls.start_ns = time.time_ns() - self._waiting.now_ns()

    def _play(self, event: Event) -> None:
        """Play an event of the script's time."""
        due_ns, end_ns = self._due(event)

        def play(event: Event) -> None:
            if event["kind"] == "packet" and event["packet"]["outbound"]:
                self._outbound(event, due_ns, end_ns)
            else:
                self._wait(event, due_ns)
                self._kinds[event["kind"]](event)

        self._guarded(event, play)
        self._last, self._last_due_ns = event, due_ns

    def _guarded(self, event: Event, play: Callable[[Event], None]) -> None:
        """Let all that is wrong with an event become a failure with its line."""
        line = event["line"]
        try:
            play(event)
        except ScriptFailedError as error:
            raise FailureError(line, error.message) from None
        except OverLimitError:
            seconds = self._limit_ns / 1e9
            message = f"the script is not over after {seconds:g} s of virtual time"
            raise FailureError(line, message) from None
        except FloodError:
            raise FailureError(line, "the kernel sends packets without end") from None
        except OSError as error:
            raise FailureError(line, f"{error.strerror}") from None

    def _due(self, event: Event) -> tuple[int, int]:
        """Return when an event is due, and when its range ends."""
        moment = event["moment"]
        base_ns = 0
        if moment["kind"] != "at":
            base_ns = self._now_ns
            # Packets that arrive one after the other are counted from their due times.
            if self._last is not None and _arrives(self._last) and _arrives(event):
                base_ns = self._last_due_ns
        due_ns = base_ns + moment["start_ns"]
        end_ns = due_ns if moment["end_ns"] is None else base_ns + moment["end_ns"]
        return due_ns, end_ns

    def _wait(self, event: Event, due_ns: int) -> None:
        if due_ns > self._waiting.now_ns():
            self._until(due_ns)
        late_ns = self._waiting.now_ns() - due_ns
        self._late_ns = max(self._late_ns, late_ns)
        if late_ns > self._tolerance_ns(due_ns):
            names = {"packet": "this packet", "call": "this call", "command": "this command"}
            raise FailureError(
                event["line"],
                f"it is too late for {names.get(event['kind'], 'this code')}",
                expected_ns=due_ns,
                actual_ns=due_ns + late_ns,
            )
        self._pass(due_ns)

    def _pass(self, due_ns: int) -> None:
        """Note how late it is; what reading the clock costs is none of the script's time."""
        now_ns = self._waiting.now_ns()
        exact_ns = due_ns if now_ns - due_ns < _NOTHING_NS else now_ns
        self._now_ns = max(self._now_ns, exact_ns)

    def _tolerance_ns(self, due_ns: int) -> int:
        tolerance_ns: int = self._settings["tolerance_ns"]
        if self._last is None:
            return tolerance_ns
        share: float = self._settings["tolerance_percent"] / 100
        return max(tolerance_ns, round(share * (due_ns - self._last_due_ns)))

    def _until(self, when_ns: int, *, done: Callable[[], bool] | None = None) -> bool:
        """Let time pass; a blocking call that returns meanwhile is looked at when it does."""

        def stop() -> bool:
            if self._blocking.event is not None and self._blocking.is_done:
                self._returned()
            return done() if done is not None else False

        return self._waiting.until(when_ns, done=stop)

    # What arrives, and what is sent.

    def _packet(self, event: Event) -> None:
        packet = event["packet"]
        flow = self._flows.of(packet)
        segment = packet["tcp"]
        if segment is not None:
            flags = segment["flags"]
            if flow.state == SYNACK_SENT and flags & wire.ACK:
                flow.state = SYNACK_ACKED
            elif flow.state == SYN_SENT and flags & wire.SYN and flags & wire.ACK:
                flow.state = SYN_ACKED
                flow.remote_isn = segment["sequence"]
        if flow.local is None or flow.remote is None or self._settings["is_anyip"]:
            self._flows.give_addresses(flow)
        data = inbound_bytes(packet, flow, self._settings)
        self._record(self._waiting.now_ns(), data)
        self._device.write(data, is_tcp=segment is not None)
        self._rest(self._now_ns)

    def _rest(self, due_ns: int) -> None:
        """Look whether a blocking call returns from what has just been done."""
        if self._blocking.event is not None:
            self._until(self._waiting.now_ns() + 1000)
        self._pass(due_ns)

    def _outbound(self, event: Event, due_ns: int, end_ns: int) -> None:
        times = Times(due_ns, end_ns, self._now_ns, self._tolerance_ns(due_ns))
        taken = self._expecting.take(event, times, until=self._until)
        self._packets += 1
        off_ns = taken.off_ns
        if off_ns is not None and (
            self._deviation is None or abs(off_ns) > abs(self._deviation[0])
        ):
            self._deviation = (off_ns, event["line"])
        if taken.failure is not None:
            if "packet" not in self._settings["non_fatal"]:
                raise taken.failure
            self._warnings.append(taken.failure.failure)
        if taken.sent_ns - self._now_ns > _NOTHING_NS:  # or else the kernel sent it at once
            self._now_ns = taken.sent_ns

    # System calls.

    def _call(self, event: Event) -> None:
        call = event["call"]
        due_ns = self._now_ns
        if call["end_ns"] is None:
            prepared = self._calls.prepare(call["name"], call["arguments"], call["result"])
            ctypes.set_errno(0)
            with self._limited():
                result = prepared.run()
            number = ctypes.get_errno()
            end_ns = self._waiting.now_ns()
            self._rest(due_ns)
            self._check(event, prepared, (result, number, end_ns))
            return
        worker = self._blocking
        if worker.event is not None:
            limit_ns = self._waiting.now_ns() + _CALL_PATIENCE_NS
            if not self._until(limit_ns, done=lambda: worker.event is None):
                raise ScriptFailedError("another blocking call has not returned yet")
        prepared = self._calls.prepare(call["name"], call["arguments"], call["result"])
        worker.start(event, prepared, due_ns=due_ns)
        self._rest(due_ns)

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """End a call that blocks beyond the script's time, though the script does not say so."""
        left_s = (self._limit_ns - self._waiting.now_ns()) / 1e9
        signal.setitimer(signal.ITIMER_REAL, max(left_s, 1e-6))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _returned(self) -> None:
        """Look at what a blocking call gave, and when."""
        worker = self._blocking
        event, prepared = worker.event, worker.prepared
        assert event is not None
        assert prepared is not None
        worker.event = None
        call, moment = event["call"], event["moment"]
        end_ns = call["end_ns"]
        if moment["kind"] == "after":
            end_ns += worker.due_ns - moment["start_ns"]
        self._check(event, prepared, (worker.result, worker.errno, worker.end_ns))
        share = self._settings["tolerance_percent"] / 100
        tolerance_ns = max(self._settings["tolerance_ns"], round(share * (end_ns - worker.due_ns)))
        if abs(worker.end_ns - end_ns) > tolerance_ns:
            raise FailureError(
                event["line"],
                "this call returned at another time",
                expected_ns=end_ns,
                actual_ns=worker.end_ns,
            )

    def _check(self, event: Event, prepared: Prepared, given: tuple[int, int, int]) -> None:
        """Look at what a call gave: its result, its error, and when it returned."""
        call = event["call"]
        expected = call["result"]
        actual, number, end_ns = given
        wrong = actual != expected
        if prepared.is_descriptor and expected >= 0:
            wrong = actual < 0
        if not wrong and call["errno"] is not None:
            wrong = number != call["errno"]
        found = [] if wrong or actual < 0 else prepared.check()
        if wrong or found:
            error = FailureError(
                event["line"],
                "this call wrote something else" if found else "this call returned something else",
                expected=_result_text(expected, call["errno"]),
                actual=_result_text(actual, number if actual < 0 else None),
                actual_ns=end_ns,
                differences=found,
            )
            if "syscall" not in self._settings["non_fatal"]:
                raise error
            self._warnings.append(error.failure)
        if actual >= 0:
            try:
                prepared.after(actual)
            except ScriptFailedError as failed:
                raise FailureError(event["line"], failed.message) from None

    # Commands and code.

    def _command(self, event: Event) -> None:
        line: str = event["command"]["line"]
        due_ns = self._now_ns
        self._note(event["line"])
        status, said = self._run([SHELL, "-c", line])
        self._commands_said = (self._commands_said + said)[-KEPT_OUTPUT:]
        if self._has_begun:
            self._pass(due_ns)
        if status != 0:
            words = said.decode(errors="replace").strip()
            raise FailureError(
                event["line"],
                "this command failed" + (f": {words}" if words else ""),
                expected="exit status 0",
                actual=f"exit status {status}",
            )

    def _note(self, line: int) -> None:
        """Write down which program is started: if it never ends, the host finds it there."""
        self._output.append("at", f"{line}\n".encode())

    def _run(self, command: list[str], *, stdin: bytes = b"") -> tuple[int, bytes]:
        """Run a program, while packets are read; return its status and the end of its output."""
        with Program(command, waiting=self._waiting, stdin=stdin) as program:
            if not self._until(_NEVER_NS, done=lambda: program.is_over):
                raise OverLimitError
            return program.status(), bytes(program.said)

    def _code_state(self) -> dict[str, int]:
        flow = self._flows.newest
        if flow is None or flow.descriptor < 0:
            raise ScriptFailedError("there is no connection yet that this code could look at")
        return assertions.state_of(flow.descriptor)

    def _play_code(self, event: Event) -> None:
        source: str = event["code"]["source"]
        piece = {"line": event["line"], "source": source.lstrip(" \t"), "state": self._code_state()}
        self._code.append(piece)

    def _run_code(self) -> None:
        if not self._code:
            return
        self._note(self._code[0]["line"])
        program = [sys.executable, "-I", "-B", _ASSERTIONS]
        try:
            status, said = self._run(program, stdin=json.dumps(self._code).encode())
        except (ScriptFailedError, OverLimitError) as error:
            words = getattr(error, "message", "it does not end")
            raise FailureError(self._code[0]["line"], f"the code: {words}") from None
        if status == 0:
            return
        try:
            failure = json.loads(said.splitlines()[-1])
            line, words = int(failure["line"]), str(failure["words"])
        except (ValueError, LookupError, TypeError):
            line, words = self._code[0]["line"], f"it ended with status {status}"
        raise FailureError(line, f"this code failed: {words}")

    # The end.

    def _end(self) -> None:
        worker = self._blocking
        if worker.event is None:
            return
        line = worker.event["line"]
        try:
            limit_ns = self._waiting.now_ns() + _CALL_PATIENCE_NS
            if self._until(limit_ns, done=lambda: worker.event is None):
                return
        except OverLimitError:
            pass
        raise FailureError(line, "this call has not returned when the script ends")

    def _record(self, now_ns: int, data: bytes) -> None:
        if self._capture is None or self._captured > _MAX_CAPTURE:
            return
        seconds, nanoseconds = divmod(max(0, now_ns), 10**9)
        head = struct.pack("<IIII", seconds, nanoseconds, len(data), len(data))
        self._capture.write(head + data)
        self._captured += len(head) + len(data)


def outcome_of(message: str | None) -> dict[str, Any]:
    """Return the outcome of a script that has not begun, and why not."""
    failure = None if message is None else FailureError(0, message).failure
    return {
        "failure": failure,
        "warnings": [],
        "events": 0,
        "packets": 0,
        "virtual_ns": 0,
        "late_ns": 0,
        "deviation_ns": None,
        "deviation_line": None,
        "output": "",
    }


def _over(*_: object) -> NoReturn:
    raise OverLimitError


def _arrives(event: Event) -> bool:
    return event["kind"] == "packet" and not event["packet"]["outbound"]


def _result_text(result: int, number: int | None) -> str:
    if number is None:
        return str(result)
    return f"{result} {errno.errorcode.get(number, number)} ({os.strerror(number)})"
