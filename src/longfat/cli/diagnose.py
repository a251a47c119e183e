"""`longfat diagnose`: what limited flows, of a run or of anybody's files, and what would help."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.analysis.advice.diagnosis import diagnose as diagnose_run
from longfat.analysis.advice.foreign.detect import KINDS, diagnose_files
from longfat.analysis.advice.remedied import AFTER, Remedied, compare, remedied_case
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import json_option
from longfat.cli.render.advice import print_diagnoses, print_remedied
from longfat.cli.render.foreign_advice import print_foreign_diagnoses
from longfat.cli.render.progress import CaseProgress
from longfat.common.guard import scratch_folder
from longfat.errors import ExitCode, InputError
from longfat.execution import Batch, run_cases
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run
from longfat.study import Planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.execution.runs import Run


@click.command()
@click.argument(
    "paths",
    metavar="RUN [FLOW] | FILE...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=complete_folder,
)
@click.option(
    "--check",
    is_flag=True,
    help="Run the case of RUN again with the first remedy, and show both. Needs FLOW if there "
    "are several.",
)
@json_option()
def diagnose(paths: tuple[Path, ...], *, check: bool, as_json: bool) -> None:
    """Show what limited the flows of a run, and what would help.

    The flows can also be those of files from anywhere.

    RUN is a run directory; without FLOW, all flows of it that send data
    are diagnosed: bulk traffic, calls (cbr), requests and videos.

    FILE is from any network: a report of `iperf3 -J`, the output of `ss -tinm`
    (of one or several times), or a capture. Several files of one
    experiment are taken together. Such as:

    \b
    longfat diagnose runs/lab08/default-seed1
    longfat diagnose runs/lab11/loss-cubic-seed1 first
    longfat diagnose runs/lab11/loss-cubic-seed1 first --check
    longfat diagnose client.json sockets.txt sender.pcap
    """  # noqa: D301  \b keeps click from filling the lines up
    if paths[0].is_dir():
        _diagnose_run(paths, check=check, as_json=as_json)
        return
    if check:
        raise click.UsageError("--check runs the case of a run again; files have none")
    diagnoses = diagnose_files(paths)
    if as_json:
        flows = [one.to_json() for one in diagnoses]
        echo(json.dumps({"files": [str(path) for path in paths], "flows": flows}, indent=2))
        return
    print_foreign_diagnoses(diagnoses, console=stdout())


def _diagnose_run(paths: tuple[Path, ...], *, check: bool, as_json: bool) -> None:
    folder, *names = paths
    if len(names) > 1:
        raise InputError(
            f"{folder} is a directory, and more than the name of a flow follows: diagnose a run "
            "alone. "
            f"What can be diagnosed: {KINDS}"
        )
    run = load_run(folder)
    diagnoses = diagnose_run(run, str(names[0]) if names else None)
    checked = _check(run, diagnoses) if check else None
    if as_json:
        flows = [each.to_json() for each in diagnoses]
        document: dict[str, Any] = {"run": str(folder), "flows": flows}
        if checked is not None:
            document["check"] = checked.to_json()
        echo(json.dumps(document, indent=2))
    else:
        print_diagnoses(diagnoses, console=stdout())
        if checked is not None:
            print_remedied(checked, console=stdout())
    if checked is not None and not checked.good:
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _check(run: Run, diagnoses: Sequence[Diagnosis]) -> Remedied:
    """Run the case again with the remedy of its one diagnosis, and put both side by side."""
    if len(diagnoses) > 1:
        names = ", ".join(each.flow for each in diagnoses)
        raise InputError(f"{run.folder}: --check is for one flow: name one of {names}")
    (diagnosis,) = diagnoses
    planned = {AFTER: Planned(case=remedied_case(run, diagnosis), title="with the remedy")}
    with scratch_folder() as out:
        batch = Batch(cases=planned, out=out)
        with CaseProgress([batch], labels=[""], console=stderr()) as progress:
            runs = run_cases(planned, out=out, cache=ResultCache(), observer=progress)
        return compare(run, runs[AFTER][0], diagnosis)
