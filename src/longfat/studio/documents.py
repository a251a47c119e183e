"""Files and texts: listed, opened, saved, checked, converted, and made from templates."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypedDict

from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.studio.formats import (
    OPENED_SUFFIXES,
    STUDY_SUFFIXES,
    check_size,
    from_study,
    list_files,
    runs_machine,
    suffix_of,
    to_study,
)
from longfat.studio.guarded_files import Base, GuardedFiles, SaveRequest
from longfat.studio.http import RUNS, JsonAnswer, Name, query_text, read_request
from longfat.studio.machine_queue import MachineAccess
from longfat.studio.study_view import check
from longfat.studio.threads import run_in_threadpool
from longfat.study.document import MAX_FILE_BYTES
from longfat.study.file_reader import FileReader, FolderReader, no_files
from longfat.study.schema import study_schema
from longfat.study.templates import TEMPLATES, make_template, practice_networks
from longfat.study.text import read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from longfat.studio.extension import LabFiles
    from longfat.studio.formats import FileEntry
    from longfat.studio.machine_queue import Member
    from longfat.studio.threads import StudyReader
    from longfat.studio.workspace import Workspace
    from longfat.study.templates import PracticeNetwork, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """A request about the text of a study.

    Attributes:
        name: the name of its document.
        text: the text.
    """

    name: Name
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRequest(StudyRequest):
    """A request about a document, which may name files beside it.

    Attributes:
        path: its file below the workspace; null for a lab or a document that is not saved yet.
        lab: its lab; likewise.
    """

    path: str | None = None
    lab: Name | None = None

    def files_beside(self, workspace: Workspace) -> FileReader:
        """Return a reader of the files beside the document."""
        return document_beside(workspace, path=self.path, lab=self.lab)


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveDocumentRequest(SaveRequest):
    """A request to save a document.

    Attributes:
        path: its file below the workspace.
    """

    path: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest(StudyRequest):
    """A request to convert a study.

    Attributes:
        suffix: the ending of the other format's files.
    """

    suffix: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRequest:
    """A request for a study by a template.

    Attributes:
        template: the name of the template, or of a network of practice.
        values: its parameters as they were typed, by key; the default for an empty one.
    """

    template: Name
    values: dict[str, str] = field(default_factory=dict)


def document_beside(workspace: Workspace, *, path: str | None, lab: str | None) -> FileReader:
    """Return a reader of the files beside a document; see `DocumentRequest`."""
    if path is None and lab is None:
        return no_files

    def folder() -> Path:
        if path is None:
            return workspace.labs.find(lab or "").folder
        above = path.rpartition("/")[0]
        return workspace.folder(above) if above else workspace.root

    if path is None:
        return FolderReader(folder)  # the image of a lab is not the student's
    return FolderReader(folder, find_image=workspace.stores.find_image)


# A MiniEdit file may be this much larger than the study that it becomes.
_MAX_BYTES = 4 * MAX_FILE_BYTES


MAX_CONVERSIONS = 2
"""How many files are opened or imported at once."""


class OpenedDocument(TypedDict):
    """A document that was opened.

    Attributes:
        name: the name of the tab.
        path: where it is saved; null for a lab and for what was converted from another format.
        version: the version of its file, to be sent with what is saved; null if it has none.
        lab: its lab; null if it is none.
        text: its text.
        warnings: the parts of a MiniEdit file or Mininet script that could not be converted.
    """

    name: str
    path: str | None
    version: str | None
    lab: str | None
    text: str
    warnings: list[str]


class SavedDocument(TypedDict):
    """A document that was saved.

    Attributes:
        path: its file.
        version: the file's version.
        warnings: what could not be converted to the file's format.
    """

    path: str
    version: str
    warnings: list[str]


class ExportedDocument(TypedDict):
    """A study in another format.

    Attributes:
        text: the content of the file.
        warnings: what could not be converted.
    """

    text: str
    warnings: list[str]


class TemplateParameter(TypedDict):
    """A parameter of a template.

    Attributes:
        key: its key.
        label: its label.
        help: what it means.
        limits: such as `1 to 128`.
        default: the default, as it is typed.
    """

    key: str
    label: str
    help: str
    limits: str
    default: str


class TemplateInfo(TypedDict):
    """A study to begin with.

    Attributes:
        kind: a template with parameters, or a network of practice, which has none.
        name: its name.
        title: its title.
        help: what it is.
        parameters: its parameters.
    """

    kind: Literal["template", "practice"]
    name: str
    title: str
    help: str
    parameters: list[TemplateParameter]


class Documents:
    """The documents of a workspace.

    Args:
        workspace: the folder.
        machines: the queue for machines, to run a Mininet script.
        lab_files: the user's files of labs, by the labs' names.
    """

    def __init__(
        self,
        workspace: Workspace,
        machines: MachineAccess,
        lab_files: Mapping[str, LabFiles] = MappingProxyType({}),
    ) -> None:
        self._workspace = workspace
        self._guarded = GuardedFiles(workspace, most_bytes=_MAX_BYTES)
        self._machines = machines
        self._lab_files = lab_files

    def files(self) -> list[FileEntry]:
        """Return the files that can be opened."""
        return list_files(self._workspace, excluded=RUNS)

    def open_file(self, path: str) -> OpenedDocument:
        """Open a file.

        Raises:
            InputError: it cannot be read, or is of no format that can be opened.
            HttpError: as of `import_text`.
        """
        is_study = suffix_of(path) in STUDY_SUFFIXES
        text, version = self._guarded.read(path)
        opened = import_text(text, name=PurePosixPath(path).name, machines=self._machines)
        labs = (name for name, files in self._lab_files.items() if files.study_path == path)
        opened["lab"] = next(labs, None)
        if is_study:
            opened["path"], opened["version"] = path, version
        return opened

    def open_lab(self, name: str) -> OpenedDocument:
        """Open a lab's study.

        For a lab with files of the user's own it is one of these.

        Raises:
            InputError: there is no such lab.
        """
        if files := self._lab_files.get(name):
            files.begin()
            return self.open_file(files.study_path)
        text = read_text(self._workspace.labs.find(name).study_file)
        return {**unsaved_document(name, text), "lab": name}

    def save(self, path: str, text: str, *, base: Base) -> SavedDocument:
        """Write a study into a file, in the format given by its suffix.

        Args:
            path: the file.
            text: the study's text.
            base: what it is based on.

        Returns:
            The new version, and what could not be converted to
            the file's format.

        Raises:
            InputError: it cannot be written, the format needs a study without problems, or
                the file was changed by something else.
            HttpError: the workspace is full.
        """
        found, warnings = from_study(text, name=path, suffix=suffix_of(path))
        reserves = (one.reserve_bytes for one in self._lab_files.values() if path in one.paths)
        version = self._guarded.write(path, found, base=base, reserve_bytes=next(reserves, 0))
        return {"path": path, "version": version, "warnings": list(warnings)}

    def delete(self, path: str) -> None:
        """Delete a file that can be opened.

        Raises:
            InputError: there is no such file, or it is none that the page can open.
        """
        if PurePosixPath(path).suffix not in OPENED_SUFFIXES or path.startswith(f"{RUNS}/"):
            raise InputError(f"{path[:80]!r}: only studies, drawings and scripts can be deleted")
        self._workspace.remove(path)


def unsaved_document(name: str, text: str, warnings: Iterable[str] = ()) -> OpenedDocument:
    """Return a text as a document, as yet without a file."""
    return {
        "name": name,
        "path": None,
        "version": None,
        "lab": None,
        "text": text,
        "warnings": list(warnings),
    }


def import_text(text: str, *, name: str, machines: MachineAccess) -> OpenedDocument:
    """Return a text of any format as a document, as yet without a file.

    Args:
        text: the text.
        name: the name of the file that it comes from, whose suffix gives the format.
        machines: the queue for machines, to run a Mininet script.

    Raises:
        InputError: it cannot be read.
        HttpError: it is a script, and the request for a machine is queued.
    """
    with machines.turn(f"script {name}") if runs_machine(name) else contextlib.nullcontext():
        found, warnings = to_study(text, name=name)
    return unsaved_document(name, found, warnings)


def document_routes(
    workspace: Workspace,
    *,
    reader: StudyReader,
    member: Member | None = None,
    lab_files: Mapping[str, LabFiles] = MappingProxyType({}),
) -> list[BaseRoute]:
    """Return the routes of documents.

    Args:
        workspace: the folder.
        reader: reads studies.
        member: the member of a class in the queue for machines; None without a class.
        lab_files: the user's files of labs, by the labs' names.
    """
    access = MachineAccess(member)
    documents = Documents(workspace, access, lab_files)
    # A Mininet script runs in a machine of up to 1 GB.
    conversions = asyncio.Semaphore(MAX_CONVERSIONS)

    async def files(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(documents.files))

    async def opened(request: Request) -> Response:
        path, lab = query_text(request, "path"), query_text(request, "lab")
        if (path is None) == (lab is None):
            raise InputError("the URL's query needs either path=... or lab=...")
        if lab is not None:
            return JSONResponse(await run_in_threadpool(documents.open_lab, lab))
        async with conversions:
            return JSONResponse(await run_in_threadpool(documents.open_file, path or ""))

    async def save(request: Request) -> Response:
        body = await read_request(request, SaveDocumentRequest)
        path, text = body.path, body.text
        if suffix_of(path) not in STUDY_SUFFIXES:
            await reader.run(partial(check_size, text, name=path))
        return JSONResponse(await run_in_threadpool(documents.save, path, text, base=body.base()))

    async def delete(request: Request) -> Response:
        await run_in_threadpool(documents.delete, query_text(request, "path") or "")
        return JSONResponse({})

    async def schema(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(study_schema))

    async def imported(request: Request) -> Response:
        body = await read_request(request, StudyRequest)
        async with conversions:
            return JSONResponse(
                await run_in_threadpool(import_text, body.text, name=body.name, machines=access)
            )

    return [
        Route("/api/files", files, methods=["GET"]),
        Route("/api/document", opened, methods=["GET"]),
        Route("/api/document", save, methods=["PUT"]),
        Route("/api/document", delete, methods=["DELETE"]),
        Route(
            "/api/check", partial(_checked, workspace=workspace, reader=reader), methods=["POST"]
        ),
        Route("/api/schema", schema, methods=["GET"]),
        Route("/api/import", imported, methods=["POST"]),
        Route("/api/export", partial(_exported, reader=reader), methods=["POST"]),
    ]


async def _checked(request: Request, *, workspace: Workspace, reader: StudyReader) -> Response:
    body = await read_request(request, DocumentRequest)
    beside = body.files_beside(workspace)
    # The response is encoded in the thread, too: it may have some megabytes.
    return await reader.run(
        lambda limits: JsonAnswer(check(body.text, name=body.name, beside=beside, limits=limits))
    )


async def _exported(request: Request, *, reader: StudyReader) -> Response:
    body = await read_request(request, ExportRequest)
    text, name, suffix = body.text, body.name, body.suffix
    if suffix not in STUDY_SUFFIXES:
        await reader.run(partial(check_size, text, name=name))
    converted, warnings = await run_in_threadpool(from_study, text, name=name, suffix=suffix)
    answer: ExportedDocument = {"text": converted, "warnings": list(warnings)}
    return JSONResponse(answer)


def from_template(name: str, values: Mapping[str, str]) -> OpenedDocument:
    """Return the study of a template or a network of practice.

    Args:
        name: the template, or the network.
        values: its parameters as they were typed, by key; the default for an empty one.

    Raises:
        InputError: there is no such template, or a parameter is invalid.
    """
    networks = practice_networks()
    if name in networks:
        return unsaved_document(name, networks[name].text)
    if name not in TEMPLATES:
        names = [*TEMPLATES, *networks]
        raise InputError(
            f"there is no template {name!r}{nearest(name, names)} (there are: {listed(names)})"
        )
    given = {key: value for key, value in values.items() if value != ""}
    text = make_template(TEMPLATES[name], given).text()
    return unsaved_document(name, text)


def template_info(template: type[Template]) -> TemplateInfo:
    """Return a template's description."""
    return {
        "kind": "template",
        "name": template.name,
        "title": template.title,
        "help": template.help,
        "parameters": [
            {
                "key": key,
                "label": field.about.label,
                "help": field.about.help,
                "limits": field.kind.limits,
                "default": field.kind.text(field.default),
            }
            for key, field in fields_of(template).items()
        ],
    }


def practice_info(network: PracticeNetwork) -> TemplateInfo:
    """Return a description of a network of practice."""
    return {
        "kind": "practice",
        "name": network.name,
        "title": network.title,
        "help": network.question,
        "parameters": [],
    }


def template_routes() -> list[BaseRoute]:
    """Return the routes of templates."""

    async def templates(request: Request) -> Response:
        del request
        practice = await run_in_threadpool(practice_networks)
        return JSONResponse(
            [
                *map(template_info, TEMPLATES.values()),
                *map(practice_info, practice.values()),
            ]
        )

    async def made(request: Request) -> Response:
        body = await read_request(request, TemplateRequest)
        return JSONResponse(await run_in_threadpool(from_template, body.template, body.values))

    return [
        Route("/api/templates", templates, methods=["GET"]),
        Route("/api/templates", made, methods=["POST"]),
    ]
