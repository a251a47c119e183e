"""Ticks and units of axes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.model.metric import Unit
from longfat.output.plot import Axis
from longfat.output.plot.axis_scale import Room, axis_scale, number_text

PAGE = Room(long_in=6.0)
MULTIPLE = Room(long_in=1.5)
HEIGHT = Room(long_in=2.0, upright=True)


def texts(values: Any, room: Room = PAGE, *, stops: Any = (), **axis: Any) -> list[str]:
    given = {"label": "x", "unit": Unit.SECONDS, **axis}
    found = axis_scale(Axis(**given), np.array(values, float), room, stops=stops)
    return [text for _, text in found.ticks]


def test_log_ticks_are_as_many_as_fit() -> None:
    assert texts([1e-3, 0.3], MULTIPLE, log=True) == ["1", "10", "100"]
    assert texts([1e-7, 0.1], log=True, unit=Unit.FRACTION)[0] == "0.00001"


def test_the_unit_of_a_log_axis_keeps_its_numbers_short() -> None:
    def unit(minimum: float, maximum: float, kind: Unit) -> str:
        return axis_scale(
            Axis(label="", unit=kind, log=True), np.array([minimum, maximum]), PAGE
        ).unit

    assert unit(1e-3, 0.3, Unit.SECONDS) == "ms"
    assert unit(0.015, 0.3, Unit.SECONDS) == "ms"
    assert unit(0.05, 1.3, Unit.SECONDS) == "s"
    assert unit(40e3, 1e9, Unit.BPS) == "Mbit/s"


def test_the_values_of_a_parameter_are_the_ticks_where_they_fit() -> None:
    assert texts([1, 64], stops=[1, 8, 64], unit=Unit.COUNT, log=True) == ["1", "8", "64"]
    many = np.arange(1, 40)
    assert texts(many, stops=many, unit=Unit.COUNT) != [str(k) for k in many]
    near = [1.0, 1.01, 1.02, 64.0]
    assert "1.01" not in texts(near, MULTIPLE, stops=near, unit=Unit.COUNT)


@pytest.mark.parametrize("log", [False, True])
def test_sizes_are_shown_as_the_study_has_them(log: bool) -> None:
    def shown(*typed: tuple[float, str]) -> tuple[str, list[str]]:
        axis = Axis(label="buffer", unit=Unit.BYTES, log=log, typed=typed)
        values = np.array([value for value, _ in typed])
        found = axis_scale(axis, values, PAGE, stops=values.tolist())
        return found.title, [text for _, text in found.ticks]

    kib = 1024
    mixed = ((125.0 * kib, "125KB"), (1250.0 * kib, "1250KB"), (2.0 * kib**2, "2MB"))
    assert shown(*mixed) == ("buffer", ["125KB", "1250KB", "2MB"])
    # One unit is that of the axis.
    same = ((125.0 * kib, "125KB"), (250.0 * kib, "250KB"))
    assert shown(*same) == (
        ("buffer", ["125KB", "250KB"]) if log else ("buffer (KB)", ["125", "250"])
    )
    assert shown((1000.0, "1000"), (64000.0, "64000")) == ("buffer", ["1000", "64000"])


def test_sizes_far_apart_have_units_of_their_own() -> None:
    sizes = [64 * 1024 * 4**k for k in range(6)]
    found = axis_scale(
        Axis(label="buffer", unit=Unit.BYTES, log=True), np.array(sizes), PAGE, stops=sizes
    )
    assert [text for _, text in found.ticks] == [
        "64 KB",
        "256 KB",
        "1 MB",
        "4 MB",
        "16 MB",
        "64 MB",
    ]
    assert found.title == "buffer"


def test_shares_near_to_all_are_shown_against_it() -> None:
    found = axis_scale(Axis(label="use", unit=Unit.FRACTION), np.array([0.2, 0.97]), HEIGHT)
    assert (found.low, found.title) == (0.0, "use (%)")
    assert found.high == pytest.approx(103)
    assert found.ticks[-1] == (100.0, "100")


def test_ends_that_were_asked_for_are_kept() -> None:
    axis = Axis(label="rate", unit=Unit.BPS, low=2e8, high=6e8)
    found = axis_scale(axis, np.array([3e8, 9e8]), HEIGHT)
    assert (found.low, found.high, found.unit) == pytest.approx((200.0, 600.0, "Mbit/s"))


def test_numbers_are_reported_shortly() -> None:
    texts = [number_text(n) for n in (0, 0.0001, 0.1 + 0.2, 25, 12000, 1e-9, -2.5, 4e6)]
    assert texts == ["0", "0.0001", "0.3", "25", "12,000", "1·10⁻⁹", "-2.5", "4 M"]


@settings(deadline=None)
@given(
    st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from(Unit),
    st.sampled_from([PAGE, MULTIPLE, HEIGHT]),
)
def test_any_values_stand_between_the_ends_and_ticks_do_too(
    values: list[float], log: bool, unit: Unit, room: Room
) -> None:
    axis = Axis(label="x", unit=unit, log=log)
    found = axis_scale(axis, np.array(values), room, stops=values)
    drawn = found.places(np.array(values))
    assert found.low < found.high
    assert (drawn >= found.low - 1e-9 * abs(found.high)).all()
    assert (drawn <= found.high * (1 + 1e-9)).all()
    places = [at for at, _ in found.ticks]
    assert places == sorted(places)
