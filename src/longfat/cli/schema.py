"""`longfat schema`: the JSON Schema of study files, and of instructors' files."""

from __future__ import annotations

import json

import click

from longfat.study.schema import grading_schema, study_schema

_SCHEMAS = {"study": study_schema, "grading": grading_schema}


@click.command()
@click.argument("kind", type=click.Choice(tuple(_SCHEMAS)), default="study")
def schema(kind: str) -> None:
    """Print the JSON Schema of study files, or of instructors' files (grading.yaml).

    Editors complete and check a study by it: write it to a file, and name that in the study's
    first line, as `# yaml-language-server: $schema=study.schema.json`.
    """
    print(json.dumps(_SCHEMAS[kind](), indent=2, ensure_ascii=False))
