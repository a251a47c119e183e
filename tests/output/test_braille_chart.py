"""Charts: what is drawn where."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console

from longfat.model.metric import Unit
from longfat.output.braille_chart import BrailleChart, Curve, nice_top


def drawn(
    *values: float,
    unit: Unit = Unit.BPS,
    limit: float | None = None,
    gap: int = 1,
    width: int = 40,
    height: int = 9,
    end_s: float = 10,
) -> list[str]:
    times_s = [float(index) for index in range(len(values))]
    curve = Curve(times_s=times_s, values=values, style="red", limit=limit, gap=gap)
    console = Console(file=io.StringIO(), width=300, color_system=None)
    with console.capture() as capture:
        chart = BrailleChart(curves=[curve], unit=unit, start_s=0, end_s=end_s)
        console.print(chart, width=width, height=height)
    return capture.get().splitlines()


def rows_with_dots(lines: list[str]) -> list[int]:
    return [row for row, line in enumerate(lines) if any("⠀" < sign <= "⣿" for sign in line)]


@pytest.mark.parametrize(
    ("largest", "unit", "top"),
    [
        (95e6, Unit.BPS, 100e6),
        (96e6, Unit.BPS, 120e6),
        (0, Unit.BPS, 1e6),
        (2.3 * 1024**2, Unit.BYTES, 2.5 * 1024**2),
        (960 * 1024, Unit.BYTES, 1024**2),
        (0.0391, Unit.SECONDS, 0.05),
    ],
)
def test_the_top_is_a_round_number(largest: float, unit: Unit, top: float) -> None:
    assert nice_top(largest, unit) == pytest.approx(top)


@given(st.floats(1e-9, 1e15), st.sampled_from([Unit.BPS, Unit.BYTES, Unit.SECONDS]))
def test_the_top_is_above_and_not_far(largest: float, unit: Unit) -> None:
    assert largest < nice_top(largest, unit) <= 1.7 * largest


def test_a_level_curve_is_one_row_with_its_axis() -> None:
    lines = drawn(*[95e6] * 11)
    assert len(lines) == 9
    assert all(len(line) == 40 for line in lines)
    assert lines[0].startswith("100 Mbit/s┤")
    assert lines[4].startswith(" 50 Mbit/s┤")
    assert lines[7].startswith("         0┤")
    assert lines[8].startswith("          └0 s─")
    assert lines[8].endswith("─10 s")
    assert rows_with_dots(lines) == [0]
    assert lines[0].count("⠒") + lines[0].count("⠤") > 25


def test_a_rising_curve_goes_from_the_bottom_left_to_the_top_right() -> None:
    lines = drawn(*[k * 9.5e6 for k in range(11)])
    assert rows_with_dots(lines) == list(range(8))
    columns = [max(i for i, sign in enumerate(line) if sign > "⠀") for line in lines[:8]]
    assert columns == sorted(columns, reverse=True)


def test_what_is_outside_of_the_window_is_not_drawn() -> None:
    lines = drawn(0, 0, 0, 1e9, 1e9, end_s=2)
    assert lines[0].startswith("  1 Mbit/s┤")
    assert rows_with_dots(lines) == [7]


def test_a_limit_is_drawn_where_it_is_near() -> None:
    values = [90_000.0] * 11
    near = drawn(*values, unit=Unit.BYTES, limit=100_000.0, height=20)
    far = drawn(*values, unit=Unit.BYTES, limit=10_000_000.0, height=20)
    assert len(rows_with_dots(near)) == 2
    assert len(rows_with_dots(far)) == 1


def test_a_curve_with_a_gap_has_fewer_dots() -> None:
    def dots(lines: list[str]) -> int:
        return sum((ord(sign) - 0x2800).bit_count() for sign in "".join(lines) if "⠀" < sign <= "⣿")

    assert dots(drawn(*[95e6] * 11, gap=3)) * 2 < dots(drawn(*[95e6] * 11))


@given(
    st.lists(st.floats(0, 1e12), max_size=30),
    st.integers(1, 200),
    st.integers(1, 60),
    st.floats(0.1, 1e5),
)
@example([5e-324], 1, 1, 1.0)
def test_every_size_can_be_drawn(values: list[float], width: int, height: int, end: float) -> None:
    lines = drawn(*values, width=width, height=height, end_s=end)
    assert len(lines) == max(2, height)
    assert all(len(line) <= width for line in lines)
