"""The terms of an expression: what each means, and of what dimension it is.

Numbers are kept in bits and seconds, so a dimension is a pair of exponents, (data, time): a rate
is (1, -1), a size (1, 0), a time (0, 1), a plain number, count or fraction (0, 0). Bits and bytes
share the data exponent, which makes `max_cwnd < 10gbit * 20ms` a fair comparison; a comparison of
seconds with bits is an error when the study is read. Texts are strings, and can only be compared
with texts, by `==` and `!=`.

A term is built with its parts, and validates itself in the constructor; its `depth` is
limited, so that neither this nor evaluating it can exhaust the stack. A term has no values:
`evaluation` computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from longfat.errors import InputError
from longfat.model.metric import Unit

MAX_DEPTH = 40

Results = Mapping[str, Mapping[str, float]]
"""Metrics by full name (`bulk.receiver_bps`), by the case's name."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """Exponents of data (bits) and time (seconds)."""

    data: int
    time: int

    def __str__(self) -> str:
        names = {(0, 0): "a plain number", (1, 0): "a size", (0, 1): "a time", (1, -1): "a rate"}
        return names.get((self.data, self.time), f"bit^{self.data} s^{self.time}")


PLAIN = Dimension(0, 0)
DIMENSIONS = {
    Unit.BPS: Dimension(1, -1),
    Unit.BYTES: Dimension(1, 0),
    Unit.SECONDS: Dimension(0, 1),
    Unit.FRACTION: PLAIN,
    Unit.COUNT: PLAIN,
}
BITS = {Unit.BYTES: 8.0}
"""How many bits one of a base unit is, where that is not 1."""


class Part(Protocol):
    """A part of an expression."""

    @property
    def depth(self) -> int:
        """Return how deep its parts are nested."""


class Term(Part, Protocol):
    """A number with a dimension.

    Its dimension is None for a 0 without unit, which fits any.
    """

    @property
    def dimension(self) -> Dimension | None:
        """Return its dimension."""


class Condition:
    """A term that is true or false; the base class of all of them.

    Attributes:
        depth: how deep its parts are nested.
    """

    __slots__ = ()
    depth: int


def checked_depth(*parts: Part) -> int:
    """Return the depth of what is made of these parts.

    Raises:
        InputError: it is nested too deep.
    """
    depth = 1 + max((part.depth for part in parts), default=0)
    if depth > MAX_DEPTH:
        raise InputError(f"nested more than {MAX_DEPTH} deep")
    return depth


def same_dimension(what: str, *terms: Term) -> Dimension | None:
    """Return the dimension that terms share.

    Raises:
        InputError: they have several.
    """
    dimension = None
    for term in terms:
        if dimension is None:
            dimension = term.dimension
        elif term.dimension is not None and term.dimension != dimension:
            raise InputError(f"{what} {dimension} and {term.dimension}, which do not go together")
    return dimension


@dataclass(frozen=True, slots=True)
class Number:
    """A number that was written."""

    number: float
    dimension: Dimension | None
    depth: int = 1

    @classmethod
    def of(cls, value: float, unit: Unit) -> Number:
        """Make a number from a value in a base unit."""
        free = value == 0 and unit is Unit.COUNT
        return cls(value * BITS.get(unit, 1.0), None if free else DIMENSIONS[unit])


@dataclass(frozen=True, slots=True)
class MetricRef:
    """A metric of a case that is named."""

    case: str
    metric: str
    unit: Unit
    depth: int = 1

    @property
    def dimension(self) -> Dimension:
        """Return the dimension of its unit."""
        return DIMENSIONS[self.unit]


@dataclass(frozen=True, slots=True)
class NameRef:
    """A name whose value is a number."""

    name: str
    dimension: Dimension | None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Texts:
    """The kind of a name whose values are texts.

    Attributes:
        values: the texts that it can be; empty where that is not known.
    """

    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TextRef:
    """A name whose value is a text."""

    name: str
    kind: Texts
    depth: int = 1

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TextLiteral:
    """A text that was written."""

    text: str
    depth: int = 1

    def __str__(self) -> str:
        return self.text


Kind = Dimension | Texts | None
"""What a name refers to: texts, or numbers of a dimension (None: a 0, which fits any)."""


@dataclass(frozen=True, slots=True)
class Folded:
    """Terms joined from left to right by `+`, `-`, `*`, `/`, `min` or `max`."""

    first: Term
    rest: tuple[tuple[str, Term], ...]
    dimension: Dimension | None
    depth: int


@dataclass(frozen=True, slots=True)
class UnaryCall:
    """`-x`, `abs(x)` or `sqrt(x)`."""

    function: str
    term: Term
    dimension: Dimension | None
    depth: int

    @classmethod
    def of(cls, function: str, term: Term, dimension: Dimension | None) -> UnaryCall:
        """Apply a function."""
        return cls(function, term, dimension, checked_depth(term))


@dataclass(frozen=True, slots=True)
class Call:
    """A function of terms that is computed for each case by itself: `mathis(mss, rtt, loss)`."""

    function: Callable[..., float]
    terms: tuple[Term, ...]
    dimension: Dimension | None
    depth: int

    @classmethod
    def of(
        cls, function: Callable[..., float], terms: Sequence[Term], dimension: Dimension | None
    ) -> Call:
        """Call a function that raises ValueError where it has no value."""
        return cls(function, tuple(terms), dimension, checked_depth(*terms))


def total(first: Term, rest: Sequence[tuple[str, Term]]) -> Folded:
    """Make a sum of terms of one dimension.

    Args:
        first: the first term.
        rest: the others, each with its sign.
    """
    terms = [term for _, term in rest]
    dimension = same_dimension("a sum of", first, *terms)
    return Folded(first, tuple(rest), dimension, checked_depth(first, *terms))


def product(first: Term, rest: Sequence[tuple[str, Term]]) -> Folded:
    """Make a product; the exponents of its factors add up.

    Args:
        first: the first factor.
        rest: the others, each with `*` or `/`.
    """
    dimension = first.dimension
    for sign, term in rest:
        if dimension is None or term.dimension is None:
            dimension = None
        else:
            power = 1 if sign == "*" else -1
            dimension = Dimension(
                dimension.data + power * term.dimension.data,
                dimension.time + power * term.dimension.time,
            )
    depth = checked_depth(first, *(term for _, term in rest))
    return Folded(first, tuple(rest), dimension, depth)


def extreme(name: str, terms: Sequence[Term]) -> Folded:
    """Make `min(...)` or `max(...)`."""
    first, *others = terms
    rest = tuple((name, term) for term in others)
    return Folded(first, rest, same_dimension(f"{name} of", *terms), checked_depth(*terms))


@dataclass(frozen=True, slots=True)
class Comparison(Condition):
    """A chain of comparisons, as `a < b < c`; each pair must hold. Its terms may be texts."""

    terms: tuple[Term | TextRef | TextLiteral, ...]
    signs: tuple[str, ...]
    depth: int

    @classmethod
    def of(cls, terms: Sequence[Term], signs: Sequence[str]) -> Comparison:
        """Compare numbers of one dimension."""
        same_dimension("this compares", *terms)
        return cls(tuple(terms), tuple(signs), checked_depth(*terms))

    @classmethod
    def of_texts(cls, texts: Sequence[TextRef | TextLiteral], signs: Sequence[str]) -> Comparison:
        """Compare texts."""
        return cls(tuple(texts), tuple(signs), checked_depth(*texts))


@dataclass(frozen=True, slots=True)
class Within(Condition):
    """`within(x, y, 15%)`: x differs from y by at most that part of y."""

    term: Term
    target: Term
    part: Term
    depth: int

    @classmethod
    def of(cls, term: Term, target: Term, part: Term) -> Within:
        """Compare two terms of one dimension."""
        same_dimension("within() compares", term, target)
        if part.dimension not in (None, PLAIN):
            raise InputError(f"the third of within() is a part, such as 15%, not {part.dimension}")
        return cls(term, target, part, checked_depth(term, target, part))


@dataclass(frozen=True, slots=True)
class Logic(Condition):
    """Conditions joined by `and` or by `or`, or the one that `not` denies."""

    word: str
    parts: tuple[Condition, ...]
    depth: int

    @classmethod
    def of(cls, word: str, parts: Sequence[Condition]) -> Logic:
        """Join conditions."""
        return cls(word, tuple(parts), checked_depth(*parts))
