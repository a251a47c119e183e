"""The files beside a document of the studio, which its study names in `files`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.study.file_reader import FileReader, FolderReader, no_files

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.studio.requests import RequestBody
    from longfat.studio.workspace import Workspace


def beside_of(body: RequestBody, workspace: Workspace) -> FileReader:
    """Return a reader of the files beside a request's document.

    Args:
        body: the request; `path` is the document's file below the workspace, or else `lab`
            is its lab. A document that is not saved yet has neither.
        workspace: the workspace.
    """
    return document_beside(workspace, path=body.maybe_text("path"), lab=body.maybe_name("lab"))


def document_beside(workspace: Workspace, *, path: str | None, lab: str | None) -> FileReader:
    """Return a reader of the files beside a document; see `beside_of`."""
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
