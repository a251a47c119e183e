"""`longfat explain`: where a number of a run comes from."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.text import Text

from longfat.analysis.explanation import Explanation
from longfat.analysis.explanation import explain as explain_metric
from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.cli.render.tables import plain_table, print_table
from longfat.execution.runs import load_run
from longfat.model.units import format_quantity


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=complete_folder)
@click.argument("metric")
@json_option()
def explain(run: Path, metric: str, *, as_json: bool) -> None:
    """Show the file and the formula that METRIC of RUN comes from.

    RUN is a run directory, and METRIC a name such as bulk.receiver_bps or
    bulk.receiver, as in claims. Such as:

    \b
    longfat explain runs/lab08/default-seed1 bulk.receiver
    """  # noqa: D301  \b keeps click from filling the lines up
    explanation = explain_metric(load_run(run), metric)
    if as_json:
        echo(json.dumps({"run": str(run), **explanation.to_json()}, indent=2))
        return
    table = plain_table("", "")
    table.columns[1].no_wrap = False
    for name, text in _rows(run, explanation):
        table.add_row(name, Text(text))
    print_table(table, console=stdout())


def _rows(run: Path, explanation: Explanation) -> list[tuple[str, str]]:
    unit, value = explanation.unit, explanation.value
    missing = "not measured in this run"
    shown = missing if value is None else f"{format_quantity(value, unit)} ({value!r})"
    rows = [
        ("metric", explanation.metric),
        ("title", explanation.title),
        ("value", shown),
        ("unit", unit.value),
    ]
    if explanation.file is None:
        return [*rows, ("source", "the plug-in that measures it does not declare it")]
    rows += [
        ("file", str(run / explanation.file)),
        ("path", explanation.path or ""),
        ("formula", explanation.formula or ""),
    ]
    if explanation.over:
        rows.append(("aggregates", f"all {explanation.over} of the flow or probe"))
    if explanation.read is not None:
        rows.append(("in the file", repr(explanation.read)))
    return rows
