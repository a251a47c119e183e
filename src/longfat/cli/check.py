"""`longfat check`: all that is wrong with studies, with places, and what can be set right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from longfat.cli.completion import complete_study
from longfat.cli.console import echo, stderr
from longfat.cli.options import json_option
from longfat.common.atomic import write_over
from longfat.errors import ExitCode, InputError
from longfat.study.check import Checked, Finding, check_text, repaired
from longfat.study.document import MAX_FILE_BYTES, decode_text, find_document, is_binary
from longfat.study.file_reader import folder_reader
from longfat.study.labs import find_study_file
from longfat.study.read import STUDY_FILE, not_a_study


@click.command()
@click.argument(
    "studies", nargs=-1, required=True, metavar="STUDY...", shell_complete=complete_study
)
@click.option(
    "--fix",
    is_flag=True,
    help="Write addresses, routes and forwarding into the file, so that all hosts reach each "
    "other, where that is known how.",
)
@json_option("Print a JSON list.")
def check(studies: tuple[str, ...], *, fix: bool, as_json: bool) -> None:
    """List all mistakes of each STUDY with their places.

    Hosts that cannot reach each other are among them.

    Nothing is run. The exit status is 2 if a study has mistakes; a host that is not reached is
    a warning, if no flow needs it.
    """
    found: list[dict[str, Any]] = []
    for study in studies:
        file = find_document(find_study_file(study), STUDY_FILE)
        checked = _check(file)
        if fix and checked.repair:
            checked = _repair(file, checked)
        found += [_to_json(str(file), one) for one in checked.findings]
    if as_json:
        echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for one in found:
            echo(one["text"])
    if any(one["is_mistake"] for one in found):
        raise click.exceptions.Exit(ExitCode.BAD_INPUT)


def _check(file: Path) -> Checked:
    return check_text(_text_of(file), name=str(file), beside=folder_reader(file.parent))


def _text_of(file: Path) -> str:
    """Return the text of a study; the file may be a pipe, such as /dev/stdin."""
    try:
        with file.open("rb") as opened:
            data = opened.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{file}: cannot be read: {reason}") from None
    if is_binary(data):
        raise not_a_study(str(file))
    return decode_text(data, file=str(file))


def _repair(file: Path, checked: Checked) -> Checked:
    text = repaired(_text_of(file), checked.repair)
    try:
        write_over(file, text.encode())
    except OSError as error:
        raise InputError(f"{file}: cannot be written: {error.strerror}") from None
    for edit in checked.repair:
        stderr().print(f"longfat: {file}: {edit.words}", markup=False, soft_wrap=True)
    return _check(file)


def _to_json(file: str, finding: Finding) -> dict[str, Any]:
    error, place = finding.error, finding.error.place
    kind = "" if finding.is_mistake else "warning: "
    hint = f" (fix: longfat check --fix {file})" if finding.has_repair else ""
    where = f"{place}: " if place else f"{file}: "
    return {
        "file": file,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "field": place.field if place else "",
        "message": error.message,
        "is_mistake": finding.is_mistake,
        "has_repair": finding.has_repair,
        "text": f"{where}{kind}{error.message}{hint}",
    }
