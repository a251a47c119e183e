"""The data of charts that can be zoomed: plain values, which `charts.js` draws.

They are those of the static figures, with the same looks, titles and units.
Times that several lines share stand there once, and numbers have as many
digits as a person can see: a page with dozens of lines stays small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from longfat.model.metric import Unit
from longfat.model.scales import scale_for
from longfat.model.units import format_quantity
from longfat.output.plot import DARK
from longfat.output.plot.style import INK, MUTED, RULE, line_style
from longfat.output.plot.thin import thin_line
from longfat.output.report.multiples import CaseNames, multiples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.model.scales import Scale
    from longfat.output.plot import Chart, Floats, Line, Panel, PhaseTrace, Reference

_COLUMNS = 600  # of at most five points each; who zooms in sees some of them apart
_DENSE = 300  # dashes would be lost in the zigzag of so many points
_FAR = 4.0  # times the data; a reference that is farther would press it flat
_ROOM_ABOVE = 1.08
_MOST_ORBIT_POINTS = 2000
_DIGITS = 5

# What plotly.js calls the marks and dashes of matplotlib.
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "X": "x",
    "<": "triangle-left",
    ">": "triangle-right",
}
_LOOKS = 63  # dashes and colours together repeat after so many


class ChartData:
    """The charts of a page."""

    def __init__(self) -> None:
        self._times: dict[bytes, int] = {}
        self._times_s: list[list[float]] = []
        self._names = CaseNames()
        self._charts: dict[str, dict[str, Any]] = {}

    def add_panels(
        self, name: str, panels: Sequence[Panel], *, time_label: str, span_s: tuple[float, float]
    ) -> None:
        """Add a chart of quantities over time.

        Args:
            name: its name, one of a kind in the page.
            panels: the panels, from above.
            time_label: what the time axis is called; charts with the same are
                zoomed together.
            span_s: start and end of the time axis, in seconds.
        """
        self._charts[name] = {
            "time": time_label,
            "span": [float(end) for end in span_s],
            "panels": [self._panel(panel) for panel in panels],
        }

    def add_orbits(self, name: str, orbits: Sequence[PhaseTrace], *, across: str, up: str) -> None:
        """Add a chart of sizes against each other.

        Args:
            name: its name, one of a kind in the page.
            orbits: what is drawn, a panel each.
            across: the name of the quantity from left to right, in bytes.
            up: likewise of the other.
        """
        x_scale = scale_for(Unit.BYTES, max(_largest(one.across) for one in orbits))
        y_scale = scale_for(Unit.BYTES, max(_largest(one.up) for one in orbits))
        self._charts[name] = {
            "across": [across, x_scale.unit],
            "up": [up, y_scale.unit],
            "orbits": [_orbit(one, x_scale, y_scale) for one in orbits],
        }

    def add_chart(self, name: str, chart: Chart) -> None:
        """Add a chart of many cases.

        Args:
            name: its name, one of a kind in the page.
            chart: the chart.
        """
        self._charts[name] = multiples(chart, self._names)

    def to_json(self) -> dict[str, Any]:
        """Return all that `charts.js` needs to know."""
        return {
            "inks": {name: [ink, DARK[ink]] for name, ink in _INKS.items()},
            "looks": [_look(index) for index in range(_LOOKS)],
            "timeColours": [_time_colours(0.0, 0.84), _time_colours(0.25, 1.0)],
            "times": self._times_s,
            "names": self._names.to_json(),
            "charts": self._charts,
        }

    def _time(self, times_s: Floats) -> int:
        rounded = np.round(times_s, 5)
        key = rounded.tobytes()
        if key not in self._times:
            self._times[key] = len(self._times_s)
            self._times_s.append(rounded.tolist())
        return self._times[key]

    def _panel(self, panel: Panel) -> dict[str, Any]:
        scale = scale_for(panel.unit, panel.largest, counted=panel.counted)
        references, top = _references(panel, scale)
        return {
            "title": panel.title,
            "unit": scale.unit,
            "counts": panel.unit is Unit.COUNT,
            "top": top * _ROOM_ABOVE or 1.0,
            "references": references,
            "lines": [
                self._line(thin_line(line, columns=_COLUMNS), scale)
                for line in panel.lines
                if not line.empty
            ],
        }

    def _line(self, line: Line, scale: Scale) -> dict[str, Any]:
        found: dict[str, Any] = {
            "label": line.label,
            "look": line.look % _LOOKS,
            "x": self._time(line.times_s),
            "y": _numbers(line.values, scale),
            "dense": len(line.times_s) > _DENSE,
            "dots": line.dots,
            "steps": line.steps,
            "parts": [
                {"x": self._time(part.times_s), "y": _numbers(part.values, scale)}
                for part in line.parts
            ],
        }
        if line.low is not None and line.high is not None:
            found["low"], found["high"] = _numbers(line.low, scale), _numbers(line.high, scale)
        if line.missing_s is not None and len(line.missing_s):
            found["missing"] = self._time(line.missing_s)
        return found


_INKS: Mapping[str, str] = {"ink": INK, "muted": MUTED, "rule": RULE}


def _time_colours(first: float, last: float) -> list[list[Any]]:
    """Return a part of the colours of the static figures; the ends are lost on their ground."""
    stops = np.linspace(0, 1, 9)
    colours = mpl.colormaps["cividis"](first + stops * (last - first))
    return [[float(at), to_hex(c)] for at, c in zip(stops, colours, strict=True)]


def _look(index: int) -> dict[str, Any]:
    style = line_style(index)
    # matplotlib counts dashes in widths of the line.
    dash = "solid" if style.dash == "-" else ",".join(f"{1.8 * n:.3g}px" for n in style.dash[1])
    return {
        "colours": [style.colour, DARK[style.colour]],
        "dash": dash,
        "symbol": _SYMBOLS[style.mark],
    }


def _references(panel: Panel, scale: Scale) -> tuple[list[dict[str, Any]], float]:
    """Return what is compared with, and the highest value to show; far ones are only told."""
    data_top = top = panel.largest * scale.factor
    found = []
    for reference in panel.references:
        height = reference.value * scale.factor
        far = bool(data_top) and height > _FAR * data_top
        found.append({"text": _told(reference, panel, far=far), "at": None if far else height})
        top = top if far else max(top, height)
    return found, top


def _told(reference: Reference, panel: Panel, *, far: bool) -> str:
    text = f"{reference.label} {format_quantity(reference.value, panel.unit)}"
    return f"{text}, far above" if far else text


def _orbit(one: PhaseTrace, x_scale: Scale, y_scale: Scale) -> dict[str, Any]:
    known = np.flatnonzero(np.isfinite(one.across) & np.isfinite(one.up))
    kept = known[:: max(1, len(known) // _MOST_ORBIT_POINTS)]
    marks = ((one.across_mark, one.across, x_scale), (one.up_mark, one.up, y_scale))
    return {
        "label": one.label,
        "t": np.round(one.times_s[kept], 4).tolist(),
        "x": _numbers(one.across[kept], x_scale),
        "y": _numbers(one.up[kept], y_scale),
        "marks": [
            None if mark is None or mark > 2 * _largest(values) else mark * scale.factor
            for mark, values, scale in marks
        ],
    }


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0


def _numbers(values: Floats, scale: Scale) -> list[float | None]:
    return [
        float(f"{value:.{_DIGITS}g}") if value == value else None  # noqa: PLR0124  not a number
        for value in (values * scale.factor).tolist()
    ]
