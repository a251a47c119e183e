"""The process that answers one query, and ends.

`isolated` starts it as a script in an isolated interpreter, so it imports no more than
DuckDB, pyarrow and the standard library. Its arguments are a folder and a descriptor:

    request.json   the query, the tables' views and files, and the limits
    error.json     the kind of an error and its text, if there was one
    descriptor     takes one byte when the query begins, then the answer as an Arrow stream

Only this process sees the query. DuckDB limits some of its memory by itself, and then
sorts and joins by way of files. Of the rest, such as a function's values, its parent sees
how much it is, and ends it when it is too much or when its time is over. `RLIMIT_DATA`
refuses what is far too much at once.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

# Arrow and DuckDB load it where it is there, which takes a quarter of what a query takes.
sys.modules["numpy"] = None  # type: ignore[assignment]

import duckdb  # noqa: E402
import pyarrow as pa  # noqa: E402
from pyarrow import ipc  # noqa: E402

BEGUN = b"Q"
"""The byte that comes before the answer."""

_THREADS = 4  # each takes memory of its own, and other processes need CPUs
_ROWS = 8192  # of a batch

_RESERVED_BYTES = 1 << 29

# A part of the memory is not DuckDB's own, and a query that needs a little more than it is
# allowed shall rather fail with DuckDB's own words than be ended.
_OWN_SHARE = 0.8

# Sorts and joins larger than memory go to files in the folder, up to so many times the memory.
_SPILL = 4

_ASKING = (
    duckdb.StatementType.SELECT,
    duckdb.StatementType.EXPLAIN,
    duckdb.StatementType.MULTI,  # what PIVOT becomes
)
_PIVOTING = ("pivot", "pivot_wider", "from", "select", "with", "explain", "(")


def main() -> None:
    """Answer the query of the folder that the argument names."""
    folder, descriptor = Path(sys.argv[1]), int(sys.argv[2])
    try:
        request = json.loads((folder / "request.json").read_bytes())
        _limit(request["memory_bytes"])
        with _database(request, folder) as database:
            os.write(descriptor, BEGUN)
            _answer(database, request["sql"], descriptor)
    except BaseException as error:
        # Any error is reported by the parent, without a traceback.
        report = {"kind": type(error).__name__, "text": str(error)}
        partial = folder / "error.partial"
        partial.write_text(json.dumps(report), "utf-8")
        partial.rename(folder / "error.json")
    os._exit(0)  # threads that are still at work would be waited for


class NotOneQuestionError(Exception):
    """The text is not a single query."""


def _limit(memory_bytes: int) -> None:
    with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123
        (now_kb,) = (int(line.split()[1]) for line in status if line.startswith("VmData:"))
    # It counts what is reserved, not what is used: allocators reserve much more.
    most = now_kb * 1024 + 2 * memory_bytes + _RESERVED_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def _database(request: dict[str, Any], folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database with the tables of a request, closed to the world."""
    threads = min(_THREADS, os.cpu_count() or 1)
    pa.set_cpu_count(threads)
    memory_bytes = request["memory_bytes"]
    database = duckdb.connect(
        config={
            "threads": threads,
            "memory_limit": f"{int(_OWN_SHARE * memory_bytes)}B",
            "temp_directory": str(folder / "spilled"),
            "max_temp_directory_size": f"{_SPILL * memory_bytes}B",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_persistent_secrets": False,
            "allow_community_extensions": False,
            "python_enable_replacements": False,
        }
    )
    with database:
        _fill(database, request, folder)
        database.execute("set enable_external_access = false")
        database.execute("set lock_configuration = true")
        yield database


def _fill(database: duckdb.DuckDBPyConnection, request: dict[str, Any], folder: Path) -> None:
    for name, file in request["tables"].items():
        # As a file that is mapped, a table takes no memory of its own.
        with pa.memory_map(str(folder / file)) as source:
            database.register(name, ipc.open_file(source).read_all())
    for statement in request["statements"]:
        database.execute(statement)
    if not request["series"]:
        return
    import pyarrow.dataset as ds  # noqa: PLC0415  it takes a while
    from pyarrow import fs  # noqa: PLC0415

    for name, one in request["series"].items():
        schema = ipc.open_file(str(folder / one["schema"])).schema
        form = ds.ParquetFileFormat()
        checked = fs.PyFileSystem(_checked_files({file["path"]: file for file in one["files"]}))
        fragments = [
            form.make_fragment(
                file["path"],
                checked,
                partition_expression=reduce(
                    and_, (ds.field(field) == value for field, value in file["known"].items())
                ),
            )
            for file in one["files"]
        ]
        database.register(name, ds.FileSystemDataset(fragments, schema, form, checked))


def _checked_files(files: dict[str, dict[str, Any]]) -> Any:
    """Return what lets Arrow read files, each whole and checked when a query opens it.

    Args:
        files: their sizes and checksums by their paths.
    """
    from pyarrow import fs  # noqa: PLC0415  it takes a while

    class CheckedFiles(fs.FileSystemHandler):  # type: ignore[misc]
        def open_input_file(self, path: str) -> pa.NativeFile:
            return pa.BufferReader(_content(**files[path]))

        open_input_stream = open_input_file

        def get_file_info(self, paths: list[str]) -> list[fs.FileInfo]:
            kind = fs.FileType.File
            return [fs.FileInfo(path, kind, size=files[path]["size_bytes"]) for path in paths]

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


def _content(path: str, *, size_bytes: int, sha256: str, **_: Any) -> bytes:
    """Return what is in a file.

    Raises:
        OSError: it is not what was written.
    """
    # Without O_NONBLOCK a FIFO in its place would be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(size_bytes + 1)
    if len(content) != size_bytes or hashlib.sha256(content).hexdigest() != sha256:
        raise OSError(f"{path}: damaged: its bytes are not those that were written")
    return content


def _answer(database: duckdb.DuckDBPyConnection, sql: str, descriptor: int) -> None:
    _check(database, sql)
    try:
        answer = database.sql(sql)
        if answer is None:
            raise NotOneQuestionError("it is empty")
        with answer.to_arrow_reader(_ROWS) as batches:
            _write(batches, descriptor)
    except (duckdb.BinderException, duckdb.CatalogException):
        database.execute(sql)  # so that the error has its place in the query
        raise


def _write(batches: pa.RecordBatchReader, descriptor: int) -> None:
    with (
        open(descriptor, "wb", closefd=False) as out,
        ipc.new_stream(out, batches.schema) as stream,
    ):
        for batch in batches:
            stream.write_batch(batch)


def _check(database: duckdb.DuckDBPyConnection, sql: str) -> None:
    """Check that a text is one statement, and a query."""
    statements = database.extract_statements(sql)
    if not statements:
        raise NotOneQuestionError("empty")
    if len(statements) > 1:
        raise NotOneQuestionError(str(len(statements)))
    kind, word = statements[0].type, _first_word(statements[0].query)
    if kind not in _ASKING or (kind == duckdb.StatementType.MULTI and word not in _PIVOTING):
        raise NotOneQuestionError(word.upper())


def _first_word(sql: str) -> str:
    """Return the word that a statement begins with, in small letters."""
    text = sql.lstrip()
    while text.startswith(("--", "/*")):
        end = "\n" if text.startswith("--") else "*/"
        text = text.partition(end)[2].lstrip()
    if text.startswith("("):
        return "("
    return text.split(maxsplit=1)[0].lower() if text else ""


if __name__ == "__main__":
    main()
