"""Threads for requests and for reading studies: each workspace has a number of its own.

A request that waits, for a disk or a machine, holds a thread. If all workspaces of a class shared
them, one student's requests could make all others wait. Reading a study takes CPU time, which all
workspaces share: it has limits, and each workspace reads one study at a time.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio
import anyio.to_thread

from longfat.errors import LongfatError
from longfat.studio.http import HttpError
from longfat.study.expansion import ExpansionLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

P = ParamSpec("P")
T = TypeVar("T")

MAX_THREADS = 8
"""How many threads the requests of a workspace have."""

_limiter: ContextVar[anyio.CapacityLimiter | None] = ContextVar("limiter", default=None)


async def run_in_threadpool(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread of the workspace that the request is for."""
    call = partial(function, *args, **kwargs)
    return await anyio.to_thread.run_sync(call, limiter=_limiter.get())


class ThreadMiddleware:
    """ASGI middleware that gives the requests of an application threads of their own.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._limiter: anyio.CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(MAX_THREADS)
        before = _limiter.set(self._limiter)
        try:
            await self._app(scope, receive, send)
        finally:
            _limiter.reset(before)


STUDIO_LIMITS = ExpansionLimits(
    max_cases=2_000,
    max_values=200_000,
    remedy="leave some of them out, or use `longfat run` in a terminal, which takes more",
)
"""How far a study may expand in the studio: about two seconds of CPU time."""

MAX_WAITING = 8
"""How many requests of a workspace may wait for another one's study to be read."""

DEADLINE_S = 10.0

# All in one process, of which one at a time computes.
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="study reader")


class BusyError(LongfatError):
    """The studio has no time to read a study; its status is 503."""


class StudyReader:
    """Reads the studies of a workspace, one at a time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._requests = 0

    async def run(self, read: Callable[[ExpansionLimits], T]) -> T:
        """Read a study in a thread, when it is its turn.

        Args:
            read: reads it within limits, in a thread.

        Raises:
            HttpError: too many requests wait already.
            BusyError: it takes too long.
        """
        if self._requests > MAX_WAITING:
            raise HttpError(
                f"{self._requests} studies are being read already: try again in a moment",
                status=HTTPStatus.TOO_MANY_REQUESTS,
            )
        end_s = time.monotonic() + DEADLINE_S

        def check_deadline() -> None:
            if time.monotonic() > end_s:
                raise _too_slow()

        limits = replace(STUDIO_LIMITS, on_case=check_deadline)
        self._requests += 1
        try:
            async with asyncio.timeout(DEADLINE_S), self._lock:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(_THREADS, read, limits)
        except TimeoutError:
            raise _too_slow() from None
        finally:
            self._requests -= 1


def _too_slow() -> BusyError:
    return BusyError(
        f"the study was not read within {DEADLINE_S:g} s: it has too many cases, or the studio is "
        "busy; try again, or use `longfat check` in a terminal"
    )
