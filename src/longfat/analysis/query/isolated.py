"""Answers a query in a process of its own, within limits of time and memory.

A query may come from a stranger. DuckDB has limits for its own memory and
can be interrupted between two steps of a query, but a function's values are
outside of these limits, one call of a function cannot be interrupted, and some
functions end the whole process. So the query is answered by a child
(`_query_process`), which is ended when its time is over, when its answer is too
large, on Ctrl-C, and when our own process ends.
"""

from __future__ import annotations

import json
import os
import re
import resource
import select
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import ipc

from longfat.common.guard import FIRST_INHERITED, Guarded, scratch_folder
from longfat.errors import HostError

if TYPE_CHECKING:
    from longfat.analysis.query.series import SeriesFiles

_PROCESS = Path(__file__).with_name("_query_process.py")
_CHUNK_BYTES = 1 << 20
# A process that does nothing but take memory takes some 50 MB in this time.
_LOOK_EVERY_MS = 20
# Until the query begins: a busy machine takes seconds to load DuckDB.
_BEGIN_WITHIN_S = 120.0

# The messages of DuckDB, Arrow, Python and the C++ library.
_OUT_OF_MEMORY = re.compile(
    r"out of memory|failed to allocate|bad_alloc|MemoryError|cannot allocate|std::system_error",
    re.IGNORECASE,
)


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
        kind: `time`, `memory`, `answer` (too large), `ended` (the process, by itself), or the
            name of the class of an error of the database.
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
        HostError: no process can be started.
    """
    with scratch_folder() as folder:
        _write_request(question, limits, folder)
        near, far = os.pipe()
        try:
            with (folder / "said").open("wb") as output:
                process = Guarded(
                    [sys.executable, "-I", str(_PROCESS), str(folder), str(FIRST_INHERITED)],
                    inherited=[far],
                    env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                    stdout=output,
                )
            os.close(far)
            far = -1
            with process:
                content = _read(near, process.pid, limits)
                status = process.wait(timeout_s=limits.time_s)
                failure = _failure(folder, status)
        finally:
            os.close(near)
            if far >= 0:
                os.close(far)
    if failure is not None:
        raise failure
    try:
        return ipc.open_stream(pa.py_buffer(content)).read_all()
    except pa.ArrowException as error:
        raise QueryFailedError("ended", str(error)) from None


def _write_request(question: Question, limits: Limits, folder: Path) -> None:
    tables = {}
    for number, (name, table) in enumerate(question.tables.items()):
        tables[name] = f"table{number}"
        with ipc.new_file(str(folder / tables[name]), table.schema) as file:
            file.write_table(table)
    series: dict[str, Any] = {}
    for number, (name, one) in enumerate(question.series.items()):
        schema = f"schema{number}"
        with ipc.new_file(str(folder / schema), one.schema):
            pass
        files = [
            {"path": file.path, "known": dict(file.known), **asdict(file.sum)} for file in one.files
        ]
        series[name] = {"schema": schema, "files": files}
    request = {
        "sql": question.sql,
        "tables": tables,
        "statements": list(question.statements),
        "series": series,
        "memory_bytes": limits.memory_bytes,
    }
    (folder / "request.json").write_text(json.dumps(request), "utf-8")


def _read(pipe: int, pid: int, limits: Limits) -> bytes:
    """Return what comes from the process after its first byte, up to its end.

    Raises:
        QueryFailedError: it takes too long or too much memory, or the answer is too large.
    """
    waiting = select.poll()
    waiting.register(pipe, select.POLLIN)
    end_s = time.monotonic() + _BEGIN_WITHIN_S
    begun = False
    loaded_bytes = 0
    parts: list[bytes] = []
    size = 0
    while True:
        if time.monotonic() >= end_s:
            if not begun:
                raise HostError("the database did not start within two minutes")
            raise QueryFailedError("time")
        if begun and _memory_bytes(pid) - loaded_bytes > limits.memory_bytes:
            raise QueryFailedError("memory")
        if not waiting.poll(_LOOK_EVERY_MS):
            continue
        data = os.read(pipe, _CHUNK_BYTES if begun else 1)
        if not data:
            return b"".join(parts)
        if not begun:
            begun = True
            loaded_bytes = _memory_bytes(pid)
            end_s = time.monotonic() + limits.time_s
            continue
        parts.append(data)
        size += len(data)
        if size > limits.answer_bytes:
            raise QueryFailedError("answer")


def _memory_bytes(pid: int) -> int:
    """Return the memory that a process takes for itself; 0 if it has ended."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * resource.getpagesize()


def _failure(folder: Path, status: int | None) -> QueryFailedError | None:
    try:
        report = json.loads((folder / "error.json").read_bytes())
    except FileNotFoundError:
        report = None
    if report is not None:
        kind, text = str(report["kind"]), str(report["text"])
        if kind in {"OutOfMemoryException", "MemoryError"} or _OUT_OF_MEMORY.search(text):
            return QueryFailedError("memory", text)
        return QueryFailedError(kind, text)
    if status == 0:
        return None
    output = (folder / "said").read_text(encoding="utf-8", errors="replace")
    if _OUT_OF_MEMORY.search(output):
        return QueryFailedError("memory", output)
    return QueryFailedError("ended", output)
