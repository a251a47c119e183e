"""`longfat diagnose`: what limited the flows of a run, and what would help."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.analysis.advice.diagnosis import diagnose as diagnose_run
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.cli.render.advice import print_diagnoses
from longfat.execution.runs import load_run


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=complete_folder)
@click.argument("flow", required=False)
@json_option()
def diagnose(run: Path, flow: str | None, *, as_json: bool) -> None:
    """Show what limited FLOW of RUN, second by second, and what would help.

    RUN is a run directory; without FLOW, all flows of it that send data
    are diagnosed: bulk traffic, calls (cbr), requests and videos.
    Such as:

    \b
    longfat diagnose runs/lab08/default-seed1
    longfat diagnose runs/lab11/loss-cubic-seed1 first
    """  # noqa: D301  \b keeps click from filling the lines up
    found = diagnose_run(load_run(run), flow)
    if as_json:
        flows = [each.to_json() for each in found]
        echo(json.dumps({"run": str(run), "flows": flows}, indent=2))
        return
    print_diagnoses(found, console=stdout())
