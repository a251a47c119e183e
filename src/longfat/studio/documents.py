"""Files and texts: listed, opened, saved, checked, and taken from and to other formats."""

from __future__ import annotations

import asyncio
import hashlib
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.errors import InputError
from longfat.studio.attachments import asked_beside
from longfat.studio.checked import check
from longfat.studio.formats import STUDY_SUFFIXES, from_study, suffix_of, to_study
from longfat.studio.http_error import Refusal
from longfat.studio.listing import list_files
from longfat.studio.requests import asked_name, read_json
from longfat.studio.urls import RUNS
from longfat.study.document import LARGEST_FILE_BYTES
from longfat.study.labs import find_lab
from longfat.study.text import read_text

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from longfat.studio.workspace import Workspace

# A MiniEdit file may be this much larger than the study that it becomes.
_LARGEST_BYTES = 4 * LARGEST_FILE_BYTES

MOST_CONVERSIONS = 2
"""How many files are opened or imported at once."""


class Documents:
    """The documents of a workspace.

    It caches what it last read or wrote of each file. So nobody writes over what
    somebody else, such as an editor, has put there since.

    Args:
        workspace: the folder.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._known: dict[str, str] = {}

    def files(self) -> list[dict[str, Any]]:
        """Return the files that can be opened, as `FileEntry` of the page."""
        return list_files(self._workspace, besides=RUNS)

    def open_file(self, path: str) -> dict[str, Any]:
        """Return a file as `OpenedDocument` of the page.

        Raises:
            InputError: it cannot be read, or is of no format that can be opened.
        """
        is_study = suffix_of(path) in STUDY_SUFFIXES
        content = self._workspace.read(path, most_bytes=_LARGEST_BYTES)
        opened = import_text(_decoded(content, path), name=PurePosixPath(path).name)
        self._known[path] = _digest(content)
        return {**opened, "path": path if is_study else None}

    def save(self, path: str, text: str, *, before: str | None, force: bool) -> tuple[str, ...]:
        """Write a study into a file, in the format that its name tells.

        Args:
            path: the file.
            text: the study's text.
            before: what the page believes to stand in the file, if it says so; by
                default what was last read or written here.
            force: write over the file, whatever stands in it.

        Returns:
            What could not be carried over to the file's format.

        Raises:
            InputError: it cannot be written, the format wants a study without
                problems, or somebody else has changed the file.
        """
        found, warnings = from_study(text, name=path, suffix=suffix_of(path))
        there = self._workspace.read_or_none(path, most_bytes=_LARGEST_BYTES)
        known = self._known.get(path) if before is None else _digest(before.encode())
        content = found.encode()
        if not force and there not in (None, content) and _digest(there or b"") != known:
            changed = "has changed on disk since it was opened" if known else "is there already"
            raise Refusal(f"{path} {changed}: write over it?", status=HTTPStatus.CONFLICT)
        self._workspace.write(path, content)
        self._known[path] = _digest(content)
        return warnings


def open_lab(name: str) -> dict[str, Any]:
    """Return a lab's study as `OpenedDocument` of the page.

    Raises:
        InputError: there is no such lab.
    """
    text = read_text(find_lab(name).study_file)
    return {"name": name, "path": None, "lab": name, "text": text, "warnings": []}


def import_text(text: str, *, name: str) -> dict[str, Any]:
    """Return a text of any format as `OpenedDocument` of the page, as yet without a file.

    Args:
        text: the text.
        name: the name of the file that it comes from, whose suffix tells the format.

    Raises:
        InputError: it cannot be read.
    """
    found, warnings = to_study(text, name=name)
    return {"name": name, "path": None, "lab": None, "text": found, "warnings": list(warnings)}


def document_routes(workspace: Workspace) -> list[BaseRoute]:
    """Return the routes of documents."""
    documents = Documents(workspace)
    # A Mininet script runs in a machine of up to 1 GB.
    machines = asyncio.Semaphore(MOST_CONVERSIONS)

    async def files(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(documents.files))

    async def opened(request: Request) -> Response:
        path, lab = asked_name(request, "path"), asked_name(request, "lab")
        if (path is None) == (lab is None):
            raise InputError("the URL's query needs either path=... or lab=...")
        if lab is not None:
            return JSONResponse(await run_in_threadpool(open_lab, lab))
        async with machines:
            return JSONResponse(await run_in_threadpool(documents.open_file, path or ""))

    async def save(request: Request) -> Response:
        asked = await read_json(request)
        path = asked.name("path")
        warnings = await run_in_threadpool(
            documents.save,
            path,
            asked.text("text"),
            before=asked.maybe_text("before"),
            force=asked.boolean("force"),
        )
        return JSONResponse({"path": path, "warnings": list(warnings)})

    async def checked(request: Request) -> Response:
        asked = await read_json(request)
        text, name = asked.text("text"), asked.name("name")
        beside = asked_beside(asked, workspace)
        return JSONResponse(await run_in_threadpool(check, text, name=name, beside=beside))

    async def imported(request: Request) -> Response:
        asked = await read_json(request)
        text, name = asked.text("text"), asked.name("name")
        async with machines:
            return JSONResponse(await run_in_threadpool(import_text, text, name=name))

    async def exported(request: Request) -> Response:
        asked = await read_json(request)
        text, name, suffix = asked.text("text"), asked.name("name"), asked.name("suffix")
        found, warnings = await run_in_threadpool(from_study, text, name=name, suffix=suffix)
        return JSONResponse({"text": found, "warnings": list(warnings)})

    return [
        Route("/api/files", files, methods=["GET"]),
        Route("/api/document", opened, methods=["GET"]),
        Route("/api/document", save, methods=["PUT"]),
        Route("/api/check", checked, methods=["POST"]),
        Route("/api/import", imported, methods=["POST"]),
        Route("/api/export", exported, methods=["POST"]),
    ]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file is not UTF-8") from None
