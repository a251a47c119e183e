"""Many cases: each has axes of its own, small, in one figure."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from longfat.model.metric import Unit
from longfat.output.plot import Line, Panel, Reference, draw_panels, figure_style


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with figure_style():
        yield


def line(case: str, flow: str = "", *, top: float, **fields: Any) -> Line:
    label = f"{case}.{flow}" if flow else case
    given: dict[str, Any] = {"unit": Unit.BYTES, **fields}
    return Line(
        label=label,
        times_s=np.arange(5.0),
        values=np.array([0, 1, 1, 1, 1]) * top,
        case=case,
        **given,
    )


def panel(*lines: Line, name: str = "queue", **fields: Any) -> Panel:
    return Panel(name=name, title=name.capitalize(), lines=lines, **fields)


def names(figure: Any) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_few_cases_of_one_scale_share_a_panel() -> None:
    figure = draw_panels([panel(*(line(f"c{n}", top=1000 + n) for n in range(4)))])
    assert len(figure.axes) == 1


def test_cases_of_other_scales_get_panels_of_their_own() -> None:
    limit = Reference(value=25 << 20, label="limit", cases=("drop-tail",))
    figure = draw_panels(
        [panel(line("red", top=2 << 20), line("drop-tail", top=24 << 20), references=(limit,))]
    )
    assert names(figure) == ["Queue: drop-tail", "Queue: red"]
    tops = [axes.get_ylim()[1] for axes in figure.axes]
    assert 24 < tops[0] < 32
    assert 2 < tops[1] < 3
    assert [axes.get_title(loc="right") for axes in figure.axes] == ["- - -  limit 25.0 MB", ""]


def test_flows_of_one_case_share_a_panel_whatever_they_get() -> None:
    figure = draw_panels([panel(line("a", "winner", top=9e9), line("a", "loser", top=1e6))])
    assert len(figure.axes) == 1


def test_many_cases_are_a_grid_of_thumbnails() -> None:
    figure = draw_panels([panel(*(line(f"c{n}", top=1000) for n in range(7)))], title="A study")
    assert names(figure) == [f"c{n}" for n in range(7)]
    assert not figure.legends
    assert {axes.get_ylim() for axes in figure.axes} == {figure.axes[0].get_ylim()}


def test_many_cases_of_several_quantities_are_rows() -> None:
    cases = [f"c{n}" for n in range(6)]
    figure = draw_panels(
        [
            panel(
                *(line(case, flow, top=1000, unit=unit) for case in cases for flow in "ab"),
                name=name,
            )
            for name, unit in (("queue", Unit.BYTES), ("rtt", Unit.SECONDS))
        ]
    )
    assert names(figure) == [text for case in cases for text in (case, "")]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a", "b"]
    figure.draw_without_rendering()
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    lowest = min(box.y0 for box in boxes if box is not None)
    assert legend.get_window_extent().y1 < lowest


def test_thumbnails_of_other_scales_have_axes_and_units_of_their_own() -> None:
    tops = [1e3, 2e3, 9e6, 8e6, 7e6]
    figure = draw_panels([panel(*(line(f"c{n}", top=top) for n, top in enumerate(tops)))])
    assert [axes.get_title(loc="right") for axes in figure.axes] == ["B", "KB", *["MB"] * 3]


def test_a_legend_has_at_most_six_entries() -> None:
    figure = draw_panels(
        [panel(*(line(f"c{n}", f"flow{k}", top=1000) for n in range(2) for k in range(9)))]
    )
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == [*(f"flow{k}" for k in range(5)), "4 others"]


def test_a_reference_is_drawn_for_its_cases() -> None:
    limit = Reference(value=1200, label="limit of c1", cases=("c1",))
    figure = draw_panels([panel(*(line(f"c{n}", top=1000) for n in range(6)), references=(limit,))])
    dashed = [any(one.get_linestyle() == "--" for one in axes.lines) for axes in figure.axes]
    assert dashed == [False, True, False, False, False, False]
    assert any("dashed: limit" in text.get_text() for text in figure.texts)


def test_many_dots_of_several_cases_are_no_cloud() -> None:
    lines = [
        Line(
            label=f"c{n}",
            case=f"c{n}",
            times_s=np.arange(200.0),
            values=np.full(200, 0.1),
            unit=Unit.SECONDS,
            dots=True,
            style_index=n,
        )
        for n in range(3)
    ]
    figure = draw_panels([panel(*lines, name="rtt")])
    assert names(figure) == ["c0", "c1", "c2"]
    (drawn,) = figure.axes[0].lines
    assert drawn.get_marker() != ""
