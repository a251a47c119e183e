"""The sheet of small multiples: their positions, and the text around them.

Everything is laid out in inches from the top: title, the multiples with their titles, the axis'
label, legend, note. Texts are measured and the sheet is made as high as they need, so that
nothing is covered or cut, however many entries a legend has.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from longfat.output.plot.axis_scale import short_text
from longfat.output.plot.style import INK, MUTED, NARROW_WIDTH_IN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.output.plot.axis_scale import AxisScale

MAX_FACETS = 24
"""The maximum number of small multiples that are readable on a page."""

MAX_ENTRIES = 42
"""The maximum number of entries that can be distinguished in a legend."""

_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 9: 3}  # of so many multiples; else 4
_EDGE_IN = 0.08  # around all
_NAME_IN = 0.2  # an axis label
_BESIDE_IN = 0.14  # before what is to the right of the axes
_BAR_IN = 0.12  # the width of a colour bar
_MAX_BAR_IN = 3.2
_GAP_IN = 0.2  # between columns
_ROW_GAP_IN = 0.14  # between rows, beside the title
_TITLE_LINE_IN = 0.19
_FACET_LINE_IN = 0.175
_NOTE_LINE_IN = 0.145
_NOTE_PT = 7.5
_BOLD_IN = 0.082  # a letter of a facet's title
_MAX_BESIDE = 14  # entries of a legend beside the axes
_MAX_BESIDE_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Captions:
    """The texts around small multiples.

    Attributes:
        title: the title above all; empty for none.
        facets: the title above each.
        note: the note below all; empty for none.
    """

    title: str
    facets: tuple[str, ...]
    note: str


@dataclass(slots=True)
class Sheet:
    """A figure of small multiples.

    Create it, draw into `axes`, add the legend, and call `arrange` at the end.

    Attributes:
        figure: the figure.
        axes: one for each multiple, in reading order.
        columns: how many are side by side.
        width_in: how wide the figure is, in inches.
        handles: the symbols of the legend.
        names: its labels.
        legend_title: its title.
        beside: whether it is to the right of the axes; otherwise below.
        bar: axes for a colour bar to the right; None for none.
    """

    figure: Figure
    axes: list[Any]
    columns: int
    width_in: float
    handles: list[Any] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    legend_title: str = ""
    beside: bool = False
    bar: Any = None

    @classmethod
    def of(cls, count: int, *, width_in: float) -> Sheet:
        """Return a sheet with so many axes."""
        figure = Figure(figsize=(width_in, 4.0))
        FigureCanvasAgg(figure)  # which measures texts
        columns = columns_of(count, width_in=width_in)
        axes = [
            figure.add_axes((0.1, 0.1, 0.1, 0.1), label=f"multiple {place}")
            for place in range(count)
        ]
        return cls(figure, axes, columns, width_in)

    @property
    def rows(self) -> int:
        """Return the number of rows of multiples."""
        return math.ceil(len(self.axes) / self.columns)

    def add_legend(
        self, handles: Sequence[Any], names: Sequence[str], *, title: str, beside: bool = True
    ) -> None:
        """Add a legend: beside a single multiple where there is space, otherwise below.

        Args:
            handles: its symbols.
            names: its labels.
            title: its title; empty for none.
            beside: it may be beside the multiple.
        """
        self.handles, self.names = list(handles), [short_text(name, 48) for name in names]
        if len(names) > MAX_ENTRIES:
            more = len(names) - MAX_ENTRIES
            self.handles = [*self.handles[:MAX_ENTRIES], _nothing()]
            self.names = [*self.names[:MAX_ENTRIES], f"and {more} more"]
        self.legend_title = title
        self.beside = (
            beside
            and len(self.axes) == 1
            and self.width_in > NARROW_WIDTH_IN
            and len(names) <= _MAX_BESIDE
            and max(map(len, [title, *names])) <= _MAX_BESIDE_LENGTH
        )

    def arrange(
        self,
        x: AxisScale,
        y: AxisScale,
        words: Captions,
        *,
        each_in: float | None = None,
        own_x: bool = False,
        own_y: bool = False,
    ) -> None:
        """Lay everything out, and make the figure as high as necessary.

        Args:
            x: the horizontal axis, of all multiples.
            y: the vertical axis.
            words: the texts around them.
            each_in: how high each multiple is, in inches; None for what suits its width.
            own_x: each multiple has a horizontal axis of its own.
            own_y: each has a vertical one.
        """
        last_row = max(len(self.axes) - self.columns, 0)
        for place, axes in enumerate(self.axes):
            axes.xaxis.set_tick_params(labelbottom=own_x or place >= last_row)
            axes.yaxis.set_tick_params(labelleft=own_y or place % self.columns == 0)
        gap_in = _GAP_IN + (max(self._wide(axes.yaxis) for axes in self.axes) if own_y else 0.0)
        row_gap_in = _ROW_GAP_IN
        row_gap_in += max(self._tall(axes.xaxis) for axes in self.axes) if own_x else 0.0
        legend = self._legend() if self.handles else None
        left_in = _EDGE_IN + (_NAME_IN if y.title else 0.0) + 0.05
        left_in += max(self._wide(axes.yaxis) for axes in self.axes[:: self.columns])
        right_in = self._right_in(legend)
        panel_width_in = (
            self.width_in - left_in - right_in - gap_in * (self.columns - 1)
        ) / self.columns
        self._turn_texts(x, panel_width_in)
        panel_height_in = self._panel_height_in(panel_width_in) if each_in is None else each_in
        title = "\n".join(textwrap.wrap(words.title, width=int(self.width_in * 11)))
        heads = self._heads(words.facets, panel_width_in)
        head_lines = max((head.count("\n") + 1 for head in heads if head), default=0)
        note = "\n".join(textwrap.wrap(words.note, width=int(self.width_in * 15.5)))

        # From the top downwards.
        head_in = _FACET_LINE_IN * head_lines + (0.05 if head_lines else 0.0)
        first_in = _EDGE_IN + (_TITLE_LINE_IN * (title.count("\n") + 1) + 0.06 if title else 0.0)
        row_in = head_in + panel_height_in + row_gap_in
        floor_in = first_in + row_in * self.rows - row_gap_in
        name_in = floor_in + 0.07 + max(self._tall(axes.xaxis) for axes in self.axes[last_row:])
        end_in = name_in + (_NAME_IN if x.title else 0.0)
        legend_in = first_in + head_in if self.beside else end_in + 0.08
        if legend is not None:
            end_in = max(end_in, legend_in + legend.get_window_extent().height / self.figure.dpi)
        note_in = end_in + 0.07
        end_in = note_in + _NOTE_LINE_IN * (note.count("\n") + 1) if note else end_in
        self.figure.set_size_inches(self.width_in, end_in + _EDGE_IN)

        for place, axes in enumerate(self.axes):
            row, column = divmod(place, self.columns)
            corner_in = (
                left_in + column * (panel_width_in + gap_in),
                first_in + row * row_in + head_in,
            )
            axes.set_position(self._box(*corner_in, panel_width_in, panel_height_in))
            if heads[place]:
                axes.set_title(heads[place], pad=4)
        edge_in = self.width_in - right_in
        top_in = first_in + head_in
        big: dict[str, Any] = {"fontsize": 10.5, "fontweight": "bold", "color": INK, "va": "top"}
        small: dict[str, Any] = {"fontsize": _NOTE_PT, "color": MUTED, "va": "top"}
        self._write(title, _EDGE_IN + 0.02, _EDGE_IN, **big)
        self._write(x.title, (left_in + edge_in) / 2, name_in, ha="center", va="top")
        self._write(y.title, _EDGE_IN, (top_in + floor_in) / 2, va="center", rotation=90)
        self._write(note, _EDGE_IN + 0.02, note_in, linespacing=1.3, **small)
        if legend is not None:
            x_in = edge_in + _BESIDE_IN if self.beside else _EDGE_IN + 0.02
            legend.set_bbox_to_anchor(self._point(x_in, legend_in))
        if self.bar is not None:
            long_in = min(floor_in - top_in, _MAX_BAR_IN)
            self.bar.set_position(self._box(edge_in + _BESIDE_IN, top_in, _BAR_IN, long_in))

    def _point(self, x_in: float, y_in: float) -> tuple[float, float]:
        """Return a point in figure coordinates, as parts from its lower left."""
        return x_in / self.width_in, 1 - y_in / self.figure.get_figheight()

    def _box(
        self, left_in: float, top_in: float, panel_width_in: float, panel_height_in: float
    ) -> tuple[float, float, float, float]:
        x, y = self._point(left_in, top_in + panel_height_in)
        return x, y, panel_width_in / self.width_in, panel_height_in / self.figure.get_figheight()

    def _write(self, text: str, x_in: float, y_in: float, **style: Any) -> None:
        if text:
            self.figure.text(*self._point(x_in, y_in), text, **{"color": INK, **style})

    def _right_in(self, legend: Any) -> float:
        """Return the width of everything to the right of the axes."""
        right_in = _EDGE_IN + 0.08
        if legend is not None and self.beside:
            right_in += _BESIDE_IN + legend.get_window_extent().width / self.figure.dpi
        if self.bar is not None:
            right_in += _BESIDE_IN + _BAR_IN + _NAME_IN + 0.04 + self._wide(self.bar.yaxis)
        return right_in

    def _wide(self, axis: Any) -> float:
        """Return the width of the tick labels of an axis, in inches."""
        return max((box.width for box in self._boxes(axis)), default=0.0) / self.figure.dpi + 0.06

    def _tall(self, axis: Any) -> float:
        """Return their height."""
        return max((box.height for box in self._boxes(axis)), default=0.0) / self.figure.dpi + 0.06

    def _boxes(self, axis: Any) -> list[Any]:
        texts = [text for text in axis.get_ticklabels() if text.get_visible() and text.get_text()]
        return [text.get_window_extent() for text in texts]

    def _panel_height_in(self, panel_width_in: float) -> float:
        if len(self.axes) == 1:
            return min(3.0, panel_width_in * 0.68)
        return max(1.25, min(2.3, panel_width_in * 0.72))

    def _heads(self, titles: Sequence[str], panel_width_in: float) -> list[str]:
        letters = max(12, int(panel_width_in / _BOLD_IN))
        return [
            "\n".join(textwrap.wrap(title, width=letters, max_lines=2, placeholder=" …"))
            for title in titles
        ]

    def _turn_texts(self, x: AxisScale, panel_width_in: float) -> None:
        """Rotate the texts below the axes where they would touch each other."""
        if not x.texts or not x.ticks:
            return
        slot_in = panel_width_in / (x.high - x.low)
        if x.longest * 0.07 + 0.06 <= slot_in:
            return
        upright = slot_in < 0.2
        turn = 90 if upright else 40 if x.longest > 8 or slot_in < 0.25 else 30
        for axes in self.axes:
            for label in axes.get_xticklabels():
                label.set_rotation(turn)
                label.set_horizontalalignment("center" if upright else "right")
                label.set_rotation_mode("default" if upright else "anchor")

    def _legend(self) -> Any:
        """Return the legend: one column beside the axes; below them as many as fit."""
        joined = any(handle.get_linestyle() not in {"None", "none"} for handle in self.handles)
        room_in = self.width_in - 2 * _EDGE_IN - 0.02
        letters = max(map(len, self.names))
        columns = 1 if self.beside else int(room_in / (0.5 + 0.06 * letters))
        columns = max(1, min(len(self.names), columns))
        while True:
            legend = self.figure.legend(
                self.handles,
                self.names,
                title=self.legend_title or None,
                loc="upper left",
                bbox_to_anchor=(0, 1),
                ncols=columns,
                borderpad=0.0,
                borderaxespad=0.0,
                handlelength=2.9 if joined else 1.0,
                columnspacing=1.4,
                labelspacing=0.4,
                alignment="left",
                title_fontproperties={"size": 8.5, "weight": "bold"},
            )
            width_in = legend.get_window_extent().width / self.figure.dpi
            if columns == 1 or width_in <= room_in:
                return legend
            legend.remove()
            columns -= 1


def columns_of(count: int, *, width_in: float) -> int:
    """Return how many small multiples are side by side."""
    if width_in <= NARROW_WIDTH_IN:
        return min(count, 2)
    return _COLUMNS.get(count, 4)


def _nothing() -> Any:
    return Line2D([], [], linestyle="none")
