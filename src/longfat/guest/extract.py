"""Metrics out of what a program printed: JSON, comma-separated values, or a pattern.

An order has `name`, `format` (json, csv or regex), `what` (path, column or pattern), `of` (stdout,
stderr or the path of a file), `take` (which of several numbers) and `factor` (into base units).
`longfat.model.traffic.extraction` says how a study writes it, and has checked it.
"""

from __future__ import annotations

import json
import math
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_STEP = re.compile(r'"([^"]+)"|\[(\*|-?[0-9]+)\]|([^.\[\]"]+)')
_MAX_QUOTE_LENGTH = 60


class ExtractionError(Exception):
    """Why there is no such number, in words."""


def extract(orders: list[dict[str, Any]], read: Callable[[str], bytes]) -> dict[str, float]:
    """Return metrics by their names, in base units.

    Args:
        orders: what to look for.
        read: returns the content of what `of` names.

    Raises:
        ExtractionError: a number is not there, or is none.
    """
    texts: dict[str, str] = {}
    found = {}
    for order in orders:
        of = order["of"]
        try:
            if of not in texts:
                texts[of] = read(of).decode(errors="replace")
            numbers = list(_FORMATS[order["format"]](texts[of], order["what"]))
            found[order["name"]] = taken(numbers, order["take"]) * order["factor"]
        except OSError as error:
            raise ExtractionError(f"the metric {order['name']}: {of}: {error.strerror}") from None
        except ExtractionError as error:
            raise ExtractionError(f"the metric {order['name']}: {of}: {error}") from None
    return found


def taken(numbers: list[float], take: str) -> float:
    """Return one number of several.

    Args:
        numbers: the numbers.
        take: first, last, min, max, mean, median, sum, count, or a percentile such as p95 (linear
            interpolation between the nearest two: definition 7 of Hyndman and Fan, 1996).

    Raises:
        ExtractionError: there is none to take.
    """
    if take == "count":
        return float(len(numbers))
    if take == "sum":
        return math.fsum(numbers)
    if not numbers:
        raise ExtractionError("there is no such number")
    match take:
        case "first":
            return numbers[0]
        case "last":
            return numbers[-1]
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "mean":
            return math.fsum(numbers) / len(numbers)
    share = 0.5 if take == "median" else float(take[1:]) / 100
    ordered = sorted(numbers)
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _number(value: object) -> float:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            pass
        else:
            if math.isfinite(number):
                return number
    shown = str(value)
    if len(shown) > _MAX_QUOTE_LENGTH:
        shown = f"{shown[:_MAX_QUOTE_LENGTH]}..."
    raise ExtractionError(f"{shown!r} is no number")


def _of_json(text: str, path: str) -> Iterable[float]:
    try:
        values: list[Any] = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        raise ExtractionError(f"no JSON document: {error}") from None
    for quoted, place, name in _STEP.findall(path):
        if place == "*":
            values = [one for value in values for one in _entries(value, path)]
        else:
            values = [_child(value, quoted or name, place, path) for value in values]
    return [_number(value) for value in values]


def _entries(value: Any, path: str) -> Iterable[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list):
        return value
    raise ExtractionError(f"{path}: [*] asks for the entries of what is no list")


def _child(value: Any, name: str, place: str, path: str) -> Any:
    try:
        return value[int(place)] if place and isinstance(value, list) else value[name]
    except (LookupError, TypeError):
        raise ExtractionError(f"{path}: there is no {name or f'[{place}]'}") from None


def _of_csv(text: str, column: str) -> Iterable[float]:
    import csv  # noqa: PLC0415  it brings others in

    try:
        rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if row]
    except csv.Error as error:
        raise ExtractionError(f"no comma-separated values: {error}") from None
    names = [name.strip() for name in rows[0]] if rows else []
    if column in names:
        index = names.index(column)
        rows = rows[1:]
    elif column.isdecimal() and int(column) > 0:
        index = int(column) - 1
    else:
        raise ExtractionError(f"there is no column {column!r} in the first line")
    for row in rows:
        if index >= len(row):
            raise ExtractionError(f"a line has {len(row)} columns, and no {column!r}")
        yield _number(row[index].strip())


def _of_regex(text: str, pattern: str) -> Iterable[float]:
    for found in re.finditer(pattern, text, re.MULTILINE):
        if found[1] is not None:
            yield _number(found[1])


_FORMATS: dict[str, Callable[[str, str], Iterable[float]]] = {
    "json": _of_json,
    "csv": _of_csv,
    "regex": _of_regex,
}
