"""The final output of `longfat run`: results first, then claims, then where the files are.

All text goes through rich as `Text`, never as markup, so that brackets in a
study's text are printed literally. Tables fit 80 columns; one that has a column for
each case is broken into blocks where the cases are many. Of a large grid, a screen of cases
is printed, a line for each; the page has all of them, and `longfat query` queries them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.analysis.timeseries.sources import interval_rates
from longfat.cli.render.tables import (
    GAP,
    MAX_HEAD_WIDTH,
    grid_table,
    plain_table,
    print_blocks,
    print_heading,
    print_trimmed,
)
from longfat.model.metric import Unit
from longfat.model.units import format_alike
from longfat.output.report.case_table import case_table
from longfat.output.report.values import (
    BAND,
    MANY_FLOWS,
    MISSING,
    ClaimRow,
    FlowTable,
    Grid,
    Row,
    claim_rows,
    claims_summary,
    comparison_columns,
    comparison_groups,
    flow_tables,
    metric_grid,
    number_ranges,
    report_scope,
    run_summary,
    tally_lines,
)
from longfat.output.report.windows import flow_windows, split_grid, window_grid, window_notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from longfat.analysis.verdict import ClaimResult, Verdict
    from longfat.execution.runs import Run
    from longfat.output.report.files import ReportFiles

_STYLES = {"holds": "green", "FAILS": "bold red", "not judged": "yellow"}

# More than this would hide the results; the page has them all.
_MAX_SECONDS = 10
_MAX_FLOWS = 4
_MAX_RUNS = 12
_MAX_CASES = 24


def print_verdict(verdict: Verdict, *, console: Console) -> None:
    """Print the results of a study's runs.

    Args:
        verdict: the study with its runs.
        console: where to print; its width decides how tables break.

    Raises:
        MachineError: a report of iperf3 cannot be read.
    """
    print_trimmed(lambda same: _print_all(verdict, same), console=console)


def print_files(verdict: Verdict, *, console: Console, files: ReportFiles | None) -> None:
    """Print the paths of a study's runs and of its report.

    Args:
        verdict: the study with its runs.
        console: where to print.
        files: what the report wrote; None if there is no report.
    """
    print_trimmed(lambda same: _print_files(verdict, same, files), console=console)


def _print_all(verdict: Verdict, console: Console) -> None:
    console.print(Text(verdict.study.title, style="bold"))
    console.print(Text(run_summary(verdict), style="dim"))
    _print_comparison(verdict, console)
    each = report_scope(verdict).over_time
    if each:
        _print_measured(verdict, console)
    elif not each:
        print_heading(console, "Measured", "medians over the seeds" if verdict.many_seeds else "")
        _print_cases(verdict, console)
    _print_seconds(verdict, console)
    _print_claims(verdict, console)
    if each:
        _print_windows(verdict, console)


def _print_comparison(verdict: Verdict, console: Console) -> None:
    groups = comparison_groups(verdict)
    if not groups or verdict.study.published is None:
        return
    print_heading(console, "Published and measured")
    console.print(Text(f"published: {verdict.study.published.source}", style="dim"))
    table = plain_table()
    # A long label is wrapped, rather than a number.
    table.add_column("metric", overflow="fold")
    for head in comparison_columns(verdict):
        table.add_column(head, justify="right", no_wrap=True)
    for group in groups:
        # A title may be longer than a label; it must not widen the column.
        table.add_row(Text(group.case, style="bold"))
        for row in group.rows:
            table.add_row(Text(f"  {row.label}"), *map(Text, row.cells))
    console.print(table)
    if verdict.many_seeds:
        note = (
            f"{BAND}: of the seeds' runs, in the median's unit; ratio: median / published; "
            "inside: the published figure is in that band."
        )
        console.print(Text(note, style="dim"))


def _print_measured(verdict: Verdict, console: Console) -> None:
    tables = flow_tables(verdict)
    grid = metric_grid(verdict, flows_apart=True)
    if not tables and grid is None:
        return
    seeds = "medians over the seeds" if tables and verdict.many_seeds else ""
    print_heading(console, "Measured", seeds)
    for number, table in enumerate(tables):
        if number:
            console.print()
        if len(verdict.runs) > 1:
            console.print(Text(table.case, style="bold"))
        _print_flow_table(table, console)
    if grid is not None:
        if tables:
            console.print()
        _print_grid(grid, console)


def _print_flow_table(flows: FlowTable, console: Console) -> None:
    rows = [(Text(row.label), row.cells) for row in flows.rows]
    print_blocks("flow", flows.columns, rows, console=console)


def _print_grid(grid: Grid, console: Console) -> None:
    for index, block in enumerate(_blocks(grid, console.width)):
        if index:
            console.print()
        table = plain_table()
        table.add_column("", no_wrap=True)
        for column in block.columns:
            table.add_column(Text(column, style="bold"), justify="right", overflow="fold")
        for row in block.rows:
            table.add_row(Text(row.label), *map(Text, row.cells))
        console.print(table)


def _blocks(grid: Grid, width: int) -> Iterator[Grid]:
    """Break a table into some that are no wider than the terminal."""
    room = width - max((len(row.label) for row in grid.rows), default=0) - GAP
    first = 0
    while first < len(grid.columns):
        last, used = first, 0
        while last < len(grid.columns):
            for column in range(last, last + grid.together):
                cells = [row.cells[column] for row in grid.rows]
                used += max(map(len, [grid.columns[column], *cells])) + GAP
            if used > room and last > first:
                break
            last += grid.together
        rows = [Row(row.label, row.cells[first:last]) for row in grid.rows]
        there = tuple(row for row in rows if any(cell != MISSING for cell in row.cells))
        yield Grid(columns=grid.columns[first:last], rows=there)
        first = last


def _print_cases(verdict: Verdict, console: Console) -> None:
    """Print a line for each case, with the main metrics as far as the console is wide."""
    cases = case_table(verdict)
    if not cases.rows:
        return
    rows = range(min(cases.rows, _MAX_CASES))
    name, *measured = [one for one in cases.plain if one.numeric or one is cases.columns[0]]
    table = plain_table()
    table.add_column(name.head, no_wrap=True)
    used = max((len(name.cell(row)) for row in rows), default=0) + GAP
    shown = [name]
    for column in measured:
        words = [*column.head.split(), *(column.cell(row) for row in rows)]
        width = max(map(len, words))
        head = max(width, min(len(column.head), MAX_HEAD_WIDTH))
        if used + head + GAP > console.width:
            break
        used += head + GAP
        table.add_column(Text(column.head), justify="right", overflow="fold", max_width=head)
        shown.append(column)
    for row in rows:
        table.add_row(*(Text(column.cell(row)) for column in shown))
    console.print(table)
    if cases.rows > len(rows):
        note = (
            f"... and {cases.rows - len(rows):,} more cases, in the report and in `longfat query`"
        )
        console.print(Text(note, style="dim"))


def _print_seconds(verdict: Verdict, console: Console) -> None:
    """Print the throughput of each interval in one line a flow, where that stays small."""
    series = interval_rates(verdict)
    longest = max((len(one.bps) for one in series), default=0)
    if not 0 < longest <= _MAX_SECONDS or len(series) > _MAX_FLOWS:
        return
    which = f", with seed {_first_seeds(verdict)}" if verdict.many_seeds else ""
    unit, cells = format_alike([bps for one in series for bps in one.bps], Unit.BPS)
    print_heading(console, f"Throughput of each interval, in {unit}{which}")
    texts = iter(cells)
    rows = [(one.label, [next(texts) for _ in one.bps]) for one in series]
    width = max(len(label) + sum(len(text) + GAP for text in own) for label, own in rows)
    if width > console.width:
        numbered = [
            Row(str(number + 1), tuple(own[number] if number < len(own) else "" for _, own in rows))
            for number in range(longest)
        ]
        _print_grid(Grid(columns=tuple(label for label, _ in rows), rows=tuple(numbered)), console)
        return
    table = grid_table("l" + "r" * longest)
    for label, own in rows:
        table.add_row(Text(label), *map(Text, own))
    console.print(table)


def _first_seeds(verdict: Verdict) -> str:
    return number_ranges(sorted({run.seed for run in verdict.first_runs.values()}))


def _print_claims(verdict: Verdict, console: Console) -> None:
    rows = claim_rows(verdict)
    if not rows:
        return
    print_heading(console, "Claims", claims_summary(verdict))
    has_seeds = any(row.seeds for row in rows)
    if has_seeds:
        table = plain_table("", "holds in")
        table.add_column("")
    else:
        table = grid_table("lw")
    for row, judged in zip(rows, verdict.claims, strict=True):
        seeds = [Text(row.seeds or MISSING)] if has_seeds else []
        status = Text(row.verdict, style=_STYLES[row.verdict])
        table.add_row(status, *seeds, _claim_text(row, judged))
    console.print(table)


def _claim_text(row: ClaimRow, judged: ClaimResult) -> Text:
    text = Text(row.text)
    if row.expression:
        text.append(f"\n{row.expression}", style="dim")
    if row.failing:
        text.append(f"\nnot in the seeds {row.failing}", style="dim")
    # The numbers of a failed claim are shown at once.
    if row.verdict == "FAILS":
        for name, value in row.readings:
            text.append(f"\n{name} = {value}", style="red")
    for line, failing in tally_lines(judged):
        text.append(f"\n{line}", style="red" if failing else "dim")
    return text


def _print_windows(verdict: Verdict, console: Console) -> None:
    windows, omissions = flow_windows(verdict)
    if not windows and not omissions:
        return
    print_heading(console, "Window arithmetic")
    if len(windows) >= MANY_FLOWS:
        shared, flows = split_grid(window_grid(windows))
        if shared.rows:
            _print_grid(shared, console)
            console.print()
        _print_flow_table(flows, console)
    elif windows:
        _print_grid(window_grid(windows), console)
    for note in window_notes(windows, omissions):
        console.print(Text(note, style="dim"))


def _print_files(verdict: Verdict, console: Console, files: ReportFiles | None) -> None:
    print_heading(console, "Files")
    lines = [("runs", path) for runs in verdict.runs.values() for path in _run_paths(runs)]
    if len(lines) > _MAX_RUNS:
        folders = dict.fromkeys(run.folder.parent for run in verdict.first_runs.values())
        lines = [("runs", f"{_shown(folder)}/*-seed*") for folder in folders]
    if files is not None:
        lines += [("plots", _shown(path)) for path in files.figures if path.suffix == ".png"]
        lines += [("report", _shown(path)) for path in (files.page, files.paper) if path]
    last = ""
    for what, path in lines:
        label = what if what != last else ""
        last = what
        # A path that is broken over two lines cannot be copied.
        console.print(Text(f"{label:<8}{path}"), soft_wrap=True)


def _run_paths(runs: Sequence[Run]) -> list[str]:
    """Return the folders of a case's runs; many of them as one shell pattern."""
    ending = f"-seed{runs[0].seed}"
    first = _shown(runs[0].folder)
    in_a_row = [run.seed for run in runs] == list(range(runs[0].seed, runs[-1].seed + 1))
    if len(runs) == 1 or not in_a_row or not first.endswith(ending):
        return [_shown(run.folder) for run in runs]
    return [f"{first.removesuffix(ending)}-seed{{{runs[0].seed}..{runs[-1].seed}}}"]


def _shown(path: Path) -> str:
    """Return a path as one would type it in the current directory."""
    here = Path.cwd()
    whole = path.resolve()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else str(path)
