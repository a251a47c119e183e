"""What is wrong with a query, for the person who wrote it.

DuckDB's own messages are good where they point at a place; here the names that
would have been right are added, and traps that are the catalog's own are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    from longfat.catalog.tables import Table

_KIND = re.compile(r"^(?:[A-Z][A-Za-z -]*)? ?Error: ")
_POINTED = re.compile(r"^LINE (\d+): (.*)\n( *)(\^+)", re.MULTILINE)
_NO_COLUMN = re.compile(r'Referenced column "(.*?)" not found')
_NO_TABLE = re.compile(r"Table with name (.*?) does not exist")
_NO_SUCH_TABLE = re.compile(r'Referenced table "(.*?)" not found')
_CASE = re.compile(r"(?<![\w.\"])case(?!\w)(?!\s+when|\s+[\w.\"()]+\s+when)", re.IGNORECASE)


def told(error: Exception, *, sql: str, tables: Sequence[Table]) -> str:
    """Return what to tell of an error of the database.

    Args:
        error: the error.
        sql: the query.
        tables: the tables that a query can name.
    """
    text = str(error)
    sentences, pointed = _split(text)
    hint = _hint(text, sql=sql, tables=tables)
    if isinstance(error, duckdb.PermissionException):
        sentences = "it asks for more than the catalog's tables"
        hint = "a query reads no other file and writes none: see --csv and --parquet"
    elif found := _NO_TABLE.search(text):
        sentences = f"there is no table {found[1]!r}"
    elif found := _NO_COLUMN.search(text):
        sentences = f"there is no column {found[1]!r} in what the query reads"
    lines = [f"the query: {sentences}{f'; {hint}' if hint else ''}"]
    return "\n".join([*lines, *(f"  {line}" for line in pointed)])


def _split(text: str) -> tuple[str, list[str]]:
    """Return a message's sentence, and the line of the query with a mark below it."""
    place = _POINTED.search(text)
    before = text[: place.start()] if place else text
    first = before.strip().partition("\n\tCandidate functions")[0]
    sentence = " ".join(_KIND.sub("", first).partition("\nCandidate")[0].split())
    if not place:
        return sentence.rstrip(".!"), []
    # The marks stand below DuckDB's whole line, `LINE 1: ` included.
    lead = len(f"LINE {place[1]}: ")
    return sentence.rstrip(".!"), [place[2], " " * (len(place[3]) - lead) + place[4]]


def _hint(text: str, *, sql: str, tables: Sequence[Table]) -> str:
    from longfat.study.node import listed  # noqa: PLC0415  it takes a while, and errors are rare

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
        return f"a text stands in single quotes: '{name}'"
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
            return f'a metric\'s name stands in double quotes: "{meant[0]}"'
    return _near(name, [table.name for table in tables], whole=False)


def _near(name: str, known: Iterable[str], *, whole: bool = True) -> str:
    from longfat.study.node import nearest  # noqa: PLC0415

    found = nearest(name, known).removeprefix("; ")
    return f"{found} " if found and whole else found
