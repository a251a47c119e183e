"""Expressions computed, for one case or for many at once.

A scope resolves the names and metrics of an expression: to a number or text, or to a column with
one value per case, for numpy. Plain values do not need it, so claims about named cases
are checked without loading it. What has no value, as 1 / 0, is NaN, and a comparison with
it does not hold, even below a `not`.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from longfat.common.extras import lazy
from longfat.study.expressions import terms
from longfat.study.expressions.terms import Condition, Term, TextLiteral, TextRef

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = lazy("numpy")

Column: TypeAlias = "npt.NDArray[np.float64]"
"""Numbers, one for each case; or of no dimension: one for all."""

TextColumn: TypeAlias = "npt.NDArray[np.object_]"
"""Texts, likewise."""

Value: TypeAlias = "float | Column"
Text: TypeAlias = "str | TextColumn"
Flags: TypeAlias = "bool | npt.NDArray[np.bool_]"


class Truth(NamedTuple):
    """Where a condition is true, and where it is known at all."""

    true: Flags
    known: Flags

    @property
    def holds(self) -> Flags:
        """Where it holds."""
        return self.true & self.known


class Scope(Protocol):
    """Where expressions find the values of what is named in them."""

    def leaf(self, term: Any) -> Value:
        """Return the value of a name or metric, in bits and seconds; of a condition, 0 or 1."""

    def text(self, name: str) -> Text:
        """Return the value of a name that is a text."""


def number(term: Term, scope: Scope) -> float:
    """Return the value of a term in a scope of numbers; NaN if there is none."""
    return float(_value(term, scope))


def holds(condition: Condition, scope: Scope) -> bool:
    """Return whether a condition holds in a scope of numbers."""
    return bool(_truth(condition, scope).holds)


def column(term: Term, scope: Scope) -> Column:
    """Return the values of a term; NaN where there is none."""
    with np.errstate(all="ignore"):
        return np.asarray(_value(term, scope))


def truth(condition: Condition, scope: Scope) -> npt.NDArray[np.bool_]:
    """Return where a condition holds."""
    with np.errstate(all="ignore"):
        return np.asarray(_truth(condition, scope).holds)


def _are_plain(*values: Value) -> bool:
    return all(isinstance(value, (int, float)) for value in values)


def _is_nothing(value: Value) -> bool:
    """Return whether a number does not exist; then its terms need not be evaluated."""
    return isinstance(value, float) and math.isnan(value)


def _divide(a: Value, b: Value) -> Value:
    if _are_plain(b):
        return a / b if b else math.nan
    return np.where(b == 0, np.nan, np.divide(a, b))


def _minimum(a: Value, b: Value) -> Value:
    if _are_plain(a, b):
        return b if _is_nothing(b) else min(a, b)
    return np.minimum(a, b)


def _maximum(a: Value, b: Value) -> Value:
    if _are_plain(a, b):
        return b if _is_nothing(b) else max(a, b)
    return np.maximum(a, b)


def _square_root(value: Any) -> Value:
    if _are_plain(value):
        return math.sqrt(value) if value >= 0 else math.nan
    return np.sqrt(value)  # type: ignore[no-any-return]


def _exists(value: Any) -> Flags:
    """Return where there is a value; a text always is one."""
    if isinstance(value, str):
        return True
    if _are_plain(value):
        return math.isfinite(value)
    return np.ones(value.shape, dtype=bool) if value.dtype == object else np.isfinite(value)


_JOINS: Mapping[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "min": _minimum,
    "max": _maximum,
}
_UNARY: Mapping[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "abs": operator.abs,
    "sqrt": _square_root,
}
_COMPARE: Mapping[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _value(term: Term, scope: Scope) -> Value:
    match term:
        case terms.Number():
            return term.number
        case terms.Folded():
            total = _value(term.first, scope)
            for join, other in term.rest:
                if _is_nothing(total):
                    break
                total = _JOINS[join](total, _value(other, scope))
            return total
        case terms.UnaryCall():
            result: Value = _UNARY[term.function](_value(term.term, scope))
            return result
        case terms.Call():
            return _each(term.function, _values(term.terms, scope))
    return scope.leaf(term)


def _values(operands: Iterable[Term | TextRef | TextLiteral], scope: Scope) -> list[Any]:
    """Return the values of terms, up to the first one that has none."""
    values: list[Any] = []
    for operand in operands:
        match operand:
            case TextLiteral():
                values.append(operand.text)
            case TextRef():
                values.append(scope.text(operand.name))
            case _:
                values.append(_value(operand, scope))
        if _is_nothing(values[-1]):
            break
    return values


def _each(function: Callable[..., float], values: list[Any]) -> Value:
    if not _are_plain(*values):
        arrays = np.broadcast_arrays(*values)
        rows = zip(*(array.ravel().tolist() for array in arrays), strict=True)
        results = [_each(function, list(row)) for row in rows]
        return np.array(results, dtype=float).reshape(arrays[0].shape)
    if all(map(math.isfinite, values)):
        with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError):
            return float(function(*values))
    return math.nan


def _truth(condition: Condition, scope: Scope) -> Truth:
    match condition:
        case terms.Comparison():
            values = _values(condition.terms, scope)
            known = _all(map(_exists, values))
            pairs = zip(condition.signs, pairwise(values), strict=False)
            return Truth(_all([known, *(_COMPARE[sign](*pair) for sign, pair in pairs)]), known)
        case terms.Within():
            values = _values((condition.term, condition.target, condition.part), scope)
            known = _all(map(_exists, values))
            if len(values) < 3:
                return Truth(known, known)
            term, target, part = values
            return Truth(abs(term - target) <= part * abs(target), known)
        case terms.Logic():
            parts: list[Truth] = []
            for part in condition.parts:
                parts.append(_truth(part, scope))
                if parts[-1].known is False:
                    break
            known = _all(part.known for part in parts)
            match condition.word:
                case "and":
                    return Truth(_all(part.true for part in parts), known)
                case "or":
                    return Truth(reduce(operator.or_, (part.true for part in parts)), known)
                case _:
                    return Truth(parts[0].true ^ True, known)
    value = scope.leaf(condition)
    return Truth(value == 1, _exists(value))


def _all(parts: Iterable[Flags]) -> Flags:
    return reduce(operator.and_, parts)
