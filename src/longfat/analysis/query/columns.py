"""The columns of the catalog's tables, as values: names, types, units, and what they mean.

A name of a table or column is SQL's: letters make no difference by their case.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from longfat.model.metric import Unit

METRIC = "metric"
"""The description of columns of metrics."""

_BARE = (Unit.FRACTION.value, Unit.COUNT.value)


@dataclass(frozen=True, slots=True)
class Column:
    """A column.

    Attributes:
        name: its name.
        text: its description.
        unit: its unit; empty for none.
        sql: what it is made from, of the entries; empty where it is made otherwise.
    """

    name: str
    text: str
    unit: str = ""
    sql: str = ""


def quoted(name: str) -> str:
    """Return a name as SQL takes any name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def number_name(parameter: str, unit: str) -> str:
    """Return the column's name of a parameter's numbers: `rtt_s`; bare for counts and shares."""
    return parameter if unit in _BARE else f"{parameter}_{unit}"


def parameter_columns(entries: pa.Table) -> list[Column]:
    """Return the columns of all parameters, by name.

    Of a number there are two, in its base unit and as it was written; of a text one.

    Args:
        entries: what is known of the runs.
    """
    maps = entries["parameters"].combine_chunks()
    units = pc.fill_null(pc.struct_field(maps.items, "unit"), "")
    pairs = set(zip(maps.keys.to_pylist(), units.to_pylist(), strict=True))
    found = []
    for name, unit in sorted(pairs):
        one = f"parameters[{literal(name)}]"
        if unit:
            number = f"case when {one}.unit = {literal(unit)} then {one}.number end"
            text = f"case when {one}.unit is not null then {one}.text end"
            found += [
                Column(number_name(name, unit), f"parameter {name}", unit, number),
                Column(f"{name}_text", f"parameter {name}, as it was written", "", text),
            ]
        else:
            text = f"case when {one}.unit is null then {one}.text end"
            found.append(Column(name, f"parameter {name}", "", text))
    return list({(one.name, one.sql): one for one in found}.values())


def metric_columns(entries: pa.Table) -> list[Column]:
    """Return the columns of all metrics, in the order of the flows and probes of the runs.

    Args:
        entries: what is known of the runs.
    """
    maps = entries["metrics"].combine_chunks()
    units = pc.fill_null(pc.struct_field(maps.items, "unit"), "")
    found = dict(zip(maps.keys.to_pylist(), units.to_pylist(), strict=True))
    return [
        Column(name, METRIC, unit, f"metrics[{literal(name)}].value")
        for name, unit in found.items()
    ]


def unique_names(columns: Iterable[Column], *, taken: Iterable[str] = ()) -> list[Column]:
    """Return columns with names that all differ, as SQL compares them.

    Args:
        columns: the columns; a later one gives way.
        taken: names that are there already.
    """
    names = {name.casefold() for name in taken}
    found = []
    for column in columns:
        wanted = column.name.replace("\0", "\ufffd")  # a name ends where DuckDB finds a zero
        name, count = wanted, 1
        while name.casefold() in names:
            count += 1
            name = f"{wanted}_{count}"
        names.add(name.casefold())
        found.append(Column(name, column.text, column.unit, column.sql))
    return found
