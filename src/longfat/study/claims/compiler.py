"""From the syntax of a claim or figure to terms over the cases of a study.

Outside of `all(...)` and its like a claim names cases; inside, and in a figure, it is about each
case: its metrics, parameters and derived values. `bulk.receiver[cc = bbr]` is the metric of the
case in which only `cc` differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn

from lark import Token

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.metric import Metric
from longfat.model.units import parse_literal
from longfat.study.claims.aggregates import (
    CONDITION_WORDS,
    NUMBER_WORDS,
    Aggregate,
    OverCases,
    Quantified,
    depth_of,
)
from longfat.study.claims.rows import CaseMetric, Indices, Rows, RowScope, Samples, Table
from longfat.study.expressions.compiler import Compiler, Kinds, unknown
from longfat.study.expressions.evaluation import truth
from longfat.study.expressions.names import unknown_parameter
from longfat.study.expressions.parser import (
    FormulaError,
    Syntax,
    offset_of,
    parse_syntax,
    source_of,
)
from longfat.study.expressions.terms import Condition, MetricRef, Term
from longfat.study.grid.values import Value
from longfat.study.metrics import find_metric

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

Known = Mapping[str, Mapping[str, Metric]]
"""The metrics of each case by full name, such as `bulk.receiver_bps`."""

# These words are no functions of plain values; `min` and `max` are both.
_OWN_WORDS = (*CONDITION_WORDS, *NUMBER_WORDS[2:])


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A claim's condition, and the cases that it is about.

    Attributes:
        condition: the condition.
        named: the cases that it names.
        over: its aggregates over many cases.
    """

    condition: Condition
    named: frozenset[str]
    over: tuple[OverCases, ...]


@dataclass(slots=True)
class Parts:
    """What an expression over each case is made of.

    Attributes:
        metrics: metrics of the case.
        names: parameters and derived values.
        samples: samples of a run, by their text.
        fixed: it depends on nothing but names.
    """

    metrics: list[CaseMetric] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    samples: dict[str, Samples] = field(default_factory=dict)
    fixed: bool = True


def parse_claim(text: str, known: Known, rows: Rows) -> Formula:
    """Parse a claim.

    Args:
        text: the claim.
        known: the metrics of each case.
        rows: the cases.

    Raises:
        FormulaError: it is not of the language, names what is not there, mixes
            dimensions, or is not true or false.
    """
    resolver = CaseResolver(text, rows, known)
    condition = Compiler(text, resolver).condition(parse_syntax(text, "the claim"), "a claim is")
    return Formula(condition=condition, named=frozenset(resolver.cases), over=tuple(resolver.over))


def parse_number(text: str, known: Known, rows: Rows) -> tuple[Term, frozenset[str]]:
    """Parse a number that is made of metrics of named cases, such as the key of a question.

    Args:
        text: the number.
        known: the metrics of each case.
        rows: the cases.

    Returns:
        The number, and the cases that it names.

    Raises:
        FormulaError: it is not of the language, names what is not there, or mixes dimensions.
    """
    resolver = CaseResolver(text, rows, known)
    term = Compiler(text, resolver).term(parse_syntax(text, "the answer"))
    return term, frozenset(resolver.cases)


def build_term(
    text: str,
    rows: Rows,
    known: Known,
    what: str,
    *,
    samples: Mapping[str, Metric] | None = None,
) -> tuple[Term, Parts]:
    """Parse a number that each case has, as a figure shows it.

    Args:
        text: the number.
        rows: the cases.
        known: the metrics of each case.
        what: what the text is, for messages.
        samples: the samples that it can name, as `known_samples` returns them.

    Raises:
        FormulaError: it is not of the language, names what is not there, or mixes dimensions.
    """
    parts = Parts()
    resolver = CaseResolver(text, rows, known, parts, samples=samples)
    return Compiler(text, resolver).term(parse_syntax(text, what)), parts


def build_condition(text: str, rows: Rows, known: Known, what: str) -> tuple[Condition, Parts]:
    """Parse a condition on each case.

    Raises:
        FormulaError: as `build_term`, or it is not true or false.
    """
    parts = Parts()
    compiler = Compiler(text, CaseResolver(text, rows, known, parts))
    return compiler.condition(parse_syntax(text, what), f"{what} is"), parts


class CaseResolver:
    """Resolves the names and metrics of an expression over cases, and calls over many cases.

    Args:
        text: what was written.
        rows: the cases.
        known: the metrics of each case.
        parts: where to record what is used, for an expression about each case; None
            for a claim, which is about each case between parentheses only.
        samples: the samples that it can name.

    Attributes:
        cases: the cases that the expression names.
        over: its aggregates over many cases, without nested ones.
    """

    functions: tuple[str, ...] = _OWN_WORDS

    def __init__(
        self,
        text: str,
        rows: Rows,
        known: Known,
        parts: Parts | None = None,
        *,
        samples: Mapping[str, Metric] | None = None,
    ) -> None:
        self.kinds: Kinds = rows
        self.cases: set[str] = set()
        self.over: list[OverCases] = []
        self._text = text
        self._rows = rows
        self._known = known
        self._parts = parts
        self._samples = samples or {}

    # Names.

    def use(self, name: str, offset: int) -> None:
        """See `Resolver`; outside of `all(...)` there are no names."""
        exists = name in self._rows.names
        if self._parts is None:
            raise FormulaError(
                f"{name!r} differs from case to case: write all(...), any(...) or share(...) "
                "around the condition on each case"
                if exists
                else f"{name!r} is no metric, which is written CASE.FLOW.METRIC; quote a text",
                offset=offset,
            )
        if exists:
            self._parts.names[name] = None

    def unknown_name(self, name: str) -> str:
        """See `Resolver`."""
        if self._rows.names:
            return unknown_parameter(name, self._rows.names)
        return (
            f"there is no {name!r}: a metric is written FLOW.METRIC, and only the cases "
            "of a grid have parameters"
        )

    # Metrics of cases that are named.

    def metric(self, token: Token) -> MetricRef:
        """See `Resolver`."""
        if self._parts is not None:
            self._parts.fixed = False
        case, flow, name = token.split(".")
        start = offset_of(token)
        if case not in self._known:
            self._unknown_case(case, flow, start)
        known = self._known[case]
        flows = dict.fromkeys(key.partition(".")[0] for key in known)
        start += len(case) + 1
        if flow not in flows:
            unknown(f"flow or probe in the case {case!r}", flow, flows, start, verb="called")
        full = find_metric(flow, name, known)
        if full is None:
            self._unknown_metric(flow, name, known, start)
        self.cases.add(case)
        return MetricRef(case, full, known[full].unit)

    def _unknown_case(self, case: str, flow: str, offset: int) -> NoReturn:
        try:
            unknown("case", case, self._known, offset)
        except FormulaError as error:
            # a.b-c.d is the metric d of b-c in the case a.
            hint = "; spaces make a hyphen a minus" if "-" in flow else ""
            raise FormulaError(error.message + hint, offset=offset) from None

    def _unknown_metric(
        self, flow: str, name: str, known: Mapping[str, Metric], offset: int
    ) -> NoReturn:
        short = [m.short for key, m in known.items() if key == f"{flow}.{m.name}"]
        unknown(f"metric of {flow!r}", name, short, offset + len(flow) + 1, verb="called")

    # Metrics of each case.

    def case_metric(self, syntax: Syntax) -> CaseMetric | Samples:
        """See `Resolver`."""
        token, *filters = syntax.children
        text, offset = str(token), offset_of(token)
        flow, _, name = text.rpartition(".")
        if self._parts is None:
            self._refuse_case_metric(text, flow, offset)
        if text in self._samples and not filters:
            samples = Samples(flow=flow, name=name, unit=self._samples[text].unit)
            self._parts.samples[text] = samples
            self._parts.fixed = False
            return samples
        metric = self._find_metric(flow, name, offset, text=source_of(syntax, self._text))
        if filters:
            places = filtered_values(filters, self._rows)
            metric = replace(metric, beside=self._rows.beside(places), filtered=frozenset(places))
        self._parts.metrics.append(metric)
        self._parts.fixed = False
        return metric

    def _refuse_case_metric(self, text: str, flow: str, offset: int) -> NoReturn:
        if flow in self._rows.index:
            reason = f"{flow!r} is a case, and a metric of it is written {flow}.FLOW.METRIC"
        else:
            reason = (
                f"{text} needs a case: name one, as in CASE.{text}, or aggregate over the cases, "
                f"as in all({text} > ...)"
            )
        raise FormulaError(reason, offset=offset)

    def _find_metric(self, flow: str, name: str, offset: int, *, text: str) -> CaseMetric:
        metric = self._rows.metric(flow, name)
        if metric is None:
            self._unknown_case_metric(flow, name, offset)
        return CaseMetric(text=text, key=metric.key, unit=metric.unit, present=metric.present)

    def _unknown_case_metric(self, flow: str, name: str, offset: int) -> NoReturn:
        measured = self._rows.measured()
        flows = dict.fromkeys(key.partition(".")[0] for key in measured)
        if flow not in flows:
            hint = "; spaces make a hyphen a minus" if "-" in flow else ""
            raise FormulaError(
                f"there is no flow or probe called {flow!r}{nearest(flow, flows)} "
                f"(there are: {listed(flows)}){hint}",
                offset=offset,
            )
        self._unknown_metric(flow, name, measured, offset)

    # Calls over cases.

    def call(
        self, name: str, offset: int, arguments: list[Syntax], compiler: Compiler
    ) -> Term | Condition | None:
        """See `Resolver`."""
        values = [part for part in arguments if part.data != "where"]
        if name in _OWN_WORDS or (name in NUMBER_WORDS and len(values) == 1):
            return self._over_cases(name, offset, arguments, compiler)
        if name == "jain" and len(arguments) == 1:
            return self._fairness(arguments[0])
        return None

    def _fairness(self, part: Syntax) -> CaseMetric:
        flow = source_of(part, self._text)
        offset = offset_of(part)
        if self._parts is None:
            self._refuse_case_metric(f"jain({flow})", "", offset)
        if self._rows.metric(flow, "fairness") is None:
            raise FormulaError(
                f"{flow!r} is no flow of iperf3 or transfer, whose parallel streams jain() of one "
                "flow compares",
                offset=offset,
            )
        metric = self._find_metric(flow, "fairness", offset, text=f"jain({flow})")
        self._parts.metrics.append(metric)
        self._parts.fixed = False
        return metric

    def _over_cases(
        self, word: str, start: int, arguments: list[Syntax], compiler: Compiler
    ) -> OverCases:
        condition = arguments[-1].children[0] if arguments[-1].data == "where" else None
        values = arguments if condition is None else arguments[:-1]
        if len(values) != 1:
            raise FormulaError(
                f"{word}() over the cases takes one thing, and where after it, and here are "
                f"{len(values)}",
                offset=start,
            )
        outer, inner, chosen_by = self._parts, Parts(), Parts()
        nested = len(self.over)
        if outer is not None:
            outer.fixed = False
        self._parts = inner
        what: Term | Condition
        if word in CONDITION_WORDS:
            what = compiler.condition(values[0], f"{word}() is of what is")
        else:
            what = compiler.term(values[0])
        self._parts = chosen_by
        where = None
        if condition is not None:
            where = compiler.condition(condition, "where takes what is")
        self._parts = outer
        del self.over[nested:]  # nested aggregates are not shown by themselves
        if not inner.metrics and not inner.names:
            raise FormulaError(
                f"{word}() is over the cases, and here is nothing of a case: write FLOW.METRIC",
                offset=offset_of(values[0]),
            )
        metrics = (*inner.metrics, *chosen_by.metrics)
        names = tuple(inner.names | chosen_by.names)
        at = self._cases(metrics, names, start)
        if where is not None and chosen_by.fixed:
            at = self._fitting(at, where, offset_of(condition))
            where = None
        made = Aggregate if word not in ("all", "any") else Quantified
        over = made(
            word=word,
            text=self._text_from(start),
            what=what,
            where=where,
            metrics=metrics,
            names=names,
            rows=self._rows,
            at=at,
            depth=depth_of(what, where),
        )
        self.over.append(over)
        return over

    def _text_from(self, start: int) -> str:
        """Return a call as it was written, to the parenthesis that ends it."""
        opened = 0
        for at in range(self._text.index("(", start), len(self._text)):
            opened += {"(": 1, ")": -1}.get(self._text[at], 0)
            if not opened:
                return " ".join(self._text[start : at + 1].split())
        return " ".join(self._text[start:].split())

    def _cases(
        self, metrics: tuple[CaseMetric, ...], names: tuple[str, ...], offset: int
    ) -> Indices:
        """Return the cases that have all of some metrics, without duplicates."""
        at = np.arange(len(self._rows), dtype=np.intp)
        for metric in metrics:
            at = at[metric.has(at)]
        if not len(at):
            texts = " and ".join(dict.fromkeys(metric.text for metric in metrics))
            raise FormulaError(f"no case has {texts}", offset=offset)
        axes = self._rows.axes
        if axes is None or not metrics:
            return at
        free = self._rows.parameters_of(names)
        same = frozenset.intersection(*(metric.filtered for metric in metrics))
        same -= {place for place, name in enumerate(axes.values) if name in free}
        return self._rows.first_of_each(at, same)

    def _fitting(self, at: Indices, where: Condition, offset: int) -> Indices:
        scope = RowScope(self._rows, at, Table({}, self._rows.cases))
        fitting = at[np.broadcast_to(truth(where, scope), at.shape)]
        if not len(fitting):
            raise FormulaError("this leaves no case", offset=offset)
        return fitting


# Filters: the case in which some parameters have other values.


def filtered_values(filters: Sequence[Syntax], rows: Rows) -> dict[int, int]:
    """Return which values the parameters of the other case have.

    Args:
        filters: each the syntax of a parameter and its value.
        rows: the cases.

    Returns:
        By the place of a parameter, the place of its value. Parameters that change together
        with one that was named are among them.

    Raises:
        FormulaError: there is no such parameter or value, or the row is ambiguous.
    """
    axes = rows.axes
    if axes is None:
        raise FormulaError("only the cases of a grid have parameters", offset=offset_of(filters[0]))
    places = {name: place for place, name in enumerate(axes.values)}
    fitting: dict[tuple[str, ...], set[int]] = {}
    for part in filters:
        name, text = str(part.children[0]), str(part.children[1])
        start = offset_of(part)
        if name not in places:
            raise FormulaError(
                f"there is no parameter {name!r}{nearest(name, places)} "
                f"(there are: {listed(places)})",
                offset=start,
            )
        indices = {i for i, value in enumerate(axes.values[name]) if _is(value, text)}
        if not indices:
            texts = dict.fromkeys(value.text for value in axes.values[name])
            raise FormulaError(
                f"{name!r} is never {text.strip()!r}{nearest(text.strip(), texts)} "
                f"(its values: {listed(texts)})",
                offset=offset_of(part.children[1]),
            )
        axis = next(names for names in axes.axes if name in names)
        fitting[axis] = fitting.get(axis, indices) & indices
        if not fitting[axis]:
            raise FormulaError(f"no row of {', '.join(axis)} is so", offset=start)
    chosen: dict[int, int] = {}
    for axis, indices in fitting.items():
        if len(indices) > 1:
            raise FormulaError(
                f"{len(indices)} rows of {', '.join(axis)} are so: name more of the row's values",
                offset=offset_of(filters[0]),
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
