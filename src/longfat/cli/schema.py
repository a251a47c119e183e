"""`longfat schema`: the JSON Schema of study files."""

from __future__ import annotations

import json

import click

from longfat.study.schema import study_schema


@click.command()
def schema() -> None:
    """Print the JSON Schema of study files.

    Editors complete and check a study by it: write it to a file, and name that in the study's
    first line, as `# yaml-language-server: $schema=study.schema.json`.
    """
    print(json.dumps(study_schema(), indent=2, ensure_ascii=False))
