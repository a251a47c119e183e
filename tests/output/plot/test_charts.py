"""What stands in a chart of many cases: values, axes, ticks, names, and equal bytes."""

import dataclasses
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from longfat.model.metric import Unit
from longfat.output.plot import (
    FORMS,
    NARROW_WIDTH_IN,
    PAGE_WIDTH_IN,
    Axis,
    Chart,
    ChartKind,
    Facet,
    Mark,
    Series,
    draw_chart,
    figure_style,
    line_style,
    saved,
)
from longfat.output.plot.charts import readable

RTT = Axis(label="RTT", unit=Unit.SECONDS, log=True)
GOODPUT = Axis(label="goodput", unit=Unit.BPS)


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with figure_style():
        yield


def series(label: str, x: Any, y: Any, **more: Any) -> Series:
    return Series(label=label, x=np.array(x, float), y=np.array(y, float), **more)


def chart(*facets: Facet, **more: Any) -> Chart:
    given: dict[str, Any] = {"kind": ChartKind.LINES, "x": RTT, "y": GOODPUT, "by": "cc", **more}
    return Chart(name="goodput", title="Goodput", facets=facets, **given)


def lines(count: int = 2) -> tuple[Series, ...]:
    return tuple(
        series(f"cc {k}", [0.01, 0.05, 0.1], [9e8, 8e8 - k * 1e8, 5e8], style_index=k)
        for k in range(count)
    )


def drawn(one: Chart, **more: Any) -> Any:
    return draw_chart(one, **more)


def ticks(axis: Any) -> list[str]:
    return [text.get_text() for text in axis.get_ticklabels()]


def names(figure: Any) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def written(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.texts]


def test_values_stand_in_the_units_of_the_axes_with_ticks_where_was_measured() -> None:
    figure = drawn(chart(Facet(title="", series=lines()), note="of 5 seeds"))
    (axes,) = figure.axes
    first = axes.lines[0]
    assert first.get_xdata().tolist() == [10.0, 50.0, 100.0]
    assert first.get_ydata().tolist() == pytest.approx([900.0, 800.0, 500.0])
    assert ticks(axes.xaxis) == ["10", "50", "100"]
    assert axes.get_ylim()[0] == 0
    assert names(figure) == ["cc 0", "cc 1"]
    assert {"Goodput", "RTT (ms)", "goodput (Mbit/s)", "of 5 seeds"} <= set(written(figure))


@pytest.mark.parametrize(("count", "shape"), [(2, (1, 2)), (6, (2, 3)), (12, (3, 4)), (5, (2, 3))])
def test_multiples_share_axes_and_have_numbers_at_the_edges_only(
    count: int, shape: tuple[int, int]
) -> None:
    figure = drawn(chart(*(Facet(title=f"part {k}", series=lines()) for k in range(count))))
    assert len(figure.axes) == count
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in figure.axes}) == 1
    places = [axes.get_position() for axes in figure.axes]
    assert len({round(place.x0, 4) for place in places}) == shape[1]
    assert len({round(place.y0, 4) for place in places}) == shape[0]
    for k, axes in enumerate(figure.axes):
        assert axes.get_title(loc="left") == f"part {k}"
        assert axes.yaxis.get_tick_params()["labelleft"] is (k % shape[1] == 0)
        assert axes.xaxis.get_tick_params()["labelbottom"] is (k + shape[1] >= count)
    assert names(figure) == ["cc 0", "cc 1"]


@pytest.mark.parametrize("width_in", [PAGE_WIDTH_IN, NARROW_WIDTH_IN])
def test_nothing_is_cut_and_no_text_covers_another(width_in: float) -> None:
    long = tuple(
        dataclasses.replace(one, label=f"fq_codel target {k} ms interval {k}0 ms")
        for k, one in enumerate(lines(20))
    )
    wordy = "A title that goes on and on until nobody knows any more how it began, or why it did"
    parts = (Facet(title=f"buffer {k} BDP, loss 0.00{k} %", series=long) for k in range(6))
    figure = drawn(chart(*parts, note=wordy), title=wordy, width_in=width_in)
    figure.canvas.draw()
    whole = figure.bbox
    boxes = [text.get_window_extent() for text in figure.texts]
    boxes += [legend.get_window_extent() for legend in figure.legends]
    boxes += [axes.get_window_extent() for axes in figure.axes]
    for axes in figure.axes:
        heading = axes._left_title
        boxes.append(heading.get_window_extent())
    for box in boxes:
        assert box.x0 >= whole.x0 - 1
        assert box.x1 <= whole.x1 + 1
        assert box.y0 >= whole.y0 - 1
        assert box.y1 <= whole.y1 + 1
    for one, other in combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1))
    assert len(names(figure)) == 20


def test_percentages_span_decades_and_a_zero_has_its_place_beside_them() -> None:
    loss = Axis(label="loss", unit=Unit.FRACTION, log=True)
    one = series("cubic", [0, 1e-6, 1e-5, 1e-4, 1e-3], [9e8, 8e8, 6e8, 3e8, 1e8])
    figure = drawn(chart(Facet(title="", series=(one,)), x=loss))
    (axes,) = figure.axes
    assert ticks(axes.xaxis) == ["0", "0.0001", "0.001", "0.01", "0.1"]
    alone, joined = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(alone.get_xdata()) == 1
    assert joined.get_xdata().tolist() == pytest.approx([1e-4, 1e-3, 1e-2, 1e-1])
    assert axes.get_xlim()[0] < alone.get_xdata()[0] < 1e-4


def test_what_a_log_axis_cannot_show_is_reported() -> None:
    log = dataclasses.replace(GOODPUT, log=True)
    one = series("cubic", [0.01, 0.1], [0.0, 1e8])
    shown, note = readable(chart(Facet(title="", series=(one,)), y=log, note="one seed"))
    assert note == "one seed; 1 point at or below 0 cannot be shown on a logarithmic axis"
    assert shown.facets[0].series[0].x.tolist() == [0.1]


def test_theory_is_dashed_without_marks_and_does_not_press_the_data_flat() -> None:
    curve = series("Mathis", [0.01, 0.1], [9e11, 4e8], formula=True, style_index=9)
    own = series("own", [0.01, 0.1], [7e8, 4e8], formula=True, style_index=1)
    mark = Mark(label="C x RTT", at=0.03, upright=True, style_index=0)
    figure = drawn(chart(Facet(title="", series=(*lines(), curve, own), marks=(mark,))))
    (axes,) = figure.axes
    assert names(figure) == ["cc 0", "cc 1", "Mathis", "own", "C x RTT"]
    assert axes.get_ylim()[1] < 2000
    plain, in_its_colour, upright = axes.lines[-3:]
    assert plain.get_marker() in {"None", "", None}
    assert plain.get_linestyle() == "--"
    assert in_its_colour.get_color() == line_style(1).colour
    assert list(upright.get_xdata()) == [30.0, 30.0]
    assert upright.get_color() == line_style(0).colour


def test_spreads_are_bars_of_few_points_and_bands_of_many() -> None:
    few = series("a", [1, 2], [3, 4], low=np.array([2.0, np.nan]), high=np.array([4.0, np.nan]))
    x = np.linspace(1, 2, 50)
    many = series("a", x, x, low=x - 0.1, high=x + 0.1)
    linear = dataclasses.replace(RTT, log=False)
    (bars,) = drawn(chart(Facet(title="", series=(few,)), x=linear)).axes
    (band,) = drawn(chart(Facet(title="", series=(many,)), x=linear)).axes
    assert len(bars.containers) == 1
    assert not band.containers
    assert len(band.collections) == 1


def test_texts_have_points_side_by_side_and_no_line() -> None:
    disciplines = Axis(label="queue", unit=Unit.COUNT, ticks=("drop tail", "RED", "CAKE"))
    made = [series(f"{k} flows", [0, 1, 2], [1, 2, 3], style_index=k) for k in range(2)]
    figure = drawn(chart(Facet(title="", series=tuple(made)), x=disciplines))
    (axes,) = figure.axes
    assert ticks(axes.xaxis) == ["drop tail", "RED", "CAKE"]
    left, right = axes.lines
    assert (left.get_xdata() < right.get_xdata()).all()
    assert left.get_linestyle() == right.get_linestyle() == "None"


def test_a_distribution_rises_from_zero_to_one_with_its_median_marked() -> None:
    share = Axis(label="share", unit=Unit.FRACTION, low=0.0, high=1.0)
    one = series("cubic", [0.1, 0.2, 0.3, 0.4], [0.25, 0.5, 0.75, 1.0])
    linear = dataclasses.replace(RTT, log=False)
    figure = drawn(chart(Facet(title="", series=(one,)), kind=ChartKind.CDF, x=linear, y=share))
    (axes,) = figure.axes
    half, steps, median = axes.lines
    assert list(half.get_ydata()) == [0.5, 0.5]
    assert steps.get_drawstyle() == "steps-post"
    assert steps.get_ydata().tolist() == [0, 0.25, 0.5, 0.75, 1, 1]
    assert (median.get_xdata()[0], median.get_ydata()[0]) == (200.0, 0.5)
    assert axes.get_ylim()[1] > 1


def test_thousands_of_points_are_pixels_in_a_pdf_and_few_have_names() -> None:
    delay = dataclasses.replace(RTT, label="delay")
    rng = np.random.default_rng(1)
    x = rng.uniform(0.01, 0.1, 4000)
    many = series("a", x, x * 1e9, names=tuple(f"c{k}" for k in range(4000)))
    dots = chart(Facet(title="", series=(many,)), kind=ChartKind.POINTS, x=delay)
    (axes,) = drawn(dots).axes
    assert axes.lines[0].get_rasterized()
    assert not axes.texts
    few = series("a", [0.01, 0.1], [1e8, 2e8], names=("red-1", "red-2"))
    (axes,) = drawn(dataclasses.replace(dots, facets=(Facet(title="", series=(few,)),))).axes
    assert [note.get_text() for note in axes.texts] == ["red-1", "red-2"]


def heat(cells: Any, **more: Any) -> Chart:
    return Chart(
        name="heat",
        title="",
        kind=ChartKind.HEAT,
        x=Axis(label="RTT", unit=Unit.SECONDS, ticks=("1 ms", "10 ms", "100 ms")),
        y=Axis(label="buffer", unit=Unit.COUNT, ticks=("1 BDP", "2 BDP")),
        colour=Axis(label="utilisation", unit=Unit.FRACTION, **more),
        facets=(Facet(title="cubic", cells=np.array(cells)),),
    )


def test_cells_have_their_values_in_ink_that_can_be_read_and_gaps_are_hatched() -> None:
    figure = drawn(heat([[0.2, 0.5, 0.6], [0.7, np.nan, 1.0]]))
    axes, bar = figure.axes
    told = {(note.get_position(), note.get_text()): note.get_color() for note in axes.texts}
    assert list(told) == [
        ((0, 0), "20"),
        ((1, 0), "50"),
        ((2, 0), "60"),
        ((0, 1), "70"),
        ((2, 1), "100"),
    ]
    # The least is light and so has dark ink, the largest the other way round.
    assert told[(0, 0), "20"] == "#000000"
    assert told[(2, 1), "100"] == "#ffffff"
    assert axes.patches[0].get_hatch()
    assert bar.get_ylabel() == "utilisation (%)"
    assert ticks(axes.xaxis) == ["1 ms", "10 ms", "100 ms"]
    colours = [to_hex(one) for one in axes.collections[0].to_rgba(np.array([20.0, 100.0]))]
    assert colours[0] != colours[1]


def test_colours_over_decades_are_reported_in_two_digits() -> None:
    figure = drawn(heat([[1e-5, 1e-4, 1e-3], [0.0123, 0.1, 0.0]], log=True))
    axes = figure.axes[0]
    assert [note.get_text() for note in axes.texts] == ["0.001", "0.01", "0.1", "1.2", "10"]


KINDS = {
    "lines": chart(Facet(title="a", series=lines()), Facet(title="b", series=lines())),
    "points": chart(Facet(title="", series=lines()), kind=ChartKind.POINTS),
    "cdf": chart(
        Facet(title="", series=(series("a", [0.1, 0.2], [0.5, 1.0]),)), kind=ChartKind.CDF
    ),
    "heat": heat([[0.2, 0.5, 0.6], [0.7, np.nan, 1.0]]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_equal_charts_give_equal_bytes(kind: str, form: str) -> None:
    one, other = (saved(drawn(KINDS[kind]), form) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    "empty",
    [
        chart(Facet(title="")),
        chart(Facet(title="", series=(series("a", [], []),)), kind=ChartKind.POINTS),
        chart(Facet(title="", series=(series("a", [0.1], [np.nan]),)), kind=ChartKind.CDF),
        chart(Facet(title="", series=(series("a", [0.1, 0.1], [0, 0]),))),
        heat(np.full((2, 3), np.nan)),
        heat(np.zeros((2, 3))),
        heat(np.zeros((2, 3)), log=True),
    ],
)
def test_what_has_no_values_is_drawn_all_the_same(empty: Chart) -> None:
    assert saved(drawn(empty), "png").startswith(b"\x89PNG")


def test_very_many_parts_are_left_out_and_that_is_reported() -> None:
    many = chart(*(Facet(title=str(k), series=lines()) for k in range(30)))
    assert readable(many)[1] == "the first 24 of 30 parts are shown"
