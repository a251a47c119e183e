"""The routes of runs: lists, figures, diagnoses, reports, and shared files."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from longfat.analysis.advice.diagnosis import diagnose
from longfat.errors import InputError
from longfat.output.report.record import PAGE, PAPER
from longfat.studio.advice import advice_of
from longfat.studio.documents import unsaved_document
from longfat.studio.http_error import HttpError
from longfat.studio.panels import panels_of
from longfat.studio.requests import asked_language, asked_name, asked_names
from longfat.studio.run_recording import (
    check_kept,
    is_live,
    kept_recording,
    kept_series,
    run_recording,
)
from longfat.studio.saved_runs import KeptRuns, delete_kept, load_kept
from longfat.studio.share import case_order, shared_page, study_of
from longfat.studio.threads import run_in_threadpool
from longfat.study import STUDY_FILE
from longfat.study.document import MAX_FILE_BYTES
from longfat.study.formats.write import study_text

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from starlette.requests import Request

    from longfat.execution.runs import Run
    from longfat.studio.workspace import Workspace
    from longfat.study.text import LanguageChoice

REPORT_POLICY = "; ".join(
    (
        # A report is a file of the workspace: it has an opaque origin, without our cookie.
        "sandbox allow-scripts allow-downloads allow-popups",
        "default-src 'none'",
        # Its own policy, in the page, allows only scripts with the listed hashes.
        "script-src 'unsafe-inline'",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
"""The policy of a report shown by the studio."""

_TYPES = {PAGE: "text/html; charset=utf-8", PAPER: "application/pdf"}
_LARGEST_REPORT = 256 * 1024**2
_MOST_RUNS = 1000
_ODD = re.compile(r"[^\w.-]+", re.ASCII)


def run_routes(workspace: Workspace, *, drawing: threading.Lock) -> list[BaseRoute]:
    """Return the routes of runs.

    Args:
        workspace: where the runs are.
        drawing: a lock held while figures are drawn, which is not thread-safe.
    """
    kept = KeptRuns(workspace)

    async def listed(request: Request) -> Response:
        search = asked_name(request, "search") or ""
        return JSONResponse(await run_in_threadpool(kept.entries, search=search))

    async def panels(request: Request) -> Response:
        paths = asked_names(request, "runs")
        return JSONResponse(await run_in_threadpool(_figures, workspace, paths))

    async def diagnosis(request: Request) -> Response:
        (path, *_) = asked_names(request, "run")
        return JSONResponse(await run_in_threadpool(_diagnoses, workspace, path))

    async def share(request: Request) -> Response:
        paths = asked_names(request, "runs")
        language = asked_language(request)
        name, content = await run_in_threadpool(_shared, workspace, paths, language, drawing)
        answer = _report(content.encode(), _TYPES[PAGE])
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}.html"'
        return answer

    async def report(request: Request) -> Response:
        path: str = request.path_params["path"]
        kind = _TYPES.get(path.rpartition("/")[2])
        if kind is None:
            raise HttpError(f"{path}: no report", status=HTTPStatus.NOT_FOUND)
        content = await run_in_threadpool(workspace.read, path, most_bytes=_LARGEST_REPORT)
        return _report(content, kind)

    async def study(request: Request) -> Response:
        (path, *_) = asked_names(request, "run")
        return JSONResponse(await run_in_threadpool(_as_study, workspace, path))

    async def recording(request: Request) -> Response:
        (path, *_) = asked_names(request, "run")
        return JSONResponse(await run_in_threadpool(lambda: _recording(workspace, path)[0]))

    async def recording_series(request: Request) -> Response:
        (path, *_) = asked_names(request, "run")
        _, series = await run_in_threadpool(_recording, workspace, path)
        content = await run_in_threadpool(series)
        return Response(content, media_type="application/octet-stream")

    return [
        Route("/api/runs", listed, methods=["GET"]),
        _delete_route(workspace),
        Route("/api/recording", recording, methods=["GET"]),
        Route("/api/recording-series", recording_series, methods=["GET"]),
        Route("/api/run-study", study, methods=["GET"]),
        Route("/api/panels", panels, methods=["GET"]),
        Route("/api/diagnosis", diagnosis, methods=["GET"]),
        Route("/api/share", share, methods=["GET"]),
        Route("/api/report/{path:path}", report, methods=["GET"]),
    ]


def _delete_route(workspace: Workspace) -> BaseRoute:
    async def delete(request: Request) -> Response:
        for path in asked_names(request, "runs"):
            await run_in_threadpool(delete_kept, workspace, path)
        return JSONResponse({})

    return Route("/api/runs", delete, methods=["DELETE"])


def _report(content: bytes, kind: str) -> Response:
    headers = {"Content-Security-Policy": REPORT_POLICY}
    return Response(content, media_type=kind, headers=headers)


def _load_all(workspace: Workspace, paths: tuple[str, ...]) -> list[Run]:
    if len(paths) > _MOST_RUNS:
        raise InputError(f"{len(paths)} runs at once: choose at most {_MOST_RUNS}")
    return [load_kept(workspace, path) for path in paths]


def _figures(workspace: Workspace, paths: tuple[str, ...]) -> list[dict[str, Any]]:
    with workspace.relative_paths():
        runs = _load_all(workspace, paths)
        cases = case_order(runs, workspace=workspace)
        if all(run.name in cases for run in runs):
            runs.sort(key=lambda run: cases.index(run.name))
        return panels_of(runs, cases)


def _as_study(workspace: Workspace, path: str) -> dict[str, Any]:
    """Return a run as a study, as `OpenedDocument` of the page's `api/types.ts`."""
    with workspace.relative_paths():
        run = load_kept(workspace, path)
        warnings: list[str] = []
        if is_live(run):  # with the changes made by hand
            check_kept(run)
            text = workspace.read(f"{path}/{STUDY_FILE}", most_bytes=MAX_FILE_BYTES).decode()
            warnings = kept_recording(workspace, path)["left_out"]
        else:
            title = f"{run.study or run.folder.parent.name}: {run.name}"
            kept = study_of([run], workspace=workspace)
            layout, drawing = (kept.layout, kept.drawing) if kept else (None, None)
            text = study_text(title=title, case=run.case, layout=layout, drawing=drawing)
    name = f"{run.folder.parent.name.removesuffix('-live')} {run.name}"
    return unsaved_document(name, text, warnings)


def _recording(workspace: Workspace, path: str) -> tuple[dict[str, Any], Callable[[], bytes]]:
    """Return a run as `Recording` of the page's `api/types.ts`, and what returns its series."""
    with workspace.relative_paths():
        run = load_kept(workspace, path)
        if is_live(run):
            check_kept(run)
            return {**kept_recording(workspace, path), "kept": path}, lambda: kept_series(
                workspace, path
            )
        found = run_recording(run)
        return {**found.to_json(), "kept": path}, found.series


def _diagnoses(workspace: Workspace, path: str) -> list[dict[str, Any]]:
    """Return what limited a run's flows, as `RunDiagnosis` of the page's `api/types.ts`."""
    with workspace.relative_paths():
        found = diagnose(load_kept(workspace, path))
    return [{"flow": one.flow, "advice": advice_of(one).to_json()} for one in found]


def _shared(
    workspace: Workspace,
    paths: tuple[str, ...],
    language: LanguageChoice,
    drawing: threading.Lock,
) -> tuple[str, str]:
    """Return the name of a page of runs, and the page."""
    with workspace.relative_paths():
        runs = _load_all(workspace, paths)
        with drawing:
            page = shared_page(runs, workspace=workspace, language=language)
    return _ODD.sub("-", runs[0].folder.parent.name), page
