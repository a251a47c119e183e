"""The case beside another: `bulk.receiver[cc = bbr]` is the metric where only `cc` differs."""

from __future__ import annotations

from collections.abc import Sequence

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.units import parse_literal
from longfat.study.claims.formula import FormulaError, Syntax
from longfat.study.claims.rows import Rows
from longfat.study.grid.values import Value


def pinned_values(pins: Sequence[Syntax], rows: Rows) -> dict[int, int]:
    """Return which values the parameters of the other case have.

    Args:
        pins: each the syntax of a parameter and its value.
        rows: the cases.

    Returns:
        By the place of a parameter, the place of its value. Parameters that change together
        with one that was named are among them.

    Raises:
        FormulaError: there is no such parameter or value, or the row is ambiguous.
    """
    axes = rows.axes
    if axes is None:
        token = pins[0].children[0]
        raise FormulaError(
            "only the cases of a grid have parameters", offset=int(token.start_pos or 0)
        )
    places = {name: place for place, name in enumerate(axes.values)}
    fitting: dict[tuple[str, ...], set[int]] = {}
    for pin in pins:
        name, text = str(pin.children[0]), str(pin.children[1])
        start = int(pin.children[0].start_pos or 0)
        if name not in places:
            raise FormulaError(
                f"there is no parameter {name!r}{nearest(name, places)} "
                f"(there are: {listed(places)})",
                offset=start,
            )
        found = {index for index, one in enumerate(axes.values[name]) if _is(one, text)}
        if not found:
            texts = dict.fromkeys(one.text for one in axes.values[name])
            raise FormulaError(
                f"{name!r} is never {text.strip()!r}{nearest(text.strip(), texts)} "
                f"(its values: {listed(texts)})",
                offset=int(pin.children[1].start_pos or 0),
            )
        axis = next(names for names in axes.axes if name in names)
        fitting[axis] = fitting.get(axis, found) & found
        if not fitting[axis]:
            raise FormulaError(f"no row of {', '.join(axis)} is so", offset=start)
    chosen: dict[int, int] = {}
    for axis, indices in fitting.items():
        if len(indices) > 1:
            raise FormulaError(
                f"{len(indices)} rows of {', '.join(axis)} are so: name more of the row's values",
                offset=int(pins[0].children[0].start_pos or 0),
            )
        chosen |= dict.fromkeys((places[name] for name in axis), next(iter(indices)))
    return chosen


def _is(value: Value, text: str) -> bool:
    text = text.strip()
    if text[:1] in "'\"" and text[:1] == text[-1:]:
        text = text[1:-1]
    if "".join(value.text.split()) == "".join(text.split()):
        return True
    if value.unit is None or value.times is not None:
        return False
    try:
        number, unit = parse_literal(text)
    except InputError:
        return False
    return value.number == number and (value.unit == unit or value.is_free or number == 0)
