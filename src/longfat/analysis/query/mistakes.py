"""Error messages for queries.

DuckDB's own messages are good where they point at a place; here the nearest valid names are
added, and pitfalls of the catalog itself are explained.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.common.terminal_text import printable
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from longfat.analysis.query.database import Limits, QueryFailedError
    from longfat.analysis.query.tables import Table

_MAX_SENTENCE_LENGTH = 300

# A query has no settings that it could change.
_SETTINGS = re.compile(r"[.;]? Use \"?SET .*", re.DOTALL)

_KIND = re.compile(r"^(?:[A-Z][A-Za-z -]*)? ?Error: ")
_POINTED = re.compile(r"^LINE (\d+): (.*)\n( *)(\^+)", re.MULTILINE)
_NO_COLUMN = re.compile(r'Referenced column "(.*?)" not found')
_NO_TABLE = re.compile(r"Table with name (.*?) does not exist")
_NO_SUCH_TABLE = re.compile(r'Referenced table "(.*?)" not found')
_CASE = re.compile(r"(?<![\w.\"])case(?!\w)(?!\s+when|\s+[\w.\"()]+\s+when)", re.IGNORECASE)


def explained_error(
    failed: QueryFailedError, *, sql: str, tables: Sequence[Table], limits: Limits
) -> str:
    """Return the message for a query that failed.

    Args:
        failed: why it has none.
        sql: the query.
        tables: the tables that a query can name.
        limits: what it was allowed to take.
    """
    kind, text = failed.kind, failed.text
    match kind:
        case "time":
            return (
                f"the query: not done within {limits.time_s:g} s, its limit of time; "
                "--time-limit sets another"
            )
        case "memory":
            memory = format_quantity(limits.memory_bytes, Unit.BYTES)
            return f"the query: it needs more memory than {memory}; --memory-limit allows more"
        case "answer":
            largest = format_quantity(limits.answer_bytes, Unit.BYTES)
            return (
                f"the query: its answer is larger than {largest}, a quarter of the limit of "
                "memory; request fewer rows (`limit 1000`), or allow more by --memory-limit"
            )
        case "statement":
            return _no_query(text)
        case "InternalException" | "FatalException":
            text = text.partition("\n")[0]
    sentences, pointed = _split(text)
    hint = _hint(text, sql=sql, tables=tables)
    if kind == "PermissionException":
        sentences = "it uses more than the catalog's tables"
        hint = "a query reads no other file and writes none: see --csv and --parquet"
    elif found := _NO_TABLE.search(text):
        sentences = f"there is no table {found[1]!r}"
    elif found := _NO_COLUMN.search(text):
        sentences = f"there is no column {found[1]!r} in what the query reads"
    lines = [f"the query: {sentences}{f'; {hint}' if hint else ''}"]
    return "\n".join(map(printable, [*lines, *(f"  {line}" for line in pointed)]))


def _no_query(what: str) -> str:
    if what == "empty":
        return "the query is empty; `longfat query --tables` lists the tables"
    if what.isdigit():
        return f"here are {what} queries: run one at a time"
    return f"{what} is not a query: a query is a SELECT, and changes nothing"


def _split(text: str) -> tuple[str, list[str]]:
    """Return a message's sentence, and the line of the query with a mark below it."""
    place = _POINTED.search(text)
    before = text[: place.start()] if place else text
    first = before.strip().partition("\n\tCandidate functions")[0]
    sentence = " ".join(_KIND.sub("", first).partition("\nCandidate")[0].split())
    sentence = _SETTINGS.sub("", sentence)
    if len(sentence) > _MAX_SENTENCE_LENGTH:
        sentence = f"{sentence[:_MAX_SENTENCE_LENGTH]} …"
    if not place:
        return sentence.rstrip(".!"), []
    # The marks are below DuckDB's whole line, `LINE 1: ` included.
    lead = len(f"LINE {place[1]}: ")
    return sentence.rstrip(".!"), [place[2], " " * (len(place[3]) - lead) + place[4]]


def _hint(text: str, *, sql: str, tables: Sequence[Table]) -> str:

    if found := _NO_TABLE.search(text):
        names = [table.name for table in tables]
        return f"{_near(found[1], names)}the tables are {listed(names)}"
    if found := _NO_COLUMN.search(text):
        return _column_hint(found[1], sql=sql, tables=tables)
    if found := _NO_SUCH_TABLE.search(text):
        return _dotted_hint(found[1], sql=sql, tables=tables)
    if "Parser Error" in text and _CASE.search(sql):
        return "the case's name is in case_name, for `case` is a word of SQL"
    return ""


def _column_hint(name: str, *, sql: str, tables: Sequence[Table]) -> str:
    words = {word.lower() for word in re.findall(r"\w+", sql)}
    named = [table for table in tables if table.name in words]
    columns = list(dict.fromkeys(one.name for table in named for one in table.columns))
    elsewhere = [t.name for t in tables if any(one.name == name for one in t.columns)]
    if elsewhere:
        return f"it is a column of {', '.join(elsewhere)}"
    if re.search(rf'(?:=|<>|\(|,|\blike)\s*"{re.escape(name)}"', sql, re.IGNORECASE):
        return f"a text is in single quotes: '{name}'"
    if near := _near(name, columns, whole=False):
        return near
    return "`longfat query --tables` lists all columns"


def _dotted_hint(name: str, *, sql: str, tables: Sequence[Table]) -> str:
    """Return what is meant by `bulk.receiver`, which SQL takes for a column of a table."""
    metrics = [one.name for table in tables for one in table.columns if "." in one.name]
    for found in re.finditer(rf"(?<![\w\"]){re.escape(name)}\.(\w+)", sql):
        wanted = f"{name}.{found[1]}"
        meant = [one for one in metrics if one == wanted or one.rpartition("_")[0] == wanted]
        if meant:
            return f'a metric\'s name is in double quotes: "{meant[0]}"'
    return _near(name, [table.name for table in tables], whole=False)


def _near(name: str, known: Iterable[str], *, whole: bool = True) -> str:

    found = nearest(name, known).removeprefix("; ")
    return f"{found} " if found and whole else found
