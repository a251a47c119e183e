"""The functions of expressions: extremes, rounding, and the formulas of `longfat.theory`.

    min(rtt.p50, 10ms)
    mathis(1460B, rtt, loss)

Numbers in an expression are in bits and seconds; the formulas of the theory take bytes. A
function that has no value for its arguments (a loss of 0, say) raises ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.study.expressions import terms
from longfat.study.expressions.terms import DIMENSIONS, PLAIN, Call, Condition, Dimension, Term
from longfat.theory.cubic import cubic_bps
from longfat.theory.fairness import jain_index
from longfat.theory.loss import EVERY_PACKET_ACKED, mathis_bps

_SIZE = DIMENSIONS[Unit.BYTES]
_RATE = DIMENSIONS[Unit.BPS]
_TIME = DIMENSIONS[Unit.SECONDS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A formula of the theory.

    Attributes:
        arguments: the dimensions of its arguments, by name, in order.
        result: the dimension of its result.
        compute: the formula, in bits and seconds.
    """

    arguments: Mapping[str, Dimension]
    result: Dimension
    compute: Callable[..., float]

    @property
    def count(self) -> str:
        """Return how many arguments it takes, as a message says it."""
        return {2: "two values", 3: "three values"}[len(self.arguments)]

    def call(self, name: str, arguments: Sequence[Term]) -> Term:
        """Build the term of a call.

        Raises:
            InputError: an argument has another dimension.
        """
        form = f"{name}({', '.join(self.arguments)})"
        for (what, dimension), term in zip(self.arguments.items(), arguments, strict=True):
            if term.dimension not in (None, dimension):
                raise InputError(f"{form}: {what} is {dimension}, found {term.dimension}")
        return Call.of(self.compute, arguments, self.result)


def _mathis(mss: float, rtt: float, loss: float) -> float:
    return mathis_bps(mss_bytes=mss / 8, rtt_s=rtt, loss=loss, constant=EVERY_PACKET_ACKED)


def _cubic(mss: float, rtt: float, loss: float) -> float:
    return cubic_bps(mss_bytes=mss / 8, rtt_s=rtt, loss=loss)


def _bdp(rate: float, rtt: float) -> float:
    return rate * rtt


_LOSSY = {"mss": _SIZE, "rtt": _TIME, "loss": PLAIN}

MODELS: Mapping[str, Model] = {
    "bdp": Model(arguments={"rate": _RATE, "rtt": _TIME}, result=_SIZE, compute=_bdp),
    "mathis": Model(arguments=_LOSSY, result=_RATE, compute=_mathis),
    "cubic": Model(arguments=_LOSSY, result=_RATE, compute=_cubic),
}
"""The formulas by the names that expressions call them by."""


def _jain(*shares: float) -> float:
    return jain_index(shares)


def _round(value: float) -> float:
    return float(round(value))


# The functions of one plain number.
_ROUNDING: Mapping[str, Callable[[float], float]] = {
    "round": _round,
    "floor": math.floor,
    "ceil": math.ceil,
}

ARGUMENTS: Mapping[str, str] = {
    "min": "two or more values",
    "max": "two or more values",
    "abs": "one value",
    "within": "three values",
    **dict.fromkeys(("sqrt", *_ROUNDING), "one value"),
    "jain": "two or more values",
    **{name: model.count for name, model in MODELS.items()},
}
"""What each function takes, by its name, as a message says it."""

_COUNTS: Mapping[str, tuple[float, float]] = {
    "one value": (1, 1),
    "two values": (2, 2),
    "two or more values": (2, math.inf),
    "three values": (3, 3),
}


def call_function(name: str, arguments: Sequence[Term]) -> Term | Condition:
    """Build the term of a function's call.

    Args:
        name: its name, one of `ARGUMENTS`.
        arguments: its arguments.

    Raises:
        InputError: their number or a dimension is wrong.
    """
    minimum, maximum = _COUNTS[ARGUMENTS[name]]
    if not minimum <= len(arguments) <= maximum:
        raise InputError(f"{name}() takes {ARGUMENTS[name]}, and here are {len(arguments)}")
    if name in MODELS:
        return MODELS[name].call(name, arguments)
    match name:
        case "min" | "max":
            return terms.extreme(name, arguments)
        case "within":
            return terms.Within.of(*arguments)
        case "jain":
            terms.same_dimension("jain() compares", *arguments)
            return Call.of(_jain, arguments, PLAIN)
    (term,) = arguments
    dimension = term.dimension or PLAIN
    match name:
        case "sqrt":
            if dimension.data % 2 or dimension.time % 2:
                raise InputError(f"there is no square root of {dimension}")
            half = Dimension(dimension.data // 2, dimension.time // 2)
            return terms.UnaryCall.of(name, term, half)
        case "abs":
            return terms.UnaryCall.of(name, term, term.dimension)
    if dimension != PLAIN:
        raise InputError(
            f"{name}() is of a plain number, and this is {dimension}: divide it by a "
            f"unit, as in {name}(rtt / 1ms)"
        )
    return Call.of(_ROUNDING[name], arguments, PLAIN)
