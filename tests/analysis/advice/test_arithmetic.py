"""The arithmetic of a path: its numbers, and the lines that show them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.analysis.advice.arithmetic import Arithmetic, compute, receive_buffer_bytes
from longfat.cli.render.equations import Equation, Section, section_lines, sections
from longfat.errors import InputError


def page(path: Arithmetic) -> str:
    return "\n".join(line for line, _ in section_lines(sections(path)))


def test_the_workshop_s_path() -> None:
    path = compute(rate_bps=10**10, rtt_s=0.050, kernel="6.1")
    assert path.bdp_bits == 500_000_000
    assert path.bdp_bytes == 62_500_000
    assert path.mb_rtt_fraction == pytest.approx(0.0168, rel=0.01)
    assert (path.window_shift, path.connections, path.buffer_bytes) == (10, 1, 125_000_000)
    assert path.packets_in_flight == pytest.approx(41_667, abs=1)
    assert path.mathis_bps is None


def test_the_lab_s_path() -> None:
    path = compute(rate_bps=10**10, rtt_s=0.020, kernel="6.1", flows=100, loss_fraction=0.0001)
    assert path.buffer_bytes == 50_000_000
    by_size = {limit.buffer_bytes: limit for limit in path.limits}
    assert by_size[16 * 1024**2].throughput_bps == pytest.approx(3.36e9, rel=0.01)
    assert by_size[6 * 1024**2].rate_fraction == pytest.approx(0.126, rel=0.01)
    # Three writes of iperf3: measured, see tests/belief/test_socket_buffers.py.
    assert by_size[4 * 1024**2].window_bytes == 3 * 10 * 131_072
    assert by_size[4 * 1024**2].throughput_bps == pytest.approx(1.49e9, rel=0.01)
    assert path.router_buffer_bytes == 25_000_000
    assert path.router_buffer_flows_bytes == 2_500_000
    assert path.mathis_bps == pytest.approx(58.4e6)
    assert path.mathis_streams == 172


def test_every_sum_is_written_down() -> None:
    words = page(compute(rate_bps=10**10, rtt_s=0.020, kernel="6.1", loss_fraction=0.0001))
    for sum_ in (
        "10 Gbit/s x 20 ms = 200,000,000 bit",
        "25,000,000 B / 1024^2 =        23.8 MB",
        "65,535 B x 2^9 = 33,553,920 B (enough)",
        "2 x 25,000,000 B = 50,000,000 B",
        "16,777,216 B / 2 x 8 / 20 ms = 3.36 Gbit/s (33.6 %)",
        "20 ms x sqrt(0.0001) =      200 µs",
        "sysctl -w net.ipv4.tcp_rmem='4096 131072 50000000'",
        "Linux 6.1 offers half of a receive buffer as window.",
    ):
        assert sum_ in words


def test_kernels_without_the_half_rule_say_so() -> None:
    path = compute(rate_bps=10**10, rtt_s=0.020, kernel="6.12")
    assert not path.half_rule
    assert "at the very least" in page(path)
    assert "not overhead" in page(path)


@pytest.mark.parametrize(
    ("kernel", "size"), [("4.18", 6), ("6.1.158", 6), ("6.15", 6), ("6.16", 32), ("7.2", 32)]
)
def test_stock_receive_buffers(kernel: str, size: int) -> None:
    assert receive_buffer_bytes(kernel) == size * 1024**2


def test_a_small_path_needs_nothing() -> None:
    words = page(compute(rate_bps=10**6, rtt_s=0.001, kernel="6.1"))
    assert "no scaling is needed" in words
    assert "nothing to set" in words
    assert "sysctl" not in words


def test_a_path_beyond_one_window_takes_connections() -> None:
    path = compute(rate_bps=400 * 10**9, rtt_s=0.3, kernel="6.1")
    assert path.window_bytes == 1_073_725_440
    assert path.connections == 14
    assert "14 connections" in page(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate_bps": 0}, "the rate must be more than 0"),
        ({"rtt_s": 0.0}, "the RTT must be more than 0"),
        ({"rate_bps": 10**16}, "at most 100 Tbit/s"),
        ({"rtt_s": 7200.0}, "at most 3600 s"),
        ({"rtt_s": 1e-12}, "1 bit or more"),
        ({"rate_bps": 10**14, "rtt_s": 60.0}, "at most 1e13"),
        ({"mss_bytes": 0}, "1 to 65,495 bytes"),
        ({"mss_bytes": 65_496}, "1 to 65,495 bytes"),
        ({"flows": 0}, "1 flow or more"),
        ({"loss_fraction": 0.0}, "more than 0%"),
        ({"loss_fraction": 1.0}, "less than 100%"),
        ({"kernel": "six"}, "not a Linux release"),
    ],
)
def test_what_is_no_path(change: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"rate_bps": 10**10, "rtt_s": 0.02, "kernel": "6.1"}
    with pytest.raises(InputError, match=message):
        compute(**{**good, **change})  # type: ignore[arg-type]


paths = st.builds(
    compute,
    rate_bps=st.integers(10**5, 10**12),
    rtt_s=st.floats(1e-4, 1.0),
    mss_bytes=st.integers(500, 9000),
    kernel=st.sampled_from(["4.18", "6.1.158", "6.12.63", "7.2"]),
    flows=st.none() | st.integers(1, 10**6),
    loss_fraction=st.none() | st.floats(1e-9, 0.5),
)


@settings(deadline=None)
@given(path=paths)
def test_any_path_fits_the_page(path: Arithmetic) -> None:
    lines = page(path).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert all(line == line.rstrip() for line in lines)
    assert path.buffer_bytes <= 2**31 - 1, "the sysctl takes no more"
    assert all(0 < limit.rate_fraction <= 1 for limit in path.limits)
    assert path.connections * path.window_bytes >= path.bdp_bytes * (1 - 1e-9)


def test_a_crowded_section_gives_up_its_alignment_not_its_numbers() -> None:
    long = Equation("a", "1" * 40, "123,456,789,012 B", "(a remark)")
    found = (
        Section("crowded", (long, Equation("b", "2", "3 B"))),
        Section("c", (Equation("d", "4", "5"),)),
    )
    lines = [line for line, _ in section_lines(found)]
    assert f"{'1' * 40} = 123,456,789,012 B" in lines[1]
    assert all(len(line) <= 80 for line in lines)
    assert lines[3:5] == ["", "c"]
