"""`longfat schema`: the JSON Schema of study files, instructors' files, and a session's lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from longfat.study.schema import grading_schema, study_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _session_schema() -> dict[str, Any]:
    # It describes the whole Python API, which is not needed for a study.
    from longfat.live.rpc import session_schema  # noqa: PLC0415

    return session_schema()


_SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "study": study_schema,
    "grading": grading_schema,
    "session": _session_schema,
}


@click.command()
@click.argument("kind", type=click.Choice(tuple(_SCHEMAS)), default="study")
def schema(kind: str) -> None:
    """Print the JSON Schema of study files, or of another kind of text.

    The others are instructors' files (grading.yaml), and the lines to and from `longfat session`.
    Editors complete and check a study by it: write it to a file, and name that in the study's
    first line, as `# yaml-language-server: $schema=study.schema.json`.
    """
    print(json.dumps(_SCHEMAS[kind](), indent=2, ensure_ascii=False))
