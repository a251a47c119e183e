from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.output.plot.labels import spread


def test_spread() -> None:
    assert spread([0.1, 0.9], minimum=0.1) == [0.1, 0.9]
    assert spread([0.5, 0.5], minimum=0.2) == pytest.approx([0.4, 0.6])
    crowded = spread([0.0, 0.0, 0.0, 1.0], minimum=0.1)
    assert crowded == pytest.approx([0.0, 0.1, 0.2, 1.0])
    assert min(spread([1.0] * 5, minimum=0.1)) == pytest.approx(0.6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.01, 0.1))
def test_names_never_touch(wanted: list[float], minimum: float) -> None:
    placed = sorted(spread(wanted, minimum=minimum))
    assert all(b - a >= minimum * 0.999 for a, b in pairwise(placed))
    assert placed[0] >= 0
    assert placed[-1] <= 1 + 1e-9
