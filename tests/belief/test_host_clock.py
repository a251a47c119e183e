"""What the code believes of hosts whose clocks are wrong, as the variant `clock` has them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longfat.engine import kernel as kernels
from longfat.engine.kernel import Kernel
from longfat.model.network.clock import CLOCK_PATCH
from tests.kernels import CLOCK_KERNEL

Boot = Callable[..., str]

SET = "ip netns exec a sysctl -qw net.host_clock"


def test_other_kernels_have_one_clock(each_kernel: Kernel, boot: Boot) -> None:
    assert CLOCK_PATCH not in kernels.manifest_of(each_kernel).patches
    assert boot(each_kernel, "ls /proc/sys/net").split().count("host_clock") == 0


@pytest.mark.slow
def test_a_clock_is_that_of_a_network_namespace(boot: Boot) -> None:
    script = f"""
ip netns add a; ip netns add b
{SET}.offset_ns=5000000000
for name in a b; do ip netns exec $name date +%s; done
date +%s
cat /proc/sys/net/host_clock/offset_ns
# The drift is counted from when it was set, and what it made before stays.
{SET}.drift_ppb=1000000
sleep 100
ip netns exec a date +%s
{SET}.drift_ppb=0
sleep 100
ip netns exec a date +%s
date +%s
"""
    a, b, root, offset, later, last, last_root = map(int, boot(_kernel(), script).split())
    assert (a - root, b - root, offset) == (5, 0, 0)
    assert later - a in (100, 101)
    assert (last - last_root) in (5, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "number", "is_good"),
    [
        ("offset_ns", "-630720000000000000", True),
        ("offset_ns", "630720000000000001", False),
        ("offset_ns", "99999999999999999999", False),
        ("offset_ns", "much", False),
        ("offset_ns", "", False),
        ("drift_ppb", "-100000000", True),
        ("drift_ppb", "100000001", False),
    ],
)
def test_limits(boot: Boot, setting: str, number: str, is_good: bool) -> None:
    file = f"/proc/sys/net/host_clock/{setting}"
    written = f"ip netns exec a sh -c 'echo {number} > {file}'"
    script = f"ip netns add a; {written} 2>/dev/null && echo good; ip netns exec a cat {file}"
    words = boot(_kernel(), script).split()
    assert ("good" in words) == is_good
    if is_good:
        assert words[-1] == number


@pytest.mark.slow
@pytest.mark.parametrize("offset_ns", [0, 5 * 10**9, -5 * 10**9, -630720000000000000])
@pytest.mark.parametrize("until_s", [2**62, 9_223_372_036, 9_000_000_000])
def test_a_wait_for_ever_does_not_end(boot: Boot, offset_ns: int, until_s: int) -> None:
    wait = (
        f"import ctypes; until = (ctypes.c_long * 2)({until_s}, 0); "
        "print(ctypes.CDLL(None).clock_nanosleep(0, 1, until, None))"
    )
    script = f"""
ip netns add a
{SET}.offset_ns={offset_ns}
ip netns exec a timeout 5 python3 -c '{wait}'
echo $?
"""
    assert boot(_kernel(), script).split() == ["124"]


def _kernel() -> Kernel:
    return kernels.find(CLOCK_KERNEL)
