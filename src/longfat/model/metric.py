"""What a flow or probe can measure: a number with a name, a unit and a source.

The full name ends in the unit (`receiver_bps`), so a bare number in a JSON file cannot be
misread; claims and tables may omit that suffix (`receiver`).

The source says which file of a run a number is read from, which path in it, and what is
computed from it. `longfat explain` prints it, and the tables of docs/study-format.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Unit(Enum):
    """The base unit of a metric, by the ending of its name."""

    BPS = "bps"  # bits per second
    BYTES = "bytes"
    SECONDS = "s"
    FRACTION = "fraction"  # no ending: 0 to 1
    COUNT = "count"  # no ending


_TAKEN = {"max": "largest", "min": "least", "mean": "mean", "sum": "sum"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSource:
    """Where the value of a metric comes from.

    Attributes:
        file: the file below the run directory. `{name}` is the name of the flow or probe,
            `{sender}` and `{receiver}` the end (`client` or `server`) that sends and receives.
        path: what is read of it: of JSON a path, such as `end.sum_sent.bytes`; of text a
            regular expression with a group; of a series (Parquet) its columns.
        take: what is made of several numbers: `max`, `min`, `mean` or `sum`; empty for a
            single number, of text the last that matches.
        divisor: what converts it into the metric's base unit.
        formula: how the value is computed where `take` and `divisor` do not say it all.
        over: what it summarises, such as `streams`; empty, if the value is of one thing.
    """

    file: str
    path: str
    take: str = ""
    divisor: float = 1.0
    formula: str = ""
    over: str = ""

    @property
    def is_direct(self) -> bool:
        """Whether `take` and `divisor` say all that is computed."""
        return not self.formula

    @property
    def format(self) -> str:
        """The form of the file: `json`, `text` or `series`."""
        if self.file.endswith(".json"):
            return "json"
        return "series" if self.file.endswith(".parquet") else "text"

    def describe(self) -> str:
        """Return how the value is computed, such as `largest / 1e6`."""
        if self.formula:
            return self.formula
        number = _TAKEN[self.take] if self.take else "the number"
        return number if self.divisor == 1 else f"{number} / {self.divisor:g}".replace("e+0", "e")

    def of_rows(self, rows: str) -> MetricSource:
        """Return the source of the same metric over a part of the rows, such as `flow bulk`."""
        return replace(self, formula=f"{self.describe()}; the rows of {rows}")

    def file_of(self, name: str, *, reverse: bool = False) -> str:
        """Return the file's path below the run directory.

        Args:
            name: the name of the flow or probe.
            reverse: the flow's target sends.
        """
        sender, receiver = ("server", "client") if reverse else ("client", "server")
        return self.file.format(name=name, sender=sender, receiver=receiver)


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a flow or probe.

    Attributes:
        name: the full name, with the unit's ending: `receiver_bps`.
        unit: its base unit.
        title: what a table calls it.
        source: where its value comes from; None if a plug-in does not declare it.
    """

    name: str
    unit: Unit
    title: str
    source: MetricSource | None = None

    @property
    def short(self) -> str:
        """Return the name without the unit's ending: `receiver`."""
        return self.name.removesuffix(f"_{self.unit.value}")


def with_sources(
    metrics: Iterable[Metric], sources: Mapping[str, MetricSource]
) -> tuple[Metric, ...]:
    """Return metrics with the sources that a tool has for them.

    Args:
        metrics: metrics that several tools measure.
        sources: the source of each by its name.
    """
    return tuple(replace(metric, source=sources[metric.name]) for metric in metrics)


def from_source(
    source: MetricSource, rows: Iterable[tuple[str, Unit, str, str]]
) -> tuple[Metric, ...]:
    """Return metrics that are computed from the same numbers.

    Args:
        source: where the numbers are.
        rows: name, unit, title and formula of each metric.
    """
    return tuple(
        Metric(name, unit, title, replace(source, formula=formula))
        for name, unit, title, formula in rows
    )


def series(columns: str, formula: str) -> MetricSource:
    """Return the source of a metric that is computed from a probe's series.

    Args:
        columns: the names of the columns, with commas between them.
        formula: what is computed, with the kernel's name of the counter.
    """
    return MetricSource(file="series/{name}.parquet", path=columns, formula=formula, over="samples")
