"""`longfat losses`: where the packets of a run were lost, and why."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from longfat.analysis.loss_sections import drop_series, loss_sections
from longfat.analysis.losses import losses as losses_of
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.cli.render.losses import print_losses
from longfat.execution.runs import load_run


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=complete_folder)
@click.argument("flow", required=False)
@click.option("--all", "with_others", is_flag=True, help="Also packets whose loss hurt nobody.")
@json_option()
def losses(run: Path, flow: str | None, *, with_others: bool, as_json: bool) -> None:
    """Show where RUN lost packets, and why, by the kernel's counts.

    RUN is a run directory; with FLOW, only what that flow lost. Without --all,
    duplicates and packets of connections that were closed are left out.
    A run with events also shows what was lost between them, and one with a queue
    probe the drops of its interfaces over time.
    Such as:

    \b
    longfat losses runs/lab16/red-seed1
    longfat losses runs/lab16/red-seed1 first
    """  # noqa: D301  \b keeps click from filling the lines up
    loaded = load_run(run)
    shown = [loss for loss in losses_of(loaded, flow) if with_others or loss.cause.is_loss]
    sections = tuple(
        replace(
            section,
            losses=tuple(each for each in section.losses if with_others or each.cause.is_loss),
        )
        for section in loss_sections(loaded, flow)
    )
    series = drop_series(loaded)
    if as_json:
        document = {
            "run": str(run),
            "losses": [loss.to_json() for loss in shown],
            "sections": [section.to_json() for section in sections],
            "queue_drops": [each.to_json() for each in series],
        }
        echo(json.dumps(document, indent=2))
        return
    print_losses(shown, sections=sections, series=series, console=stdout())
