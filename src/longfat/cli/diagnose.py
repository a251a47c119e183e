"""`longfat diagnose`: what limited flows, of a run or of anybody's files, and what would help."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.analysis.advice.diagnosis import diagnose as diagnose_run
from longfat.analysis.advice.foreign.detect import KINDS, diagnose_files
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.cli.render.advice import print_diagnoses
from longfat.cli.render.foreign_advice import print_foreign_diagnoses
from longfat.errors import InputError
from longfat.execution.runs import load_run


@click.command()
@click.argument(
    "paths",
    metavar="RUN [FLOW] | FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=complete_folder,
)
@json_option()
def diagnose(paths: tuple[Path, ...], *, as_json: bool) -> None:
    """Show what limited the flows of a run, or of files from anywhere, and what would help.

    RUN is a run directory; without FLOW, all flows of it that send data
    are diagnosed: bulk traffic, calls (cbr), requests and videos.

    FILE is from any network: a report of `iperf3 -J`, the output of `ss -tinm`
    (of one or several times), or a capture. Several files of one
    experiment are taken together. Such as:

    \b
    longfat diagnose runs/lab08/default-seed1
    longfat diagnose runs/lab11/loss-cubic-seed1 first
    longfat diagnose client.json sockets.txt sender.pcap
    """  # noqa: D301  \b keeps click from filling the lines up
    if paths[0].is_dir():
        _diagnose_run(paths, as_json=as_json)
        return
    found = diagnose_files(paths)
    if as_json:
        flows = [one.to_json() for one in found]
        echo(json.dumps({"files": [str(path) for path in paths], "flows": flows}, indent=2))
        return
    print_foreign_diagnoses(found, console=stdout())


def _diagnose_run(paths: tuple[Path, ...], *, as_json: bool) -> None:
    run, *names = paths
    if len(names) > 1:
        raise InputError(
            f"{run} is a directory, and more than the name of a flow follows: diagnose a run "
            "alone. "
            f"What can be diagnosed: {KINDS}"
        )
    found = diagnose_run(load_run(run), str(names[0]) if names else None)
    if as_json:
        flows = [each.to_json() for each in found]
        echo(json.dumps({"run": str(run), "flows": flows}, indent=2))
        return
    print_diagnoses(found, console=stdout())
