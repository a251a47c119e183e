"""Theory in a figure: curves over the x axis, and marks at a formula's value.

A formula is in terms of parameters and derived values. Along a curve the parameter of the x
axis takes many values between its least and largest, and derived values are recomputed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.study.claims.compiler import build_term
from longfat.study.claims.rows import Indices
from longfat.study.expressions.evaluation import Column, column
from longfat.study.expressions.names import Expression, NameScope
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import DIMENSIONS, TextRef
from longfat.study.figures.spec import (
    FigureKind,
    FigureSpec,
    Quantity,
    Theory,
    differing,
    grouped,
)
from longfat.study.grid.axes import Axes
from longfat.study.node import Node

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

_STEPS = 200


def read_curves(node: Node, spec: FigureSpec) -> tuple[Theory, ...]:
    """Read the formulas that are drawn as curves.

    Args:
        node: the field `curves`.
        spec: the figure, but for its theory.

    Raises:
        InputError: one is wrong, is of another dimension than what is shown, or depends on a
            parameter that has several values where the curve is drawn.
    """
    assert spec.over is not None
    if spec.over.term is None:
        raise node.error(f"{spec.over.text!r} is a text, and a curve needs an axis of numbers")
    curves = []
    for key, value in node.items("formulas by their labels (such as {Mathis: ...})"):
        theory = _read(key.text, value, spec, spec.shown)
        for group in _groups(spec, theory):
            along = _along(spec, group)
            if len(along) > 1:
                raise value.error(
                    f"{spec.over.text} depends on {' and '.join(along)}, which both vary along "
                    "the axis, so there is no curve: name one of them in by or each"
                )
            _check_constant(value, spec, theory, group, allowed=along)
        curves.append(theory)
    return tuple(curves)


def read_marks(node: Node, spec: FigureSpec) -> tuple[Theory, ...]:
    """Read the formulas that are drawn as straight lines.

    Args:
        node: the field `marks`: formulas by label, by axis.
        spec: the figure, but for its theory.

    Raises:
        InputError: one is wrong, is of another dimension than its axis, or has several values
            where it is drawn.
    """
    shown: dict[str, tuple[Quantity, ...]] = {
        "x": (spec.over,) if spec.over is not None else (),
        "y": spec.shown,
    }
    match spec.kind:
        case FigureKind.CDF | FigureKind.BARS:
            shown = {"x": spec.shown}
        case FigureKind.TIME:
            shown = {"y": spec.shown}
    theories = []
    for axis, marks in node.fields("axes with their marks", allowed=tuple(shown)).items():
        if any(quantity.term is None for quantity in shown[axis]):
            raise marks.error("an axis of texts has no place for a mark")
        for key, value in marks.items("formulas by their labels (such as {BDP: rate * rtt})"):
            theory = _read(key.text, value, spec, shown[axis], axis=axis)
            for group in _groups(spec, theory):
                _check_constant(value, spec, theory, group)
            theories.append(theory)
    return tuple(theories)


def _read(
    label: str, node: Node, spec: FigureSpec, shown: Sequence[Quantity], *, axis: str = ""
) -> Theory:
    text = node.text("a formula over parameters (such as bdp / sqrt(flows))")
    try:
        term, parts = build_term(text, spec.rows, {}, "the formula")
    except FormulaError as error:
        raise InputError(error.message, place=node.place_of(error.offset)) from None
    if not parts.fixed:
        raise node.error("a formula is of parameters and derived values, not of results")
    if term.dimension not in (None, *(DIMENSIONS[quantity.unit] for quantity in shown)):
        axes = " and ".join(f"{DIMENSIONS[one.unit]} ({one.text})" for one in shown)
        raise node.error(f"the axis shows {axes}, and this is {term.dimension}")
    names = tuple(parts.names)
    assert spec.rows.axes is not None
    together = {name: set(names) for names in spec.rows.axes.axes for name in names}
    needed = set(spec.rows.parameters_of(names))
    each_series = any(needed & together[name] for name in spec.by)
    return Theory(label=label, term=term, names=names, axis=axis, each_series=each_series)


def _groups(spec: FigureSpec, theory: Theory) -> Iterator[Indices]:
    names = (*spec.each, *spec.by) if theory.each_series else spec.each
    for group in grouped(spec.rows, spec.at, names):
        yield group.at


def _along(spec: FigureSpec, at: Indices) -> list[str]:
    """Return the parameters that vary along the x axis."""
    assert spec.over is not None
    moving = spec.rows.parameters_of(spec.over.names)
    held = {*spec.by, *spec.each, *spec.median}
    return [name for name in differing(spec.rows, at) if name in moving and name not in held]


def _check_constant(
    node: Node, spec: FigureSpec, theory: Theory, at: Indices, *, allowed: Sequence[str] = ()
) -> None:
    needed = spec.rows.parameters_of(theory.names)
    for name in differing(spec.rows, at):
        if name in needed and name not in allowed:
            raise node.error(
                f"the formula depends on {name!r}, which has several values where it is drawn: "
                "name it in by or each, or pick one of its values by where"
            )


def curve_points(spec: FigureSpec, theory: Theory, at: Indices) -> tuple[Column, Column]:
    """Return many points of a curve.

    Args:
        spec: the figure.
        theory: the curve.
        at: the cases of the facet or series beside which it is drawn.

    Returns:
        Their positions and heights, in bits and seconds; none if nothing varies.
    """
    assert spec.over is not None
    assert spec.over.term is not None
    assert spec.rows.axes is not None
    along = _along(spec, at)
    if not along:
        return np.empty(0), np.empty(0)
    (name,) = along
    axes, grid = spec.rows.axes, spec.rows.grid
    place = list(axes.values).index(name)
    values = [axes.values[name][grid[row].combination[place]] for row in at.tolist()]
    times = {value.times for value in values}
    multiples = len(times) == 1 and None not in times
    if multiples:
        numbers = [value.number or 0.0 for value in values]
    else:
        numbers = [grid[row].numbers[name] for row in at.tolist()]
    low, high = min(numbers), max(numbers)
    log = "x" in spec.log and low > 0
    dense = np.geomspace(low, high, _STEPS) if log else np.linspace(low, high, _STEPS)
    factor = next(iter(times)) if multiples else None
    bound = _bound(axes, grid[int(at[0])].combination, name, dense, factor)
    scope = NameScope(bound)
    shape = dense.shape
    return (
        np.broadcast_to(column(spec.over.term, scope), shape),
        np.broadcast_to(column(theory.term, scope), shape),
    )


def _bound(
    axes: Axes, combination: tuple[int, ...], along: str, dense: Column, factor: str | None
) -> dict[str, Column]:
    """Return the numbers of a grid where one parameter takes many values and the others one.

    Texts are left out, since a formula has none.
    """
    numbers: dict[str, Column] = {}
    scope = NameScope(numbers)
    chosen = dict(zip(axes.values, combination, strict=True))
    for name in axes.order:
        if name == along:
            numbers[name] = dense if factor is None else dense * numbers[factor]
        elif name in chosen:
            value = axes.values[name][chosen[name]]
            if value.unit is None:
                continue
            if value.times is None:
                numbers[name] = np.array(value.scaled().number)
            else:
                numbers[name] = np.array(value.number) * numbers[value.times]
        else:
            derived = axes.derived[name]
            if isinstance(derived, Expression) and not isinstance(derived.term, TextRef):
                numbers[name] = column(derived.term, scope)
    return numbers
