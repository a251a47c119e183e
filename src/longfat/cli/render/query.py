"""The answer to a query as a table, JSON, CSV or a Parquet file; and the list of all tables."""

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
from rich.text import Text

from longfat.analysis.query import METRIC, OF_RUN, quoted
from longfat.cli.console import echo
from longfat.cli.render.tables import GAP, plain_table, print_table
from longfat.common.modes import file_mode
from longfat.common.terminal_text import printable_line
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from longfat.analysis.query import Catalog, Column

MAX_ROWS = 40
"""How many rows are shown on a terminal, unless all are requested."""

_BATCH_ROWS = 4096
_MAX_CELL_LENGTH = 60
_MAX_NAMES = 60
_EXAMPLE = "select study, count(*) as runs, sum(wall_s) as wall_s from runs group by study"
_ENDING = re.compile(r"(?:^|[._])(bps|bytes|s)$")
_SIMPLE = re.compile(r"[\w.+-]+")
# Functions whose value has the unit of what they are taken of.
_SAME_UNIT = re.compile(
    r"(?:avg|mean|median|min|max|sum|any_value|first|last|mode|mad|stddev(?:_samp|_pop)?"
    r"|quantile(?:_cont|_disc)?|arg_max|arg_min)\(\"?([\w.+-]+)\"?(?:,.*)?\)",
    re.IGNORECASE,
)


def print_answer(answer: pa.Table, *, console: Console, show_all: bool) -> list[str]:
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
    shown = answer.slice(0, MAX_ROWS)
    columns = [
        [_cell(value, _unit(name)) for value in shown.column(index).to_pylist()]
        for index, name in enumerate(answer.column_names)
    ]
    count = len(columns)
    if count:
        count = _fitting(answer.column_names, columns, console.width)
    table = plain_table()
    for index, name in enumerate(answer.column_names[:count]):
        right = _is_number(answer.column(index))
        table.add_column(
            Text(name), no_wrap=True, justify="right" if right else "left", overflow="ellipsis"
        )
    for row in zip(*columns[:count], strict=True):
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)
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
        return (" " * GAP).join(padded).rstrip()

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
    left = width + GAP
    for count, (name, cells) in enumerate(zip(names, columns, strict=True)):
        left -= max(map(cell_len, (name, *cells))) + GAP
        if left < 0:
            return max(1, count)
    return len(names)


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
    return text if len(text) <= _MAX_CELL_LENGTH else f"{text[: _MAX_CELL_LENGTH - 1]}…"


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


def print_tables(catalog: Catalog, *, console: Console, as_json: bool) -> None:
    """Print the tables of a catalog with their columns, and an example of a query."""
    if as_json:
        listed = [
            {
                "table": table.name,
                "row": table.text,
                "columns": [
                    {"name": one.name, "unit": one.unit, "text": one.text} for one in table.columns
                ],
            }
            for table in catalog.tables
        ]
        echo(json.dumps(listed, indent=2))
        return
    common = [one.name for one in OF_RUN]
    text = f"{catalog.runs:,} runs. All tables but claims begin with {', '.join(common)}."
    console.print(Text(text), soft_wrap=True)
    for table in catalog.tables:
        whole = table.name in ("runs", "claims")
        own = [one for one in table.columns if whole or one.name not in common]
        console.print()
        title = Text(table.name, style="bold").append(f"  {table.text}", style="not bold")
        console.print(title, soft_wrap=True)
        _columns(own, console)
    console.print("\nexample", style="bold")
    console.print(Text(f'  longfat query "{_EXAMPLE}"'), soft_wrap=True)


def _columns(columns: Sequence[Column], console: Console) -> None:
    table = plain_table("", "")
    table.columns[1].style = "dim"
    table.add_column(style="dim")
    names = []
    for one in columns:
        if one.text and one.text != METRIC:
            table.add_row(Text(f"  {one.name}"), one.unit, Text(one.text))
        else:
            names.append(quoted(one.name) if one.text else one.name)
    print_table(table, console=console)
    if names:
        more = len(names) - _MAX_NAMES
        more_text = [f"and {more:,} more: --tables --json lists all"] if more > 0 else []
        text = Text(", ".join([*names[:_MAX_NAMES], *more_text]))
        for line in text.wrap(console, console.width - GAP):
            console.print(Text("  ").append(line), soft_wrap=True)
