"""The routes of exercises: descriptions, files to fill in, checks, hints, submission.

Changes are sent to other pages of the workspace on the WebSocket of progress.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from longfat.studio.guarded_files import SaveRequest
from longfat.studio.http import Name, Names, PageName, read_request
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from starlette.requests import Request

    from longfat.studio.broadcast import Pages
    from longfat_class.studio.assignments.checks import Checks
    from longfat_class.studio.assignments.events import Exercises, SavedInput


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRequest(SaveRequest):
    """A request to save a part of an exercise.

    Attributes:
        file: the file of the part.
        page: the page that does it.
    """

    file: Name
    page: PageName = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRequest(SaveRequest):
    """A request to save the answer to a question.

    Attributes:
        question: the question.
        page: the page that does it.
    """

    question: Name
    page: PageName = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """A request to check exercises.

    Attributes:
        exercises: their names; all, if empty.
    """

    exercises: Names = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HintRequest:
    """A request for the next hint.

    Attributes:
        exercise: the exercise.
    """

    exercise: Name


_PLACE = "/api/labs/{name}"


def exercise_routes(checks: Checks, pages: Pages[Any]) -> list[BaseRoute]:
    """Return the routes of exercises.

    Args:
        checks: the exercises and their checks.
        pages: the pages that are notified of input.
    """
    return [*_file_routes(checks, pages), *_check_routes(checks)]


def _file_routes(checks: Checks, pages: Pages[Any]) -> list[BaseRoute]:
    def whole(lab: str) -> Exercises:
        return checks.sheet(lab).to_json(check=checks.info(lab), counts=checks.counts(lab))

    async def show(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(whole, request.path_params["name"]))

    async def part(request: Request) -> Response:
        body = await read_request(request, PartRequest)
        lab, page, file, text = request.path_params["name"], body.page, body.file, body.text
        sheet = checks.sheet(lab)

        def write() -> SavedInput:
            with sheet.workspace.lock:  # so that events are in the order of the saves
                version = sheet.set_part(file, text, base=body.base())
                saved: SavedInput = {"version": version, "digests": sheet.digests()}
                pages.send(
                    {
                        "event": "part",
                        "page": page,
                        "lab": lab,
                        "file": file,
                        "text": text,
                        **saved,
                    }
                )
            return saved

        return JSONResponse(await run_in_threadpool(write))

    async def answer(request: Request) -> Response:
        body = await read_request(request, AnswerRequest)
        lab, page = request.path_params["name"], body.page
        question, text = body.question, body.text
        sheet = checks.sheet(lab)

        def write() -> SavedInput:
            with sheet.workspace.lock:
                version = sheet.set_answer(question, text, base=body.base())
                saved: SavedInput = {"version": version, "digests": sheet.digests()}
                pages.send(
                    {
                        "event": "answer",
                        "page": page,
                        "lab": lab,
                        "question": question,
                        "text": text,
                        **saved,
                    }
                )
            return saved

        return JSONResponse(await run_in_threadpool(write))

    async def submission(request: Request) -> Response:
        sheet = checks.sheet(request.path_params["name"])
        content = await run_in_threadpool(sheet.pack)
        name = f"{sheet.place}-{sheet.submitter.folder}"
        headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
        return Response(content, media_type="application/zip", headers=headers)

    return [
        Route(f"{_PLACE}/exercises", show, methods=["GET"]),
        Route(f"{_PLACE}/part", part, methods=["PUT"]),
        Route(f"{_PLACE}/answer", answer, methods=["PUT"]),
        Route(f"{_PLACE}/submission", submission, methods=["GET"]),
    ]


def _check_routes(checks: Checks) -> list[BaseRoute]:
    async def check(request: Request) -> Response:
        names = (await read_request(request, CheckRequest)).exercises
        found = await run_in_threadpool(checks.start, request.path_params["name"], names)
        return JSONResponse(found, status_code=HTTPStatus.CREATED)

    async def cancel(request: Request) -> Response:
        await run_in_threadpool(checks.cancel, request.path_params["name"])
        return JSONResponse({})

    async def hint(request: Request) -> Response:
        name = (await read_request(request, HintRequest)).exercise
        await run_in_threadpool(checks.hint, request.path_params["name"], name)
        return JSONResponse({})

    return [
        Route(f"{_PLACE}/check", check, methods=["POST"]),
        Route(f"{_PLACE}/check", cancel, methods=["DELETE"]),
        Route(f"{_PLACE}/hint", hint, methods=["POST"]),
    ]
