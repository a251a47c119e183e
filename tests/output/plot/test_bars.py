"""Bars of cases: lengths, names, values, and axes of their own for what differs in scale."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from longfat.model.metric import Unit
from longfat.output.plot import (
    Axis,
    Chart,
    ChartKind,
    Facet,
    Mark,
    Series,
    draw_chart,
    figure_style,
)

NAMES = ("drop tail", "a name that is much too long for a single line", "RED")


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with figure_style():
        yield


def series(label: str, *values: float, style_index: int = 0, **fields: Any) -> Series:
    return Series(
        label=label,
        x=np.arange(len(values), dtype=float),
        y=np.array(values),
        style_index=style_index,
        **fields,
    )


def facet(*bars: Series, unit: Unit = Unit.BPS, label: str = "goodput", **fields: Any) -> Facet:
    return Facet(title="", series=bars, y=Axis(label=label, unit=unit, low=0.0), **fields)


def drawn(*facets: Facet) -> Any:
    figure = draw_chart(
        Chart(
            name="bars",
            title="Bars",
            kind=ChartKind.BARS,
            x=Axis(label="", unit=Unit.COUNT, ticks=NAMES),
            y=Axis(label="", unit=Unit.BPS),
            facets=facets,
        )
    )
    figure.draw_without_rendering()
    return figure


def lengths(axes: Any) -> list[float]:
    return [bar.get_width() for bar in axes.patches]


def words(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_a_bar_for_each_case_has_its_value() -> None:
    (axes,) = drawn(facet(series("goodput", 4e6, 2e6, 86e3))).axes
    assert lengths(axes) == pytest.approx([4, 2, 0.086])
    assert words(axes) == ["4.00 Mbit/s", "2.00 Mbit/s", "86.0 kbit/s"]
    assert axes.get_title(loc="left") == "goodput (Mbit/s)"
    # The first case is on top.
    middles = [bar.get_y() + bar.get_height() / 2 for bar in axes.patches]
    assert middles == pytest.approx([2, 1, 0])
    names = [text.get_text().replace("\n", " ") for text in axes.get_yticklabels()]
    assert names == list(NAMES[::-1])


def test_no_value_is_no_bar_and_a_0_is_written() -> None:
    (axes,) = drawn(facet(series("goodput", np.nan, 0.0, 1e6))).axes
    assert words(axes) == ["0 bit/s", "1.00 Mbit/s"]


def test_several_bars_of_a_case_differ_by_more_than_their_colour() -> None:
    figure = drawn(facet(series("a", 1e6, 2e6, 3e6), series("b", 3e6, 2e6, 1e6, style_index=1)))
    (axes,) = figure.axes
    first, second = axes.patches[0], axes.patches[3]
    assert first.get_hatch() != second.get_hatch()
    assert first.get_y() > second.get_y()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]


def test_other_units_have_an_axis_of_their_own() -> None:
    figure = drawn(
        facet(series("goodput", 1e9, 2e9, 3e9)),
        facet(series("RTT", 0.02, 0.2, 0.04), unit=Unit.SECONDS, label="RTT"),
    )
    left, right = figure.axes
    assert (left.get_title(loc="left"), right.get_title(loc="left")) == (
        "goodput (Gbit/s)",
        "RTT (ms)",
    )
    shown = [any(text.get_visible() for text in one.get_yticklabels()) for one in figure.axes]
    assert shown == [True, False]


def test_the_spread_of_seeds_and_marks_are_drawn() -> None:
    low, high = np.array([3e6, 2e6, 1e6]), np.array([5e6, 2e6, 1e6])
    bars = series("goodput", 4e6, 2e6, 1e6, low=low, high=high)
    mark = Mark(label="line rate", at=6e6, upright=True)
    figure = drawn(facet(bars, marks=(mark,)))
    (axes,) = figure.axes
    assert len(axes.containers) == 2  # bars and error bars
    assert any(list(line.get_xdata()) == [6.0, 6.0] for line in axes.lines)
    assert figure.legends[0].get_texts()[0].get_text() == "line rate"


def test_values_are_inside_of_the_figure() -> None:
    figure = drawn(facet(series("goodput", 123e6, 123e6, 123e6)))
    (axes,) = figure.axes
    for text in axes.texts:
        assert text.get_window_extent().x1 <= axes.get_window_extent().x1
