"""Which files of the workspace can be opened: studies, MiniEdit's files, scripts.

The decision is a quick check: a study is a YAML file with a title and a network or cases at
the beginning of lines. Whether it is valid shows when it is opened.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.studio.workspace import Workspace

_KINDS = {
    ".yaml": "study",
    ".yml": "study",
    ".mn": "miniedit",
    ".py": "mininet",
    ".pkt": "packetdrill",
}
OPENED_SUFFIXES = frozenset(_KINDS)
"""The suffixes of files that the page can open."""

_MOST_FILES = 5000
_LARGEST_BYTES = 1024**2

_TITLE = re.compile(rb"^(\xef\xbb\xbf)?[\"']?title[\"']?[ \t]*:", re.MULTILINE)
_BODY = re.compile(rb"^[\"']?(network|cases)[\"']?[ \t]*:", re.MULTILINE)
_MININET = re.compile(rb"^\s*(from|import) +mininet\b", re.MULTILINE)


def list_files(workspace: Workspace, *, besides: str) -> list[dict[str, Any]]:
    """Return the files as `FileEntry` of the page's `api/types.ts`, sorted by depth.

    Args:
        workspace: where to look.
        besides: a folder of it that is left out: the runs', which keep copies of studies.
    """
    found: list[dict[str, Any]] = []
    for folder, files in workspace.walk():
        if folder == besides or folder.startswith(f"{besides}/"):
            continue
        for entry in files:
            kind = _KINDS.get(entry.name[entry.name.rfind(".") :])
            if kind is None:
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                about = entry.stat(follow_symlinks=False)
                if about.st_size <= _LARGEST_BYTES and _looks_like(workspace, path, kind):
                    found.append(
                        {
                            "path": path,
                            "kind": kind,
                            "size_bytes": about.st_size,
                            "modified_s": about.st_mtime,
                        }
                    )
            except (OSError, InputError):
                continue  # removed meanwhile, or not readable
            if len(found) == _MOST_FILES:
                return found
    return found


def _looks_like(workspace: Workspace, path: str, kind: str) -> bool:
    if kind in ("miniedit", "packetdrill"):
        return True
    content = workspace.read(path, most_bytes=_LARGEST_BYTES)
    if kind == "mininet":
        return _MININET.search(content) is not None
    return _TITLE.search(content) is not None and _BODY.search(content) is not None
