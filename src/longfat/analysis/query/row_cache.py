"""The run directories below a folder, and a cache of what was read of them.

`list_runs` finds them. A run directory appears by a rename (law 6), so its manifest is another
file whenever the run is another one; the stamp of that file is compared with an earlier one, and
nothing is opened. `read_all` reads them, each once, and writes one file for each kind of reading
in a hidden folder beside the runs:

    ROOT/.catalog/runs.cache   a row a run: its folder, its manifest's stamp, what was read

The file is a SHA-256 and then, in Parquet, what it is the checksum of. It is a cache and
nothing else: it may be removed at any time, and is rebuilt when it is missing, broken or of
another format. A row counts only while its run has the same stamp. Of two
processes that write, the last one wins, and both files are right.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from longfat.common.decoding import read_bytes
from longfat.common.modes import file_mode
from longfat.errors import InputError
from longfat.execution.runs.run import MANIFEST

DEEPEST = 4
"""How many folders below a root a run may lie; `runs/STUDY/RUN` lies two below."""

VERDICT = "verdict.json"
"""What `longfat run` keeps of a study's claims, beside the study's runs."""

# Clocks of file systems are coarse: within this time, a file that was changed
# again could still have the same stamp.
YOUNG_S = 2.0


class Stamp(NamedTuple):
    """What distinguishes a file from its replacement: times are in nanoseconds since 1970."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What lies below a folder.

    Attributes:
        root: the folder.
        runs: the run directories, as paths below it, in order, with their manifests' stamps.
        verdicts: the folders that hold a study's verdict, likewise.
        young: the runs whose stamps cannot be relied on yet.
    """

    root: Path
    runs: dict[str, Stamp]
    verdicts: tuple[str, ...]
    young: frozenset[str]

    @property
    def is_run(self) -> bool:
        """Whether the folder is itself a run directory, in which nothing else may be written."""
        return "." in self.runs


def list_runs(root: Path) -> Listing:
    """List the run directories below a folder; it may be one itself.

    Hidden folders, links to folders, and names that are no UTF-8 are passed over.

    Raises:
        InputError: it is no folder, or cannot be read.
    """
    now_ns = time.time_ns()
    runs: dict[str, Stamp] = {}
    verdicts: list[str] = []
    try:
        next(root.iterdir(), None)
    except FileNotFoundError:
        raise InputError(f"{root}: there is no such folder") from None
    except OSError as error:
        raise InputError(f"{root}: cannot be read: {error.strerror}") from None
    _look(str(root), "", runs=runs, verdicts=verdicts, left=DEEPEST)
    found = dict(sorted(runs.items()))
    old_ns = now_ns - int(YOUNG_S * 1e9)
    young = frozenset(name for name, stamp in found.items() if stamp.ctime_ns > old_ns)
    return Listing(root=root, runs=found, verdicts=tuple(sorted(verdicts)), young=young)


def _look(root: str, below: str, *, runs: dict[str, Stamp], verdicts: list[str], left: int) -> None:
    path = f"{root}/{below}" if below else root
    try:
        # A Path for each of thousands of folders would take longer than the look.
        status = os.stat(f"{path}/{MANIFEST}")  # noqa: PTH116
    except OSError:
        pass
    else:
        runs[below or "."] = Stamp(
            status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )
        return
    try:
        with os.scandir(path) as entries:
            inner = []
            for entry in entries:
                if entry.name == VERDICT:
                    verdicts.append(below or ".")
                elif left and _counts(entry):
                    inner.append(entry.name)
    except OSError:
        return  # it was removed meanwhile, or is not readable
    for name in inner:
        _look(
            root, f"{below}/{name}" if below else name, runs=runs, verdicts=verdicts, left=left - 1
        )


def _counts(entry: os.DirEntry[str]) -> bool:
    name = entry.name
    return not name.startswith(".") and _is_text(name) and entry.is_dir(follow_symlinks=False)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


FOLDER = ".catalog"
"""Where the files lie, below the folder of runs."""

_STAMP = tuple(
    pa.field(name, pa.uint64() if name == "inode" else pa.int64()) for name in Stamp._fields
)
_FOLDER = pa.field("folder", pa.string())
_PROBLEM = pa.field("problem", pa.string())
_FORMAT = b"longfat.analysis.query"
_PARTIAL = ".partial"
_MISFITS = (pa.ArrowException, OverflowError, TypeError, UnicodeError)
_SWEEP_AFTER_S = 60.0
_SUM_BYTES = hashlib.sha256().digest_size
_MAX_BYTES = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A kind of reading.

    Attributes:
        name: the name of its file, without suffix.
        version: changes when the meaning of a field does, or how it is read.
        fields: what is read of a run; besides, `problem` is a text: why it could not be read.
        read: reads it from a run directory: a value for each field, or `problem` alone.
    """

    name: str
    version: str
    fields: Sequence[pa.Field]
    read: Callable[[Path], Mapping[str, Any]]

    @property
    def schema(self) -> pa.Schema:
        """Return the schema of its file."""
        metadata = {_FORMAT: self.version.encode()}
        return pa.schema([_FOLDER, *_STAMP, *self.fields, _PROBLEM], metadata=metadata)


def read_all(
    listing: Listing, reading: Reading, *, on_read: Callable[[int, int], None] = lambda _i, _n: None
) -> pa.Table:
    """Read all run directories of a listing, of which most may have been read before.

    Args:
        listing: the runs.
        reading: what to read of them.
        on_read: called with how many runs have been read, and of how many.

    Returns:
        A row for each run, in the listing's order: `folder`, below the root, and the
        reading's fields. A run that was removed meanwhile is left out.
    """
    path = listing.root / FOLDER / f"{reading.name}.cache"
    kept = _load(path, reading)
    valid = _valid_rows(kept, listing)
    unread = [name for name in listing.runs if name not in valid]
    rows = []
    for count, name in enumerate(unread):
        on_read(count, len(unread))
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = reading.read(listing.root / name)
            rows.append({"folder": name, **listing.runs[name]._asdict(), **found})
    table = kept
    if len(valid) < kept.num_rows:
        table = table.take(pa.array(list(valid.values()), pa.int64()))
    if rows:
        table = pa.concat_tables([table, _table(rows, reading.schema)]).combine_chunks()
    names = table["folder"].to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    if order != list(range(len(names))):
        table = table.take(pa.array(order, pa.int64()))
    # What is too new to be distinguished from a replacement is read again the next time.
    lasting = pa.array([names[row] not in listing.young for row in order], pa.bool_())
    changed = len(valid) < kept.num_rows or any(row["folder"] not in listing.young for row in rows)
    if changed and not listing.is_run:
        _save(table.filter(lasting), path)
    return table


def _table(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Return rows as a table; of one that does not fit the fields, that it does not."""
    try:
        return pa.Table.from_pylist(rows, schema=schema)
    except _MISFITS:
        return pa.concat_tables([_row(row, schema) for row in rows])


def _row(row: dict[str, Any], schema: pa.Schema) -> pa.Table:
    try:
        return pa.Table.from_pylist([row], schema=schema)
    except _MISFITS as error:
        found = {name: row[name] for name in ("folder", *Stamp._fields)}
        found["problem"] = f"its manifest is not whole: {type(error).__name__}"
        return pa.Table.from_pylist([found], schema=schema)


def _valid_rows(kept: pa.Table, listing: Listing) -> dict[str, int]:
    """Return the rows of the runs that are still the same, by folder."""
    names = kept["folder"].to_pylist()
    stamps = zip(*(kept[name].to_pylist() for name in Stamp._fields), strict=True)
    return {
        name: row
        for row, (name, stamp) in enumerate(zip(names, stamps, strict=True))
        if listing.runs.get(name) == stamp and name not in listing.young
    }


def _load(path: Path, reading: Reading) -> pa.Table:
    """Return what was kept; an empty table where it is missing, broken or of another format."""
    schema = reading.schema
    try:
        content = read_bytes(path, most_bytes=_MAX_BYTES)
        if hashlib.sha256(content[_SUM_BYTES:]).digest() != content[:_SUM_BYTES]:
            return schema.empty_table()
        found = pq.ParquetFile(pa.BufferReader(content[_SUM_BYTES:]))
        if found.schema_arrow.equals(schema, check_metadata=False) and (
            (found.schema_arrow.metadata or {}).get(_FORMAT) == schema.metadata[_FORMAT]
        ):
            return found.read().cast(schema)
    except (OSError, pa.ArrowException, UnicodeDecodeError, InputError):
        pass
    return schema.empty_table()


def _save(table: pa.Table, path: Path) -> None:
    """Write a file whole or not at all; where that cannot be, there is no cache."""
    with contextlib.suppress(OSError, pa.ArrowException):
        path.parent.mkdir(exist_ok=True)
        _sweep(path.parent)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=_PARTIAL)
        try:
            with os.fdopen(handle, "wb") as file:
                buffer = pa.BufferOutputStream()
                pq.write_table(table, buffer, compression="zstd")
                content = buffer.getvalue()
                file.write(hashlib.sha256(content).digest())
                file.write(content)
            os.chmod(partial, file_mode())  # noqa: PTH101  one of a pair with os.replace
            os.replace(partial, path)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(partial)  # noqa: PTH108
            raise


def _sweep(folder: Path) -> None:
    """Remove what a kill left behind."""
    for partial in folder.glob(f"*{_PARTIAL}"):
        with contextlib.suppress(OSError):
            if time.time() - partial.stat().st_mtime > _SWEEP_AFTER_S:
                partial.unlink()
