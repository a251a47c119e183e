"""Arrow tables with units: each column's unit stands in its field's metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TEXT = pa.dictionary(pa.int32(), pa.string())
WHOLE = pa.int64()
REAL = pa.float64()
YES_NO = pa.bool_()


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a series.

    Attributes:
        name: its name, which ends in the unit where it has one.
        type: its Arrow type.
        unit: its unit: `s`, `bytes`, `bit/s`, `packets`, ...; empty for none.
    """

    name: str
    type: pa.DataType
    unit: str = ""


TIME = Column("time_s", REAL, "s")
"""Virtual time after the traffic's start: the first column of every series."""


def make_table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Make a table of rows.

    Args:
        columns: its columns.
        rows: a value for each column by name; one that is absent is null.
    """
    values: dict[str, list[Any]] = {column.name: [] for column in columns}
    for row in rows:
        for name, cells in values.items():
            cells.append(row.get(name))
    fields = [
        pa.field(column.name, column.type, metadata={"unit": column.unit}) for column in columns
    ]
    arrays = [pa.array(values[column.name], type=column.type) for column in columns]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
