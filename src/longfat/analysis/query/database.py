"""The database that answers a query: DuckDB in this process, closed to files and the network.

The query is the user's own, so it may take what its limits allow: an interrupt after its time,
DuckDB's limit of memory, and a largest answer. What a single function takes is outside of these
limits.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from longfat.common.guard import scratch_folder

if TYPE_CHECKING:
    from pathlib import Path

    from pyarrow import fs

    from longfat.analysis.query.tables import SeriesFile, SeriesFiles

_THREADS = 4  # each takes memory of its own, and other processes need CPUs
_ROWS = 8192  # of a batch

# Sorts and joins larger than memory go to files in a folder, up to so many times the memory.
_SPILL = 4

_QUERIES = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # what PIVOT becomes
)
_PIVOTING = ("pivot", "pivot_wider", "from", "select", "with", "explain", "(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a query may take.

    Attributes:
        time_s: how long it may take, in seconds of wall time.
        memory_bytes: how much memory the database may take. The answer, which is kept beside it,
            may take a quarter as much.
    """

    time_s: float = 60.0
    memory_bytes: int = 10**9

    @property
    def answer_bytes(self) -> int:
        """Return how large an answer may be, as Arrow has it."""
        return self.memory_bytes // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query with the tables that it names.

    Attributes:
        sql: the query.
        tables: tables by name.
        statements: SQL that makes the other tables of these.
        series: the files of tables that stay files, by the tables' names.
    """

    sql: str
    tables: Mapping[str, pa.Table]
    statements: Sequence[str]
    series: Mapping[str, SeriesFiles]


class QueryFailedError(Exception):
    """A query has no answer.

    Attributes:
        kind: `time`, `memory`, `answer` (too large), `statement` (it is no single query), or
            the name of the class of an error of the database.
        text: the database's message.
    """

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text)
        self.kind = kind
        self.text = text


def answer(question: Question, *, limits: Limits) -> pa.Table:
    """Answer a query.

    Args:
        question: the query and its tables.
        limits: what it may take.

    Returns:
        The answer.

    Raises:
        QueryFailedError: there is none.
    """
    with scratch_folder() as folder:
        try:
            with _database(question, limits, folder) as database:
                return _interruptible(
                    database, lambda: _answer(database, question.sql, limits), limits.time_s
                )
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise QueryFailedError("memory", str(error)) from None
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise QueryFailedError(type(error).__name__, str(error)) from None


def _interruptible(
    database: duckdb.DuckDBPyConnection, work: Callable[[], pa.Table], seconds: float
) -> pa.Table:
    """Return what a database works out in a thread, which Ctrl-C and a time interrupt.

    In this thread no signal would be noticed before its end.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        future = thread.submit(work)
        try:
            return future.result(timeout=seconds)
        except TimeoutError:
            raise QueryFailedError("time") from None
        finally:
            if not future.done():
                database.interrupt()


@contextmanager
def _database(
    question: Question, limits: Limits, folder: Path
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database with the tables of a question, closed to all else."""
    with duckdb.connect(
        config={
            "threads": min(_THREADS, os.cpu_count() or 1),
            "memory_limit": f"{limits.memory_bytes}B",
            "temp_directory": str(folder),
            "max_temp_directory_size": f"{_SPILL * limits.memory_bytes}B",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_persistent_secrets": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        }
    ) as database:
        for name, table in question.tables.items():
            database.register(name, table)
        for statement in question.statements:
            database.execute(statement)
        for name, series in question.series.items():
            database.register(name, _dataset(series))
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        yield database


def _answer(database: duckdb.DuckDBPyConnection, sql: str, limits: Limits) -> pa.Table:
    _check(database, sql)
    try:
        relation = database.sql(sql)
    except (duckdb.BinderException, duckdb.CatalogException):
        database.execute(sql)  # so that the error has its place in the query
        raise
    if relation is None:
        raise QueryFailedError("statement", "empty")
    batches: list[pa.RecordBatch] = []
    size_bytes = 0
    with relation.to_arrow_reader(_ROWS) as reader:
        for batch in reader:
            batches.append(batch)
            size_bytes += batch.nbytes
            if size_bytes > limits.answer_bytes:
                raise QueryFailedError("answer")
        return pa.Table.from_batches(batches, reader.schema)


def _check(database: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Check that a text is one statement, and a query.

    Raises:
        QueryFailedError: it is not.
    """
    statements = database.extract_statements(sql)
    if not statements:
        raise QueryFailedError("statement", "empty")
    if len(statements) > 1:
        raise QueryFailedError("statement", str(len(statements)))
    kind, word = statements[0].type, _first_word(statements[0].query)
    if kind not in _QUERIES or (kind == duckdb.StatementType.MULTI and word not in _PIVOTING):
        raise QueryFailedError("statement", word.upper())


def _first_word(sql: str) -> str:
    """Return the word that a statement begins with, in small letters."""
    text = sql.lstrip()
    while text.startswith(("--", "/*")):
        end = "\n" if text.startswith("--") else "*/"
        text = text.partition(end)[2].lstrip()
    if text.startswith("("):
        return "("
    return text.split(maxsplit=1)[0].lower() if text else ""


# ---------------------------------------------------------------------- series


def _dataset(series: SeriesFiles) -> Any:
    """Return files of series as a table, each of which is read and checked when it is needed."""
    import pyarrow.dataset as ds  # noqa: PLC0415  it takes a while, and few queries need it
    from pyarrow import fs  # noqa: PLC0415

    form = ds.ParquetFileFormat()
    checked = fs.PyFileSystem(_checked_files({file.path: file for file in series.files}))
    fragments = [
        form.make_fragment(
            file.path,
            checked,
            partition_expression=reduce(
                and_, (ds.field(field) == value for field, value in file.known.items())
            ),
        )
        for file in series.files
    ]
    return ds.FileSystemDataset(fragments, series.schema, form, checked)


def _checked_files(files: Mapping[str, SeriesFile]) -> fs.FileSystemHandler:
    """Return what lets Arrow read files, each whole and checked when a query opens it.

    Args:
        files: the files by their paths.
    """
    from pyarrow import fs  # noqa: PLC0415  see `_dataset`

    class CheckedFiles(fs.FileSystemHandler):  # type: ignore[misc]
        def open_input_file(self, path: str) -> pa.NativeFile:
            return pa.BufferReader(_content(files[path]))

        open_input_stream = open_input_file

        def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
            kind = fs.FileType.File
            return [fs.FileInfo(path, kind, size=files[path].sum.size_bytes) for path in paths]

        def get_type_name(self) -> str:
            return "longfat series"

        def normalize_path(self, path: str) -> str:
            return path

        def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
            raise NotImplementedError(selector)

        def create_dir(self, path: str, recursive: bool) -> None:
            raise NotImplementedError(path)

        delete_dir = delete_dir_contents = delete_root_dir_contents = delete_file = create_dir
        move = copy_file = open_output_stream = open_append_stream = create_dir

    return CheckedFiles()


def _content(file: SeriesFile) -> bytes:
    """Return what is in a file.

    Raises:
        OSError: it is not what was written.
    """
    # Without O_NONBLOCK a FIFO in its place would be waited for.
    descriptor = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as opened:
        content = opened.read(file.sum.size_bytes + 1)
    is_whole = len(content) == file.sum.size_bytes
    if not is_whole or hashlib.sha256(content).hexdigest() != file.sum.sha256:
        raise OSError(f"{file.path}: damaged: its bytes are not those that were written")
    return content
