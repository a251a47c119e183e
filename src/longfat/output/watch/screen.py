"""The live view: a header and four panels, drawn anew for each frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.watch.chart import draw_chart
from longfat.output.watch.digits import HEIGHT as DIGITS_HIGH
from longfat.output.watch.digits import large
from longfat.output.watch.views import Entry, View, make_views

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from longfat.output.watch.state import Watched

_HEADER_HIGH = 2
_STACK_BELOW = 64  # columns: two panels side by side need more
_LARGE_ABOVE = 15  # rows of a panel
_LEAST_PANEL = 4
_FRAME = 2
_PADDING = 2


class Screen:
    """Draws a run at the size that the terminal has now.

    Args:
        watched: the run.
        window_s: charts show so many of the last virtual seconds.
    """

    def __init__(self, watched: Watched, *, window_s: float) -> None:
        self._watched = watched
        self._window_s = window_s

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        height = options.height or console.height
        yield from self._header(width)
        views = make_views(self._watched.live, one_style=bool(console.no_color))
        rows = height - _HEADER_HIGH
        across = 1 if width < _STACK_BELOW and rows >= len(views) * (_LEAST_PANEL + 2) else 2
        down = len(views) // across
        start_s, end_s = self._span()
        grid = Table.grid(expand=True)
        for _ in range(across):
            grid.add_column(ratio=1)
        for row in range(down):
            high = max(_LEAST_PANEL, rows // down + (row < rows % down))
            panels = [
                _panel(
                    view,
                    start_s=start_s,
                    end_s=end_s,
                    width=width // across + (column < width % across),
                    height=high,
                )
                for column, view in enumerate(views[row * across : (row + 1) * across])
            ]
            grid.add_row(*panels)
        yield grid

    def _span(self) -> tuple[float, float]:
        now_s = self._watched.now_s
        if self._watched.run is not None:
            return 0.0, max(now_s, 0.1)
        return max(0.0, now_s - self._window_s), max(now_s, self._window_s)

    def _header(self, width: int) -> Iterator[Text]:
        watched = self._watched
        case = watched.case
        name = Text.assemble((f"{watched.study} / {watched.name}", "bold"), no_wrap=True)
        if watched.title != watched.name:
            name.append(f"  {watched.title}")
        about = Text(f"kernel {case.kernel}, seed {case.seed}", style="dim")
        yield _spread(name, about, width)
        clock = Text(no_wrap=True)
        if watched.virtual_s < 0:
            clock.append("booting", style="bold")
        else:
            done_s = watched.now_s
            # The clock is read less often than the samples.
            at_s = done_s if watched.run is not None else max(done_s, watched.virtual_s)
            of = "" if watched.run is not None else f" of about {watched.expected_s:.0f} s"
            clock.append(f"{at_s:.1f} s", style="bold")
            clock.append(f"{of}  ")
            if watched.run is None and watched.expected_s > 0:
                share = min(1.0, max(0.0, watched.virtual_s / watched.expected_s))
                clock.append_text(_bar(share, max(6, min(30, width // 6))))
                clock.append("  ")
            if watched.speed is not None:
                clock.append(f"{_factor(watched.speed)} real time", style="bold")
        pace = "no pace set" if watched.pace is None else f"pace {_factor(watched.pace)}"
        yield _spread(clock, Text("done" if watched.run is not None else pace, "dim"), width)


def _factor(value: float) -> str:
    return f"{value:.3g}x"


def _bar(share: float, width: int) -> Text:
    done = round(share * width)
    return Text.assemble(("━" * done, "cyan"), ("─" * (width - done), "dim"))


def _spread(left: Text, right: Text, width: int) -> Text:
    """Align one text at each side of a line; the left one is truncated."""
    left.truncate(max(0, width - len(right) - 1), overflow="ellipsis")
    return Text.assemble(left, " " * max(0, width - len(left) - len(right)), right, no_wrap=True)


def _panel(
    view: View,
    *,
    start_s: float,
    end_s: float,
    width: int,
    height: int,
) -> Panel:
    inner, rows = width - _FRAME - _PADDING, height - _FRAME
    if not view.entries:
        body: Group | Text = Text(view.absent, style="dim")
    else:
        head = _head(view, inner, rows)
        chart = draw_chart(
            [entry.line for entry in view.entries],
            unit=view.unit,
            start_s=start_s,
            end_s=end_s,
            width=inner,
            height=max(2, rows - len(head)),
        )
        body = Group(*head, chart)
    return Panel(
        body,
        title=Text(view.title, style="bold not dim"),
        title_align="left",
        box=box.ROUNDED,
        height=height,
        border_style="dim",
        padding=(0, 1),
    )


def _head(view: View, width: int, rows: int) -> list[Text]:
    """Return the current values above a chart, large where there is space."""
    head: list[Text] = []
    if rows + _FRAME > _LARGE_ABOVE:
        head = _large_values(view, width)
    # A value shown in large digits is not repeated.
    room = max(1, rows // 3 - len(head))
    texts = [_entry_text(entry, view.unit, with_value=not head) for entry in view.entries]
    line = Text("   ").join(texts)
    if len(line) <= width or room == 1:
        line.truncate(width, overflow="ellipsis")
        return [*head, line]
    left = len(texts) - room
    if left > 0:
        texts = [*texts[: room - 1], Text(f"and {left + 1} more", style="dim")]
    for one in texts:
        one.truncate(width, overflow="ellipsis")
    return [*head, *texts]


def _entry_text(entry: Entry, unit: Unit, *, with_value: bool) -> Text:
    pattern = ("━" + " " * (entry.line.gap - 1)) * 4
    text = Text(no_wrap=True)
    text.append(pattern[: max(2, 2 * entry.line.gap)].rstrip() + " ", style=entry.line.style)
    text.append(entry.name)
    if with_value:
        value = "-" if entry.value is None else format_quantity(entry.value, unit)
        text.append(f" {value}", style="bold")
    for words, style in entry.notes:
        if words:
            text.append(" ").append(words, style=style)
    return text


def _large_values(view: View, width: int) -> list[Text]:
    """Return the values in large digits side by side; nothing if they do not fit."""
    rows = [Text(no_wrap=True) for _ in range(DIGITS_HIGH)]
    for index, entry in enumerate(view.entries):
        number, _, unit = (
            ("-", "", "")
            if entry.value is None
            else format_quantity(entry.value, view.unit).partition(" ")
        )
        for text, row in zip(rows, large(number, unit=unit), strict=True):
            text.append("    " if index else "").append(
                row, style=f"bold {entry.line.style}".strip()
            )
    return rows if len(rows[0]) <= width else []
