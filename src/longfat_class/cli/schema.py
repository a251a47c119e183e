"""`longfat schema` with the schema of instructors' files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from longfat.cli.schema import SCHEMAS, print_schema
from longfat_class.study.schema import grading_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ALL: Mapping[str, Callable[[], dict[str, Any]]] = {
    "study": SCHEMAS["study"],
    "grading": grading_schema,
    **SCHEMAS,
}


@click.command()
@click.argument("kind", type=click.Choice(tuple(_ALL)), default="study")
def schema(kind: str) -> None:
    """Print the JSON Schema of study files, or of other texts.

    The others are instructors' files (grading.yaml), and the lines to and from `longfat session`.
    Editors complete and check a study by it: write it to a file, and name that in the study's
    first line, as `# yaml-language-server: $schema=study.schema.json`.
    """
    print_schema(_ALL[kind]())
