"""The field `published`: what others measured, and why it may differ from what is measured here.

A figure is a single number, or it has the source's own spread: the numbers of all its runs, or a
summary of them. Then two distributions are compared in place of a number with a distribution.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import REQUIRED, declare, fields_of
from longfat.model.kinds import Integer, Text
from longfat.model.metric import Metric, Unit
from longfat.model.spread import Spread, spread_of
from longfat.study.metrics import find_metric
from longfat.study.model import Figure, Published
from longfat.study.node import Key, Node

Known = Mapping[str, Mapping[str, Metric]]

OWN_FIELDS = ("source", "authors", "year", "address", "place", "explained")
"""The fields of `published` that are no cases; no case can be called so."""

MIN_YEAR, MAX_YEAR = 1950, 2100
"""The years in which a source can be from."""

MAX_RUNS = 10_000
"""The largest number of the source's runs that a figure can have."""

_FIGURE = "a figure, a list of the source's runs, or {value: ..., low: ..., high: ...}"
_RUNS = Integer(minimum=2, maximum=MAX_RUNS)
_ADDRESS = re.compile(r"https?://[^\s/]+\.[^\s]+")


def _quantity(example: str) -> Text:
    return Text(what="a value in the metric's unit", example=example)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSummary:
    """What a source published of several runs, where it did not publish each.

    Attributes:
        value: their median, as a study writes it.
        low: the lower end of their spread.
        high: the upper end of their spread.
        runs: how many there were; 0 if the source does not say.
    """

    value: str = declare(
        _quantity("645mbit"),
        default=REQUIRED,
        label="Value",
        help="the median of the source's runs, or their mean if it has no other",
    )
    low: str = declare(
        _quantity("622mbit"),
        default=REQUIRED,
        label="Low",
        help="their 5th percentile, or the least if the source has no other",
    )
    high: str = declare(
        _quantity("648mbit"),
        default=REQUIRED,
        label="High",
        help="their 95th percentile, or the largest if the source has no other",
    )
    runs: int = declare(_RUNS, default=0, label="Runs", help="their number", absent="not known")


def read_published(node: Node, known: Known) -> Published:
    """Read what was published.

    Args:
        node: a mapping: a source with its fields, figures by case, and explanations.
        known: the metrics of each case, as `known_metrics` returns them.

    Raises:
        InputError: it is of another form, or names what is not there.
    """
    items = node.items("what was published: a source, and figures by case")
    fields = {key.text: value for key, value in items}
    if "source" not in fields:
        raise node.error("the published figures have no source: write the field source")
    source = fields["source"].line("a source (such as the title of a paper)")
    figures: list[Figure] = []
    for key, value in items:
        if key.text in OWN_FIELDS:
            continue
        _check_case(key.text, key, known)
        figures += _read_figures(key.text, value, known[key.text])
    if "explained" in fields:
        figures = _explain(figures, fields["explained"], known)
    return Published(
        source=source,
        authors=fields["authors"].line("the authors' names") if "authors" in fields else "",
        year=_year(fields["year"]) if "year" in fields else None,
        address=_address(fields["address"]) if "address" in fields else "",
        place=_joined(fields["place"], "where in the source") if "place" in fields else "",
        figures=tuple(figures),
    )


def _year(node: Node) -> int:
    return node.integer(minimum=MIN_YEAR, maximum=MAX_YEAR)


def _address(node: Node) -> str:
    text = node.line("an address (such as https://www.rfc-editor.org/rfc/rfc9438)")
    if not _ADDRESS.fullmatch(text):
        raise node.error(
            f"{text!r} is no address: write a URL that begins with https:// or http://"
        )
    return text


def _joined(node: Node, what: str) -> str:
    """Return a text of one or more lines in one."""
    return " ".join(node.text(what).split())


def _check_case(case: str, key: Key, known: Known) -> None:
    if case not in known:
        raise InputError(
            f"there is no case {case!r}{nearest(case, known)} (there are: {listed(known)})",
            place=key.place,
        )


def _read_figures(case: str, node: Node, known: Mapping[str, Metric]) -> list[Figure]:
    figures: dict[str, Figure] = {}
    for key, value in node.items("figures (such as {bulk.sender: 3.16gbit})"):
        flow, _, name = key.text.partition(".")
        full = _full_name(case, flow, name, key, known)
        if full in figures:
            raise InputError(f"the figure of {full} is written twice", place=key.place)
        metric = known[full]
        number, spread = _read_value(value, metric.unit)
        figures[full] = Figure(
            case=case,
            metric=full,
            unit=metric.unit,
            title=f"{flow} {metric.title}",
            value=number,
            spread=spread,
        )
    return list(figures.values())


def _read_value(node: Node, unit: Unit) -> tuple[float, Spread | None]:
    """Return a figure, and the spread of the source's runs if it has one."""
    if node.is_sequence:
        runs = node.sequence(_FIGURE)
        if not _RUNS.minimum <= len(runs) <= _RUNS.maximum:
            raise node.error(
                f"found {len(runs)} runs, expected {_RUNS.limits}: write a single figure without []"
            )
        spread = spread_of(run.quantity(unit) for run in runs)
        return spread.median, spread
    if node.is_mapping:
        spread = _read_summary(node, unit)
        return spread.median, spread
    return node.quantity(unit), None


def _read_summary(node: Node, unit: Unit) -> Spread:
    declared = fields_of(SourceSummary)
    fields = node.fields(_FIGURE, allowed=declared)
    for key, field in declared.items():
        if field.is_required and key not in fields:
            raise node.error(f"the spread of this figure has no {key}: write {_FIGURE}")
    low, value, high = (fields[key].quantity(unit) for key in ("low", "value", "high"))
    if not low <= value <= high:
        raise node.error("low, value and high are not in ascending order")
    count = _RUNS.read(fields["runs"]) if "runs" in fields else 0
    return Spread(median=value, low=low, high=high, count=count)


def _full_name(case: str, flow: str, name: str, key: Key, known: Mapping[str, Metric]) -> str:
    full = find_metric(flow, name, known)
    if full is None:
        meant = f"{flow}.{name}" if name else flow
        short = [f"{k.partition('.')[0]}.{metric.short}" for k, metric in known.items()]
        raise InputError(
            f"the case {case!r} has no metric {meant!r}{nearest(meant, short)} "
            f"(there are: {listed(short)})",
            place=key.place,
        )
    return full


def _explain(figures: list[Figure], node: Node, known: Known) -> list[Figure]:
    """Return the figures with their explanations; that of a figure beats that of its case."""
    texts: dict[tuple[str, str | None], str] = {}  # None: all figures of the case
    published = {(figure.case, figure.metric) for figure in figures}
    form = "a mapping of CASE or CASE.FLOW.METRIC to an explanation"
    for key, value in node.items(form):
        case, _, rest = key.text.partition(".")
        _check_case(case, key, known)
        metric = None
        if rest:
            flow, _, name = rest.partition(".")
            metric = _full_name(case, flow, name, key, known[case])
        there = published if metric is not None else {(name, None) for name, _ in published}
        if (case, metric) not in there:
            raise InputError(
                f"nothing is published of {key.text}, so there is nothing to explain",
                place=key.place,
            )
        if (case, metric) in texts:
            raise InputError(f"{case}.{metric} is explained twice", place=key.place)
        texts[case, metric] = _joined(value, "an explanation")
    explained = []
    for figure in figures:
        text = texts.get((figure.case, figure.metric), texts.get((figure.case, None)))
        explained.append(replace(figure, explanation=text))
    return explained
