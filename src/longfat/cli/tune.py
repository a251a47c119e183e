"""`longfat tune`: what to set on a long, fat path, why, and whether it helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.analysis.advice.arithmetic import CONGESTIONS
from longfat.analysis.advice.check import Checked, check_cases, judge_check
from longfat.analysis.advice.tuning import tune as tune_path
from longfat.cli.console import echo, stderr, stdout
from longfat.cli.options import json_option
from longfat.cli.render.advice import print_tuning
from longfat.cli.render.progress import CaseProgress
from longfat.common.guard import scratch_folder
from longfat.engine.kernel.version import USUAL, check_version
from longfat.errors import ExitCode
from longfat.execution import Batch, run_cases
from longfat.execution.cache import ResultCache
from longfat.model.units import parse_fraction, parse_rate_bps, parse_time_s
from longfat.study import Planned

if TYPE_CHECKING:
    from longfat.analysis.advice.tuning import Tuning


@click.command()
@click.option("--rate", required=True, metavar="RATE", help="Rate of the bottleneck: 10gbit.")
@click.option("--rtt", required=True, metavar="TIME", help="Round-trip time, idle: 50ms.")
@click.option(
    "--cc",
    type=click.Choice(CONGESTIONS),
    default="cubic",
    show_default=True,
    help="Congestion control.",
)
@click.option("--loss", metavar="PERCENT", help="Loss on the path, such as 0.01%.")
@click.option(
    "--flows",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Long flows that share the bottleneck.",
)
@click.option("--kernel", default=USUAL, show_default=True, help="Linux version of the hosts.")
@click.option("--check", is_flag=True, help="Run default against tuned in machines, and show both.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep the check's runs in this folder.",
)
@json_option()
def tune(
    *,
    rate: str,
    rtt: str,
    cc: str,
    loss: str | None,
    flows: int,
    kernel: str,
    check: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Show what to set for a path of some rate and RTT, and why.

    Such as:

    \b
    longfat tune --rate 10gbit --rtt 50ms
    longfat tune --rate 1gbit --rtt 100ms --loss 0.01% --cc bbr --check
    """  # noqa: D301  \b keeps click from filling the lines up
    tuning = tune_path(
        rate_bps=parse_rate_bps(rate),
        rtt_s=parse_time_s(rtt),
        kernel=check_version(kernel),
        congestion=cc,
        loss_fraction=parse_fraction(loss) if loss is not None else 0.0,
        flows=flows,
    )
    if out is not None and not check:
        raise click.UsageError("--out is the folder for the runs of --check; add --check")
    if check:
        _check(tuning, out=out, as_json=as_json)
    elif as_json:
        echo(json.dumps(tuning.to_json(), indent=2))
    else:
        print_tuning(tuning, console=stdout())


def _check(tuning: Tuning, *, out: Path | None, as_json: bool) -> None:
    with scratch_folder() as temporary:
        checked = _run(tuning, out if out is not None else temporary)
        if as_json:
            document = tuning.to_json() | {"check": checked.to_json()}
            if out is None:
                for case in document["check"]["cases"].values():
                    del case["run_dir"]  # it is gone when this is read
            echo(json.dumps(document, indent=2))
        else:
            print_tuning(tuning, console=stdout(), checked=checked)
    if not checked.good:
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _run(tuning: Tuning, out: Path) -> Checked:
    planned = {name: Planned(case=case, title=name) for name, case in check_cases(tuning).items()}
    batch = Batch(cases=planned, out=out)
    with CaseProgress([batch], labels=[""], console=stderr()) as progress:
        runs = run_cases(planned, out=out, cache=ResultCache(), observer=progress)
    return judge_check(tuning, {name: found[0] for name, found in runs.items()})
