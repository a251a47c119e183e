"""Worker threads for requests: each workspace has a number of its own.

A request that waits, for a disk or a machine, holds a thread. If all workspaces of a class shared
them, one student's requests could make all others wait.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import anyio
import anyio.to_thread

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
