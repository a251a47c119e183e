"""From the syntax of a claim or figure to terms over the cases of a study.

Outside of `all(...)` and its like a claim speaks of cases by their names; inside, and in a
figure, it speaks of each case: its metrics, parameters and derived values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from lark import Token

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.model.metric import Metric
from longfat.study.claims.aggregates import (
    CONDITION_WORDS,
    NUMBER_WORDS,
    Aggregate,
    CaseMetric,
    OverCases,
    Quantified,
    RowScope,
    depth_of,
)
from longfat.study.claims.columns import truth
from longfat.study.claims.formula import FormulaError, Syntax, offset_of, parse_syntax, source_of
from longfat.study.claims.pins import pinned_values
from longfat.study.claims.rows import Indices, Rows, Table
from longfat.study.claims.terms import Condition, Term
from longfat.study.figures.spec import Sampled
from longfat.study.grid.language import NameBuilder, Word

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

_CASES_HINT = "spaces make a hyphen a minus"


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """A claim's condition, and the cases that it speaks of.

    Attributes:
        condition: the condition.
        named: the cases that it names.
        over: its aggregates over many cases.
    """

    condition: Condition
    named: frozenset[str]
    over: tuple[OverCases, ...]


def parse_claim(text: str, known: Mapping[str, Mapping[str, Metric]], rows: Rows) -> Formula:
    """Parse a claim.

    Args:
        text: the claim.
        known: the metrics of each case by full name, such as `bulk.receiver_bps`.
        rows: the cases.

    Raises:
        FormulaError: it is not of the language, names what is not there, mixes
            dimensions, or is not true or false.
    """
    builder = CaseBuilder(text, rows, known)
    condition = builder.condition(parse_syntax(text, "the claim"), "a claim is")
    return Formula(condition=condition, named=frozenset(builder.cases), over=tuple(builder.over))


def parse_number(
    text: str, known: Mapping[str, Mapping[str, Metric]], rows: Rows
) -> tuple[Term, frozenset[str]]:
    """Parse a number that is made of metrics of named cases, such as the key of a question.

    Args:
        text: the number.
        known: as of `parse_claim`.
        rows: likewise.

    Returns:
        The number, and the cases that it names.

    Raises:
        FormulaError: it is not of the language, names what is not there, or mixes dimensions.
    """
    builder = CaseBuilder(text, rows, known)
    term = builder.term(parse_syntax(text, "the answer"))
    return term, frozenset(builder.cases)


@dataclass(slots=True)
class Parts:
    """What an expression over each case is made of.

    Attributes:
        owns: metrics of the case.
        names: parameters and derived values.
        samples: what a run has many of, by its text.
        fixed: it depends on nothing but names.
    """

    owns: list[CaseMetric] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    samples: dict[str, Sampled] = field(default_factory=dict)
    fixed: bool = True


class CaseBuilder(NameBuilder):
    """Builds terms over cases.

    Args:
        text: what was written.
        rows: the cases.
        known: the metrics of each case.
        parts: where to note what is found, for an expression that speaks of each case; None
            for a claim, which does so between parentheses only.
    """

    ARGUMENTS: ClassVar[Mapping[str, str]] = {
        **NameBuilder.ARGUMENTS,
        **dict.fromkeys((*CONDITION_WORDS, *NUMBER_WORDS[2:]), "one value"),
    }

    CONDITIONS: ClassVar[tuple[type, ...]] = (*NameBuilder.CONDITIONS, Quantified)

    def __init__(
        self,
        text: str,
        rows: Rows,
        known: Mapping[str, Mapping[str, Metric]],
        parts: Parts | None = None,
    ) -> None:
        super().__init__(text, rows, known)
        self.over: list[OverCases] = []
        self.samples: Mapping[str, Metric] = {}
        self._rows = rows
        self._parts = parts

    # Metrics and names.

    def metric(self, token: Token) -> Any:
        """Build the metric of a case that is named, or of each case."""
        if token.type == "METRIC":
            if self._parts is not None:
                self._parts.fixed = False
            return super(NameBuilder, self).metric(token)
        raise AssertionError(token.type)

    def leaf(self, syntax: Syntax) -> Any:
        """Build a metric or name of each case."""
        if syntax.data == "own":
            return self._own(syntax)
        if syntax.data == "name":
            name = str(syntax.children[0])
            if self._parts is None:
                self._refuse_outside(name, offset_of(syntax))
            if name in self.kinds.names:
                self._parts.names[name] = None
        return super().leaf(syntax)

    def _refuse_outside(self, name: str, offset: int) -> NoReturn:
        if name in self._rows.names:
            raise FormulaError(
                f"{name!r} differs from case to case: write all(...), any(...) or share(...) "
                "around the condition on each case",
                offset=offset,
            )
        raise FormulaError(
            f"{name!r} is no metric, which is written CASE.FLOW.METRIC; quote a text",
            offset=offset,
        )

    def _refuse(self, word: Word, offset: int) -> None:
        if word.kind is None and not self._rows.names:
            raise FormulaError(
                f"there is no {word.word!r}: a metric is written FLOW.METRIC, and only the cases "
                "of a grid have parameters",
                offset=offset,
            )
        super()._refuse(word, offset)

    def _own(self, syntax: Syntax) -> CaseMetric | Sampled:
        token, *pins = syntax.children
        if self._parts is not None and str(token) in self.samples and not pins:
            return self._sampled(str(token))
        flow, _, name = str(token).rpartition(".")
        start = int(token.start_pos or 0)
        if self._parts is None:
            self._refuse_own(str(token), flow, start)
        own = self._found(flow, name, start, text=source_of(syntax, self.text))
        if pins:
            pinned = pinned_values(pins, self._rows)
            own = CaseMetric(
                text=own.text,
                key=own.key,
                unit=own.unit,
                there=own.there,
                beside=self._rows.beside(pinned),
                pinned=frozenset(pinned),
            )
        self._parts.owns.append(own)
        self._parts.fixed = False
        return own

    def _sampled(self, text: str) -> Sampled:
        assert self._parts is not None
        flow, _, name = text.rpartition(".")
        sampled = Sampled(flow=flow, name=name, unit=self.samples[text].unit)
        self._parts.samples[text] = sampled
        self._parts.fixed = False
        return sampled

    def _refuse_own(self, text: str, flow: str, offset: int) -> NoReturn:
        if flow in self._rows.index:
            reason = f"{flow!r} is a case, and a metric of it is written {flow}.FLOW.METRIC"
        else:
            reason = (
                f"{text} needs a case: name one, as in CASE.{text}, or aggregate over the cases, "
                f"as in all({text} > ...)"
            )
        raise FormulaError(reason, offset=offset)

    def _found(self, flow: str, name: str, start: int, *, text: str) -> CaseMetric:
        found = self._rows.metric(flow, name)
        if found is not None:
            return CaseMetric(text=text, key=found.key, unit=found.unit, there=found.there)
        measured = self._rows.measured()
        flows = dict.fromkeys(key.partition(".")[0] for key in measured)
        if flow not in flows:
            hint = f"; {_CASES_HINT}" if "-" in flow else ""
            raise FormulaError(
                f"there is no flow or probe called {flow!r}{nearest(flow, flows)} "
                f"(there are: {listed(flows)}){hint}",
                offset=start,
            )
        short = [m.short for key, m in measured.items() if key == f"{flow}.{m.name}"]
        raise self.unknown(f"metric of {flow!r}", name, short, start + len(flow) + 1, verb="called")

    # Words over cases.

    def call(self, name: str, token: Token, parts: list[Syntax]) -> Any:
        """Build what a function gives, or a word over cases."""
        values = [part for part in parts if part.data != "where"]
        alone = name in NUMBER_WORDS and len(values) == 1
        if alone or name in CONDITION_WORDS or name in NUMBER_WORDS[2:]:
            return self._over_cases(name, token, parts)
        if name == "jain" and len(parts) == 1:
            return self._fairness(parts[0])
        return super().call(name, token, parts)

    def _fairness(self, part: Syntax) -> CaseMetric:
        flow = source_of(part, self.text)
        start = offset_of(part)
        if self._parts is None:
            self._refuse_own(f"jain({flow})", "", start)
        if self._rows.metric(flow, "fairness") is None:
            raise FormulaError(
                f"{flow!r} is no flow of iperf3 or transfer, whose parallel streams jain() of one "
                "flow compares",
                offset=start,
            )
        own = self._found(flow, "fairness", start, text=f"jain({flow})")
        self._parts.owns.append(own)
        self._parts.fixed = False
        return own

    def _over_cases(self, word: str, token: Token, parts: list[Syntax]) -> OverCases:
        start = int(token.start_pos or 0)
        condition = parts[-1].children[0] if parts[-1].data == "where" else None
        values = parts if condition is None else parts[:-1]
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
        what: Any
        if word in CONDITION_WORDS:
            what = self.condition(values[0], f"{word}() is of what is")
        else:
            what = self.term(values[0])
        self._parts = chosen_by
        where = None
        if condition is not None:
            where = self.condition(condition, "where takes what is")
        self._parts = outer
        del self.over[nested:]  # nested aggregates are not shown by themselves
        if not inner.owns and not inner.names:
            raise FormulaError(
                f"{word}() is over the cases, and here is nothing of a case: write FLOW.METRIC",
                offset=offset_of(values[0]),
            )
        owns = (*inner.owns, *chosen_by.owns)
        names = tuple(inner.names | chosen_by.names)
        at = self._cases(owns, names, start)
        if where is not None and chosen_by.fixed:
            at = self._fitting(at, where, offset_of(condition))
            where = None
        made = Aggregate if word not in ("all", "any") else Quantified
        over = made(
            word=word,
            text=self._text_from(start),
            what=what,
            where=where,
            owns=owns,
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
        for at in range(self.text.index("(", start), len(self.text)):
            opened += {"(": 1, ")": -1}.get(self.text[at], 0)
            if not opened:
                return " ".join(self.text[start : at + 1].split())
        return " ".join(self.text[start:].split())

    def _cases(self, owns: tuple[CaseMetric, ...], names: tuple[str, ...], offset: int) -> Indices:
        """Return the cases that have all of some metrics, without duplicates."""
        at = np.arange(len(self._rows), dtype=np.intp)
        for own in owns:
            at = at[own.has(at)]
        if not len(at):
            texts = " and ".join(dict.fromkeys(own.text for own in owns))
            raise FormulaError(f"no case has {texts}", offset=offset)
        axes = self._rows.axes
        if axes is None or not owns:
            return at
        free = self._rows.parameters_of(names)
        same = frozenset.intersection(*(own.pinned for own in owns))
        same -= {place for place, name in enumerate(axes.values) if name in free}
        return self._rows.first_of_each(at, same)

    def _fitting(self, at: Indices, where: Condition, offset: int) -> Indices:
        scope = RowScope(self._rows, at, Table({}, self._rows.cases))
        found = at[np.broadcast_to(truth(where, scope), at.shape)]
        if not len(found):
            raise FormulaError("this leaves no case", offset=offset)
        return found


def build_term(
    text: str, rows: Rows, known: Mapping[str, Mapping[str, Metric]], what: str
) -> tuple[Term, Parts]:
    """Parse a number that each case has, as a figure shows it.

    Raises:
        FormulaError: it is not of the language, names what is not there, or mixes dimensions.
    """
    parts = Parts()
    builder = CaseBuilder(text, rows, known, parts)
    return builder.term(parse_syntax(text, what)), parts


def build_condition(
    text: str, rows: Rows, known: Mapping[str, Mapping[str, Metric]], what: str
) -> tuple[Condition, Parts]:
    """Parse a condition on each case.

    Raises:
        FormulaError: as `build_term`, or it is not true or false.
    """
    parts = Parts()
    builder = CaseBuilder(text, rows, known, parts)
    return builder.condition(parse_syntax(text, what), f"{what} is"), parts
