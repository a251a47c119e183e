"""`longfat schema`: the JSON Schema of study files, and of a session's lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from longfat.study.schema import study_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _session_schema() -> dict[str, Any]:
    # It describes the whole Python API, which is not needed for a study.
    from longfat.live.rpc import session_schema  # noqa: PLC0415

    return session_schema()


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "study": study_schema,
    "session": _session_schema,
}
"""The schemas by the names of what they describe."""


@click.command()
@click.argument("kind", type=click.Choice(tuple(SCHEMAS)), default="study")
def schema(kind: str) -> None:
    """Print the JSON Schema of study files, or of other texts.

    The other is the lines to and from `longfat session`.
    Editors complete and check a study by it: write it to a file, and name that in the study's
    first line, as `# yaml-language-server: $schema=study.schema.json`.
    """
    print_schema(SCHEMAS[kind]())


def print_schema(document: Mapping[str, Any]) -> None:
    """Print a JSON Schema.

    Args:
        document: it as plain data.
    """
    print(json.dumps(document, indent=2, ensure_ascii=False))
