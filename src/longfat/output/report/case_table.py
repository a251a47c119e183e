"""The table of all cases of a grid: a row for each case, a column for each parameter and metric.

Every column has one unit, shown in its header, so that its numbers can be compared and sorted.
The page contains all of it, column by column, which compresses well; the page's script builds
the visible rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from longfat.model.metric import Metric, Unit
from longfat.model.scales import scale_for
from longfat.output.report.values import MISSING
from longfat.study.metrics import known_metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.analysis.verdict import Verdict
    from longfat.model.parameter import ParameterValue

MAX_PLAIN = 40
"""The maximum number of rows without a script."""

_MAX_METRICS = 80  # of a case with dozens of flows
_MAX_SHOWN = 10  # columns of metrics that are shown initially
_MAIN = (
    "receiver_bps",
    "retransmits",
    "mean_rtt_s",
    "avg_s",
    "peak_bytes",
    "loss",
)  # metrics that are shown initially
_DIGITS = 4  # of a number, significant


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the table.

    Attributes:
        key: its name, which is unique: a parameter, or `FLOW.METRIC`.
        title: its header, without the unit.
        unit: the unit of its numbers; empty for none.
        texts: of a column of texts, one for each case.
        ranks: of a column of texts, what to sort by; None to sort by the texts.
        numbers: of a column of numbers, one for each case, None where there is none.
        digits: the number of decimal places.
        choices: whether it has few texts, to choose from.
        shown: whether it is shown initially.
    """

    key: str
    title: str
    unit: str = ""
    texts: tuple[str, ...] = ()
    ranks: tuple[int, ...] | None = None
    numbers: tuple[float | None, ...] = ()
    digits: int = 0
    choices: bool = False
    shown: bool = True

    @property
    def head(self) -> str:
        """Return its title with the unit."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def numeric(self) -> bool:
        """Return whether it is a column of numbers."""
        return not self.texts

    def cell(self, row: int) -> str:
        """Return the text of a row in this column."""
        if self.texts:
            return self.texts[row]
        return _text(self.numbers[row], self.digits)

    def to_json(self) -> dict[str, Any]:
        """Return it in the format that the page's script reads."""
        found: dict[str, Any] = {
            "key": self.key,
            "title": self.title,
            "unit": self.unit,
            "shown": self.shown,
        }
        if not self.texts:
            return found | {"numbers": self.numbers, "digits": self.digits}
        if self.ranks is None and not self.choices:
            return found | {"texts": self.texts}
        ranks = self.ranks or tuple(range(len(self.texts)))
        by_rank = dict(sorted(zip(ranks, self.texts, strict=True)))
        places = {rank: place for place, rank in enumerate(by_rank)}
        return found | {
            "choices": list(by_rank.values()),
            "texts": [places[rank] for rank in ranks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTable:
    """All cases that were run, with what was set and what was measured.

    Attributes:
        columns: the columns; the first holds the cases' names.
        rows: how many cases there are.
        left_out: how many metrics have no column.
    """

    columns: tuple[Column, ...]
    rows: int
    left_out: int

    @property
    def plain(self) -> tuple[Column, ...]:
        """Return the columns that are shown initially."""
        return tuple(column for column in self.columns if column.shown)

    @property
    def plain_rows(self) -> range:
        """Return the rows that are shown without a script."""
        return range(min(self.rows, MAX_PLAIN))

    def narrowed(self, columns: int) -> CaseTable:
        """Return the table with at most so many of the initially shown columns."""
        plain = self.plain[:columns]
        kept = tuple(column for column in self.columns if not column.shown or column in plain)
        return replace(self, columns=kept)

    def to_json(self) -> dict[str, Any]:
        """Return it in the format that the page's script reads."""
        return {"rows": self.rows, "columns": [column.to_json() for column in self.columns]}


def case_table(verdict: Verdict) -> CaseTable:
    """Return the table of the cases that were run.

    Args:
        verdict: the study with its runs.
    """
    names = tuple(verdict.runs)
    planned = [verdict.study.cases[name] for name in names]
    columns = [Column(key="case", title="case", texts=names)]
    if any(one.title != name for one, name in zip(planned, names, strict=True)):
        titles = tuple(one.title for one in planned)
        columns.append(Column(key="title", title="what it is", texts=titles, shown=False))
    parameters = dict.fromkeys(name for one in planned for name in one.parameters)
    columns += [
        _parameter(name, [one.parameters.get(name) for one in planned], verdict)
        for name in parameters
    ]
    measured, left_out = _metrics(verdict, names)
    columns += measured
    if verdict.many_seeds:
        counts = tuple(float(len(verdict.runs[name])) for name in names)
        columns.append(Column(key="seeds", title="seeds", numbers=counts, shown=False))
    digests = tuple(runs[0].digest[:12] for runs in verdict.runs.values())
    columns.append(Column(key="digest", title="digest", texts=digests, shown=False))
    return CaseTable(columns=tuple(columns), rows=len(names), left_out=left_out)


def _parameter(name: str, settings: Sequence[ParameterValue | None], verdict: Verdict) -> Column:
    """Return the column of a parameter, sorted by its numbers, or as the file has its values."""
    texts = tuple(MISSING if one is None else one.text for one in settings)
    numbers = {one.text: one.number for one in settings if one is not None}
    grid = verdict.study.grid
    written = next((p.values for p in grid.parameters if p.name == name), ()) if grid else ()
    order = list(dict.fromkeys((*written, *texts)))
    if all(number is not None for number in numbers.values()):
        order.sort(key=lambda text: numbers.get(text) or 0.0)
    places = {text: place for place, text in enumerate(order)}
    ranks = tuple(places[text] for text in texts)
    return Column(key=name, title=name, texts=texts, ranks=ranks, choices=True)


def _metrics(verdict: Verdict, names: Sequence[str]) -> tuple[list[Column], int]:
    known: dict[str, Metric] = {}
    for name in names:
        for key, metric in known_metrics(verdict.study.cases[name].case).items():
            known.setdefault(key, metric)
    measured = {key for name in names for key in verdict.spreads[name]}
    there = [(key, metric) for key, metric in known.items() if key in measured]
    there.sort(key=lambda one: one[1].name not in _MAIN)  # the main ones are never omitted
    chosen = dict(there[:_MAX_METRICS])
    shown = _shown(chosen)
    columns = [
        _metric(key, metric, [verdict.spreads[name].get(key) for name in names], key in shown)
        for key, metric in known.items()
        if key in chosen
    ]
    return columns, len(there) - len(chosen)


def _shown(metrics: Mapping[str, Metric]) -> set[str]:
    main = [key for key, metric in metrics.items() if metric.name in _MAIN]
    return set((main or list(metrics))[:_MAX_SHOWN])


def _metric(key: str, metric: Metric, spreads: Sequence[Any], shown: bool) -> Column:
    values = [None if one is None else one.median for one in spreads]
    known = [value for value in values if value is not None and math.isfinite(value)]
    counted = metric.unit is Unit.COUNT
    # A table shows counts to the last one.
    largest = 0.0 if counted else max(map(abs, known), default=0.0)
    scale = scale_for(metric.unit, largest)
    numbers = tuple(
        None if value is None else float(f"{value * scale.factor:.{_DIGITS}g}") for value in values
    )
    return Column(
        key=key,
        title=f"{key.partition('.')[0]} {metric.title}",
        unit=scale.unit,
        numbers=tuple(None if n is None or not math.isfinite(n) else n for n in numbers),
        digits=0 if counted and all(value == int(value) for value in known) else _places(numbers),
        shown=shown,
    )


def _places(numbers: Sequence[float | None]) -> int:
    """Return the decimal places that show most numbers of a column with three digits."""
    sizes = sorted(abs(n) for n in numbers if n)
    if not sizes:
        return 0
    middle = sizes[len(sizes) // 2]
    return max(0, min(6, 2 - math.floor(math.log10(middle))))


def _text(number: float | None, digits: int) -> str:
    if number is None:
        return MISSING
    text = f"{number:,.{digits}f}"
    # A small number among large ones would be 0.
    return f"{number:.2g}" if number and not float(text.replace(",", "")) else text
