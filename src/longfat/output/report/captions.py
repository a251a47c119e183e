"""What a page says of its charts of many cases, in words."""

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
    """What stands around a chart.

    Attributes:
        key: its name, one of a kind in the page.
        title: its heading.
        words: what it shows, to a person who cannot see it.
        note: what a reader must know to read it.
    """

    key: str
    title: str
    words: str
    note: str


def chart_key(chart: Chart) -> str:
    """Return what a chart is called in a page; figures over time have names of their own."""
    return f"chart-{chart.name}"


def caption(chart: Chart) -> Caption:
    """Return what stands around a chart."""
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
