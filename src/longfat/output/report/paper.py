"""The report on paper: tables that fit its width, and short commands beside each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape

from markupsafe import Markup

from longfat.output.report.values import MISSING, Grid

_MAX_COLUMNS = 6  # of a table with a column for each case
_MAX_WIDTH = 112  # characters of a table's line, at the size that tables have on paper
_GAP = 2  # between columns, in characters
_MAX_HALF = 48  # characters of a command that fits into half of the width

_TYPED = re.compile(
    r'<p class="typed-at">[^\n]*</p>\n<pre[^>]*><code>(?P<lines>.*?)</code></pre>\n', re.DOTALL
)
_HALVES = re.compile(r'(?:<div class="typed half">.*?</div>\s*){2,}', re.DOTALL)


def paper_blocks(grid: Grid) -> tuple[Grid, ...]:
    """Break a table into blocks that fit on paper.

    Columns with a value in mostly the same rows come into the same block. Rows that are empty in
    a block are left out of it, and so are columns that are empty.

    Args:
        grid: the table.
    """
    blocks: list[list[int]] = []
    for start in range(0, len(grid.columns), grid.together):
        part = list(range(start, min(start + grid.together, len(grid.columns))))
        rows = _filled(grid, part)
        if not rows:
            continue
        for block in blocks:
            if _are_alike(rows, _filled(grid, block)) and _fits(grid, [*block, *part]):
                block.extend(part)
                break
        else:
            blocks.append(part)
    return tuple(_cut(grid, block) for block in blocks)


def _filled(grid: Grid, columns: Sequence[int]) -> frozenset[int]:
    """Return the rows with a value in any of the columns."""
    return frozenset(
        place
        for place, row in enumerate(grid.rows)
        if any(row.cells[column] != MISSING for column in columns)
    )


def _are_alike(rows: frozenset[int], others: frozenset[int]) -> bool:
    return 2 * len(rows & others) >= len(rows | others)


def _fits(grid: Grid, columns: Sequence[int]) -> bool:
    rows = [grid.rows[place] for place in _filled(grid, columns)]
    width = max(len(row.label) for row in rows)
    for column in columns:
        cells = (row.cells[column] for row in rows)
        width += _GAP + max(map(len, (grid.columns[column], *cells)))
    return len(columns) <= max(_MAX_COLUMNS, grid.together) and width <= _MAX_WIDTH


def _cut(grid: Grid, columns: Sequence[int]) -> Grid:
    return replace(
        grid,
        columns=tuple(grid.columns[column] for column in columns),
        rows=tuple(
            replace(grid.rows[place], cells=tuple(grid.rows[place].cells[c] for c in columns))
            for place in sorted(_filled(grid, columns))
        ),
    )


def side_by_side(html: Markup) -> Markup:
    """Put the nodes of commands beside them, and commands with short lines beside each other.

    Args:
        html: the text as `page_text` gives it.
    """
    return Markup(_HALVES.sub(r'<div class="halves">\n\g<0></div>\n', _TYPED.sub(_marked, html)))


def _marked(found: re.Match[str]) -> str:
    longest = max(map(len, unescape(found["lines"]).splitlines()), default=0)
    kind = "typed half" if longest <= _MAX_HALF else "typed"
    return f'<div class="{kind}">{found[0]}</div>\n'
