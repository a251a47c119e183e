"""Which cases of a figure belong together: in one small multiple, one series, at one point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.study.claims.aggregates import RowScope
from longfat.study.claims.columns import column
from longfat.study.claims.rows import Indices, Rows, Table
from longfat.study.claims.terms import Term

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

Key = tuple[str, ...]
"""The values of some parameters, for display."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Cases that have some values in common.

    Attributes:
        key: the values.
        at: the cases.
    """

    key: Key
    at: Indices


def grouped(rows: Rows, at: Indices, names: Sequence[str]) -> list[Group]:
    """Return cases by their values of some parameters, in the order of the values in the grid."""
    assert rows.axes is not None
    places = [list(rows.axes.values).index(name) for name in names]
    found: dict[Key, list[int]] = {}
    order: dict[Key, tuple[int, ...]] = {}
    for row in at.tolist():
        one = rows.grid[row]
        key = tuple(one.settings[name].text for name in names)
        found.setdefault(key, []).append(row)
        order.setdefault(key, tuple(one.combination[place] for place in places))
    keys = sorted(found, key=lambda key: order[key])
    return [Group(key, np.array(found[key], dtype=np.intp)) for key in keys]


def fixed_values(rows: Rows, at: Indices, term: Term) -> list[float]:
    """Return the values of an expression over names in some cases, in bits and seconds."""
    scope = RowScope(rows, at, Table({}, rows.cases))
    values: list[float] = np.broadcast_to(column(term, scope), at.shape).tolist()
    return values


def by_number(rows: Rows, at: Indices, term: Term) -> list[tuple[float, Indices]]:
    """Return cases by their value of an expression, from the least on."""
    found: dict[float, list[int]] = {}
    for row, value in zip(at.tolist(), fixed_values(rows, at, term), strict=True):
        # What is computed in two ways may differ in its last digits.
        found.setdefault(float(f"{value:.12g}"), []).append(row)
    return [(value, np.array(found[value], dtype=np.intp)) for value in sorted(found)]


def differing(rows: Rows, at: Indices) -> list[str]:
    """Return the parameters that are not the same in all of some cases."""
    assert rows.axes is not None
    return [
        name
        for name in rows.axes.values
        if len({rows.grid[row].settings[name].text for row in at.tolist()}) > 1
    ]
