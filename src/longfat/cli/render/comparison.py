"""What `longfat compare` prints: what is real and largest first, then the numbers.

All text goes through rich as `Text`, never as markup: brackets in a study's
text stay what they are. Tables fit 80 columns.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.analysis.compare.differences import Significance
from longfat.cli.render.comparison_text import (
    SIGNIFICANCE_TEXTS,
    change_text,
    median_text,
    notes,
    p_text,
    sameness_text,
    side_line,
    some,
    superiority_text,
    tallies,
    tally_text,
)
from longfat.cli.render.number_text import format_count
from longfat.cli.render.tables import GAP, grid_table, plain_table, print_heading, print_trimmed
from longfat.output.report.values import BAND, band_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, JustifyMethod
    from rich.table import Table

    from longfat.analysis.compare.changes import Change
    from longfat.analysis.compare.compared import Compared, Contrast
    from longfat.analysis.compare.differences import Difference
    from longfat.analysis.compare.moments import Moment

_NARROW = 92  # columns below which a table of bands needs smaller gaps
_WIDE = 110  # columns from which p and the share of B > A have room
_MIN_LABEL = 17  # "  retransmissions", whole
_NARROW_LABEL = 8  # where that has no room beside the other columns

# What is longer drowns what matters; --all prints it whole.
_MAX_CHANGES = 15
_MAX_TALLIES = 12
_MAX_ROWS = 40
_MAX_LARGEST = 20
_MIN_ROWS = 10
_MAX_COLUMNS = 3

_MAX_HEAD_LENGTH = 11
_HEADINGS = {
    Significance.REAL: "What is real",
    Significance.STEADY: "What differs steadily",
    Significance.EXACT: "What differs with this seed",
    Significance.ONE_SIDED: "What only one side has",
}
_STYLES = {Significance.REAL: "green", Significance.STEADY: "cyan", Significance.EXACT: "cyan"}
_HOLDS = {True: "holds", False: "FAILS", None: "not judged"}


def print_compared(compared: Compared, *, console: Console, show_all: bool = False) -> None:
    """Print a comparison.

    Args:
        compared: the comparison.
        console: where to print; its width decides which columns there are.
        show_all: leave nothing out.
    """
    print_trimmed(lambda same: _print_all(compared, same, show_all), console=console)


def print_moments(moments: Sequence[Moment], *, console: Console) -> None:
    """Print when the series of two runs part.

    Args:
        moments: what `series_moments` found.
        console: where to print.
    """
    parted = [one for one in moments if one.time_s is not None]
    if not parted:
        return
    print_heading(console, "When the series part", "in virtual time after the traffic's start")
    table = grid_table("llw", overflow="fold")
    for one in parted:
        seen = [f"{it.column} {it.a} -> {it.b}" for it in one.seen[:_MAX_COLUMNS]]
        if len(one.seen) > _MAX_COLUMNS:
            seen.append(f"and {len(one.seen) - _MAX_COLUMNS} more")
        text = ", ".join(seen) or "a row that only one of them has"
        about = f"{one.about}: " if one.about else ""
        table.add_row(Text(one.series), Text(f"{one.time_s:.6g} s"), Text(f"{about}{text}"))
    print_trimmed(lambda same: same.print(table), console=console)
    if equal := [one.series for one in moments if one.time_s is None]:
        console.print(Text(f"equal throughout: {', '.join(equal)}"))


def _print_all(compared: Compared, console: Console, show_all: bool) -> None:
    for index, contrast in enumerate(compared.contrasts):
        if index:
            console.print("\n")
        _print_head(contrast, console)
        _print_broken(contrast, console, show_all)
        _print_changes(contrast, console, show_all)
        _print_claims(contrast, console)
        _print_tallies(contrast, console, show_all)
        _print_table(contrast, console, show_all)
    if found := notes(compared):
        console.print()
        for note in found:
            console.print(Text(note, style="dim"))


def _print_head(contrast: Contrast, console: Console) -> None:
    table = grid_table("lwl", overflow="fold")
    for letter, side in (("A", contrast.a), ("B", contrast.b)):
        table.add_row(Text(letter, style="bold"), Text(side.label, style="bold"), side_line(side))
    console.print(table)
    if text := sameness_text(contrast):
        console.print(Text(text, style="green" if contrast.identical else ""))


def _print_broken(contrast: Contrast, console: Console, show_all: bool) -> None:
    if not contrast.broken:
        return
    print_heading(console, "Runs that should be equal and are not")
    console.print(
        Text(
            "Case, kernel and tools are the same, so the bytes should be: one of the two was "
            "changed afterwards, or something of the host leaks in.",
            style="red",
        )
    )
    for a, b in contrast.broken if show_all else contrast.broken[:_MAX_CHANGES]:
        console.print(Text(f"{a.folder}  {b.folder}", style="red"), soft_wrap=True)
    if not show_all:
        _print_more(len(contrast.broken) - _MAX_CHANGES, "pair", console)


def _print_changes(contrast: Contrast, console: Console, show_all: bool) -> None:
    matching = contrast.matching
    if contrast.changes or matching.only_a or matching.only_b:
        print_heading(console, "What differs in the cases")
    pairs = len(matching.pairs)
    cut = contrast.changes if show_all else contrast.changes[:_MAX_CHANGES]
    for cases, changes in groupby(cut, key=lambda one: one.cases):
        indent = ""
        if pairs > 1:
            whole = len(cases) == pairs
            names = "in all of them" if whole else f"in {some(cases)}"
            console.print(Text(names, style="dim"))
            indent = "  "
        for one in changes:
            _print_change(one.change, console, indent)
    _print_more(len(contrast.changes) - len(cut), "difference", console)
    for letter, only in (("A", matching.only_a), ("B", matching.only_b)):
        if only:
            shown = ", ".join(only) if show_all else some(only, maximum=8)
            console.print(Text(f"only in {letter}: {shown}"))
    if contrast.environment:
        print_heading(console, "What differs around them")
        for change in contrast.environment:
            _print_change(change, console, "")


def _print_change(change: Change, console: Console, indent: str) -> None:
    path = f"{indent}{change.path}: "
    before, after = change.before, change.after
    line = f"{path}{before or 'none'} -> {after or 'none'}"
    if len(line) <= console.width and change.before and change.after:
        console.print(Text(line))
        return
    if max(len(path) + len(text or "") for text in (before, after)) + 2 > console.width:
        # What may be copied is not broken.
        console.print(Text(path.rstrip()))
        path = f"{indent}  "
    lead = " " * len(path)
    marks = [("-", before, "red"), ("+", after, "green")]
    for index, (mark, text, style) in enumerate(mark for mark in marks if mark[1] is not None):
        start = lead if index else path
        console.print(Text.assemble(start, (f"{mark} {text}", style)), soft_wrap=True)


def _print_more(count: int, what: str, console: Console) -> None:
    if count > 0:
        console.print(Text(f"{format_count(count, f'more {what}')}: --all", style="dim"))


def _print_claims(contrast: Contrast, console: Console) -> None:
    if not contrast.claims:
        return
    print_heading(console, "Claims with different results")
    table = grid_table("lw", overflow="fold")
    for claim in contrast.claims:
        table.add_row(
            Text(f"{_HOLDS[claim.a]} -> {_HOLDS[claim.b]}", style="yellow"), Text(claim.text)
        )
    console.print(table)


def _print_tallies(contrast: Contrast, console: Console, show_all: bool) -> None:
    found = tallies(contrast.differences, _HEADINGS)
    alone = len(contrast.matching.pairs) == 1
    for significance, with_this in groupby(found, key=lambda one: one.significance):
        rows = list(with_this)
        moved = sum(len(row.moved) for row in rows)
        total = format_count(len(contrast.differences), "comparison")
        print_heading(console, _HEADINGS[significance], f"{moved:,} of {total}")
        table = grid_table("lw", overflow="fold")
        for row in rows if show_all else rows[:_MAX_TALLIES]:
            table.add_row(Text(row.title), Text(tally_text(row, alone=alone)))
        console.print(table)
        if not show_all:
            _print_more(len(rows) - _MAX_TALLIES, "metric", console)
    if contrast.of(Significance.REAL):
        return
    if contrast.of(Significance.UNPROVEN):
        print_heading(console, "No difference is real")
    elif contrast.of(Significance.FEW):
        print_heading(console, "Too few seeds to judge significance")


def _print_table(contrast: Contrast, console: Console, show_all: bool) -> None:
    rows = [one for one in contrast.differences if one.significance is not Significance.SAME]
    chosen = contrast.differences if show_all else _chosen(rows)
    if chosen:
        same = len(contrast.differences) - len(rows)
        beside = f"{same:,} of {len(contrast.differences):,} are the same" if same else ""
        print_heading(console, "Results", beside)
        console.print(_table(contrast, chosen, console.width))
    if not show_all:
        _print_more(len(rows) - len(chosen), "row", console)


def _chosen(rows: Sequence[Difference]) -> Sequence[Difference]:
    """Return the rows to show of many: the largest that differ, then those that come nearest."""
    if len(rows) <= _MAX_ROWS:
        return rows
    notable = sorted((one for one in rows if one.significance.differs), key=lambda one: -one.size)
    others = [one for one in rows if not one.significance.differs]
    others.sort(key=lambda one: (1.0 if one.p is None else one.p, -one.size))
    count = max(0, _MIN_ROWS - len(notable))
    kept = {id(one) for one in (*notable[:_MAX_LARGEST], *others[:count])}
    return [one for one in rows if id(one) in kept]


def _table(contrast: Contrast, chosen: Sequence[Difference], width: int) -> Table:
    many = any(max(len(pair.a), len(pair.b)) > 1 for pair in contrast.matching.pairs)
    wide = many and width >= _WIDE
    gap = 1 if many and width < _NARROW else GAP
    labels = [contrast.a.label, contrast.b.label]
    if max(map(len, labels)) > _MAX_HEAD_LENGTH:
        labels = ["A", "B"]
    heads = [head for label in labels for head in ([label, BAND] if many else [label])]
    heads += ["change", *(["B > A", "adj. p"] if wide else []), *(["real"] if many else [])]
    cells = {id(row): _cells(row, many=many, wide=wide) for row in chosen}
    widths = [max(map(len, column)) for column in zip(heads, *cells.values(), strict=True)]
    # The metric's name is wrapped before a column of values is cut.
    room = width - sum(widths) - gap * len(widths)
    label_width = max(_NARROW_LABEL, min(_MIN_LABEL, room))
    table = plain_table(gap=gap)
    table.add_column("metric", overflow="fold", min_width=label_width)
    for head, minimum in zip(heads, widths, strict=True):
        justify: JustifyMethod = "left" if head == "real" else "right"
        table.add_column(Text(head), justify=justify, no_wrap=True, min_width=minimum)
    alone = len(contrast.matching.pairs) == 1
    for case, rows in groupby(chosen, key=lambda one: one.case):
        if not alone:
            # A case's name may be longer than a metric's; it must not widen the column.
            table.add_row(Text(case, style="bold"))
        for row in rows:
            label = row.title if alone else f"  {row.title}"
            texts = [Text(cell) for cell in cells[id(row)]]
            if many:
                texts[-1].stylize(_STYLES.get(row.significance, "dim"))
            table.add_row(Text(label), *texts)
    return table


def _cells(row: Difference, *, many: bool, wide: bool) -> list[str]:
    cells = []
    for spread in (row.a, row.b):
        cells.append(median_text(spread, row.unit))
        if many:
            cells.append(band_text(spread, row.unit))
    cells.append(change_text(row.change, row.relative, row.unit))
    if wide:
        cells += [superiority_text(row.superiority), p_text(row.adjusted_p)]
    return [*cells, SIGNIFICANCE_TEXTS[row.significance]] if many else cells
