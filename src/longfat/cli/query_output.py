"""How the answer to a query is shown: as a table, JSON, CSV or a Parquet file."""

from __future__ import annotations

import csv
import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from longfat.cli.console import echo
from longfat.common.modes import file_mode
from longfat.common.terminal_text import printable_line
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

MOST_ROWS = 40
"""How many rows are shown on a terminal, unless all are requested."""

_GAP = 2
_BATCH_ROWS = 4096
_LONGEST_CELL = 60
_PIPE_WIDTH = 100_000
_ENDING = re.compile(r"(?:^|[._])(bps|bytes|s)$")
_SIMPLE = re.compile(r"[\w.+-]+")
# Functions whose value has the unit of what they are taken of.
_SAME_UNIT = re.compile(
    r"(?:avg|mean|median|min|max|sum|any_value|first|last|mode|mad|stddev(?:_samp|_pop)?"
    r"|quantile(?:_cont|_disc)?|arg_max|arg_min)\(\"?([\w.+-]+)\"?(?:,.*)?\)",
    re.IGNORECASE,
)


def show(answer: pa.Table, *, console: Console, show_all: bool) -> list[str]:
    """Print an answer as a table; on a terminal only what can be read there.

    Args:
        answer: the answer.
        console: where to.
        show_all: whether all rows are printed to a terminal too.

    Returns:
        Notes on what was left out.
    """
    if not console.is_terminal or show_all:
        _show_all(answer)
        return []
    shown = answer.slice(0, MOST_ROWS)
    columns = [
        [_cell(value, _unit(name)) for value in shown.column(index).to_pylist()]
        for index, name in enumerate(answer.column_names)
    ]
    count = len(columns)
    if count:
        count = _fitting(answer.column_names, columns, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="dim")
    for index, name in enumerate(answer.column_names[:count]):
        right = _is_number(answer.column(index))
        table.add_column(
            Text(name), no_wrap=True, justify="right" if right else "left", overflow="ellipsis"
        )
    for row in zip(*columns[:count], strict=True):
        table.add_row(*(Text(cell) for cell in row))
    print_table(table, console)
    notes = []
    if shown.num_rows < answer.num_rows:
        notes.append(f"{shown.num_rows:,} of {answer.num_rows:,} rows: --all shows all")
    if count < len(columns):
        notes.append(
            f"{count} of {len(columns)} columns, as many as fit: name the columns you need, or "
            "take --csv or --json"
        )
    return notes


def _show_all(answer: pa.Table) -> None:
    """Print all of an answer, which may be large: nothing is kept of it but one batch of rows."""
    names = answer.column_names
    units = [_unit(name) for name in names]
    right = [_is_number(column) for column in answer.columns]
    widths = [cell_len(name) for name in names]
    for row in _rows(answer):
        for index, value in enumerate(row):
            widths[index] = max(widths[index], cell_len(_cell(value, units[index])))

    def line(cells: Iterable[str]) -> str:
        padded = []
        for cell, width, is_right in zip(cells, widths, right, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if is_right else cell + space)
        return (" " * _GAP).join(padded).rstrip()

    print(line(names))
    for row in _rows(answer):
        print(line(map(_cell, row, units)))
    sys.stdout.flush()


def _rows(answer: pa.Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of an answer, as values of Python's for one batch at a time."""
    for batch in answer.to_batches(max_chunksize=_BATCH_ROWS):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _fitting(names: Sequence[str], columns: Sequence[Sequence[str]], width: int) -> int:
    """Return how many columns have room beside each other; at least one."""
    left = width + _GAP
    for count, (name, cells) in enumerate(zip(names, columns, strict=True)):
        left -= max(map(cell_len, (name, *cells))) + _GAP
        if left < 0:
            return max(1, count)
    return len(names)


def print_table(table: Table, console: Console) -> None:
    """Print a table; into a pipe as wide as it is, without spaces at the lines' ends."""
    if console.is_terminal:
        console.print(table)
        return
    # Keep names whole in a pipe.
    with console.capture() as captured:
        console.print(table, width=_PIPE_WIDTH)
    for line in captured.get().splitlines():
        echo(line.rstrip())


def _unit(column: str) -> Unit | None:
    """Return the unit that a column's name ends in, or that of what it is taken of."""
    same = _SAME_UNIT.fullmatch(column)
    name = same[1] if same else column
    found = _ENDING.search(name) if _SIMPLE.fullmatch(name) else None
    return Unit(found[1]) if found else None


def _cell(value: Any, unit: Unit | None) -> str:
    """Return a value in a readable form."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return str(value)
        if unit is not None:
            return format_quantity(value, unit)
        if isinstance(value, float):
            return f"{value:.6g}" if abs(value) < 1e6 and value % 1 else f"{value:,.0f}"
        return str(value)
    text = json.dumps(_plain(value)) if isinstance(value, list | dict) else str(value)
    text = printable_line(text)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


def _is_number(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    kind = column.type
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def print_json(answer: pa.Table) -> None:
    """Print an answer as a list of objects; what JSON has no number for (NaN) is null."""
    names = unique_names(answer.column_names)
    before = "[\n  "
    for row in _rows(answer):
        sys.stdout.write(before + json.dumps(dict(zip(names, map(_plain, row), strict=True))))
        before = ",\n  "
    print("\n]" if answer.num_rows and names else "[]", flush=True)


def print_csv(answer: pa.Table) -> None:
    """Print an answer as CSV with a line of names; null is an empty field."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(answer.column_names)
    for row in _rows(answer):
        writer.writerow([_field(value) for value in row])
    sys.stdout.flush()


def write_parquet(answer: pa.Table, path: Path) -> None:
    """Write an answer to a Parquet file, whole or not at all.

    Raises:
        InputError: it cannot be written there.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415

    named = answer.rename_columns(unique_names(answer.column_names))
    try:
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(handle, "wb") as file:
                pq.write_table(named, file, compression="zstd")
            Path(partial).chmod(file_mode())
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def unique_names(names: Sequence[str]) -> list[str]:
    """Return unique names: both of two joined tables may have a `run`."""
    found: list[str] = []
    for name in names:
        unique, count = name, 1
        while unique in found:
            count += 1
            unique = f"{name}_{count}"
        found.append(unique)
    return found


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return float(value) if value % 1 else int(value)
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return str(value)


def _field(value: Any) -> Any:
    return json.dumps(_plain(value)) if isinstance(value, list | dict) else value
