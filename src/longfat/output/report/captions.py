"""The texts of a page about its charts of many cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.output.plot import ChartKind
from longfat.output.plot.charts import readable

if TYPE_CHECKING:
    from longfat.output.plot import Chart

_KINDS = {
    ChartKind.LINES: "{y} over {x}",
    ChartKind.POINTS: "{y} against {x}",
    ChartKind.CDF: "the distribution of {x}",
    ChartKind.HEAT: "{c} over {x} and {y}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """The texts around a chart.

    Attributes:
        key: its name, unique in the page.
        title: its heading.
        words: what it shows, for screen readers.
        note: what a reader needs in order to interpret it.
    """

    key: str
    title: str
    words: str
    note: str


def chart_key(chart: Chart) -> str:
    """Return the name of a chart in a page; figures over time have names of their own."""
    return f"chart-{chart.name}"


def caption(chart: Chart) -> Caption:
    """Return the texts around a chart."""
    title = chart.title or chart.name
    colour = chart.colour.label if chart.colour is not None else "a metric"
    words = _KINDS[chart.kind].format(x=chart.x.label, y=chart.y.label, c=colour)
    by = f", by {chart.by}" if chart.by else ""
    parts = f", in {len(chart.facets)} parts" if len(chart.facets) > 1 else ""
    return Caption(
        key=chart_key(chart),
        title=title,
        words=f"{title}: {words}{by}{parts}.",
        note=readable(chart)[1],
    )
