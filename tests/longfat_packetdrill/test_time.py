"""What `longfat packetdrill` believes of time: what is exact, and what the kernel's tick rounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat_packetdrill.options import Settings
from longfat_packetdrill.parser import parse_script
from longfat_packetdrill.run import Result, run_script

# The kernel's threads read the clock at a cost, a few times from a packet to its answer.
_AT_ONCE_S = 5e-6
_TICK_S, _BEFORE_TICK_S = 0.01, 0.00025
CONNECTION = """\
`sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_early_retrans=0`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+{rtt} < . 1:1(0) ack 1 win 512
+0 accept(3, ..., ...) = 4
"""


def run(kernel: Kernel, folder: Path, text: str) -> Result:
    path = folder / "x.pkt"
    path.write_text(text)
    script = parse_script(text, file=str(path), settings=Settings())
    return run_script(script, root=folder, kernel=kernel)


def test_answers_come_at_once(each_kernel: Kernel, tmp_path: Path) -> None:
    """An ACK, data and a RST leave in the moment of what calls for them."""
    text = CONNECTION.format(rtt=0.1) + (
        "+0 < P. 1:1001(1000) ack 1 win 512\n"
        "+0 > . 1:1(0) ack 1001\n"
        "+0 write(4, ..., 3000) = 3000\n"
        "+0 > P. 1:3001(3000) ack 1001\n"
        "+.0123 < . 1001:1001(0) ack 3001 win 512\n"
        "+0 close(4) = 0\n"
        "+0 > R. 3001:3001(0) ack 1001\n"
    )
    result = run(each_kernel, tmp_path, f"--tolerance_usecs=5\n--tolerance_percent=0\n{text}")
    assert result.passed, result.failure
    assert result.deviation_s is not None
    assert 0 <= result.deviation_s < _AT_ONCE_S


def test_our_own_events_are_never_late(each_kernel: Kernel, tmp_path: Path) -> None:
    more = "".join(f"+.0007 < . 1:1(0) ack 1 win {512 + number}\n" for number in range(200))
    result = run(each_kernel, tmp_path, CONNECTION.format(rtt=0.1) + more)
    assert result.passed, result.failure
    assert result.late_s < 1e-6
    assert result.virtual_s == pytest.approx(0.1 + 200 * 0.0007, abs=1e-9)


@pytest.mark.parametrize("rtt_us", [1000, 12345, 100_000, 250_000])
def test_rtts_are_those_of_the_script(each_kernel: Kernel, tmp_path: Path, rtt_us: int) -> None:
    """To the microsecond, in which the kernel counts: nothing of ours takes time."""
    code = f"+0 %{{ assert tcpi_rtt == {rtt_us}, tcpi_rtt }}%\n"
    result = run(each_kernel, tmp_path, CONNECTION.format(rtt=f"{rtt_us / 1e6:.6f}") + code)
    assert result.passed, result.failure


@pytest.mark.parametrize(("written_at_ms", "late_s"), [(100, _BEFORE_TICK_S), (103, 0.00725)])
def test_timers_end_with_a_tick(
    each_kernel: Kernel, tmp_path: Path, written_at_ms: int, late_s: float
) -> None:
    """A timer of 300 ms ends with the first tick after that, and a script begins before one."""
    text = CONNECTION.format(rtt=0.1) + (
        f"{written_at_ms / 1000} write(4, ..., 1000) = 1000\n"
        "+0 > P. 1:1001(1000) ack 1\n"
        "+.3 > P. 1:1001(1000) ack 1\n"
    )
    result = run(each_kernel, tmp_path, text)
    assert result.passed, result.failure
    assert result.deviation_s == pytest.approx(late_s, abs=_AT_ONCE_S)
    assert late_s < _TICK_S
