"""The traffic: processes that start at their virtual times, and are waited for.

A flow is a client and the servers that it needs. Servers start half a second
before the traffic; a client starts at its time, or some time after the end of
another flow. A flow ends when its client does. One that fails (a client or a
server with a bad exit status, a client that does not end) is a result like
others: what failed is in the outcome, and everything else goes on. Probes look
on from the start of the traffic to the end of the last flow.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time

from longfat.guest import system
from longfat.guest.nodes import Nodes
from longfat.guest.probes import Probes
from longfat.guest.script import Script, at_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from longfat.guest.events import Events

SERVER_LEAD_S = 0.5
_TAIL_CHARACTERS = 4000
_GRACE_S = 5.0  # between a server's client and the server's end, and from SIGTERM to SIGKILL
_NOT_ENDED, _SIGNALLED = 124, 128  # the exit statuses of timeout(1), and of a shell for a signal
_PRIORITY = 10
_SOFTIRQS_PRIORITY = 60  # higher than the sampler's


class _Forked:
    """A program of ours, begun by a fork: Python's start is much of a short transfer.

    Args:
        words: its module, which is loaded, and its arguments.
        stdout: where its output goes.
        stderr: where its errors go.
    """

    def __init__(self, words: list[str], *, stdout: int, stderr: int) -> None:
        self.returncode: int | None = None
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid:
            return
        status = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(stdout, 1)
            os.dup2(stderr, 2)
            sys.modules[words[0]].main(words[1:])
            sys.stdout.flush()
            status = 0
        except SystemExit as error:
            os.write(2, f"{error.code}\n".encode(errors="replace"))
        except BaseException:
            system.print_error(sys.stderr)
        os._exit(status)

    def poll(self) -> int | None:
        """Return its exit status, or the signal that ended it as a negative number; None yet."""
        return self._wait(os.WNOHANG)

    def wait(self) -> int | None:
        """Wait for its end."""
        return self._wait(0)

    def terminate(self) -> None:
        """Send it SIGTERM."""
        if self.returncode is None:
            os.kill(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL."""
        if self.returncode is None:
            os.kill(self._pid, signal.SIGKILL)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self._pid, options)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


_Started = subprocess.Popen[bytes] | _Forked


class _Flow:
    """A flow of the job, and how far it is."""

    def __init__(self, spec: dict[str, Any], *, number: int) -> None:
        self.name: str = spec["name"]
        self.after: str | None = spec["after"]
        self.start_s: float = spec["start_s"]
        self.limit_s: float = spec["limit_s"]
        self.good_statuses: list[int] = spec["good_statuses"]
        self.servers = [process for process in spec["processes"] if process["listens"]]
        (self.client_spec,) = (p for p in spec["processes"] if not p["listens"])
        self.variable = f"flow_{number}"
        self.client: _Started | None = None
        self.began_s = 0.0
        self.ends_s = 0.0
        self.done_s: float | None = None
        self.failure: dict[str, Any] | None = None


def _line(spec: dict[str, Any]) -> str:
    """Return what a person types at root to start a process."""
    words: list[str] = spec["typed"]
    if words[0] == "chroot":  # the words are for a shell in there
        return f"ip netns exec {spec['host']} {shlex.join(words)}"
    line = words[2] if words[:2] == ["sh", "-c"] and len(words) == 3 else shlex.join(words)
    return at_node(spec["host"], line)


class Player:
    """Plays the flows of a job.

    Args:
        flows: the job's flows.
        nodes: where they can run.
        typists: where those of strangers run: `longfat.guest.apart`, if there are any.
        probes: what looks on.
        script: where to record what is started.
        raw: the folder for their output.
        start_s: the traffic's start, in seconds of virtual time since boot.
        events: what changes meanwhile; None for nothing, and then the clock is not read for it.
    """

    def __init__(
        self,
        flows: list[dict[str, Any]],
        *,
        nodes: Nodes,
        typists: Nodes,
        probes: Probes,
        script: Script,
        raw: str,
        start_s: float,
        events: Events | None = None,
    ) -> None:
        self._events = events
        self._flows = [_Flow(spec, number=number) for number, spec in enumerate(flows, start=1)]
        self._nodes = nodes
        self._typists = typists
        self._probes = probes
        self._script = script
        self._raw = raw
        self._start_s = start_s
        self._servers: list[tuple[_Flow, _Started, str]] = []

    def play(self) -> dict[str, Any]:
        """Start every flow at its time and wait until all have ended.

        Returns:
            `flow_times`, when each flow began and ended, in seconds after the traffic's start;
            and `flow_failures`, by flow: line, status and words of what failed.

        Raises:
            CommandFailed: an event or a probe failed.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        system.put_softirqs_first(_SOFTIRQS_PRIORITY)
        system.share_by_turns(_PRIORITY)
        self._sleep_until(self._start_s - SERVER_LEAD_S)
        for flow in self._flows:
            for server in flow.servers:
                self._servers.append((flow, self._start(server), server["output"]))
        self._probes.start(self._start_s)
        self._sleep_until(self._start_s)
        self._probes.check()
        while any(flow.done_s is None for flow in self._flows):
            if self._events is not None:
                self._events.play()
            self._start_due()
            self._wait_event()
            self._reap()
        if self._events is not None:
            self._events.finish()
        self._probes.finish()
        self._end_servers()
        self._probes.end()
        return {
            "flow_times": {
                flow.name: [flow.began_s - self._start_s, (flow.done_s or 0.0) - self._start_s]
                for flow in self._flows
            },
            "flow_failures": {
                flow.name: flow.failure for flow in self._flows if flow.failure is not None
            },
        }

    def _due_s(self, flow: _Flow) -> float | None:
        """Return when a flow that has not begun must start; None if that is not known yet."""
        if flow.after is None:
            return self._start_s + flow.start_s
        (before,) = (other for other in self._flows if other.name == flow.after)
        return None if before.done_s is None else before.done_s + flow.start_s

    def _start_due(self) -> None:
        while waiting := [
            (due_s, flow)
            for flow in self._flows
            if flow.client is None
            and flow.done_s is None
            and (due_s := self._due_s(flow)) is not None
        ]:
            due_s, flow = min(waiting, key=lambda pair: pair[0])
            if due_s > time.monotonic():
                return
            if flow.failure is not None:
                flow.began_s = time.monotonic()
                self._end(flow, flow.began_s)
                continue
            if flow.after is not None and flow.start_s:
                self._script.wait(flow.start_s)
            else:
                self._script.note_wait_until(due_s)
            flow.client = self._start(flow.client_spec, variable=flow.variable)
            flow.began_s = time.monotonic()
            flow.ends_s = flow.began_s + flow.limit_s

    def _wait_event(self) -> None:
        """Wait until a process ends or something is due."""
        next_s = [
            due_s
            for flow in self._flows
            if flow.client is None
            and flow.done_s is None
            and (due_s := self._due_s(flow)) is not None
        ]
        next_s += [flow.ends_s for flow in self._flows if flow.client and flow.done_s is None]
        if self._events is not None and (wake_s := self._events.wake_s()) is not None:
            next_s.append(wake_s)
        left_s = min(next_s) - time.monotonic()
        if left_s > 0:
            signal.sigtimedwait({signal.SIGCHLD}, left_s)

    def _reap(self) -> None:
        now_s = time.monotonic()
        # First what others may have failed for. One whose client has ended has done its work.
        for flow, server, output in self._servers:
            status = server.poll()
            if flow.done_s is not None or flow.failure is not None or status in (None, 0):
                continue
            (spec,) = (process for process in flow.servers if process["output"] == output)
            flow.failure = self._failure(spec, status=status)
            if flow.client is not None:  # else it ends when it is due, for those that come after it
                self._stop(flow, now_s)
        for flow in self._flows:
            if flow.client is None or flow.done_s is not None:
                continue
            status = flow.client.poll()
            if status is not None:
                if flow.failure is None and status not in flow.good_statuses:
                    flow.failure = self._failure(flow.client_spec, status=status)
                self._end(flow, now_s)
            elif now_s >= flow.ends_s and flow.failure is None:
                words = f"it did not end within {flow.limit_s:g} s of virtual time"
                flow.failure = self._failure(flow.client_spec, status=_NOT_ENDED, words=words)
                self._stop(flow, now_s)
            elif now_s >= flow.ends_s:
                flow.client.kill()
                flow.ends_s = now_s + _GRACE_S

    def _stop(self, flow: _Flow, now_s: float) -> None:
        """Let the client of a flow that failed end, so that it can still write its report."""
        assert flow.client is not None
        self._script.record([f"kill ${flow.variable}    # flow {flow.name} failed"])
        flow.client.terminate()
        flow.ends_s = now_s + _GRACE_S

    def _end(self, flow: _Flow, now_s: float) -> None:
        flow.done_s = now_s
        if self._events is not None:
            self._events.flow_ended(flow.name, now_s)
        how = "ended" if flow.failure is None else f"failed: status {flow.failure['status']}"
        if flow.client is not None:
            self._script.record([f"wait ${flow.variable}    # flow {flow.name} {how}"])

    def _end_servers(self) -> None:
        """Give servers time to end by themselves and write their reports, then end them."""
        end_s = time.monotonic() + _GRACE_S
        for _, server, _ in self._servers:
            while server.poll() is None and (left_s := end_s - time.monotonic()) > 0:
                signal.sigtimedwait({signal.SIGCHLD}, left_s)
            if server.poll() is None:
                server.terminate()
                server.wait()

    def _start(self, spec: dict[str, Any], *, variable: str = "") -> _Started:
        line = _line(spec)
        out = f"raw/{spec['output']}"
        lines = [f"{line} > {out} 2> {out}.err &"]
        if variable:
            lines.append(f"{variable}=$!")
        self._script.record(lines)
        path = f"{self._raw}/{spec['output']}"
        nodes = self._typists if spec["apart"] else self._nodes
        with (
            open(path, "wb") as stdout,
            open(f"{path}.err", "wb") as stderr,
            nodes.starting(spec["host"]) as prefix,
        ):
            if spec["forks"]:
                return _Forked(spec["forks"], stdout=stdout.fileno(), stderr=stderr.fileno())
            return subprocess.Popen(
                [*prefix, *spec["argv"]],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
            )

    def _failure(self, spec: dict[str, Any], *, status: int, words: str = "") -> dict[str, Any]:
        """Return the report about a process that failed; `words` are why, if not its own.

        The exit status is as a shell has it, also of a process that a signal ended.
        """
        if not words:
            texts = []
            for name in (f"{spec['output']}.err", spec["output"]):
                with open(f"{self._raw}/{name}", encoding="utf-8", errors="replace") as file:
                    texts.append(file.read()[-_TAIL_CHARACTERS:].strip())
            words = texts[0] or texts[1]
        status = _SIGNALLED - status if status < 0 else status
        return {"line": _line(spec), "status": status, "words": words}

    def _sleep_until(self, when_s: float) -> None:
        left_s = when_s - time.monotonic()
        if left_s > 0:
            self._script.wait(round(left_s, 3))
            system.sleep_until(round(when_s * 1e9))
