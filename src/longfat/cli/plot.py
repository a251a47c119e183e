"""`longfat plot`: figures of runs, or of any iperf3 report."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stderr
from longfat.cli.options import json_option
from longfat.errors import InputError
from longfat.model.units import parse_time_s
from longfat.output.plot import FORMS
from longfat.output.report.figure_files import PlotFiles, PlotRequest
from longfat.output.report.iperf3_files import plot_reports
from longfat.output.report.plots import plot_runs


@click.command()
@click.argument(
    "sources",
    nargs=-1,
    type=click.Path(path_type=Path),
    metavar="RUN...",
    shell_complete=complete_folder,
)
@click.option("--iperf", is_flag=True, help="Take reports of `iperf3 -J` in place of runs.")
@click.option("--flow", "flows", multiple=True, metavar="NAME", help="Draw this flow; repeatable.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Draw this: throughput, rtt, cwnd, queue, retransmits or phase; delay or jitter of cbr; "
    "buffer or bitrate of video; completion or slowdown of requests; repeatable. "
    "With --iperf also bytes, rttvar, mtu, jitter and lost.",
)
@click.option("--from", "start", metavar="TIME", help="Where the time axis starts, such as 10s.")
@click.option("--to", "end", metavar="TIME", help="Where it ends.")
@click.option("--title", help="Title above the figures.")
@click.option(
    "--format",
    "forms",
    multiple=True,
    type=click.Choice(FORMS),
    help="The file format; repeatable; default: all of them.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Where the files go; default: plots in the run's directory, plots here of several "
    "runs, results here with --iperf.",
)
@json_option("Print the list of files as JSON.")
def plot(
    sources: tuple[Path, ...],
    *,
    iperf: bool,
    flows: tuple[str, ...],
    metrics: tuple[str, ...],
    start: str | None,
    end: str | None,
    title: str | None,
    forms: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Draw throughput, RTT, cwnd, queues and losses over time.

    RUN is a run directory, such as runs/lab08/tuned-seed1. Several runs are laid
    over each other; runs of one case with several seeds become a median and a
    band. With --iperf, RUN is a file that `iperf3 -J` wrote, of any network.
    """
    if not sources:
        what = "a file that `iperf3 -J` wrote" if iperf else "a run directory"
        raise click.UsageError(f"name {what}, or more than one")
    if iperf and flows:
        raise InputError("--flow: reports of iperf3 have no names of flows; name the files")
    request = PlotRequest(
        metrics=metrics,
        flows=flows,
        start_s=_time_s("--from", start),
        end_s=_time_s("--to", end),
        title=title,
        forms=forms or FORMS,
    )
    if iperf:
        done = plot_reports(sources, request, out=out if out is not None else Path("results"))
    else:
        done = plot_runs(sources, request, out=out)
    _print(done, as_json=as_json)


def _time_s(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return parse_time_s(text, bare_seconds=True)
    except InputError as error:
        raise InputError(f"{option}: {error}") from None


def _print(done: PlotFiles, *, as_json: bool) -> None:
    for note in done.notes:
        stderr().print(f"longfat: {note}", markup=False, soft_wrap=True)
    if as_json:
        files = [str(path) for path in done.files]
        echo(json.dumps({"files": files, "notes": done.notes}, indent=2))
    else:
        for path in done.files:
            echo(str(path))
