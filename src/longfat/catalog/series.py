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
from longfat.checked import read_bytes
from longfat.checksum import FileSum, file_damage
from longfat.errors import InputError
from longfat.probe import PROBES
from longfat.runs.run import SERIES
from longfat.runs.series import MOST_FILE_BYTES

if TYPE_CHECKING:
    from longfat.probe.columns import Column as SeriesColumn

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
    form = ds.ParquetFileFormat()
    sums: dict[str, FileSum] = {}
    files = fs.PyFileSystem(_CheckedFiles(sums))
    names = [one.name for one in OF_RUN]
    columns = [entries[name].to_pylist() for name in (*names, "probes")]
    of_probe = ds.field(_PROBE.name)
    fields = [ds.field(name) for name in names]
    fragments = []
    for path, *values, probes in zip(paths, *columns, strict=True):
        mine = [one for one in probes if one["kind"] == kind]
        if not mine:
            continue
        known = reduce(and_, map(eq, fields, values))
        for one in mine:
            file = f"{path}/{SERIES}/{one['probe']}.parquet"
            if one["sha256"] is None:
                raise InputError(f"{file}: the run has no such file")
            sums[file] = FileSum(size_bytes=one["size_bytes"], sha256=one["sha256"])
            known_of_file = known & (of_probe == one["probe"])
            fragments.append(form.make_fragment(file, files, partition_expression=known_of_file))
    return ds.FileSystemDataset(fragments, schema, form, files)


class _CheckedFiles(fs.FileSystemHandler):  # type: ignore[misc]
    """The series' files, each read whole and checked when a query opens it.

    Args:
        sums: what they held when they were written, by their paths.
    """

    def __init__(self, sums: Mapping[str, FileSum]) -> None:
        self._sums = sums

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Return the content of a file.

        Raises:
            OSError: it is not what it was.
        """
        if problem := file_damage(Path(path), self._sums[path]):
            raise OSError(f"{path}: damaged: {problem}")
        try:
            return pa.BufferReader(read_bytes(Path(path), most_bytes=MOST_FILE_BYTES))
        except InputError as error:
            raise OSError(error.message) from None

    open_input_stream = open_input_file

    def get_file_info(self, paths: Sequence[str]) -> list[fs.FileInfo]:
        """Return the sizes of files."""
        return [
            fs.FileInfo(path, fs.FileType.File, size=self._sums[path].size_bytes) for path in paths
        ]

    def get_type_name(self) -> str:
        """Return what kind of file system it is."""
        return "longfat series"

    def normalize_path(self, path: str) -> str:
        """Return a path as it is."""
        return path

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """Refuse: nothing is listed, nor written, as below."""
        raise NotImplementedError(selector)

    def create_dir(self, path: str, recursive: bool) -> None:
        """Refuse."""
        raise NotImplementedError(path)

    delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = create_dir
    move = copy_file = open_output_stream = open_append_stream = create_dir


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
