"""Files of figures: what is drawn, over which time, and where it is written."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.errors import InputError
from longfat.output.plot import FORMS, Panel, draw_panels, figure_style, saved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

# The name that the labs' own script uses.
_FILES = {"rtt": "RTT", "rttvar": "RTT_Var", "mtu": "MTU"}
_MAX_TITLE_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class PlotFiles:
    """The files that were written.

    Attributes:
        files: the files, figure by figure.
        notes: notes for the user, such as what was omitted.
    """

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRequest:
    """What to draw.

    Attributes:
        metrics: the quantities; empty for all.
        flows: the names of the flows; empty for all.
        start_s: where the time axis starts; None for the start of the data.
        end_s: where it ends; None for the end of the data.
        title: the text above each figure; None for names of what is drawn.
        forms: the file formats, of `longfat.output.plot.FORMS`.
        font_subsets: see `longfat.output.plot.figure_style`.
        constants: of iperf3 reports, draw quantities that do not vary, too.
    """

    metrics: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    start_s: float | None = None
    end_s: float | None = None
    title: str | None = None
    forms: tuple[str, ...] = FORMS
    font_subsets: bool = True
    constants: bool = False

    def __post_init__(self) -> None:
        if self.start_s is not None and self.end_s is not None and self.start_s >= self.end_s:
            raise InputError(
                f"--from {self.start_s:g}s --to {self.end_s:g}s: the end must come after the start"
            )


@dataclass(frozen=True, slots=True)
class NamedFigure:
    """A figure that is drawn when it is written.

    Attributes:
        name: the quantity.
        draw: draws it.
    """

    name: str
    draw: Callable[[], Figure]


def figures_over_time(
    panels: Sequence[Panel], request: PlotRequest, title: str, time_label: str, *, note: str = ""
) -> tuple[list[NamedFigure], tuple[float, float]]:
    """Return a figure for each panel, and the span of time that all of them show.

    Args:
        panels: the panels; those without data in the requested span are left out.
        request: the requested span.
        title: the text above each figure.
        time_label: the label of the time axis.
        note: a note below each figure.

    Returns:
        The figures; the span's start and end in seconds.

    Raises:
        InputError: there is no data in the requested span.
    """
    first_s = min((panel.span_s[0] for panel in panels), default=-math.inf)
    last_s = max((panel.span_s[1] for panel in panels), default=math.inf)
    start_s = min(first_s, 0.0) if request.start_s is None else request.start_s
    end_s = last_s if request.end_s is None else request.end_s
    if panels and (start_s >= end_s or all(one.cut(start_s, end_s).empty for one in panels)):
        until = "on" if request.end_s is None else f"to {end_s:g} s"
        raise InputError(
            f"nothing to draw from {start_s:g} s {until}: "
            f"the data goes from {first_s:.4g} s to {last_s:.4g} s"
        )

    def figure_of(panel: Panel) -> NamedFigure:
        return NamedFigure(
            panel.name,
            lambda: draw_panels(
                [panel], title=title, time_label=time_label, note=note, span_s=(start_s, end_s)
            ),
        )

    shown = [panel for panel in panels if not panel.cut(start_s, end_s).empty]
    return [figure_of(panel) for panel in shown], (start_s, end_s)


def write_figures(
    figures: Sequence[NamedFigure], out: Path, request: PlotRequest
) -> tuple[Path, ...]:
    """Draw figures and write them in the requested formats.

    Args:
        figures: the figures.
        out: the folder that takes the files; created if it does not exist.
        request: the formats.

    Returns:
        The files, figure by figure.

    Raises:
        InputError: the files cannot be written.
    """
    files = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for one in figures:
            name = _FILES.get(one.name, one.name)
            with figure_style(salt=name, font_subsets=request.font_subsets):
                figure = one.draw()
                for form in dict.fromkeys(request.forms):
                    path = out / f"{name}.{form}"
                    write_whole(path, saved(figure, form))
                    files.append(path)
    except OSError as error:
        raise InputError(f"{out}: the figures cannot be written: {error.strerror}") from None
    return tuple(files)


def chosen_metrics(names: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the requested metrics, in the order of all; all where none were requested.

    Raises:
        InputError: a requested name is not known.
    """
    wanted = {name.lower() for name in names}
    for name in names:
        if name.lower() not in known:
            near = difflib.get_close_matches(name.lower(), known, n=1)
            hint = f" (is it {near[0]}?)" if near else ""
            raise InputError(f"no metric {name!r}{hint}; there are {', '.join(known)}")
    return tuple(name for name in known if not wanted or name in wanted)


def joined_names(names: Iterable[str]) -> str:
    """Return names as a title: all of them, or the first and a count if they are too long."""
    unique = list(dict.fromkeys(filter(None, names)))
    text = ", ".join(unique)
    if len(text) <= _MAX_TITLE_CHARACTERS:
        return text
    return f"{unique[0]} and {len(unique) - 1} others"
