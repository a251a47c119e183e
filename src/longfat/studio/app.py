"""The studio as one application: all routes, behind the access check."""

from __future__ import annotations

import contextlib
import secrets
import threading
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from longfat import __version__
from longfat.engine import kernel as kernels
from longfat.errors import HostError, LongfatError
from longfat.studio.auth import AuthMiddleware, Keys, key_tag, session_of
from longfat.studio.documents import document_routes, template_routes
from longfat.studio.drafts import Drafts, ServerIdentity, draft_routes
from longfat.studio.extension import Extension
from longfat.studio.http import HttpError, JsonAnswer, bug, http_error, longfat_error, read_request
from longfat.studio.job import JobInfo
from longfat.studio.jobs import Jobs, job_routes
from longfat.studio.labs import LabCatalog, LabEntry, lab_routes
from longfat.studio.live.events import SessionInfo
from longfat.studio.live.routes import live_routes
from longfat.studio.live.session import LiveSessions
from longfat.studio.packets import packet_routes
from longfat.studio.progress import progress_routes
from longfat.studio.runs import run_routes
from longfat.studio.threads import StudyReader, ThreadMiddleware, run_in_threadpool
from longfat.studio.views import Fields, form_fields
from longfat.studio.workspace import Workspace
from longfat.study.labs import Labs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from longfat.studio.auth import Keys
    from longfat.studio.machine_queue import Member

_INDEX = "index.html"
_HEAD_END = "</head>"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOutRequest:
    """A request to log out.

    Attributes:
        others: log out the other browsers, not this one.
    """

    others: bool = False


def login_routes(keys: Keys, *, static: Path) -> list[BaseRoute]:
    """Return the routes.

    Args:
        keys: what grants access.
        static: the folder of the built page.
    """

    async def page(request: Request) -> Response:
        """Return the page, with the key by which it verifies its server from then on."""
        try:
            text = await run_in_threadpool((static / _INDEX).read_text, encoding="utf-8")
        except OSError as error:
            raise HostError(f"the studio's page cannot be read: {error.strerror}") from None
        return HTMLResponse(text.replace(_HEAD_END, key_tag(request, keys) + _HEAD_END, 1))

    async def log_out(request: Request) -> Response:
        body = await read_request(request, LogOutRequest)
        if (session := session_of(request)) is None:
            raise HttpError(
                "a token has no session to end; for a new token restart the studio with "
                "--new-token",
                status=HTTPStatus.CONFLICT,
            )
        if body.others:
            return JSONResponse({"ended": keys.credentials.sessions.end_others(session)})
        keys.credentials.sessions.end(session)
        response = JSONResponse({"ended": 1})
        keys.delete_cookie(response)
        return response

    return [
        Route("/", page, methods=["GET"]),
        Route(f"/{_INDEX}", page, methods=["GET"]),
        Route("/api/log-out", log_out, methods=["POST"]),
    ]


STATIC = Path(__file__).with_name("static")
"""The built page."""

# Their names change with their content.
_HASHED = "assets/"
_COMPRESSION = 3  # a third of the time of the highest level, for a tenth more bytes
_FOR_EVER = "public, max-age=31536000, immutable"


class _PageFiles(StaticFiles):
    """The files of the built page, of which a browser may cache those with hashed names."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        if path.startswith(_HASHED):
            answer.headers["Cache-Control"] = _FOR_EVER.replace("public", "private")
        return answer


class KernelInfo(TypedDict):
    """A kernel that is built.

    Attributes:
        series: its series.
        release: its release.
    """

    series: str
    release: str


class ServerState(TypedDict):
    """The state of the server when a page is opened.

    Attributes:
        version: the version of longfat.
        workspace: the workspace's folder.
        kernels: the kernels that can be used.
        labs: the labs.
        sessions: the running sessions.
        jobs: the jobs.
        fields: the declared fields.
    """

    version: str
    workspace: str
    kernels: list[KernelInfo]
    labs: list[LabEntry]
    sessions: list[SessionInfo]
    jobs: list[JobInfo]
    fields: Fields


def make_app(
    *,
    workspace: Path,
    keys: Keys,
    static: Path = STATIC,
    drafts: Path | None = None,
    member: Member | None = None,
    catalog: LabCatalog | None = None,
    extension: Extension | None = None,
    most_bytes: float | None = None,
    caches: Path | None = None,
) -> Starlette:
    """Return the application.

    Args:
        workspace: the one folder that is read and written.
        keys: what grants access.
        static: the folder of the built page.
        drafts: the folder of the drafts; None to keep them in memory.
        member: the member of a class in the queue for machines; None without a class.
        catalog: the labs, where several applications share them.
        extension: what a product adds; None without one.
        most_bytes: the disk quota of the workspace; None if there is no limit.
        caches: the folder of its cached results and images; None for the user's own caches.

    Returns:
        The application. Its `state.stop`, which may be called at any time and from any
        thread, stops all that runs in it, so that no waiting request delays the shutdown;
        `state.progress` is the progress in the labs.

    Raises:
        InputError: there is no such workspace.
    """
    extension = extension or Extension()
    ours = Workspace(workspace, labs=Labs(extension.labs), most_bytes=most_bytes, caches=caches)
    if member is not None:
        ours.stores.has_machine = lambda: member.queue.state(member.name)[0] > 0
    drawing = threading.Lock()
    jobs = Jobs(ours, drawing=drawing, member=member)
    sessions = LiveSessions(workspace=ours, member=member)
    part = extension.part(ours, member=member)
    labs = catalog or LabCatalog(ours.labs, with_exercises=part.lab_files)
    reader = StudyReader()
    server: ServerIdentity = {
        "instance": secrets.token_hex(8),
        "workspace": keys.workspace,
        "path": str(ours.root),
    }

    async def state(request: Request) -> Response:
        del request
        return JsonAnswer(await run_in_threadpool(lambda: _state(ours, labs, sessions, jobs)))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        try:
            yield
        finally:
            await run_in_threadpool(jobs.close)
            await run_in_threadpool(part.close)
            await run_in_threadpool(sessions.close)

    def stop() -> None:
        jobs.stop()
        part.stop()
        sessions.stop()

    files = _PageFiles(directory=static, check_dir=False)
    app = Starlette(
        routes=[
            Route("/api/state", state, methods=["GET"]),
            *document_routes(ours, reader=reader, member=member, lab_files=part.lab_files),
            *template_routes(),
            *draft_routes(Drafts(drafts, disk=ours.disk), server=server),
            *lab_routes(labs),
            *progress_routes(part.progress),
            *part.routes,
            *job_routes(jobs),
            *run_routes(ours, drawing=drawing),
            *packet_routes(ours, sessions),
            *live_routes(sessions, workspace=ours),
            *login_routes(keys, static=static),
            # Only these files are compressed: they contain no secrets.
            Mount("/", GZipMiddleware(files, compresslevel=_COMPRESSION)),
        ],
        middleware=[Middleware(AuthMiddleware, keys=keys), Middleware(ThreadMiddleware)],
        exception_handlers={
            LongfatError: longfat_error,
            HTTPException: http_error,
            Exception: bug,
        },
        lifespan=lifespan,
    )
    app.state.stop = stop
    app.state.progress = part.progress
    return app


def _state(
    workspace: Workspace, catalog: LabCatalog, sessions: LiveSessions, jobs: Jobs
) -> ServerState:
    built = [kernel for kernel in kernels.kernels() if kernels.fits(kernel)]
    return {
        "version": __version__,
        "workspace": str(workspace.root),
        "kernels": [{"series": kernel.series, "release": kernel.release} for kernel in built],
        "labs": catalog.entries(),
        "sessions": sessions.infos(),
        "jobs": jobs.infos(),
        "fields": form_fields(),
    }
