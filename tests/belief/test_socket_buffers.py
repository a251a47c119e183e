"""How much of a socket buffer is data in flight, measured against `theory.socket_buffers`.

The rate is far above what the buffer lets through, nothing is lost, and the other end's buffer is
large, so that one buffer alone limits.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, LinkImpairments, Network
from longfat.model.probes import Tcp
from longfat.model.traffic import Iperf3, Transfer
from longfat.theory import socket_buffers
from longfat.theory.bdp import throughput_bps
from longfat.theory.socket_buffers import IPERF3_WRITE_BYTES, MB

PLENTY_BYTES = 200_000_000
SLOW_RTT = (0.165, 10**9)
FAST_RTT = (0.020, 10**10)
KERNELS = {"6.1": (6, 1), "6.12": (6, 12), "7.2": (7, 2)}
TOOLS = {"iperf3": Iperf3, "transfer": Transfer}


def measured_bps(
    out: Path,
    *,
    kernel: str,
    which: str,
    buffer_bytes: int,
    path: tuple[float, int],
    tool: str = "iperf3",
    frames: bool = False,
) -> float:
    """Return the steady throughput of a flow with one small buffer."""
    rtt_s, rate_bps = path
    lines = []
    for host in ("h1", "h2"):
        for name, low, middle in (("rmem", 4096, 131072), ("wmem", 4096, 16384)):
            size = buffer_bytes if name == which else PLENTY_BYTES
            lines.append((host, f"sysctl -w net.ipv4.tcp_{name}='{low} {middle} {size}'"))
    there = LinkImpairments(rate_bps=rate_bps, delay_s=rtt_s / 2, queue_bytes=100_000_000)
    back = LinkImpairments(delay_s=rtt_s / 2)
    time_s = 11.0 if rtt_s > 0.1 else 4.0
    case = Case(
        kernel=kernel,
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/24"), Host(name="h2", address="10.0.0.2/24")),
            switches=(),
            links=(Link(a="h1", b="h2", a_to_b=there, b_to_a=back),),
            frames=frames,
        ),
        setup=tuple(Command(node=node, line=line) for node, line in lines),
        flows=(TOOLS[tool](name="bulk", source="h1", target="h2", time_s=time_s),),
        probes=(Tcp(name="tcp", of=("bulk",), every_s=0.5),),
        memory_bytes=2 << 30,
    )
    rows = run_case(case, name="case", out=out).series("tcp").to_pylist()
    received = {row["time_s"]: row["bytes_received"] for row in rows if row["end"] == "receiver"}
    start_s, end_s = (6.0, 10.0) if rtt_s > 0.1 else (1.5, 3.5)
    return float(8 * (received[end_s] - received[start_s]) / (end_s - start_s))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", [SLOW_RTT, FAST_RTT], ids=["165ms", "20ms"])
@pytest.mark.parametrize("frames", [False, True], ids=["offload", "frames"])
def test_the_window_of_a_receive_buffer(
    tmp_path: Path, kernel: str, path: tuple[float, int], frames: bool
) -> None:
    size = 6 * MB
    found = measured_bps(
        tmp_path, kernel=kernel, which="rmem", buffer_bytes=size, path=path, frames=frames
    )
    share = socket_buffers.receive_share(KERNELS[kernel], frames=frames)
    assert found == pytest.approx(throughput_bps(share * size, path[0]), rel=0.05)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("path", [SLOW_RTT, FAST_RTT], ids=["165ms", "20ms"])
@pytest.mark.parametrize("size", [4 * MB, 16 * MB], ids=["4MB", "16MB"])
def test_iperf3_in_a_send_buffer(
    tmp_path: Path, kernel: str, path: tuple[float, int], size: int
) -> None:
    rtt_s, rate_bps = path
    if size > 4 * MB:
        rate_bps = 10 * rate_bps  # far above, still
    found = measured_bps(
        tmp_path, kernel=kernel, which="wmem", buffer_bytes=size, path=(rtt_s, rate_bps)
    )
    window_bytes = socket_buffers.send_window_bytes(
        size,
        share=socket_buffers.send_share(KERNELS[kernel]),
        write_bytes=IPERF3_WRITE_BYTES,
    )
    # One window each round trip (RFC 1072, section 1), and one write of the program.
    turn_s = rtt_s + IPERF3_WRITE_BYTES * 8 / rate_bps
    assert found == pytest.approx(min(rate_bps, window_bytes * 8 / turn_s), rel=0.05)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("size", "frames"),
    [(1 * MB, False), (4 * MB, False), (4 * MB, True)],
    ids=["1MB-offload", "4MB-offload", "4MB-frames"],
)
def test_a_program_that_fills_a_send_buffer(
    tmp_path: Path, kernel: str, frames: bool, size: int
) -> None:
    found = measured_bps(
        tmp_path,
        kernel=kernel,
        which="wmem",
        buffer_bytes=size,
        path=SLOW_RTT,
        tool="transfer",
        frames=frames,
    )
    share = socket_buffers.send_share(KERNELS[kernel], frames=frames)
    window = socket_buffers.send_window_bytes(size, share=share)
    assert found == pytest.approx(throughput_bps(window, SLOW_RTT[0]), rel=0.05)
