"""Hints for a set-up line that failed: missing files, names of interfaces."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.model.typed_line import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.errors import Place
    from longfat.model.case import Case

# The exit status of a shell when a program is missing, or cannot be run.
_NOT_RUN = (126, 127)
_NO_FILE = "No such file"


def missing_file_hint(
    case: Case, index: int, *, status: int | None, words: str, place: Place | None
) -> str:
    """Return a hint to list a file in `files`, or nothing where that would not help.

    Args:
        case: the case.
        index: which of its set-up lines failed.
        status: the line's exit status; None if a signal ended it.
        words: its output.
        place: its location in the study's file.
    """
    if status not in _NOT_RUN and _NO_FILE not in words:
        return ""
    paths = list(_paths(case.setup[index].line))
    files = {file.path: file for file in case.files}
    for path in paths:
        if path in files and not files[path].executable:
            return f"\n  hint: write `executable: true` at {path} in `files`"
    if place is None:
        return ""
    folder = Path(place.file).parent
    for path in paths:
        if path not in files and (beside := _beside(folder, path)):
            return (
                f"\n  hint: {beside} is beside the study, and the machine has only what `files` "
                f"names, such as `files: {{/opt/{Path(beside).name}: {beside}}}`"
            )
    return ""


def interface_hint(case: Case, line: str) -> str:
    """Return a hint to write the short names of the interfaces that a line contains.

    Args:
        case: the case.
        line: the line.
    """
    short = {long: name for name, long in case.network.full_interface_names().items()}
    found = [name for name in short if mentions(line, name)]
    if not found:
        return ""
    pairs = " and ".join(f"{short[name]} for {name}" for name in found)
    return f"\n  hint: most programs accept an interface's short name only: write {pairs}"


def _paths(line: str) -> Iterator[str]:
    """Yield the words of a line that may be paths."""
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    for word in words:
        path = word.lstrip("<>").rstrip(";&|")
        if path and not path.startswith("-"):
            yield path


def _beside(folder: Path, path: str) -> str | None:
    """Return a file of a folder by its relative path; None if there is no such file in it."""
    try:
        whole = (folder / path).resolve()
        return str(whole.relative_to(folder.resolve())) if whole.is_file() else None
    except (OSError, ValueError):  # ValueError: outside of the folder, or a NUL
        return None
