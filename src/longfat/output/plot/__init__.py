"""Drawing: plain series values in, figures out.

This package does not depend on studies, runs or verdicts, only on numbers over time.
`longfat.output.report.series` makes such values from runs, `longfat.output.report.iperf3_files`
from any iperf3 report; other renderers than matplotlib (the
page's zoomable charts, for example) take the same values:

    Line(label="tuned", times_s=t, values=v, unit=Unit.BPS, style_index=0)
    Panel(name="throughput", title="Throughput", lines=(line, ...), references=(...))

A `Line` is what one flow (or queue) did: numpy arrays of times in seconds and
values in base units, of equal length, in the order of time; a value that is
NaN is a gap. `low` and `high` are the edges of a band around it, `parts` the
thin lines that it sums up (the streams of a flow), `dots` states that its points
are single measurements which no line joins, and `missing_s` when something was
due and did not come. `style_index` is a number: `line_style(style_index)` is the colour, dash
and mark, and `DARK` the same colours for a dark ground. A `Panel` is one
quantity with all its lines and the constant `Reference` values drawn for
comparison; `longfat.model.scales` finds the unit of its axis.

`band_line` makes of the lines of several runs one line with a 5-95 % band,
`thin_out` leaves as many points as pixels can show and keeps every extreme,
`draw_panels` and `draw_phase` draw, `saved` gives a file's bytes. Draw and save
inside `figure_style`.

A `Chart` is of many cases: metrics over a parameter or over each other, in small multiples
(`Facet`) of `Series` or cells. `draw_chart` draws it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from longfat.output.plot.chart import Axis, Chart, ChartKind, Facet, Mark, Series
from longfat.output.plot.line import (
    Floats,
    Line,
    Moment,
    Panel,
    PhaseTrace,
    Reference,
    Trace,
    band_line,
    thin_out,
)
from longfat.output.plot.save import FORMS, saved

if TYPE_CHECKING:
    from longfat.output.plot.charts import draw_chart
    from longfat.output.plot.draw import NARROW_WIDTH_IN, PAGE_WIDTH_IN, VIRTUAL_TIME, draw_panels
    from longfat.output.plot.phase import MAX_PHASE_PANELS, draw_phase
    from longfat.output.plot.style import DARK, LineStyle, figure_style, line_style

# Which modules need matplotlib. It takes half a second to load, and whoever only reads values,
# such as the studio, does without.
_DRAWING = {
    "charts": {"draw_chart"},
    "draw": {"NARROW_WIDTH_IN", "PAGE_WIDTH_IN", "VIRTUAL_TIME", "draw_panels"},
    "phase": {"MAX_PHASE_PANELS", "draw_phase"},
    "style": {"DARK", "LineStyle", "figure_style", "line_style"},
}

__all__ = [
    "DARK",
    "FORMS",
    "MAX_PHASE_PANELS",
    "NARROW_WIDTH_IN",
    "PAGE_WIDTH_IN",
    "VIRTUAL_TIME",
    "Axis",
    "Chart",
    "ChartKind",
    "Facet",
    "Floats",
    "Line",
    "LineStyle",
    "Mark",
    "Moment",
    "Panel",
    "PhaseTrace",
    "Reference",
    "Series",
    "Trace",
    "band_line",
    "draw_chart",
    "draw_panels",
    "draw_phase",
    "figure_style",
    "line_style",
    "saved",
    "thin_out",
]


def __getattr__(name: str) -> object:
    """Load a module that draws when one of its names is first used."""
    for module, names in _DRAWING.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
