"""The theory's formulas as functions of expressions, with dimensions.

    mathis(1460B, rtt, loss)

Numbers in an expression are in bits and seconds; the formulas of `longfat.theory` take
bytes. A function that has no value for its arguments (a loss of 0, say) raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.study.claims.terms import DIMENSIONS, PLAIN, Called, Dimension, Term
from longfat.theory.cubic import cubic_bps
from longfat.theory.fairness import jain_index
from longfat.theory.loss import EVERY_PACKET_ACKED, mathis_bps

_SIZE = DIMENSIONS[Unit.BYTES]
_RATE = DIMENSIONS[Unit.BPS]
_TIME = DIMENSIONS[Unit.SECONDS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A formula.

    Attributes:
        takes: what it takes, by name, in order.
        gives: the dimension of what it gives.
        compute: the formula, in bits and seconds.
    """

    takes: Mapping[str, Dimension]
    gives: Dimension
    compute: Callable[..., float]

    @property
    def count(self) -> str:
        """Return how many values it takes."""
        return {2: "two values", 3: "three values"}[len(self.takes)]

    def term(self, name: str, arguments: list[Term]) -> Term:
        """Build the term of a call.

        Raises:
            InputError: an argument has another dimension.
        """
        form = f"{name}({', '.join(self.takes)})"
        for (what, dimension), term in zip(self.takes.items(), arguments, strict=True):
            if term.dimension not in (None, dimension):
                raise InputError(f"{form}: {what} is {dimension}, found {term.dimension}")
        return Called.of(self.compute, arguments, self.gives)


def jain(*shares: float) -> float:
    """Return Jain's index of shares."""
    return jain_index(shares)


def _mathis(mss: float, rtt: float, loss: float) -> float:
    return mathis_bps(mss_bytes=mss / 8, rtt_s=rtt, loss=loss, constant=EVERY_PACKET_ACKED)


def _cubic(mss: float, rtt: float, loss: float) -> float:
    return cubic_bps(mss_bytes=mss / 8, rtt_s=rtt, loss=loss)


def _bdp(rate: float, rtt: float) -> float:
    return rate * rtt


_LOSSY = {"mss": _SIZE, "rtt": _TIME, "loss": PLAIN}

MODELS: Mapping[str, Model] = {
    "bdp": Model(takes={"rate": _RATE, "rtt": _TIME}, gives=_SIZE, compute=_bdp),
    "mathis": Model(takes=_LOSSY, gives=_RATE, compute=_mathis),
    "cubic": Model(takes=_LOSSY, gives=_RATE, compute=_cubic),
}
"""The formulas by the names that expressions call them by."""
