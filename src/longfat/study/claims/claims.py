"""Claims: what a study asserts about its results.

`tuned.bulk.receiver > 2.5 * default.bulk.receiver and tuned.bulk.retransmits < 100`
`all(bulk.receiver > 0.9 * rate where buffer >= bdp)`

They are written in the language of `longfat.study.expressions`; `compiler` makes their terms, of
which those over many cases are in `aggregates`. Names and dimensions are checked when the study is
read, so that a typo is reported before an hour of runs. Nothing is evaluated as Python.

A claim whose value does not exist (a division by 0) does not hold.

`EXPRESSION over seeds` is a claim about the median over several seeds and not about each run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from longfat.errors import InputError, Place
from longfat.model.metric import Metric
from longfat.study.claims.aggregates import OverCases
from longfat.study.claims.compiler import parse_claim
from longfat.study.claims.rows import ResultScope, Rows
from longfat.study.expressions.evaluation import holds
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import Condition, Results
from longfat.study.node import Node

MAX_CLAIM = 2000
"""The number of characters that a claim may have."""

_OVER_SEEDS = re.compile(r"\s+over\s+seeds\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An assertion over the results of a study.

    Attributes:
        text: the claim as written, for display.
        expression: the condition to check, with `over seeds` behind it where the claim is that.
        place: where it was written.
        cases: the names of the cases that it is about.
        named: those of them that it names.
        over: its aggregates over many cases, in the order of the text.
        over_seeds: it is about the medians over several seeds, and not about each seed.
    """

    text: str
    expression: str
    place: Place
    cases: frozenset[str]
    condition: Condition = field(repr=False, compare=False)
    named: frozenset[str] = frozenset()
    over: tuple[OverCases, ...] = field(default=(), repr=False, compare=False)
    over_seeds: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameters and derived values in it."""
        return tuple(name for term in self.over for name in term.names)

    def holds(self, metrics: Results) -> bool:
        """Check it against results.

        Args:
            metrics: metrics by full name (`bulk.receiver_bps`), in base units,
                by the case's name.

        Raises:
            InputError: a metric of a case that it names is not among the results.
            NotRunError: it depends on cases that are not among the results.
        """
        try:
            return holds(self.condition, ResultScope(metrics))
        except InputError as error:
            raise InputError(error.message, place=self.place) from None


def read_claim(
    node: Node,
    known: Mapping[str, Mapping[str, Metric]],
    rows: Rows,
    *,
    seeds: Mapping[str, int] | None = None,
) -> Claim:
    """Read a claim.

    Args:
        node: an expression, or a mapping of one text to its expression.
        known: the metrics of each case, as `known_metrics` returns them.
        rows: the cases.
        seeds: the number of seeds of each case; None where runs have one seed each, so that
            no claim can be over seeds.

    Returns:
        The claim, checked.

    Raises:
        InputError: it is not of the language, names what is not there, mixes
            dimensions, is not true or false, or is over seeds and a case has one.
    """
    text: str | None = None
    if node.is_mapping:
        items = node.items("a claim")
        if len(items) != 1:
            raise node.error(
                f"a claim is one TEXT: EXPRESSION, and here are {len(items)}: "
                "start each with a hyphen"
            )
        text = items[0][0].text
        inner = replace(items[0][1], field=node.field)
    else:
        inner = node
    expression = inner.text("a claim, as TEXT: EXPRESSION or as an expression")
    if len(expression) > MAX_CLAIM:
        raise inner.error(f"the claim has more than {MAX_CLAIM} characters")
    ending = _OVER_SEEDS.search(expression)
    condition = expression[: ending.start()] if ending else expression
    try:
        formula = parse_claim(condition, known, rows)
    except FormulaError as error:
        raise InputError(error.message, place=inner.place_of(error.offset)) from None
    expression = " ".join(expression.split())
    cases = formula.named.union(*(term.cases() for term in formula.over))
    if ending:
        _check_seeds(inner, cases, seeds)
    return Claim(
        text=text or expression,
        expression=expression,
        place=inner.place,
        cases=cases,
        condition=formula.condition,
        named=formula.named,
        over=formula.over,
        over_seeds=ending is not None,
    )


def _check_seeds(node: Node, cases: frozenset[str], seeds: Mapping[str, int] | None) -> None:
    if seeds is None:
        raise node.error("`over seeds` is for claims of studies, whose cases have several seeds")
    single = [case for case in seeds if case in cases and seeds[case] < 2]
    if single:
        raise node.error(
            f"the claim is over seeds, and the case {single[0]!r} is run with one: "
            "give the study or the case `seeds`, such as `seeds: 5`"
        )
