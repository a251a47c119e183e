"""Reading a series from its Parquet file: checked by its checksum, its size and its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.common.checksum import file_damage
from longfat.common.decoding import read_bytes
from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.model.probes.columns import MOST_CELLS, TIME

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from longfat.common.checksum import FileSum
    from longfat.model.probes.columns import Column
else:
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")
pq = lazy("pyarrow.parquet")

MOST_FILE_BYTES = 256 << 20
"""The maximum size of a Parquet file."""

_MOST_S = 1e9
"""The maximum distance of a sample from the start of the traffic, in seconds."""

_UNREADABLE = (OSError, ValueError, OverflowError, MemoryError)


def read_series(path: Path, wanted: FileSum, *, columns: Sequence[Column]) -> pa.Table:
    """Read a probe's samples.

    Args:
        path: the Parquet file.
        wanted: its expected size and checksum.
        columns: the expected columns.

    Raises:
        InputError: it is missing, damaged, too large, or has other columns.
    """
    if problem := file_damage(path, wanted):
        raise InputError(f"{path}: damaged: {problem}")
    try:
        content = read_bytes(path, most_bytes=MOST_FILE_BYTES)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return parse_series(content, where=str(path), columns=columns)


def parse_series(content: bytes, *, where: str, columns: Sequence[Column]) -> pa.Table:
    """Read the content of a series' Parquet file; see `read_series`.

    Args:
        content: its bytes.
        where: its name in messages.
        columns: the expected columns.

    Raises:
        InputError: it is not such a file.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        found, wanted = file.schema_arrow, [(one.name, one.type) for one in columns]
        if [(field.name, field.type) for field in found] != wanted:
            raise InputError(
                f"{where}: its columns are {', '.join(found.names)}; expected are"
                f" {', '.join(one.name for one in columns)}, of their types"
            )
        # A few bytes of it can encode millions of values.
        cells = file.metadata.num_rows * len(wanted)
        if not 0 <= cells <= MOST_CELLS:
            raise InputError(f"{where}: it has {cells:,} values; at most {MOST_CELLS:,} are read")
        table = file.read()
        table.validate(full=True)
        near = pc.less(pc.abs(table[TIME.name]), _MOST_S)
        if not pc.all(near, skip_nulls=False, min_count=0).as_py():
            raise InputError(f"{where}: a sample has no time, or one beyond {_MOST_S:g} s")
    except (*_UNREADABLE, pa.ArrowException) as error:
        raise InputError(f"{where}: not a whole Parquet file: {error}") from None
    return table
