"""Figures inside a page: small, and the same to the eye."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import matplotlib
import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.figure import Figure

from longfat.output.plot import figure_style
from longfat.output.plot.save import saved
from longfat.output.plot.style import INK, MUTED
from longfat.output.report.inline_svg import FigureStyles, inline_svg

POINTS = 4000


def drawn(y: npt.NDArray[np.float64], *, text: str = "a & <b>") -> str:
    """Return a figure of a line that fills its axes, as matplotlib saves it."""
    with figure_style():
        figure = Figure(figsize=(5, 2))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.plot(np.arange(len(y)), y, color="#123456", marker="o", markevery=10, zorder=3)
        axes.plot([0, len(y)], [0, 1], color=INK)
        axes.set(xlim=(0, len(y)), ylim=(0, 1))
        axes.text(0, 0.5, text, color=MUTED)
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            return saved(figure, "svg").decode()


def line_of(svg: str) -> npt.NDArray[np.float64]:
    """Return the points of the longest line of an element of a page."""
    outline = max(re.findall(r' d="M([^"C]*l[^"C]*)"', svg), key=len)
    numbers = [float(one) for one in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", outline)]
    return np.cumsum(np.array(numbers).reshape(-1, 2), axis=0)


def test_it_is_small_and_refers_to_what_is_there() -> None:
    before = drawn(np.random.default_rng(1).random(300))
    styles = FigureStyles()
    after = inline_svg(before, prefix="f0", styles=styles)
    assert len(after) < len(before) / 2
    root = ET.fromstring(str(after))
    ids = [one.get("id") for one in root.iter() if one.get("id")]
    used = set(re.findall(r"#([\w-]+)", str(after)))
    assert set(ids) == used
    assert len(ids) == len(set(ids))
    assert all(one is not None and one.startswith("f0-") for one in ids)
    classes = {one.get("class") for one in root.iter()} - {None}
    assert classes == set(re.findall(r"^\.(\w+)\{", str(styles.rules), re.MULTILINE))
    assert "a &amp; &lt;b&gt;" in after
    assert root.get("aria-hidden") == "true"
    # Colours that have another on dark ground are variables, others stay.
    assert "var(--ink-1b1f24)" in styles.rules
    assert "#123456" in styles.rules


def test_two_figures_share_their_styles() -> None:
    svg = drawn(np.linspace(0, 1, 50))
    styles = FigureStyles()
    inline_svg(svg, prefix="f0", styles=styles)
    rules = styles.rules
    inline_svg(svg, prefix="f1", styles=styles)
    assert styles.rules == rules


def test_on_paper_it_has_its_own_styles_and_colours() -> None:
    after = inline_svg(drawn(np.linspace(0, 1, 50)), prefix="f0", styles=None)
    assert "class=" not in after
    assert "var(" not in after
    assert INK in after


@pytest.mark.parametrize(
    "y",
    [
        0.5 + 0.4 * np.sin(np.linspace(0, 30, 300)),
        (np.arange(300) % 60) / 60,
        np.random.default_rng(2).random(300),
    ],
    ids=["waves", "teeth", "noise"],
)
def test_a_line_is_nowhere_off_by_more_than_can_be_seen(y: npt.NDArray[np.float64]) -> None:
    kept = line_of(inline_svg(drawn(y), prefix="f0", styles=FigureStyles()))
    assert len(kept) <= len(y)
    width, height = 5 * 72, 2 * 72
    wanted = np.column_stack((np.arange(len(y)) / len(y) * width, (1 - y) * height))
    starts, steps = kept[:-1], np.diff(kept, axis=0)
    for point in wanted:
        shares = (((point - starts) * steps).sum(axis=1) / (steps**2).sum(axis=1)).clip(0, 1)
        apart = np.linalg.norm(starts + shares[:, None] * steps - point, axis=1)
        assert apart.min() < 0.5


def test_a_long_line_keeps_its_extremes() -> None:
    y = np.full(POINTS, 0.5)
    y[1234], y[3210] = 0.9, 0.1
    kept = line_of(inline_svg(drawn(y), prefix="f0", styles=FigureStyles()))
    assert len(kept) < 100
    assert kept[:, 1].min() == pytest.approx(0.1 * 144, abs=0.2)
    assert kept[:, 1].max() == pytest.approx(0.9 * 144, abs=0.2)
