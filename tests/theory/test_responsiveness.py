"""Round trips per minute, by the numbers of the draft."""

from __future__ import annotations

import pytest

from longfat.theory.responsiveness import foreign_rpm, trimmed_mean


def test_the_largest_twentieth_is_left_out() -> None:
    assert trimmed_mean([1.0] * 19 + [1000.0]) == 1.0
    assert trimmed_mean([3.0]) == 3.0
    assert trimmed_mean([1.0, 2.0, 3.0]) == 1.5


def test_handshake_and_request_are_a_round_trip_each() -> None:
    # 20 ms for each of both: 60 / ((0.02 + 0.02) / 2).
    assert foreign_rpm([0.04] * 10) == pytest.approx(3000)
