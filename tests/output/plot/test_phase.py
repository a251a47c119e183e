from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from longfat.model.metric import Unit
from longfat.output.plot import MAX_PHASE_PANELS, PhaseTrace, draw_phase, figure_style


def orbit(label: str, **fields: Any) -> PhaseTrace:
    times_s = np.linspace(0, 10, 101)
    given: dict[str, Any] = {
        "times_s": times_s,
        "across": 1024 * (100 + 50 * np.sin(times_s)),
        "up": 1024 * (40 + 40 * np.sin(times_s)),
        **fields,
    }
    return PhaseTrace(label=label, **given)


def draw(*orbits: PhaseTrace) -> Any:
    with figure_style():
        figure = draw_phase(
            orbits,
            across=("congestion window", Unit.BYTES),
            up=("queue of s2-eth2", Unit.BYTES),
            mark_names=("BDP", "the queue's limit"),
            title="drop-tail",
        )
        figure.draw_without_rendering()
    return figure


def test_one_orbit() -> None:
    figure = draw(orbit("bulk", across_mark=90 * 1024, up_mark=100 * 1024))
    axes, bar = figure.axes
    (pieces,) = axes.collections
    # A piece for each colour, of which each begins where the one before it ends.
    segments = pieces.get_segments()
    assert len(segments) == 24
    assert sum(len(one) - 1 for one in segments) == 100
    assert segments[0][0] == pytest.approx([100, 40])
    for one, following in pairwise(segments):
        assert one[-1] == pytest.approx(following[0])
    times_s = pieces.get_array()
    assert (np.diff(times_s) > 0).all()
    assert times_s[[0, -1]].tolist() == pytest.approx([0.2, 9.8], abs=0.1)
    start, end, *marks = axes.lines
    assert (start.get_xdata()[0], start.get_ydata()[0]) == pytest.approx((100, 40))
    assert end.get_xdata()[0] == pytest.approx(100 + 50 * np.sin(10))
    assert {m.get_xdata()[0] for m in marks} == {90, 0}
    assert "congestion window (KB)" in figure.get_supxlabel()
    assert "dashed: BDP and the queue's limit" in figure.get_supxlabel()
    assert figure.get_supylabel() == "queue of s2-eth2 (KB)"
    assert bar.get_ylabel() == "virtual time (s)"


def test_a_mark_that_is_far_is_neither_drawn_nor_reported() -> None:
    figure = draw(orbit("bulk", up_mark=1e9))
    assert "dashed" not in figure.get_supxlabel()
    assert len(figure.axes[0].lines) == 2


@pytest.mark.parametrize("count", [2, 3, 4, 5, MAX_PHASE_PANELS])
def test_several_have_a_panel_each_with_the_same_axes(count: int) -> None:
    figure = draw(*[orbit(f"case-{n}") for n in range(count)])
    shown = [axes for axes in figure.axes[:-1] if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [f"case-{n}" for n in range(count)]
    assert len({(axes.get_xlim(), axes.get_ylim()) for axes in shown}) == 1


def test_gaps_and_cuts() -> None:
    across = np.full(101, np.nan)
    across[20:40] = 5.0
    figure = draw(orbit("late", across=across))
    segments = figure.axes[0].collections[0].get_segments()
    assert sum(len(one) - 1 for one in segments) == 19
    assert orbit("a").cut(2, 3).times_s.tolist() == pytest.approx(np.linspace(2, 3, 11).tolist())
