"""Expressions computed for many cases at once.

`terms` computes one number; here the same terms give a column, one number for each case (or
one for all of them). What has no value is NaN, and a comparison with it is not known, which
is to say that it does not hold, whatever `not` says: as `terms.UndefinedError` has it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from longfat.common.extras import lazy
from longfat.study.claims import terms
from longfat.study.claims.formula import minus
from longfat.study.claims.terms import Condition, Term, UndefinedError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = lazy("numpy")

Column: TypeAlias = "npt.NDArray[np.float64]"
"""Numbers, one for each case; or of no dimension: one for all."""


class Truth(NamedTuple):
    """Where a condition is true, and where it is known at all."""

    true: npt.NDArray[np.bool_]
    known: npt.NDArray[np.bool_]

    @property
    def holds(self) -> npt.NDArray[np.bool_]:
        """Where it holds."""
        found: npt.NDArray[np.bool_] = self.true & self.known
        return found


class Scope(Protocol):
    """Where expressions find the values of what is named in them."""

    def leaf(self, term: Term) -> Column:
        """Return the values of a name or metric, in bits and seconds."""


def _divide(a: Column, b: Column) -> Column:
    return np.where(b == 0, np.nan, np.divide(a, b))


def _least(a: Column, b: Column) -> Column:
    return np.minimum(a, b)


def _largest(a: Column, b: Column) -> Column:
    return np.maximum(a, b)


def _root(values: Column) -> Column:
    return np.sqrt(values)


_JOINS: Mapping[Callable[..., Any], Callable[[Column, Column], Column]] = {
    operator.add: operator.add,
    operator.sub: operator.sub,
    operator.mul: operator.mul,
    terms.divide: _divide,
    min: _least,
    max: _largest,
}
_SINGLES: Mapping[Callable[..., Any], Callable[[Column], Column]] = {
    minus: operator.neg,
    math.fabs: operator.abs,
    math.sqrt: _root,
}
_COMPARE: Mapping[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def column(term: Term, scope: Scope) -> Column:
    """Return the values of a term; NaN where there is none."""
    with np.errstate(all="ignore"):
        return _column(term, scope)


def truth(condition: Condition, scope: Scope) -> Truth:
    """Return where a condition holds."""
    with np.errstate(all="ignore"):
        return _truth(condition, scope)


def _column(term: Term, scope: Scope) -> Column:
    match term:
        case terms.Number():
            return np.float64(term.number)  # type: ignore[return-value]
        case terms.Folded():
            total = _column(term.first, scope)
            for join, other in term.rest:
                total = _JOINS[join](total, _column(other, scope))
            return total
        case terms.Single():
            return _SINGLES[term.function](_column(term.term, scope))
        case terms.Called():
            values = [_column(one, scope) for one in term.terms]
            if (fast := _SINGLES.get(term.function)) is not None:
                return fast(values[0])
            return _each(term, values)
    return scope.leaf(term)


def _each(term: terms.Called, values: list[Column]) -> Column:
    arrays = np.broadcast_arrays(*values)
    found = np.empty(arrays[0].shape)
    for index in np.ndindex(found.shape):
        try:
            found[index] = term.call(*(float(array[index]) for array in arrays))
        except UndefinedError:
            found[index] = np.nan
    return found


def _truth(condition: Condition, scope: Scope) -> Truth:
    match condition:
        case terms.Comparison():
            values = [_column(term, scope) for term in condition.terms]
            known = np.logical_and.reduce(np.broadcast_arrays(*map(np.isfinite, values)))
            pairs = zip(condition.signs, pairwise(values), strict=True)
            parts = [_COMPARE[sign](*pair) for sign, pair in pairs]
            return Truth(np.logical_and.reduce(np.broadcast_arrays(*parts, known)), known)
        case terms.Within():
            term, target, part = (
                _column(one, scope) for one in (condition.term, condition.target, condition.part)
            )
            known = np.isfinite(term) & np.isfinite(target) & np.isfinite(part)
            return Truth(np.abs(term - target) <= part * np.abs(target), known)
        case terms.Logic():
            found = [_truth(part, scope) for part in condition.parts]
            known = np.logical_and.reduce(np.broadcast_arrays(*(one.known for one in found)))
            trues = np.broadcast_arrays(*(one.true for one in found))
            if condition.word == "and":
                return Truth(np.logical_and.reduce(trues), known)
            if condition.word == "or":
                return Truth(np.logical_or.reduce(trues), known)
            return Truth(np.logical_not(trues[0]), known)
    raise TypeError(f"{type(condition).__name__} is no condition of one case")
