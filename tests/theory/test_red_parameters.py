from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.execution.tools import GUEST_PATH
from longfat.theory import red_parameters as tc

TC = shutil.which("tc", path=GUEST_PATH)
LIMIT, MAX, MIN = 26_214_400, 8_738_133, 2_184_533


def test_the_lab_s_numbers() -> None:
    """The lab's thresholds are the man page's two fractions, in the other order."""
    assert (LIMIT // 3, LIMIT // 3 // 4) == (MAX, MIN)
    guideline = tc.guideline_burst_packets(min_bytes=MIN, max_bytes=MAX)
    assert guideline == 4369
    assert tc.least_burst_packets(min_bytes=MIN) == 2185
    assert tc.weight_shift(min_bytes=MIN, burst_packets=2185) <= tc.largest_weight_shift(MAX)
    assert tc.weight_shift(min_bytes=MIN, burst_packets=guideline) > tc.largest_weight_shift(MAX)
    assert tc.least_limit_bytes(max_bytes=MAX, burst_packets=guideline) < LIMIT


@pytest.mark.skipif(TC is None, reason="needs tc")
def test_tc_asks_for_the_least_burst() -> None:
    # tc reads the options before it looks for the device, and there is none of this name.
    words = [
        "qdisc",
        "add",
        "dev",
        "longfat-none",
        "root",
        "red",
        "limit",
        str(LIMIT),
        "avpkt",
        "1000",
    ]
    words += ["min", str(MIN), "max", str(MAX), "burst", "2184", "bandwidth", "1gbit"]
    done = subprocess.run([str(TC), *words], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Try burst 2185" in done.stderr


@settings(deadline=None)
@given(st.integers(3_000, 10**9), st.integers(100, 9000))
def test_the_defaults_are_consistent(limit: int, avpkt: int) -> None:
    largest = tc.default_max_bytes(limit)
    least = tc.default_min_bytes(largest)
    assert least * 3 <= largest <= least * 3 + 2
    burst = tc.guideline_burst_packets(min_bytes=least, max_bytes=largest, avpkt_bytes=avpkt)
    assert burst * avpkt <= largest


@settings(deadline=None)
@given(st.integers(2_000, 10**7), st.integers(0, 5000), st.integers(0, 5000))
def test_longer_bursts_average_longer(least: int, one: int, other: int) -> None:
    lowest = tc.least_burst_packets(min_bytes=least)
    short, long = sorted((one, other))
    shifts = [
        tc.weight_shift(min_bytes=least, burst_packets=lowest + more) for more in (short, long)
    ]
    assert 1 <= shifts[0] <= shifts[1] < 32


@settings(deadline=None)
@given(st.integers(1, 2**30 - 1))
def test_the_kernel_s_bound(largest: int) -> None:
    shift = tc.largest_weight_shift(largest)
    assert largest << shift < 2**31
    assert shift == 30 or largest << (shift + 1) >= 2**31


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="burst_packets must be 2185 or more"):
        tc.weight_shift(min_bytes=MIN, burst_packets=2184)
    with pytest.raises(ValueError, match="min_bytes must be more than avpkt_bytes"):
        tc.weight_shift(min_bytes=1000, burst_packets=2)
    with pytest.raises(ValueError, match="too large for this min"):
        tc.weight_shift(min_bytes=2000, burst_packets=10**9)
    with pytest.raises(ValueError, match="limit_bytes must be more than 0"):
        tc.default_max_bytes(0)
    with pytest.raises(ValueError, match="max_bytes must be more than 0"):
        tc.default_min_bytes(-1)
    with pytest.raises(ValueError, match="avpkt_bytes must be more than 0"):
        tc.guideline_burst_packets(min_bytes=1, max_bytes=3, avpkt_bytes=0)
    with pytest.raises(ValueError, match="max_bytes must be less than"):
        tc.largest_weight_shift(2**30)
