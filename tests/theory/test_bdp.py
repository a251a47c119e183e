from __future__ import annotations

import doctest
from collections.abc import Callable

import pytest

from longfat.theory import bdp


def test_worked_examples() -> None:
    result = doctest.testmod(bdp)
    assert result.attempted >= 12
    assert result.failed == 0


@pytest.mark.parametrize("scale", [-3, -1, 0, 1, 2, 5])
def test_buffer_needed_undoes_window(scale: int) -> None:
    window = bdp.window_bytes(2**26, adv_win_scale=scale)
    assert bdp.buffer_needed_bytes(window, adv_win_scale=scale) == pytest.approx(2**26)


def test_shift_is_the_least_one() -> None:
    for shift in range(1, 15):
        largest = bdp.scaled_window_bytes(65535, shift)
        assert bdp.shift_needed(largest) == shift
        if shift < 14:
            assert bdp.shift_needed(largest + 1) == shift + 1


def test_too_large_window() -> None:
    with pytest.raises(ValueError, match="more than TCP can announce"):
        bdp.shift_needed(1_073_725_441)


@pytest.mark.parametrize(("field", "shift"), [(-1, 0), (65536, 0), (1, -1), (1, 15)])
def test_window_out_of_range(field: int, shift: int) -> None:
    with pytest.raises(ValueError, match="not"):
        bdp.scaled_window_bytes(field, shift)


def test_not_a_release() -> None:
    with pytest.raises(ValueError, match="not a Linux release"):
        bdp.has_half_rule("unknown")


def test_the_largest_window() -> None:
    assert bdp.MAX_WINDOW_BYTES == 1_073_725_440


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bdp.bdp_bits(-1, 1), "rate_bps must be 0 or more"),
        (lambda: bdp.bdp_bytes(1, -1), "rtt_s must be 0 or more"),
        (lambda: bdp.transmission_time_s(1, 0), "rate_bps must be more than 0"),
        (lambda: bdp.throughput_bps(1, 0), "rtt_s must be more than 0"),
        (
            lambda: bdp.packets_in_flight(rate_bps=1, rtt_s=1, packet_bytes=0),
            "packet_bytes must be more than 0",
        ),
    ],
)
def test_wrong_arguments(call: Callable[[], float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
