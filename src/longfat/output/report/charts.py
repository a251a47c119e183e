"""The data of zoomable charts: plain values, which the page's script draws.

They are those of the static figures, with the same titles and looks; `web/src/report/data.ts`
defines how the script reads them. Times that several lines share are stored once, and numbers
have as many digits as are visible: a page with dozens of lines stays small.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from longfat.model.metric import Unit
from longfat.model.scales import scale_for
from longfat.output.report.multiples import CaseNames, multiples
from longfat.output.report.panel_data import numbers, panel_data, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.scales import Scale
    from longfat.output.plot import Chart, Floats, Panel, PhaseTrace

_COLUMNS = 600  # of at most five points each; some are distinct only after zooming in
_MOST_PHASE_POINTS = 500
_STOPS = 9  # of the colours of time


class ChartData:
    """The charts of a page."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._times_s: list[Floats] = []
        self._names = CaseNames()
        self._charts: dict[str, dict[str, Any]] = {}

    def add_panels(
        self, name: str, panels: Sequence[Panel], *, time_label: str, span_s: tuple[float, float]
    ) -> None:
        """Add a chart of quantities over time.

        Args:
            name: its name, unique in the page.
            panels: the panels, from above.
            time_label: the label of the time axis; charts with the same are
                zoomed together.
            span_s: start and end of the time axis, in seconds.
        """
        self._charts[name] = {
            "type": "time",
            "time": time_label,
            "span": [float(end) for end in span_s],
            "panels": [panel_data(panel, columns=_COLUMNS, times=self._place) for panel in panels],
        }

    def add_phase(self, name: str, traces: Sequence[PhaseTrace], *, across: str, up: str) -> None:
        """Add a chart of sizes against each other.

        Args:
            name: its name, unique in the page.
            traces: what is drawn, a panel each.
            across: the name of the quantity from left to right, in bytes.
            up: likewise of the other.
        """
        x_scale = scale_for(Unit.BYTES, max(_largest(one.across) for one in traces))
        y_scale = scale_for(Unit.BYTES, max(_largest(one.up) for one in traces))
        self._charts[name] = {
            "type": "phase",
            "across": [across, x_scale.unit],
            "up": [up, y_scale.unit],
            "traces": [_trace(one, x_scale, y_scale) for one in traces],
        }

    def add_chart(self, name: str, chart: Chart) -> None:
        """Add a chart of many cases.

        Args:
            name: its name, unique in the page.
            chart: the chart.
        """
        self._charts[name] = multiples(chart, self._names)

    def to_json(self) -> dict[str, Any]:
        """Return all data that the script needs."""
        return {
            "timeColours": [_time_colours(0.0, 0.84), _time_colours(0.25, 1.0)],
            "times": [_steps(times_s) for times_s in self._times_s],
            "names": self._names.to_json(),
            "charts": self._charts,
        }

    def _place(self, times_s: Floats) -> int:
        """Return the index of times among those of the page."""
        rounded = np.round(times_s, 5)
        key = rounded.tobytes()
        if key not in self._places:
            self._places[key] = len(self._times_s)
            self._times_s.append(rounded)
        return self._places[key]


def _steps(times_s: Floats) -> list[int]:
    """Return times as steps between them, in units of 10 us: most are equal and compress well."""
    steps: list[int] = np.diff(np.round(times_s * 1e5).astype(np.int64), prepend=0).tolist()
    return steps


def _time_colours(first: float, last: float) -> list[list[Any]]:
    """Return a part of the static figures' colours; the ends are invisible on their background."""
    stops = np.linspace(0, 1, _STOPS)
    colours = mpl.colormaps["cividis"](first + stops * (last - first))
    return [[float(at), to_hex(c)] for at, c in zip(stops, colours, strict=True)]


def _trace(one: PhaseTrace, x_scale: Scale, y_scale: Scale) -> dict[str, Any]:
    known = np.flatnonzero(np.isfinite(one.across) & np.isfinite(one.up))
    kept = known[:: max(1, math.ceil(len(known) / _MOST_PHASE_POINTS))]
    marks = ((one.across_mark, one.across, x_scale), (one.up_mark, one.up, y_scale))
    return {
        "label": one.label,
        "t": np.round(one.times_s[kept], 4).tolist(),
        "x": numbers(one.across[kept] * x_scale.factor),
        "y": numbers(one.up[kept] * y_scale.factor),
        "marks": [
            None if mark is None or mark > 2 * _largest(values) else short(mark * scale.factor)
            for mark, values, scale in marks
        ],
    }


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0
