"""Conversion between studies and files of MiniEdit and Mininet.

`longfat.study.formats.convert` reads files. A browser sends a text, so it is written to a
private temporary folder; messages have its name only.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.errors import InputError
from longfat.study.expansion import ExpansionLimits, TooLargeError
from longfat.study.file_reader import empty_files
from longfat.study.formats.convert import convert_text
from longfat.study.formats.open import SCRIPT_SUFFIX
from longfat.study.read import parse_study

if TYPE_CHECKING:
    from longfat.study.formats.convert import Converted

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
            found = convert_text(file, suffix=suffix, beside=empty_files)
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
