"""Arrow tables with units: each column's unit is in its field's metadata."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from longfat.common.extras import lazy
from longfat.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa
else:
    pa = lazy("pyarrow")


class Kind(Enum):
    """The kind of a column's values."""

    TEXT = "text"
    WHOLE = "whole"
    REAL = "real"
    YES_NO = "yes or no"


TEXT, WHOLE, REAL, YES_NO = Kind.TEXT, Kind.WHOLE, Kind.REAL, Kind.YES_NO

MAX_CELLS = 64_000_000
"""How many values a series may have; they take some 500 MB of memory."""

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a series.

    Attributes:
        name: its name, which ends in the unit where it has one.
        kind: the kind of its values.
        unit: its unit: `s`, `bytes`, `bit/s`, `packets`, ...; empty for none.
        later: series of earlier versions lack it; it is null then.
    """

    name: str
    kind: Kind
    unit: str = ""
    later: bool = False

    @property
    def type(self) -> pa.DataType:
        """Return its Arrow type."""
        if self.kind is Kind.TEXT:
            return pa.dictionary(pa.int32(), pa.string())
        return {Kind.WHOLE: pa.int64(), Kind.REAL: pa.float64(), Kind.YES_NO: pa.bool_()}[self.kind]


TIME = Column("time_s", REAL, "s")
"""Virtual time after the traffic's start: the first column of every series."""


def make_table(columns: Sequence[Column], rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Make a table of rows.

    Args:
        columns: its columns.
        rows: a value for each column by name; one that is absent is null.

    Raises:
        MachineError: there are more than `MAX_CELLS` values.
    """
    schema = pa.schema(
        [pa.field(column.name, column.type, metadata={"unit": column.unit}) for column in columns]
    )
    left, remaining = MAX_CELLS // len(columns), iter(rows)
    batches = []
    while batch := list(itertools.islice(remaining, _BATCH_ROWS)):
        left -= len(batch)
        if left < 0:
            raise MachineError(
                f"it saw more than {MAX_CELLS // len(columns):,} rows, which are too many to"
                " keep; sample less often, or fewer things"
            )
        arrays = [
            pa.array([row.get(column.name) for row in batch], type=column.type)
            for column in columns
        ]
        batches.append(pa.Table.from_arrays(arrays, schema=schema))
    if len(batches) <= 1:
        return batches[0] if batches else schema.empty_table()
    return pa.concat_tables(batches).unify_dictionaries()
