"""What `longfat run` prints at its end: results first, then claims, then where the files are.

All text goes through rich as `Text`, never as markup, so that brackets in a
study's words stay what they are. Tables fit 80 columns; what has a column for
each case is broken into blocks where the cases are many.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from longfat.report.series import traffic_series
from longfat.report.values import (
    MISSING,
    ClaimRow,
    Grid,
    Row,
    claim_rows,
    claims_summary,
    comparison_groups,
    metric_grid,
    run_summary,
)
from longfat.report.windows import flow_windows, window_grid, window_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from longfat.report.files import ReportFiles
    from longfat.verdict import Verdict

_STYLES = {"holds": "green", "FAILS": "bold red", "not judged": "yellow"}
_GAP = 2

# More than this would drown the results; the page has them all.
_MOST_SECONDS = 10
_MOST_FLOWS = 4


def print_verdict(verdict: Verdict, *, console: Console, files: ReportFiles | None) -> None:
    """Print what a study's runs amount to.

    Args:
        verdict: the study with its runs.
        console: where to print; its width decides how tables break.
        files: what the report wrote; None if there is no report.

    Raises:
        MachineError: a report of iperf3 cannot be read.
    """
    if console.is_terminal:
        _print_all(verdict, console, files)
        return
    with console.capture() as captured:
        _print_all(verdict, console, files)
    # rich fills lines up with spaces, which a file or a pipe has no use for.
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def _print_all(verdict: Verdict, console: Console, files: ReportFiles | None) -> None:
    console.print(Text(verdict.study.title, style="bold"))
    console.print(Text(run_summary(verdict), style="dim"))
    _print_comparison(verdict, console)
    if (grid := metric_grid(verdict)) is not None:
        _heading(console, "Measured")
        _print_grid(grid, console)
    _print_seconds(verdict, console)
    _print_claims(verdict, console)
    _print_windows(verdict, console)
    _print_files(verdict, console, files)


def _heading(console: Console, title: str, beside: str = "") -> None:
    console.print()
    console.print(Text.assemble((title, "bold"), f"  {beside}" if beside else ""))


def _plain_table() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")


def _print_comparison(verdict: Verdict, console: Console) -> None:
    groups = comparison_groups(verdict)
    if not groups or verdict.study.published is None:
        return
    _heading(console, "Published and measured")
    console.print(Text(f"published: {verdict.study.published.source}", style="dim"))
    table = _plain_table()
    table.add_column("metric", no_wrap=True)
    for head in ("published", "measured", "ratio"):
        table.add_column(head, justify="right", no_wrap=True)
    for group in groups:
        # A title may be longer than a label; it must not widen the column.
        table.add_row(Text(group.case, style="bold"))
        for row in group.rows:
            table.add_row(Text(f"  {row.label}"), *map(Text, row.cells))
    console.print(table)


def _print_grid(grid: Grid, console: Console) -> None:
    for index, block in enumerate(_blocks(grid, console.width)):
        if index:
            console.print()
        table = _plain_table()
        table.add_column("", no_wrap=True)
        for column in block.columns:
            table.add_column(Text(column, style="bold"), justify="right", overflow="fold")
        for row in block.rows:
            table.add_row(Text(row.label), *map(Text, row.cells))
        console.print(table)


def _blocks(grid: Grid, width: int) -> Iterator[Grid]:
    """Break a table into some that are no wider than the terminal."""
    room = width - max((len(row.label) for row in grid.rows), default=0) - _GAP
    first = 0
    while first < len(grid.columns):
        last, used = first, 0
        while last < len(grid.columns):
            cells = [row.cells[last] for row in grid.rows]
            used += max(map(len, [grid.columns[last], *cells])) + _GAP
            if used > room and last > first:
                break
            last += 1
        rows = [Row(row.label, row.cells[first:last]) for row in grid.rows]
        there = tuple(row for row in rows if any(cell != MISSING for cell in row.cells))
        yield Grid(columns=grid.columns[first:last], rows=there)
        first = last


def _print_seconds(verdict: Verdict, console: Console) -> None:
    """Print the throughput of each interval in one line a flow, where that stays small."""
    series = traffic_series(verdict)
    longest = max((len(one.throughput.main) for one in series), default=0)
    if not 0 < longest <= _MOST_SECONDS or len(series) > _MOST_FLOWS:
        return
    _heading(console, "Throughput of each interval, in Gbit/s")
    table = _plain_table()
    table.add_column("", no_wrap=True)
    for _ in range(longest):
        table.add_column("", justify="right", no_wrap=True)
    table.show_header = False
    for one in series:
        table.add_row(
            Text(one.label), *(Text(f"{bps / 1e9:#.3g}") for _, bps in one.throughput.main)
        )
    console.print(table)


def _print_claims(verdict: Verdict, console: Console) -> None:
    rows = claim_rows(verdict)
    if not rows:
        return
    _heading(console, "Claims", claims_summary(verdict))
    table = Table.grid(padding=(0, _GAP, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for row in rows:
        table.add_row(Text(row.verdict, style=_STYLES[row.verdict]), _claim_text(row))
    console.print(table)


def _claim_text(row: ClaimRow) -> Text:
    text = Text(row.text)
    if row.expression:
        text.append(f"\n{row.expression}", style="dim")
    # What failed is to be seen without looking for its numbers.
    if row.verdict == "FAILS":
        for name, value in row.readings:
            text.append(f"\n{name} = {value}", style="red")
    return text


def _print_windows(verdict: Verdict, console: Console) -> None:
    windows, omissions = flow_windows(verdict)
    if not windows and not omissions:
        return
    _heading(console, "Window arithmetic")
    if windows:
        _print_grid(window_grid(windows), console)
    for note in window_notes(windows, omissions):
        console.print(Text(note, style="dim"))


def _print_files(verdict: Verdict, console: Console, files: ReportFiles | None) -> None:
    _heading(console, "Files")
    lines = [("runs", _shown(run.folder)) for run in verdict.runs.values()]
    if files is not None:
        lines += [("plots", _shown(path)) for path in files.figures if path.suffix == ".png"]
        lines += [("report", _shown(files.page))]
    last = ""
    for what, path in lines:
        label = what if what != last else ""
        last = what
        # A path that is broken over two lines cannot be copied.
        console.print(Text(f"{label:<8}{path}"), soft_wrap=True)


def _shown(path: Path) -> str:
    """Return a path as one would type it here."""
    here = Path.cwd()
    whole = path.resolve()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(path)
