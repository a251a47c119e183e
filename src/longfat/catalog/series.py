"""The series of the probes, as tables over the Parquet files of many runs.

A table is an Arrow dataset: a file is opened only when a query needs rows of
it. What is known of a file without opening it (run, study, case, seed, probe)
goes with it, so that a query for one case of thousands opens that case's files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, eq
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from longfat.catalog.columns import Column
from longfat.catalog.tables import OF_RUN, Table
from longfat.probe import capture, queue, rate, tcp
from longfat.runs.run import SERIES

if TYPE_CHECKING:
    from longfat.probe.columns import Column as SeriesColumn

COLUMNS: Mapping[str, Sequence[SeriesColumn]] = {
    "queue": queue.COLUMNS,
    "tcp": tcp.COLUMNS,
    "rate": rate.COLUMNS,
    "capture": capture.COLUMNS,
}
"""The columns of each kind of probe's series."""

_PROBE = Column("probe", "the probe")
_WHAT = {
    "queue": "a qdisc at a moment",
    "tcp": "an end of a stream at a moment",
    "rate": "an interface at a moment",
    "capture": "a packet",
}


def series_table(kind: str) -> Table:
    """Return the table of a kind of probe's series."""
    own = (
        Column(one.name, "after the traffic's start" if one.name == "time_s" else "", one.unit)
        for one in COLUMNS[kind]
    )
    text = f"{_WHAT[kind]}, as a {kind} probe saw it"
    return Table(name=f"series_{kind}", text=text, columns=(*OF_RUN, _PROBE, *own))


def series_dataset(kind: str, entries: pa.Table, *, paths: Sequence[Path]) -> ds.FileSystemDataset:
    """Return the series of a kind of probe of all runs.

    Args:
        kind: the kind.
        entries: what is known of the runs.
        paths: where the run directories are, in the entries' order.
    """
    schema = pa.schema(
        [
            *(
                pa.field(one.name, pa.int64() if one.name == "seed" else pa.string())
                for one in OF_RUN
            ),
            pa.field(_PROBE.name, pa.string()),
            *(pa.field(one.name, _plain(one.type)) for one in COLUMNS[kind]),
        ]
    )
    form, local = ds.ParquetFileFormat(), fs.LocalFileSystem()
    names = [one.name for one in OF_RUN]
    columns = [entries[name].to_pylist() for name in (*names, "probes")]
    of_probe = ds.field(_PROBE.name)
    fields = [ds.field(name) for name in names]
    fragments = []
    for path, *values, probes in zip(paths, *columns, strict=True):
        mine = [one["probe"] for one in probes if one["kind"] == kind]
        if not mine:
            continue
        known = reduce(and_, map(eq, fields, values))
        for probe in mine:
            file = f"{path}/{SERIES}/{probe}.parquet"
            known_of_file = known & (of_probe == probe)
            fragments.append(form.make_fragment(file, local, partition_expression=known_of_file))
    return ds.FileSystemDataset(fragments, schema, form, local)


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
