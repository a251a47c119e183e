"""The field `figures`: the figures of a study's results.

    figures:
      - Utilisation: {lines: bulk.receiver / rate, over: buffer, by: flows, each: rtt, log: x}
      - Goodput: {heat: bulk.receiver / rate, over: rtt, up: loss, each: cc}
      - Delay against goodput: {points: rtt.avg, against: bulk.receiver, by: aqm}
      - RTT: {cdf: rtt.replies, by: aqm}
      - Goodput: {bars: bulk.receiver, marks: {x: {line rate: 100mbit}}}
      - Queue: {time: queue.backlogs, cases: [drop-tail, red]}

All names, dimensions and parameters are checked when the study is read, and that no case is
drawn over another: a parameter that varies is in `over`, `up`, `by`, `each` or `median`, or
`where` picks one of its values. In a study without a grid the one parameter is `case`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.metric import Metric, Unit
from longfat.model.units import parse_literal
from longfat.study.claims.aggregates import unit_of
from longfat.study.claims.compiler import build_condition, build_term
from longfat.study.claims.rows import Indices, Rows, RowScope, Samples, Table
from longfat.study.expressions.evaluation import truth
from longfat.study.expressions.names import COMMA_HINT
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import BITS, DIMENSIONS, Number, Term, Texts
from longfat.study.figures.cases import CASE, case_rows, read_cases
from longfat.study.figures.spec import (
    FigureKind,
    FigureSpec,
    Quantity,
    by_number,
    differing,
    fixed_values,
    grouped,
)
from longfat.study.figures.theory import read_curves, read_marks
from longfat.study.metrics import known_samples
from longfat.study.model import Planned
from longfat.study.node import Node

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

_COMMON = ("each", "where", "log", "range", "labels", "marks")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "lines": ("over", "by", "median", "curves", *_COMMON),
    "points": ("against", "by", *_COMMON),
    "heat": ("over", "up", "median", "each", "where", "log", "range", "labels"),
    "cdf": ("by", *_COMMON),
    "bars": ("over", "median", "each", "where", "labels", "marks"),
    "time": ("by", "each", "where", "range", "labels", "marks"),
}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "lines": ("over",),
    "points": ("against",),
    "heat": ("over", "up"),
    "cdf": (),
    "bars": (),
    "time": (),
}
_SEVERAL = ("bars", "time")  # kinds that show one expression, or several with labels
_FORM = "TITLE: {lines: bulk.receiver, over: rtt, by: cc}"
_MAX_NAME = 48
_MAX_SHOWN = 6

Ends = tuple[float | None, float | None]

# The axes that show numbers.
_AXES: Mapping[str, tuple[str, ...]] = {
    "lines": ("x", "y"),
    "points": ("x", "y"),
    "heat": ("colour",),
    "cdf": ("x",),
    "bars": ("x",),
    "time": ("x", "y"),
}


def read_figures(
    node: Node,
    known: Mapping[str, Mapping[str, Metric]],
    rows: Rows,
    cases: Mapping[str, Planned],
) -> tuple[FigureSpec, ...]:
    """Read the figures of a study.

    Args:
        node: the field.
        known: the metrics of each case.
        rows: the cases.
        cases: the cases as they are planned.

    Raises:
        InputError: something in it is wrong.
    """
    samples = known_samples(planned.case for planned in cases.values())
    figures: list[FigureSpec] = []
    for entry in node.sequence(f"a list of figures, each {_FORM}"):
        title, body = _titled(entry)
        reader = _Reader(body, known, rows, samples, cases)
        figures.append(reader.read(title, taken=[figure.name for figure in figures]))
    return tuple(figures)


def _titled(entry: Node) -> tuple[str | None, Node]:
    items = entry.items(f"a figure ({_FORM})")
    if len(items) != 1 or items[0][0].text in _FIELDS:
        return None, entry
    return items[0][0].text, items[0][1]


class _Reader:
    """Reads one figure."""

    def __init__(
        self,
        node: Node,
        known: Mapping[str, Mapping[str, Metric]],
        rows: Rows,
        samples: Mapping[str, Metric],
        cases: Mapping[str, Planned],
    ) -> None:
        self._kernels = tuple(planned.case.kernel for planned in cases.values())
        self._node = node
        self._known = known
        self._samples = samples
        self._has_grid = rows.axes is not None
        self._kind, self._fields = self._read_fields()
        if rows.axes is None:
            rows = case_rows(known, read_cases(self._fields.get("cases"), cases))
        assert rows.axes is not None
        self._rows = rows
        self._axes = rows.axes

    def _read_fields(self) -> tuple[str, dict[str, Node]]:
        items = self._node.items(f"a figure ({_FORM})")
        for key, _ in items:
            if ")" in key.text or "]" in key.text:
                raise InputError(f"{key.text!r} is no field{COMMA_HINT}", place=key.place)
        kinds = [key.text for key, _ in items if key.text in _FIELDS]
        if len(kinds) != 1:
            present = "none of them" if not kinds else " and ".join(kinds)
            raise self._node.error(
                f"a figure shows one of {', '.join(_FIELDS)}, and here is {present}: write {_FORM}"
            )
        (kind,) = kinds
        own = () if self._has_grid else ("cases",)
        fields = self._node.fields("a figure", allowed=(kind, *_FIELDS[kind], *own))
        for name in _NEEDED[kind]:
            if name not in fields:
                raise self._node.error(f"the figure has no {name!r}, which {kind} need")
        return kind, fields

    def read(self, title: str | None, *, taken: Sequence[str]) -> FigureSpec:
        """Read the figure.

        Args:
            title: its title, if it has one.
            taken: the names of the figures before it.
        """
        kind, fields = self._kind, self._fields
        at = self._cases()
        shown = self._shown(fields[kind], at)
        if kind in ("cdf", *_SEVERAL):
            at = self._with_results(shown, at)
        what = shown[0]
        over = None
        if kind == "points":
            over = self._quantity(fields["against"], at)
        elif kind in ("lines", "heat"):
            over = self._over(fields["over"], at)
        elif kind == "bars":
            over = self._rows_of_bars(at)
        up = self._parameters("up") if "up" in fields else ()
        if kind == "heat" and (len(up) != 1 or over is None or over.parameter is None):
            raise fields["up"].error("the axes of a heat map are one parameter each")
        by, each, median = (self._parameters(name) for name in ("by", "each", "median"))
        if kind == "time" and not by and not each:
            each = tuple(differing(self._rows, at))
        self._check_once(up, by, each, median, over)
        labels = _read_labels(fields, kind)
        spec = FigureSpec(
            name="",
            title=title or f"{what.text} over {over.text}" if over else title or what.text,
            kind=FigureKind(kind),
            shown=shown,
            over=over,
            up=up[0] if up else None,
            by=by,
            each=each,
            median=median,
            log=_read_log(fields, kind, over, lambda term: fixed_values(self._rows, at, term)),
            ranges=_read_ranges(fields, kind, what, over),
            curves=(),
            marks=(),
            at=at,
            rows=self._rows,
            labels=labels,
        )
        if kind in ("lines", "heat", "bars"):
            self._check_points(spec)
        return self._finished(spec, taken)

    def _finished(self, spec: FigureSpec, taken: Sequence[str]) -> FigureSpec:
        curves = read_curves(self._fields["curves"], spec) if "curves" in self._fields else ()
        marks = read_marks(self._fields["marks"], spec) if "marks" in self._fields else ()
        name = re.sub(r"[^a-z0-9]+", "-", spec.title.lower()).strip("-")[:_MAX_NAME].strip("-")
        name = name or "figure"
        numbers = (f"{name}-{number}" for number in range(2, len(taken) + 3))
        unique = next(other for other in (name, *numbers) if other not in taken)
        return replace(spec, name=unique, curves=curves, marks=marks)

    # Cases.

    def _cases(self) -> Indices:
        at = np.arange(len(self._rows), dtype=np.intp)
        if "where" not in self._fields:
            return at
        node = self._fields["where"]
        conditions = node.sequence("a list of conditions") if node.is_sequence else [node]
        for part in conditions:
            text = part.text("a condition (such as rtt == 10ms)")
            try:
                condition, parts = build_condition(text, self._rows, self._known, "where")
            except FormulaError as error:
                raise InputError(error.message, place=part.place_of(error.offset)) from None
            if not parts.fixed:
                raise part.error("where picks cases by their parameters, not by their results")
            scope = RowScope(self._rows, at, Table({}, self._rows.cases))
            at = at[np.broadcast_to(truth(condition, scope), at.shape)]
            if not len(at):
                raise part.error("this leaves no case for the figure")
        return at

    # What is shown.

    def _shown(self, node: Node, at: Indices) -> tuple[Quantity, ...]:
        """Read what the figure shows: an expression, or several by their labels."""
        sampled = self._kind in ("cdf", "time")
        if not (self._kind in _SEVERAL and node.is_mapping):
            return (self._quantity(node, at, sampled=sampled),)
        shown = tuple(self._labelled(node, at))
        if not shown:
            raise node.error("here is nothing to show")
        if len(shown) > _MAX_SHOWN:
            raise node.error(f"a figure shows at most {_MAX_SHOWN} expressions side by side")
        if self._kind == "time" and len({quantity.unit for quantity in shown}) > 1:
            raise node.error("lines over time that share an axis have one unit")
        return shown

    def _labelled(self, node: Node, at: Indices, *, axis: str = "") -> Iterator[Quantity]:
        """Read expressions by their labels; those of bars may be by the label of an axis first."""
        sampled = self._kind == "time"
        units = {}
        for key, value in node.items("expressions by their labels"):
            if value.is_mapping and self._kind == "bars" and not axis:
                yield from self._labelled(value, at, axis=key.text)
                continue
            quantity = self._quantity(value, at, sampled=sampled)
            units[quantity.unit] = key.text
            if axis and len(units) > 1:
                raise value.error("the expressions of an axis have one unit")
            yield replace(quantity, label=key.text, axis=axis)

    def _with_results(self, shown: Sequence[Quantity], at: Indices) -> Indices:
        """Return the cases that can have any of the results, of those without samples in them."""
        if any(quantity.samples for quantity in shown):
            return at
        has = [np.all([m.has(at) for m in one.metrics], axis=0) for one in shown]
        found: Indices = at[np.any(has, axis=0)]
        return found

    def _rows_of_bars(self, at: Indices) -> Quantity:
        """Return what the bars are over: the field `over`, or the cases."""
        name = CASE
        if "over" in self._fields:
            name = self._fields["over"].line("a parameter")
            self._parameters("over")
        elif self._has_grid:
            varied = differing(self._rows, at)
            if len(varied) != 1:
                raise self._node.error(
                    "the figure has no 'over': the parameter whose values are the bars"
                    f"{': ' + listed(varied) if varied else ''}"
                )
            (name,) = varied
        return Quantity(
            text=name, label="", unit=Unit.COUNT, term=None, names=(name,), parameter=name
        )

    def _quantity(self, node: Node, at: Indices, *, sampled: bool = False) -> Quantity:
        text = node.text("an expression (such as bulk.receiver / rate)")
        samples = self._samples if sampled else None
        try:
            term, parts = build_term(
                text, self._rows, self._known, "the expression", samples=samples
            )
        except FormulaError as error:
            raise InputError(error.message, place=node.place_of(error.offset)) from None
        if self._kind == "time" and not isinstance(term, Samples):
            raise node.error(
                "lines over time are of what a run has many of"
                f"{': ' + listed(list(self._samples)) if self._samples else ''}"
            )
        if not parts.metrics and not parts.samples:
            raise node.error("this is no result: name a metric, as FLOW.METRIC")
        if len(parts.samples) > 1:
            raise node.error(f"one of {', '.join(parts.samples)} at a time can be shown")
        for metric in parts.metrics:
            if not metric.has(at).any():
                raise node.error(f"no case of the figure has {metric.text}")
        sample = next(iter(parts.samples.values()), None)
        text = " ".join(text.split())
        return Quantity(
            text=text,
            label=self._metric_title(text) or text,
            unit=self._unit(term, node),
            term=term,
            metrics=tuple(parts.metrics),
            names=tuple(parts.names),
            samples=sample.text if sample else None,
        )

    def _metric_title(self, text: str) -> str | None:
        """Return the title of a bare metric, as in a table; None for another expression."""
        flow, _, name = text.rpartition(".")
        known = {**self._rows.measured(), **self._samples}
        for key, metric in known.items():
            if key == f"{flow}.{metric.name}" and name in (metric.name, metric.short):
                return f"{flow} {metric.title}"
        return None

    def _unit(self, term: Term, node: Node) -> Unit:
        unit = unit_of(term)
        if unit is None:
            raise node.error(
                f"this is {term.dimension}, which no axis shows: a rate, a size, a time or a "
                "plain number is needed"
            )
        return unit

    def _is_kernel(self, parameter: str) -> bool:
        """Return whether it is the cases' kernel; versions are no scale: 6.12 is after 6.2."""
        texts = [row.settings[parameter].text for row in self._rows.grid]
        return texts == list(self._kernels)

    def _over(self, node: Node, at: Indices) -> Quantity:
        text = " ".join(node.text("a parameter (such as rtt)").split())
        parameter = text if text in self._axes.values else None
        if parameter is not None:
            kind = self._rows.kind(parameter)
            if isinstance(kind, Texts) or self._kind == "heat" or self._is_kernel(parameter):
                return Quantity(
                    text=text,
                    label=text,
                    unit=Unit.COUNT,
                    term=None,
                    names=(parameter,),
                    parameter=parameter,
                )
        if self._kind == "heat":
            raise node.error(
                f"the axes of a heat map are parameters{nearest(text, self._axes.values)} "
                f"(there are: {listed(self._axes.values)})"
            )
        try:
            term, parts = build_term(text, self._rows, self._known, "the expression")
        except FormulaError as error:
            raise InputError(error.message, place=node.place_of(error.offset)) from None
        if not parts.fixed:
            raise node.error(
                "lines go over a parameter, and this is a result: points go against one"
            )
        if not self._rows.parameters_of(tuple(parts.names)):
            raise node.error("this is the same in all cases: name a parameter")
        if not np.isfinite(fixed_values(self._rows, at, term)).all():
            raise node.error("this has no value in some cases")
        unit = self._unit(term, node)
        if parameter is not None:
            units = {self._rows.grid[row].settings[parameter].unit for row in at.tolist()}
            unit = Unit.FRACTION if Unit.FRACTION in units else unit
        return Quantity(
            text=text,
            label=text,
            unit=unit,
            term=term,
            names=tuple(parts.names),
            parameter=parameter,
        )

    # Parameters.

    def _parameters(self, field: str) -> tuple[str, ...]:
        if field not in self._fields:
            return ()
        node = self._fields[field]
        items = node.sequence("a list of parameters") if node.is_sequence else [node]
        names = []
        for item in items:
            name = item.line("a parameter")
            if name not in self._axes.values:
                raise item.error(
                    f"there is no parameter {name!r}{nearest(name, self._axes.values)} "
                    f"(there are: {listed(self._axes.values)})"
                )
            if name in names:
                raise item.error(f"{name!r} is here twice")
            names.append(name)
        return tuple(names)

    def _check_once(
        self,
        up: tuple[str, ...],
        by: tuple[str, ...],
        each: tuple[str, ...],
        median: tuple[str, ...],
        over: Quantity | None,
    ) -> None:
        used: dict[str, str] = {}
        if over is not None and over.parameter is not None:
            used[over.parameter] = "over"
        for field, names in (("up", up), ("by", by), ("each", each), ("median", median)):
            for name in names:
                if name in used:
                    raise self._fields[field].error(
                        f"{name!r} is in {used[name]!r} and in {field!r}: a parameter has one "
                        "place in a figure"
                    )
                used[name] = field

    def _check_points(self, spec: FigureSpec) -> None:
        """Check that no case is drawn over another."""
        assert spec.over is not None
        names = [*spec.each, *spec.by, *([spec.up] if spec.up else [])]
        assert self._rows.axes is not None
        together = {name: axis for axis in self._rows.axes.axes for name in axis}
        allowed = {other for name in spec.median for other in together[name]}
        for group in grouped(self._rows, spec.at, names):
            if spec.over.term is None:
                assert spec.over.parameter is not None
                points = [
                    point.at for point in grouped(self._rows, group.at, [spec.over.parameter])
                ]
            else:
                points = [at for _, at in by_number(self._rows, group.at, spec.over.term)]
            for at in points:
                more = [name for name in differing(self._rows, at) if name not in allowed]
                if more:
                    raise self._node.error(self._overlap_error(at, more))

    def _overlap_error(self, at: Indices, more: Sequence[str]) -> str:
        """Return the error for cases that would be drawn at one place."""
        texts = [self._rows.grid[row].settings[more[0]].text for row in at.tolist()]
        other = next(index for index, text in enumerate(texts) if text != texts[0])
        where = "by, each or median" if self._kind == "lines" else "each or median"
        what = "it" if len(more) == 1 else "each"
        return (
            f"the figure does not place {' and '.join(map(repr, more))}, so "
            f"{self._rows.cases[at[0]]} and {self._rows.cases[at[other]]} would be at one "
            f"place: name {what} in {where}, or pick one of its values by where"
        )


# How the axes are shown: `log`, `range` and `labels`.


def _read_log(
    fields: Mapping[str, Node],
    kind: str,
    over: Quantity | None,
    values: Callable[[Term], list[float]],
) -> frozenset[str]:
    """Read which axes are logarithmic.

    Args:
        fields: the figure's fields.
        kind: the word of its kind.
        over: its x axis.
        values: gives the values of an expression over names in all cases.

    Raises:
        InputError: there is no such axis, or it has no logarithm.
    """
    if "log" not in fields:
        return frozenset()
    node = fields["log"]
    items = node.sequence("a list of axes") if node.is_sequence else [node]
    axes = set()
    for item in items:
        axis = item.line("an axis")
        if axis not in _AXES[kind]:
            raise item.expected(" or ".join(_AXES[kind]))
        if axis == "x" and kind == "lines" and over is not None:
            if over.term is None:
                raise item.error(f"{over.text!r} is a text, which has no logarithm")
            if min(values(over.term)) <= 0:
                raise item.error(
                    f"{over.text} is 0 or less in some cases, and a logarithmic axis has no "
                    f"place for them: leave them out by where: {over.text} > 0"
                )
        axes.add(axis)
    return frozenset(axes)


def _read_ranges(
    fields: Mapping[str, Node], kind: str, what: Quantity, over: Quantity | None
) -> dict[str, Ends]:
    """Read where axes begin and end, in base units.

    Raises:
        InputError: there is no such axis, or an end is of another kind than what it shows.
    """
    if "range" not in fields:
        return {}
    shown = {"x": what if kind in ("cdf", "bars") else over, "y": what, "colour": what}
    if kind == "time":
        shown["x"] = replace(what, unit=Unit.SECONDS)
    ranges = fields["range"].fields("axes with their ends", allowed=_AXES[kind])
    return {axis: _ends(node, shown[axis]) for axis, node in ranges.items()}


def _ends(node: Node, quantity: Quantity | None) -> Ends:
    form = "the two ends of an axis (such as [0, 100mbit], or [0, ~])"
    items = node.sequence(form)
    if len(items) != 2:
        raise node.expected(form)
    if quantity is None or quantity.term is None:
        raise node.error("an axis of texts has no ends")
    low, high = (None if item.is_null else _end(item, quantity) for item in items)
    if low is not None and high is not None and low >= high:
        raise node.error("the axis ends where it begins, or before")
    return low, high


def _end(node: Node, quantity: Quantity) -> float:
    try:
        literal = parse_literal(node.line("an end"))
    except InputError as error:
        raise node.error(error.message) from None
    number = Number.of(*literal)
    wanted = DIMENSIONS[quantity.unit]
    if number.dimension not in (None, wanted):
        raise node.error(f"the axis shows {wanted}, and this is {number.dimension}")
    return number.number / BITS.get(quantity.unit, 1.0)


def _read_labels(fields: Mapping[str, Node], kind: str) -> dict[str, str]:
    """Read the labels of the axes.

    Raises:
        InputError: there is no such axis, or a label is no line.
    """
    if "labels" not in fields:
        return {}
    axes = ("x", "y", "colour") if kind == "heat" else ("x", "y")
    labels = fields["labels"].fields("axes with their labels", allowed=axes)
    return {axis: node.line("a label") for axis, node in labels.items()}
