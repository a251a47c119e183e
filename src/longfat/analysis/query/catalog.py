"""The catalog: all runs and series of some folders, for queries in SQL.

DuckDB runs in this process (`database`). It sees only the tables that it is given:
the database has no access to any file, so that an untrusted query can read no other file
and write none.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from longfat.analysis.query.database import Limits, QueryFailedError, Question, answer
from longfat.analysis.query.mistakes import explained_error
from longfat.analysis.query.readings import ENTRIES, INTERVALS, REPLIES, read_claims
from longfat.analysis.query.row_cache import Listing, Reading, list_runs, read_all
from longfat.analysis.query.tables import (
    CLAIMS,
    ENTRIES_TABLE,
    OF_RUN,
    OWN_SCHEMA,
    Table,
    entries_views,
    series_files,
    series_table,
)
from longfat.analysis.query.tables import COLUMNS as SERIES_KINDS
from longfat.analysis.query.tables import INTERVALS as INTERVALS_TABLE
from longfat.analysis.query.tables import REPLIES as REPLIES_TABLE
from longfat.errors import InputError

_ROWS = {INTERVALS_TABLE.name: INTERVALS, REPLIES_TABLE.name: REPLIES}

DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Reported:
    """How far reading is.

    Attributes:
        what: what is read: `runs`, `intervals` or `replies`.
        count: how many runs have been read.
        total: of how many.
    """

    what: str
    count: int
    total: int


class Catalog:
    """The runs below some folders, as they are when the catalog is made.

    Args:
        roots: the folders; a run that lies below two of them counts once.
        on_read: called with the progress of reading, if something must be read.

    Raises:
        InputError: a folder is not there or cannot be read.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        *,
        on_read: Callable[[Reported], None] = lambda _reported: None,
    ) -> None:
        self._listings = _listings(roots)
        self._on_read = on_read
        self.problems: list[str] = []
        """What could not be read so far, each with its place."""
        self._entries = self._read(ENTRIES)

    @property
    def runs(self) -> int:
        """Return how many runs there are."""
        return int(self._entries.num_rows)

    @property
    def entries(self) -> pa.Table:
        """Return a row for each run: the fields of an `Entry`, and `run`, its directory."""
        return self._entries

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Return all tables that a query can name."""
        series = (series_table(kind) for kind in SERIES_KINDS)
        return (*self._views, CLAIMS, INTERVALS_TABLE, REPLIES_TABLE, *series)

    @cached_property
    def _views(self) -> tuple[Table, ...]:
        return entries_views(self._entries)

    def query(self, sql: str, *, limits: Limits = DEFAULT_LIMITS) -> pa.Table:
        """Answer a query; see `longfat.analysis.query.database`.

        Args:
            sql: one SELECT, or another query (FROM, PIVOT, DESCRIBE, ...).
            limits: what it may take.

        Returns:
            Rows and columns as the query names them; decimal numbers are whole or real ones.

        Raises:
            InputError: something is wrong with the query, it needs more than the limits, or a
                file of a run cannot be read.
        """
        if any("\ud800" <= letter <= "\udfff" for letter in sql):
            raise InputError("the query: it holds bytes that are no UTF-8")
        try:
            return _numbers(answer(self._question(sql), limits=limits))
        except QueryFailedError as failed:
            raise InputError(
                explained_error(failed, sql=sql, tables=self.tables, limits=limits)
            ) from None

    def _question(self, sql: str) -> Question:
        """Return a query with the tables that it names."""
        tables = {"longfat_given": self._entries}
        statements = [
            f"create schema {OWN_SCHEMA}",
            f"create table {ENTRIES_TABLE} as select * from longfat_given",
            "drop view longfat_given",
            *(table.view for table in self._views),
        ]
        named = {word.lower() for word in re.findall(r"\w+", sql)}
        if CLAIMS.name in named:
            tables[CLAIMS.name] = self._claims()
        for name in named & _ROWS.keys():
            tables[name] = self._rows(_ROWS[name])
        series = {}
        for kind in SERIES_KINDS:
            table = series_table(kind)
            if table.name in named:
                series[table.name] = series_files(kind, self._entries, paths=self._paths())
        return Question(sql=sql, tables=tables, statements=statements, series=series)

    def _paths(self) -> list[Path]:
        return [Path(run) for run in self._entries["run"].to_pylist()]

    def _read(self, reading: Reading) -> pa.Table:
        """Read all runs; of those that can be read, return the fields and the run's directory."""
        tables = []
        for listing in self._listings:
            table = read_all(
                listing,
                reading,
                on_read=lambda count, total: self._on_read(Reported(reading.name, count, total)),
            )
            runs = [_joined(listing.root, folder) for folder in table["folder"].to_pylist()]
            fields = [table[field.name] for field in reading.fields]
            names = [field.name for field in reading.fields]
            found = pa.Table.from_arrays([pa.array(runs, pa.string()), *fields], ["run", *names])
            good = pc.is_null(table["problem"])
            if not pc.all(good).as_py():
                for run, problem in zip(runs, table["problem"].to_pylist(), strict=True):
                    if problem is not None:
                        self.problems.append(f"{run}: {problem}")
                found = found.filter(good)
            tables.append(found)
        return pa.concat_tables(tables).combine_chunks()

    def _claims(self) -> pa.Table:
        folders = [
            Path(_joined(listing.root, folder))
            for listing in self._listings
            for folder in listing.verdicts
        ]
        table, problems = read_claims(folders)
        self.problems += problems
        return table

    def _rows(self, reading: Reading) -> pa.Table:
        """Return what tools wrote as a table with a row for each of their rows."""
        read = self._read(reading)
        lists = read["rows"].combine_chunks()
        of_runs = dict(zip(self._entries["run"].to_pylist(), range(self.runs), strict=True))
        # The run may have been replaced since by one that is not in the entries.
        parents = pc.list_parent_indices(lists)
        places = pa.array([of_runs.get(run) for run in read["run"].to_pylist()], pa.int64())
        at = places.take(parents)
        chosen = self._entries.select([one.name for one in OF_RUN]).take(at)
        rows = pa.Table.from_struct_array(lists.flatten())
        for index, name in enumerate(chosen.column_names):
            rows = rows.add_column(index, name, chosen[name])
        return rows.filter(pc.is_valid(rows["run"]))


def _listings(roots: Iterable[Path]) -> list[Listing]:
    """List folders; what lies below two of them stays in the first."""
    seen: set[str] = set()
    found = []
    for root in roots:
        listing = list_runs(root)
        whole = root.resolve()
        new = {
            name for name in (*listing.runs, *listing.verdicts) if _joined(whole, name) not in seen
        }
        seen |= {_joined(whole, name) for name in new}
        found.append(
            Listing(
                root=root,
                runs={name: stamp for name, stamp in listing.runs.items() if name in new},
                verdicts=tuple(name for name in listing.verdicts if name in new),
                young=listing.young,
            )
        )
    return found


def _joined(root: Path, folder: str) -> str:
    return str(root) if folder == "." else str(root / folder)


def _numbers(answer: pa.Table) -> pa.Table:
    """Return an answer with the numbers that everybody reads: sums of counts are decimals."""
    for index, field in enumerate(answer.schema):
        if pa.types.is_decimal(field.type):
            kind = pa.int64() if field.type.scale == 0 else pa.float64()
            with contextlib.suppress(pa.ArrowInvalid):  # beyond 64 bits it stays as it is
                column = answer.column(index).cast(kind)
                answer = answer.set_column(index, field.name, column)
    return answer
