"""packetdrill scripts of the workspace: listed, edited, checked and run from the page.

A script runs while its request is open: closing the page, or Cancel, stops it.
Its packets are kept for a while, so that the page can show them decoded.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict, cast

from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.common.guard import scratch_folder
from longfat.common.resources import folder
from longfat.engine import kernel as kernels
from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.packetdrill import IP_VERSIONS, ScriptFile, Settings, Task, tasks_of
from longfat.packetdrill.find import SUFFIX
from longfat.packetdrill.run import Difference, Failure
from longfat.studio.formats import FileEntry, list_files
from longfat.studio.guarded_files import Base, GuardedFiles, base_of
from longfat.studio.http import (
    RUNS,
    HttpError,
    JsonAnswer,
    Problem,
    asked_name,
    problem_of,
    read_json,
)
from longfat.studio.machine_queue import MachineAccess
from longfat.studio.threads import run_in_threadpool
from longfat.studio.workspace import path_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from longfat.packetdrill import Report
    from longfat.studio.machine_queue import Member
    from longfat.studio.workspace import Workspace

MAX_SEED = 2**53 - 1
"""Larger whole numbers are no longer exact in a browser."""

PacketdrillStatus: TypeAlias = Literal["passed", "failed", "valid", "invalid", "broken"]
"""The outcome of a script."""

_MAX_BYTES = 1 << 20
_MAX_KEPT = 8
_MAX_RUNNING = 4
_MAX_CAPTURE_BYTES = 16 << 20
_LOOK_S = 0.3
_END_S = 30.0


class _CancelledError(Exception):
    """The page has disconnected, or the studio is shutting down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketdrillRequest:
    """A request to run a script.

    Attributes:
        path: the script's file, below the workspace.
        text: its text, which need not be saved yet.
        root: the folder that the script sees: that of the file, or one above it; empty
            for the workspace.
        kernel: the kernel's series; None for the newest that is built.
        ip_version: the version of IP; None for that of the script, or IPv4.
        seed: decides all random numbers.
    """

    path: str
    text: str
    root: str | None = None
    kernel: str | None = None
    ip_version: str | None = None
    seed: int = 1


class PacketdrillExample(TypedDict):
    """An example of a script.

    Attributes:
        name: the name of its file.
        text: its text.
    """

    name: str
    text: str


class PacketdrillOverview(TypedDict):
    """The scripts of the workspace.

    Attributes:
        scripts: their files.
        examples: scripts to begin with.
        ip_versions: what a script may be run with.
    """

    scripts: list[FileEntry]
    examples: list[PacketdrillExample]
    ip_versions: list[str]


class PacketdrillScript(TypedDict):
    """A script that was opened.

    Attributes:
        path: its file.
        text: its text.
        version: the file's version, to be sent with what is saved.
    """

    path: str
    text: str
    version: str


class SavedScript(TypedDict):
    """A script that was saved.

    Attributes:
        version: the file's new version.
    """

    version: str


class PacketdrillFailure(TypedDict):
    """Why a script failed.

    Attributes:
        line: where in the script; 0 if unknown.
        column: likewise; null if unknown.
        message: why.
        event: the event of the script that it is about; null if unknown.
        expected: what a call or command should have given; null if it is about none.
        actual: what it gave.
        expected_ns: when it should have happened, since the script's start; null if at any time.
        actual_ns: when it happened; null if it did not.
        differences: the fields that differ.
        sent: the packet that the kernel actually sent; null if it is about none.
    """

    line: int
    column: int | None
    message: str
    event: str | None
    expected: str | None
    actual: str | None
    expected_ns: int | None
    actual_ns: int | None
    differences: list[Difference]
    sent: str | None


class PacketdrillReport(TypedDict):
    """The outcome of a script.

    Attributes:
        script: its file.
        ip_version: the version of IP.
        status: the outcome; `broken` if it could not run.
        error: why there is no result; null if there is one.
        failure: why it failed; null if it did not.
        warnings: differences that the script allows.
        output: the end of what its commands printed.
        kernel: the kernel's release.
        capture: identifies its packets; null if there are none.
        events: how many of its events were played.
        packets: how many packets the kernel sent as the script has it.
        virtual_s: how long it took, in virtual time.
        wall_s: how long it took, with its machine's boot.
        late_s: by how much the latest of the script's own events was late.
        deviation_s: the largest deviation of a packet from its expected time; null if none has one.
        deviation_line: the line of that packet.
    """

    script: str
    ip_version: str
    status: PacketdrillStatus
    error: Problem | None
    failure: PacketdrillFailure | None
    warnings: list[PacketdrillFailure]
    output: str
    kernel: str
    capture: str | None
    events: NotRequired[int]
    packets: NotRequired[int]
    virtual_s: NotRequired[float]
    wall_s: NotRequired[float]
    late_s: NotRequired[float]
    deviation_s: NotRequired[float | None]
    deviation_line: NotRequired[int | None]


class PacketdrillScripts:
    """The scripts of a workspace; `close` ends those that run.

    Args:
        workspace: the folder.
        member: the member of a class in the queue for machines; None without a class.
    """

    def __init__(self, workspace: Workspace, *, member: Member | None = None) -> None:
        self._workspace = workspace
        self._files = GuardedFiles(workspace, most_bytes=_MAX_BYTES)
        self._machines = MachineAccess(member)
        self._lock = threading.Lock()
        self._running: set[threading.Event] = set()
        self._closed = False
        self._stack = contextlib.ExitStack()
        self._folder: Path | None = None
        self._captures: OrderedDict[str, Path] = OrderedDict()
        self._numbers = itertools.count(1)

    def overview(self) -> PacketdrillOverview:
        """Return the scripts, and the examples."""
        entries = list_files(self._workspace, besides=RUNS)
        examples = sorted(folder("examples").joinpath("packetdrill").glob(f"*{SUFFIX}"))
        return {
            "scripts": [entry for entry in entries if entry["kind"] == "packetdrill"],
            "examples": [
                {"name": one.name, "text": one.read_text(encoding="utf-8")} for one in examples
            ],
            "ip_versions": list(IP_VERSIONS),
        }

    def open_script(self, path: str) -> PacketdrillScript:
        """Return a script's path, text and version.

        Raises:
            InputError: it cannot be read, or is not a script.
        """
        text, version = self._files.read(_checked(path))
        return {"path": path, "text": text, "version": version}

    def save(self, path: str, text: str, *, base: Base) -> str:
        """Write a script; as `GuardedFiles.write`."""
        return self._files.write(_checked(path), text, base=base)

    def check(self, path: str, text: str) -> list[Problem]:
        """Return the problems of a script."""
        file = ScriptFile(path=self._workspace.root / _checked(path), root=self._workspace.root)
        (task,) = _tasks(file, text, ())
        error = task.check().error
        return [] if error is None else [problem_of(error)]

    def run(self, requested: PacketdrillRequest, *, stop: threading.Event) -> PacketdrillReport:
        """Run a script.

        Args:
            requested: what to run.
            stop: ends it when it is set.

        Raises:
            InputError: a path is wrong, there is no such kernel, or the run was cancelled.
            HostError: no kernel is built.
            HttpError: the request for a machine is queued.
        """
        with self._workspace.relative_paths():
            file = self._script_file(requested)
            versions = () if requested.ip_version is None else (requested.ip_version,)
            (task,) = _tasks(file, requested.text, versions)
            kernel = kernels.find(requested.kernel or NEWEST)

        def check_stop(_: float) -> None:
            if stop.is_set():
                raise _CancelledError

        number = str(next(self._numbers))
        with self._counted(stop), self._machines.turn(f"packetdrill {requested.path}"):
            capture = self._captures_folder() / f"{number}.pcap"
            try:
                report = task.run(
                    kernel=kernel, seed=requested.seed, capture=capture, on_progress=check_stop
                )
            except _CancelledError:
                raise HttpError("the script was cancelled", status=HTTPStatus.CONFLICT) from None
            kept = self._keep(number, capture)
        return self._report(report, path=requested.path, kernel=kernel.release, capture=kept)

    def capture(self, number: str) -> Path:
        """Return the file with the packets of a run.

        Raises:
            HttpError: it was removed.
        """
        with self._lock:
            path = self._captures.get(number)
        if path is None:
            raise HttpError("these packets are no longer available", status=HTTPStatus.NOT_FOUND)
        return path

    def stop(self) -> None:
        """Stop running scripts, and start no more."""
        with self._lock:
            self._closed = True
            running = list(self._running)
        for one in running:
            one.set()

    def close(self) -> None:
        """End them, with their machines, and remove the packets."""
        self.stop()
        until_s = time.monotonic() + _END_S
        while self._running and time.monotonic() < until_s:
            time.sleep(_LOOK_S / 3)
        self._stack.close()

    def _script_file(self, requested: PacketdrillRequest) -> ScriptFile:
        *folders, name = path_parts(_checked(requested.path))
        own = self._folder_of("/".join(folders))
        root = own if requested.root is None else self._folder_of(requested.root)
        if not own.is_relative_to(root):
            raise InputError(f"root: {requested.root} is not a folder above {requested.path}")
        return ScriptFile(path=own / name, root=root)

    def _folder_of(self, place: str) -> Path:
        return self._workspace.folder(place) if place else self._workspace.root

    @contextlib.contextmanager
    def _counted(self, stop: threading.Event) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise HttpError("the studio is shutting down", status=HTTPStatus.CONFLICT)
            if len(self._running) >= _MAX_RUNNING:
                raise HttpError(
                    f"{_MAX_RUNNING} scripts are already running: wait for one of them",
                    status=HTTPStatus.CONFLICT,
                )
            self._running.add(stop)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(stop)

    def _captures_folder(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = self._stack.enter_context(scratch_folder())
            return self._folder

    def _keep(self, number: str, capture: Path) -> str | None:
        """Keep the packets of a run, and no longer those of the oldest one."""
        if not capture.exists():
            return None
        if capture.stat().st_size > _MAX_CAPTURE_BYTES:
            capture.unlink()
            return None
        with self._lock:
            self._captures[number] = capture
            while len(self._captures) > _MAX_KEPT:
                self._captures.popitem(last=False)[1].unlink(missing_ok=True)
        return number

    def _report(
        self, report: Report, *, path: str, kernel: str, capture: str | None
    ) -> PacketdrillReport:
        error = report.error
        problem = None if error is None else problem_of(error)
        if problem is not None:
            below = problem["message"].replace(f"{self._workspace.root}/", "")
            problem = {**problem, "message": below}
        status = cast("PacketdrillStatus", report.status)
        answer: PacketdrillReport = {
            "script": path,
            "ip_version": report.task.settings.ip_version,
            "status": status,
            "error": problem,
            "failure": None,
            "warnings": [],
            "output": "",
            "kernel": kernel,
            "capture": capture,
        }
        if (result := report.result) is not None:
            if result.failure is not None:
                answer["failure"] = _failure(report, result.failure)
            answer["warnings"] = [_failure(report, failure) for failure in result.warnings]
            answer["output"] = result.output
            answer["events"], answer["packets"] = result.events, result.packets
            answer["virtual_s"], answer["wall_s"] = result.virtual_s, result.wall_s
            answer["late_s"] = result.late_s
            answer["deviation_s"] = result.deviation_s
            answer["deviation_line"] = result.deviation_line
        return answer


def _failure(report: Report, failure: Failure) -> PacketdrillFailure:
    event = None if report.script is None else report.script.event_at(failure.line)
    return {
        "line": failure.line,
        "column": None if event is None else event.place.column,
        "message": failure.message,
        "event": None if event is None else event.text(),
        "expected": failure.expected,
        "actual": failure.actual,
        "expected_ns": failure.expected_ns,
        "actual_ns": failure.actual_ns,
        "differences": list(failure.differences),
        "sent": None if failure.sent is None else failure.sent.text(),
    }


def packetdrill_routes(scripts: PacketdrillScripts) -> list[BaseRoute]:
    """Return the routes of packetdrill scripts."""

    async def overview(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(scripts.overview))

    async def opened(request: Request) -> Response:
        path = asked_name(request, "path") or ""
        return JSONResponse(await run_in_threadpool(scripts.open_script, path))

    async def save(request: Request) -> Response:
        body = await read_json(request)
        path, text = body.name("path"), body.text("text", maximum=_MAX_BYTES)
        version = await run_in_threadpool(scripts.save, path, text, base=base_of(body))
        answer: SavedScript = {"version": version}
        return JSONResponse(answer)

    async def check(request: Request) -> Response:
        body = await read_json(request)
        path, text = body.name("path"), body.text("text", maximum=_MAX_BYTES)
        return JSONResponse(await run_in_threadpool(scripts.check, path, text))

    async def run(request: Request) -> Response:
        body = await read_json(request)
        version = body.maybe_name("ip_version")
        if version not in (None, *IP_VERSIONS):
            raise InputError(f"ip_version: found {version!r}, expected {', '.join(IP_VERSIONS)}")
        seed = body.maybe_integer("seed", minimum=0, maximum=MAX_SEED)
        requested = PacketdrillRequest(
            path=body.name("path"),
            text=body.text("text", maximum=_MAX_BYTES),
            root=body.maybe_text("root"),
            kernel=body.maybe_name("kernel"),
            ip_version=version,
            seed=1 if seed is None else seed,
        )
        stop = threading.Event()

        async def watch() -> None:
            while not await request.is_disconnected():
                await asyncio.sleep(_LOOK_S)
            stop.set()

        watcher = asyncio.create_task(watch())
        try:
            return JsonAnswer(await run_in_threadpool(scripts.run, requested, stop=stop))
        finally:
            watcher.cancel()

    return [
        Route("/api/packetdrill", overview, methods=["GET"]),
        Route("/api/packetdrill/script", opened, methods=["GET"]),
        Route("/api/packetdrill/script", save, methods=["PUT"]),
        Route("/api/packetdrill/check", check, methods=["POST"]),
        Route("/api/packetdrill/run", run, methods=["POST"]),
    ]


def _checked(path: str) -> str:
    if not path.endswith(SUFFIX):
        raise InputError(f"{path[:80]!r}: expected the name of a script, which ends in {SUFFIX}")
    return path


def _tasks(file: ScriptFile, text: str, versions: Sequence[str]) -> list[Task]:
    return list(tasks_of(replace(file, text=text), Settings(), versions))
