from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.theory import adaptive_red, red

sizes = st.floats(0, 1e9, allow_subnormal=False)
probabilities = st.floats(1e-4, 1.0)


@settings(deadline=None)
@given(sizes, sizes, st.floats(1e-6, 1.0))
def test_the_average_moves_towards_the_queue(before: float, queue: float, weight: float) -> None:
    after = red.average_bytes(average_bytes=before, queue_bytes=queue, weight=weight)
    low, high = sorted((before, queue))
    assert low * (1 - 1e-9) <= after <= high * (1 + 1e-9)


def test_the_average_gets_there() -> None:
    average = 0.0
    for _ in range(5000):
        average = red.average_bytes(average_bytes=average, queue_bytes=1e6, weight=0.002)
    assert average == pytest.approx(1e6, rel=1e-4)


@settings(deadline=None)
@given(sizes, sizes, probabilities, st.booleans())
def test_longer_queues_are_marked_more(
    one: float, other: float, probability: float, gentle: bool
) -> None:
    low, high = (
        red.mark_probability(
            average,
            min_bytes=1e8,
            max_bytes=4e8,
            max_probability=probability,
            gentle=gentle,
        )
        for average in sorted((one, other))
    )
    assert 0 <= low <= high <= 1


def test_the_ends_of_the_ramps() -> None:
    def at(average: float, *, gentle: bool) -> float:
        return red.mark_probability(
            average, min_bytes=10, max_bytes=30, max_probability=0.1, gentle=gentle
        )

    assert [at(average, gentle=False) for average in (9, 10, 20, 30)] == [0, 0, 0.05, 1]
    assert [at(average, gentle=True) for average in (30, 45, 60, 61)] == [0.1, 0.55, 1, 1]


def test_marks_are_spread_evenly() -> None:
    # Floyd and Jacobson 1993: the distance between marks is uniform from 1 to 1 / p_b.
    unmarked, distances = 1.0, []
    for count in range(50):
        probability = red.counted_probability(0.02, count)
        distances.append(unmarked * probability)
        unmarked *= 1 - probability
    assert distances == pytest.approx([0.02] * 50)
    assert unmarked == pytest.approx(0)


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(0, 10**6))
def test_counting_never_lowers(probability: float, count: int) -> None:
    counted = red.counted_probability(probability, count)
    assert probability <= counted <= 1


@settings(deadline=None)
@given(probabilities, sizes)
def test_adaptation_stays_within_its_bounds(probability: float, average: float) -> None:
    target = adaptive_red.adaptive_target(min_bytes=1e8, max_bytes=4e8)
    start = min(max(probability, 0.01), 0.5)
    after = adaptive_red.adapted_probability(start, average, target)
    assert 0.009 <= after <= 0.51
    if average > target.high_bytes:
        assert after > start
    elif average < target.low_bytes:
        assert after < start
    else:
        assert after == start


def test_adaptation_comes_to_its_ends() -> None:
    target = adaptive_red.Target(4e6, 6e6)
    high = low = 0.1
    for _ in range(200):
        high = adaptive_red.adapted_probability(high, 9e6, target)
        low = adaptive_red.adapted_probability(low, 1e6, target)
    assert high == pytest.approx(0.5, abs=0.011)
    assert low == pytest.approx(0.01, abs=0.0011)


@settings(deadline=None)
@given(st.floats(1e5, 1e12), st.floats(1e-4, 1.0))
def test_a_wanted_delay_is_what_the_target_gives(rate_bps: float, delay_s: float) -> None:
    least = adaptive_red.adaptive_min_packets(rate_bps=rate_bps, delay_s=delay_s, packet_bytes=1000)
    assert least >= 5
    target = adaptive_red.adaptive_target(min_bytes=least * 1000, max_bytes=3 * least * 1000)
    middle = (target.low_bytes + target.high_bytes) / 2
    if least > 5:
        assert middle * 8 / rate_bps == pytest.approx(delay_s)


def test_wrong_arguments() -> None:
    ramp: dict[str, Any] = {"min_bytes": 1.0, "max_bytes": 3.0, "max_probability": 0.1}
    with pytest.raises(ValueError, match="weight must be more than 0 and at most 1"):
        red.average_bytes(average_bytes=1, queue_bytes=1, weight=0)
    with pytest.raises(ValueError, match="max_bytes must be more than min_bytes"):
        red.mark_probability(1, **{**ramp, "max_bytes": 1.0})
    with pytest.raises(ValueError, match="max_probability must be more than 0 and at most 1"):
        red.mark_probability(1, **{**ramp, "max_probability": 1.1})
    with pytest.raises(ValueError, match="average_bytes must be 0 or more"):
        red.mark_probability(-1, **ramp)
    with pytest.raises(ValueError, match="probability must be from 0 to 1"):
        red.counted_probability(1.5, 0)
    with pytest.raises(ValueError, match="count must be 0 or more"):
        red.counted_probability(0.5, -1)
    with pytest.raises(ValueError, match="max_probability must be"):
        adaptive_red.adapted_probability(0, 1, adaptive_red.Target(1, 2))
    with pytest.raises(ValueError, match="rate_bps must be more than 0"):
        adaptive_red.adaptive_weight(rate_bps=0, packet_bytes=1000)
