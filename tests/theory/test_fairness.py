"""Jain's fairness index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.theory.fairness import jain_index

SHARES = st.lists(st.floats(min_value=0, max_value=1e300), min_size=1, max_size=20).filter(any)


@given(SHARES)
def test_it_lies_between_one_for_all_and_the_same_for_each(shares: list[float]) -> None:
    assert 1 / len(shares) - 1e-9 <= jain_index(shares) <= 1 + 1e-9


@given(st.integers(1, 20), st.integers(0, 20), st.floats(min_value=1e-300, max_value=1e300))
def test_k_of_n_have_the_same_and_the_others_nothing(k: int, others: int, share: float) -> None:
    assert jain_index([share] * k + [0.0] * others) == pytest.approx(k / (k + others))


@pytest.mark.parametrize("shares", [[], [0.0], [0, 0], [1, -1], [float("nan")], [float("inf")]])
def test_what_has_no_index(shares: list[float]) -> None:
    with pytest.raises(ValueError, match="share"):
        jain_index(shares)
