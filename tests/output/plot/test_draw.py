"""What stands in a figure: points, units, names, and that nothing covers the data."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from longfat.model.metric import Unit
from longfat.output.plot import (
    NARROW_WIDTH_IN,
    PAGE_WIDTH_IN,
    Line,
    Moment,
    Panel,
    Reference,
    Trace,
    draw_panels,
    figure_style,
)


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with figure_style():
        yield


def line(label: str, values: Any, **fields: Any) -> Line:
    given: dict[str, Any] = {"unit": Unit.BPS, "style_index": 0, **fields}
    count = len(values)
    return Line(
        label=label,
        times_s=np.linspace(0, max(count - 1, 0), count),
        values=np.array(values, dtype=float),
        **given,
    )


def panel(*lines: Line, **fields: Any) -> Panel:
    return Panel(**{"name": "throughput", "title": "Throughput", "lines": lines, **fields})


def curves(axes: Any) -> list[Any]:
    """Return the data's lines: no reference lines."""
    return [one for one in axes.lines if one.get_linestyle() != "--" and len(one.get_xdata()) != 2]


def drawn(panels: Sequence[Panel], **fields: Any) -> Any:
    return draw_panels(panels, **fields)


def rendered(figure: Any) -> Any:
    canvas: Any = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    return canvas.get_renderer()


def letters(name: Any, renderer: Any) -> Any:
    """Return the box of a name's letters; its own box holds its leader line too."""
    return Text.get_window_extent(name, renderer)


def test_the_points_are_drawn_in_the_axis_unit() -> None:
    figure = drawn([panel(line("bulk", [1e9, 2e9, 3.5e9]))], title="A study")
    (axes,) = figure.axes
    (curve,) = curves(axes)
    assert curve.get_xdata().tolist() == [0, 1, 2]
    assert curve.get_ydata().tolist() == [1, 2, 3.5]
    assert axes.get_ylabel() == "Gbit/s"
    assert axes.get_xlabel() == "virtual time since the traffic's start (s)"
    assert axes.get_title(loc="left") == "Throughput"
    assert figure.get_suptitle() == "A study"
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 3.5


def test_a_line_alone_needs_no_name() -> None:
    figure = drawn([panel(line("bulk", [1, 2, 3]))])
    assert not figure.axes[0].texts
    assert not figure.legends


def test_panels_share_one_time_axis_and_empty_ones_are_left_out() -> None:
    cwnd = panel(line("", [1, 5, 2], unit=Unit.BYTES), name="cwnd", title="cwnd")
    none = panel(line("", [], unit=Unit.BYTES), name="rtt", title="RTT")
    figure = drawn([panel(line("", [1, 2, 3])), none, cwnd])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Throughput", "cwnd"]
    assert {axes.get_xlim() for axes in figure.axes} == {(0, 2)}
    assert not drawn([none]).axes


def test_references_are_named_beside_the_title_and_far_ones_not_drawn() -> None:
    limits = (
        Reference(value=20 * 1024, label="limit"),
        Reference(value=8 * 1024, label="RED min"),
        Reference(value=400 * 1024, label="far"),
    )
    queue = panel(line("", [0, 9 * 1024.0, 3], unit=Unit.BYTES), references=limits, title="Queue")
    (axes,) = drawn([queue]).axes
    heights = {one.get_ydata()[0] for one in axes.lines if len(one.get_xdata()) == 2}
    assert heights == {20, 8}
    told = axes.get_title(loc="right") + axes.get_title(loc="center")
    assert "limit 20.0 KB" in told
    assert "RED min 8.00 KB" in told
    assert "far 400 KB, far above" in told
    assert 20 < axes.get_ylim()[1] < 30


def test_a_limit_does_not_scale_the_axis_of_a_queue_that_stayed_empty() -> None:
    limit = (Reference(value=2.4e6, label="limit"),)
    empty = panel(line("", [0, 0, 0], unit=Unit.BYTES), references=limit, title="Queue")
    (axes,) = drawn([empty]).axes
    assert axes.get_ylim()[1] == 1
    assert "limit 2.29 MB, far above" in axes.get_title(loc="right") + axes.get_title(loc="center")


@pytest.mark.parametrize("width_in", [PAGE_WIDTH_IN, NARROW_WIDTH_IN])
@pytest.mark.parametrize("count", [2, 6, 7, 14])
def test_names_cover_neither_data_nor_each_other(count: int, width_in: float) -> None:
    lines = [line(f"case-{n}.bulk", [n, 1.0, 2.0], style_index=n) for n in range(count)]
    figure = drawn(
        [panel(*lines), panel(*lines, title="Again")], title="A study", width_in=width_in
    )
    renderer = rendered(figure)
    inner = [axes.get_window_extent(renderer) for axes in figure.axes]
    names = [text for axes in figure.axes for text in axes.texts]
    if width_in == PAGE_WIDTH_IN and count <= 6:
        assert len(names) == 2 * count
    else:
        assert not names
        (legend,) = figure.legends
        labels = [f"case-{n}.bulk" for n in range(count)]
        if count > 6:
            labels = [*labels[:5], f"{count - 5} others"]
        assert [t.get_text() for t in legend.get_texts()] == labels
    boxes = [letters(name, renderer) for name in names]
    boxes += [legend.get_window_extent(renderer) for legend in figure.legends]
    for box in boxes:
        assert not any(box.overlaps(each) for each in inner)
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)


@pytest.mark.parametrize("width_in", [PAGE_WIDTH_IN, NARROW_WIDTH_IN])
def test_titles_and_references_stay_inside_and_apart(width_in: float) -> None:
    limits = tuple(Reference(value=v, label=f"limit of case-{v}") for v in (1, 2, 3, 4))
    long = "Retransmitted segments since the start (sum; thin: each stream)"
    both = [
        panel(line("a", [1, 4], style_index=n), title=long, references=limits) for n in range(2)
    ]
    figure = drawn(both, width_in=width_in)
    renderer = rendered(figure)
    for axes in figure.axes:
        titles = [t for t in (axes.title, axes._left_title, axes._right_title) if t.get_text()]
        for title in titles:
            box = title.get_window_extent(renderer)
            assert box.x1 <= figure.bbox.x1
            assert box.y1 <= figure.bbox.y1
        rows = [set(title.get_text().split("\n")) for title in titles]
        assert len(rows) == 2
    first, second = figure.axes
    above = second.get_tightbbox(renderer)
    assert not above.overlaps(first.get_window_extent(renderer))


def test_a_band_lies_around_its_line() -> None:
    low, high = np.array([0.5, 1.0, 1.5]), np.array([2.0, 3.0, 4.0])
    figure = drawn(
        [panel(line("a", [1, 2, 3], low=low, high=high))], note="line: median of 8 seeds"
    )
    (axes,) = figure.axes
    (area,) = axes.collections
    corners = area.get_paths()[0].vertices
    assert {(0.0, 0.5), (0.0, 2.0), (2.0, 1.5), (2.0, 4.0)} <= {tuple(c) for c in corners.tolist()}
    assert "median of 8 seeds" in axes.get_xlabel()
    assert axes.get_ylim()[1] > 4


def test_dots_are_not_joined_and_what_is_missing_is_a_cross() -> None:
    ping = line("ping", [0.02, 0.03], unit=Unit.SECONDS, dots=True, missing_s=np.array([0.5, 0.7]))
    (axes,) = drawn([panel(ping, title="ping")]).axes
    dots, crosses = axes.lines
    assert dots.get_linestyle() == "None"
    assert dots.get_ydata() == pytest.approx([20, 30])
    assert crosses.get_xdata() == pytest.approx([0.5, 0.7])
    assert max(crosses.get_ydata()) < 0
    assert "no reply" in axes.get_title(loc="left")


def test_all_missing() -> None:
    ping = line("ping", [], unit=Unit.SECONDS, dots=True, missing_s=np.array([0.0, 1.0]))
    (axes,) = drawn([panel(ping, title="ping")]).axes
    assert axes.lines[0].get_xdata().tolist() == [0, 1]
    assert axes.get_xlim() == (0, 1)


def test_a_span_cuts() -> None:
    figure = drawn([panel(line("a", list(range(11))))], span_s=(3, 6))
    (axes,) = figure.axes
    assert axes.get_xlim() == (3, 6)
    assert curves(axes)[0].get_ydata().tolist() == [3, 4, 5, 6]


def test_streams_are_thin_and_one_long_run_stays_small() -> None:
    count = 90_000
    times_s = np.linspace(0, 90, count)
    values = np.abs(np.sin(times_s)) * 1e9
    values[12_345] = 3e9
    parts = tuple(Trace(times_s, values / 8) for _ in range(8))
    whole = Line(label="bulk", times_s=times_s, values=values, unit=Unit.BPS, parts=parts)
    (axes,) = drawn([panel(whole)]).axes
    *thin, main = axes.lines
    assert len(thin) == 8
    assert all(one.get_linewidth() < main.get_linewidth() for one in thin)
    assert all(len(one.get_xdata()) < 6_000 for one in axes.lines)
    assert main.get_ydata().max() == 3


def test_moments_are_dotted_numbered_and_reported_below() -> None:
    moments = (Moment(at_s=1.0, label="s1 - s2 down"), Moment(at_s=2.5, label="s1 - s2 up"))
    figure = drawn([panel(line("a", [1, 2, 3, 4]), moments=moments) for _ in range(2)])
    above, below = figure.axes
    for axes in (above, below):
        dotted = [one.get_xdata() for one in axes.lines if len(one.get_xdata()) == 2]
        assert [times[0] for times in dotted] == [1.0, 2.5]
    assert [text.get_text() for text in above.texts if text.get_text() in {"1", "2"}] == ["1", "2"]
    assert "1: s1 - s2 down (1 s); 2: s1 - s2 up (2.5 s)" in below.get_xlabel()
    many = tuple(Moment(at_s=0.1 * number, label="x") for number in range(20))
    (axes,) = drawn([panel(line("a", [1, 2, 3, 4]), moments=many)]).axes
    assert "dotted: 20 events" in axes.get_xlabel()
