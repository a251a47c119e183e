"""The series of the probes, as tables over the Parquet files of many runs.

A table becomes an Arrow dataset: a file is opened only when a query needs rows of
it. What is known of a file without opening it (run, study, case, seed, probe)
goes with it, so that a query for one case of thousands opens that case's files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat.analysis.query.columns import Column
from longfat.analysis.query.tables import OF_RUN, Table
from longfat.common.checksum import FileSum
from longfat.errors import InputError
from longfat.execution.runs.run import SERIES
from longfat.model.probes import PROBES

if TYPE_CHECKING:
    from longfat.model.probes.columns import Column as SeriesColumn

COLUMNS: Mapping[str, Sequence[SeriesColumn]] = {
    kind: probe.columns for kind, probe in PROBES.items()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesFile:
    """A Parquet file of a table.

    Attributes:
        path: the file.
        known: the values of columns that are the same in all of its rows.
        sum: what it held when it was written.
    """

    path: str
    known: Mapping[str, str | int]
    sum: FileSum


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesFiles:
    """A table that consists of Parquet files.

    Attributes:
        schema: its columns.
        files: its files.
    """

    schema: pa.Schema
    files: Sequence[SeriesFile]


def series_files(kind: str, entries: pa.Table, *, paths: Sequence[Path]) -> SeriesFiles:
    """Return the series of a kind of probe of all runs.

    Args:
        kind: the kind.
        entries: what is known of the runs.
        paths: where the run directories are, in the entries' order.

    Raises:
        InputError: a run has no file of a probe of its.
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
    names = [one.name for one in OF_RUN]
    columns = [entries[name].to_pylist() for name in (*names, "probes")]
    files = [
        _series_file(path, one, known=dict(zip(names, values, strict=True)))
        for path, *values, probes in zip(paths, *columns, strict=True)
        for one in probes
        if one["kind"] == kind
    ]
    return SeriesFiles(schema=schema, files=files)


def _series_file(run: Path, probe: Mapping[str, Any], *, known: Mapping[str, Any]) -> SeriesFile:
    path = f"{run}/{SERIES}/{probe['probe']}.parquet"
    if probe["sha256"] is None:
        raise InputError(f"{path}: the run has no such file")
    return SeriesFile(
        path=path,
        known={**known, _PROBE.name: probe["probe"]},
        sum=FileSum(size_bytes=probe["size_bytes"], sha256=probe["sha256"]),
    )


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
