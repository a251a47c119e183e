"""All jobs of a server, their watchers, and their routes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, TypedDict

import anyio
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from longfat.errors import InputError
from longfat.studio.broadcast import until_gone
from longfat.studio.http import HttpError, json_text, read_request
from longfat.studio.job import Job, JobRequest, make_plan
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from longfat.studio.job import JobInfo
    from longfat.studio.machine_queue import Member
    from longfat.studio.workspace import Workspace

_MAX_KEPT = 50
_MAX_RUNNING = 8
_JOIN_S = 30.0
# Progress comes a few times a second from each machine; a page need not see more.
_MIN_GAP_S = 0.1


class JobEvent(TypedDict):
    """A job has begun or changed; at first one for every job."""

    event: Literal["job"]
    job: JobInfo


class Watcher:
    """A subscriber to changes of jobs, in the event loop.

    Args:
        loop: the loop.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._something = asyncio.Event()
        self._changed: dict[str, None] = {}

    def note(self, number: str) -> None:
        """Record that a job has changed; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._noted, number)

    def _noted(self, number: str) -> None:
        self._changed[number] = None
        self._something.set()

    async def changes(self) -> list[str]:
        """Wait for changes, and return the numbers of the jobs changed since the last call."""
        await self._something.wait()
        self._something.clear()
        changed, self._changed = list(self._changed), {}
        return changed


class Jobs:
    """The jobs of a server; `close` stops them all.

    Args:
        workspace: the folder that takes their runs.
        drawing: a lock held while figures are drawn.
        member: the member of a class in the queue for machines; None without a class.
    """

    def __init__(
        self, workspace: Workspace, *, drawing: threading.Lock, member: Member | None = None
    ) -> None:
        self._workspace = workspace
        self._member = member
        if member is not None:
            member.queue.join(member.name, self._machines)
        self._drawing = drawing
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._count = itertools.count(1)
        self._watchers: set[Watcher] = set()
        self._closed = False

    def start(self, requested: JobRequest) -> Job:
        """Start a job.

        Args:
            requested: the request.

        Raises:
            InputError: the study is invalid, or its folder is in use by another job.
            HttpError: the workspace is full.
        """
        self._workspace.disk.check()
        plan = make_plan(requested, workspace=self._workspace)
        with self._lock:
            running = [job for job in self._jobs.values() if job.is_running]
            if any(job.plan.place == plan.place for job in running):
                raise HttpError(
                    f"cases of {plan.study.name} already run: wait for them, or cancel them",
                    status=HTTPStatus.CONFLICT,
                )
            if self._closed or len(running) >= _MAX_RUNNING:
                raise HttpError(
                    f"{len(running)} jobs are already running: wait for one of them",
                    status=HTTPStatus.CONFLICT,
                )
            plan.keep_texts(self._workspace)
            job = Job(
                str(next(self._count)),
                plan,
                drawing=self._drawing,
                on_change=self._notify,
                member=self._member,
                disk=self._workspace.disk,
                stores=self._workspace.stores,
            )
            self._jobs[job.number] = job
            ended = [number for number, one in self._jobs.items() if not one.is_running]
            for number in ended[: max(0, len(self._jobs) - _MAX_KEPT)]:
                del self._jobs[number]
        job.start()
        self._notify(job.number)
        return job

    def find(self, number: str) -> Job:
        """Return a job.

        Raises:
            InputError: there is no such job.
        """
        with self._lock:
            job = self._jobs.get(number)
        if job is None:
            raise HttpError(f"there is no job {number!r}", status=HTTPStatus.NOT_FOUND)
        return job

    def infos(self) -> list[JobInfo]:
        """Return all jobs, the first one first."""
        with self._lock:
            jobs = list(self._jobs.values())
        return [job.info() for job in jobs]

    def stop(self) -> None:
        """Stop all of them, and start no more."""
        with self._lock:
            self._closed = True
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()

    def close(self) -> None:
        """Stop all of them, and wait until their machines have ended."""
        self.stop()
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.join(timeout_s=_JOIN_S)

    def _machines(self) -> int:
        return sum(job.has_machine for job in list(self._jobs.values()))

    def watch(self) -> Watcher:
        """Return a new subscriber to changes; to be called in the event loop."""
        watcher = Watcher(asyncio.get_running_loop())
        with self._lock:
            self._watchers.add(watcher)
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        """Remove a subscriber."""
        with self._lock:
            self._watchers.discard(watcher)

    def _notify(self, number: str) -> None:
        with self._lock:
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher.note(number)


def job_routes(jobs: Jobs) -> list[BaseRoute]:
    """Return the routes of jobs."""

    async def listed(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(jobs.infos))

    async def start(request: Request) -> Response:
        requested = await read_request(request, JobRequest)
        job = await run_in_threadpool(jobs.start, requested)
        return JSONResponse(job.info(), status_code=HTTPStatus.CREATED)

    async def cancel(request: Request) -> Response:
        job = jobs.find(request.path_params["number"])
        job.cancel()
        return JSONResponse(job.info())

    async def events(socket: WebSocket) -> None:
        await socket.accept()
        watcher = jobs.watch()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_send_changes, socket, jobs, watcher)
                await until_gone(socket)
                tasks.cancel_scope.cancel()
        finally:
            jobs.unwatch(watcher)

    return [
        Route("/api/jobs", listed, methods=["GET"]),
        Route("/api/jobs", start, methods=["POST"]),
        Route("/api/jobs/{number}", cancel, methods=["DELETE"]),
        WebSocketRoute("/ws/jobs", events),
    ]


async def _send_changes(socket: WebSocket, jobs: Jobs, watcher: Watcher) -> None:
    """Send every job, and then each that has changed, until the page disconnects."""
    # Waiting for messages also detects that the page has disconnected.
    with contextlib.suppress(WebSocketDisconnect):
        for info in await run_in_threadpool(jobs.infos):
            await _send(socket, info)
        while True:
            for number in await watcher.changes():
                with contextlib.suppress(InputError):  # so old that it was dropped
                    await _send(socket, jobs.find(number).info())
            await asyncio.sleep(_MIN_GAP_S)


async def _send(socket: WebSocket, info: JobInfo) -> None:
    event: JobEvent = {"event": "job", "job": info}
    await socket.send_text(json_text(event))
