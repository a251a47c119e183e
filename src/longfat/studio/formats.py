"""The files that the studio opens: which they are, their names, and their conversion to studies.

Whether a file can be opened is a quick check: a study is a YAML file with a title and a network
or cases at the beginning of lines. Whether it is valid shows when it is opened.

`longfat.study.formats.convert` reads files. A browser sends a text, so it is written to a
private temporary folder; messages have its name only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from longfat.common.guard import scratch_folder
from longfat.errors import InputError
from longfat.execution.trial import failing_case_lines
from longfat.study.expansion import ExpansionLimits, TooLargeError
from longfat.study.file_reader import empty_files
from longfat.study.formats.convert import convert_text
from longfat.study.formats.open import SCRIPT_SUFFIX
from longfat.study.read import parse_study

if TYPE_CHECKING:
    from longfat.studio.workspace import Workspace
    from longfat.study.formats.convert import Converted

_ODD = re.compile(r"[^\w.-]+", re.ASCII)
_MAX_NAME = 64

STUDY_SUFFIXES = (".yaml", ".yml")
SUFFIXES = (*STUDY_SUFFIXES, ".mn", ".py")


def suffix_of(name: str) -> str:
    """Return the suffix of a file that the studio can open and save.

    Raises:
        InputError: it is none of those.
    """
    suffix = Path(name).suffix
    if suffix not in SUFFIXES:
        raise InputError(
            f"{name}: a file that ends in .yaml (a study), .mn (MiniEdit) or .py (a Mininet "
            "script) is needed"
        )
    return suffix


def folder_name(name: str) -> str:
    """Return the folder name of a study's runs: its name without suffix and special characters.

    Args:
        name: the study's name, such as `two paths.yaml`.
    """
    path = Path(name)
    stem = path.stem if path.suffix in SUFFIXES else path.name
    return _ODD.sub("-", stem).strip("-.")[:_MAX_NAME] or "drawing"


def runs_machine(name: str) -> bool:
    """Return whether a file is read by running it in a machine: whether it is a Mininet script.

    Args:
        name: the file's name.
    """
    return Path(name).suffix == SCRIPT_SUFFIX


def to_study(text: str, *, name: str) -> tuple[str, tuple[str, ...]]:
    """Convert a file of any format to a study's text; return also what could not be converted.

    Args:
        text: the content of the file.
        name: the file's name; its suffix gives the format. A study is unchanged. A script
            is run in its own machine, which takes half a second or more.

    Raises:
        InputError: it is not such a file, or is invalid.
        HostError: of a script, no kernel is built, or the host lacks what a sandbox needs.
        MachineError: of a script, its machine failed.
    """
    if suffix_of(name) in STUDY_SUFFIXES:
        return text, ()
    converted = _converted(text, name=name, suffix=".yaml")
    return converted.text, converted.warnings


def check_size(text: str, limits: ExpansionLimits, *, name: str) -> None:
    """Check that a study does not expand too far to be converted.

    Args:
        text: the study's text.
        limits: how far it may expand.
        name: its name in messages.

    Raises:
        InputError: it is larger; other mistakes in it are reported when it is converted.
    """
    try:
        parse_study(text, name=name, beside=empty_files, limits=limits)
    except InputError as error:
        for one in error.mistakes:
            if isinstance(one, TooLargeError):
                raise one from None


def from_study(text: str, *, name: str, suffix: str) -> tuple[str, tuple[str, ...]]:
    """Return a study in another format, and what could not be converted.

    Args:
        text: the study's text.
        name: its name in messages.
        suffix: `.mn`, `.py`, or `.yaml` and `.yml`, which leave it as it is.

    Raises:
        InputError: the study is invalid, or its cases have different networks.
    """
    if suffix_of(f"x{suffix}") in STUDY_SUFFIXES:
        return text, ()
    converted = _converted(text, name=f"{Path(name).stem}.yaml", suffix=suffix)
    return converted.text, converted.warnings


def _converted(text: str, *, name: str, suffix: str) -> Converted:
    with scratch_folder() as folder:
        file = folder / (Path(name).name[-100:] or f"unnamed{suffix}")
        before = f"{folder}/"
        try:
            file.write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise InputError(f"{name[:80]!r}: cannot be a file's name: {error}") from None
        try:
            # Other formats have no files, so their content is not needed.
            found = convert_text(
                file, suffix=suffix, beside=empty_files, find_failing=failing_case_lines
            )
        except InputError as error:
            place = error.place
            if place is not None:
                place = replace(place, file=place.file.replace(before, ""))
            message = error.message.replace(f"{file}: ", "").replace(before, "")
            raise InputError(message, place=place) from None
    warnings = tuple(
        warning.replace(f"{file}: ", "").replace(before, "") for warning in found.warnings
    )
    return replace(found, warnings=warnings)


FileKind: TypeAlias = Literal["study", "miniedit", "mininet"]
"""What a file of the workspace is."""


class FileEntry(TypedDict):
    """A file that can be opened.

    Attributes:
        path: below the workspace, with slashes.
        kind: what it is.
        size_bytes: its size.
        modified_s: when it was written last, in seconds since 1970.
    """

    path: str
    kind: FileKind
    size_bytes: int
    modified_s: float


_KINDS: dict[str, FileKind] = {
    ".yaml": "study",
    ".yml": "study",
    ".mn": "miniedit",
    ".py": "mininet",
}
OPENED_SUFFIXES = frozenset(_KINDS)
"""The suffixes of files that the page can open."""

_MAX_FILES = 5000
_MAX_BYTES = 1024**2

_TITLE = re.compile(rb"^(\xef\xbb\xbf)?[\"']?title[\"']?[ \t]*:", re.MULTILINE)
_BODY = re.compile(rb"^[\"']?(network|cases)[\"']?[ \t]*:", re.MULTILINE)
_MININET = re.compile(rb"^\s*(from|import) +mininet\b", re.MULTILINE)


def list_files(workspace: Workspace, *, excluded: str) -> list[FileEntry]:
    """Return the files, sorted by depth.

    Args:
        workspace: where to look.
        excluded: a folder of it that is left out: the runs', which keep copies of studies.
    """
    found: list[FileEntry] = []
    for folder, files in workspace.walk():
        if folder == excluded or folder.startswith(f"{excluded}/"):
            continue
        for entry in files:
            kind = _KINDS.get(entry.name[entry.name.rfind(".") :])
            if kind is None:
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            try:
                about = entry.stat(follow_symlinks=False)
                if about.st_size <= _MAX_BYTES and _looks_like(workspace, path, kind):
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
            if len(found) == _MAX_FILES:
                return found
    return found


def _looks_like(workspace: Workspace, path: str, kind: str) -> bool:
    if kind == "miniedit":
        return True
    content = workspace.read(path, most_bytes=_MAX_BYTES)
    if kind == "mininet":
        return _MININET.search(content) is not None
    return _TITLE.search(content) is not None and _BODY.search(content) is not None
