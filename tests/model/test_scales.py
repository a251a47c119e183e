import pytest

from longfat.model.metric import Unit
from longfat.model.scales import scale_for


@pytest.mark.parametrize(
    ("unit", "largest", "shown", "word"),
    [
        (Unit.BPS, 9.4e9, 9.4, "Gbit/s"),
        (Unit.BPS, 9.4e8, 940, "Mbit/s"),
        (Unit.BPS, 12, 12, "bit/s"),
        (Unit.BYTES, 26214400, 25, "MB"),
        (Unit.BYTES, 2048, 2, "KB"),
        (Unit.SECONDS, 0.02, 20, "ms"),
        (Unit.SECONDS, 40e-6, 40, "µs"),
        (Unit.SECONDS, 0, 0, "ms"),
        (Unit.FRACTION, 0.5, 50, "%"),
        (Unit.COUNT, 315, 315, "segments"),
        (Unit.COUNT, 4e6, 4, "M segments"),
        (Unit.BPS, 2e12, 2, "Tbit/s"),
    ],
)
def test_the_unit_keeps_numbers_short(unit: Unit, largest: float, shown: float, word: str) -> None:
    scale = scale_for(unit, largest, counted="segments")
    assert scale.unit == word
    assert largest * scale.factor == pytest.approx(shown)
