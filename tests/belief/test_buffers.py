"""What the code believes of the kernel's socket buffers: their sizes, and what of them is data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.analysis.advice.arithmetic import (
    SEND_BUFFER_BYTES,
    machine_buffer_bytes,
    receive_buffer_bytes,
)
from longfat.analysis.advice.tuning import DEFAULT_BUFFERS
from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Tcp
from longfat.model.traffic import Transfer

Boot = Callable[..., str]

RATE_BPS, RTT_S = 200_000_000, 0.020
BDP_BYTES = int(RATE_BPS * RTT_S / 8)
PLENTY = 50_000_000
ADD = "tc qdisc add dev s1-eth1"


@pytest.mark.parametrize("memory_bytes", [512 << 20, 2 << 30])
def test_the_largest_buffers_depend_on_memory(
    boot: Boot, each_kernel: Kernel, memory_bytes: int
) -> None:
    said = boot(
        each_kernel,
        "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem",
        memory_bytes=memory_bytes,
    )
    rmem, wmem = ([int(number) for number in line.split()] for line in said.splitlines())
    assert tuple(rmem[:2]) == DEFAULT_BUFFERS["rmem"]
    assert tuple(wmem[:2]) == DEFAULT_BUFFERS["wmem"]
    maximum = machine_buffer_bytes(memory_bytes)
    own = receive_buffer_bytes(each_kernel.release)
    # What a kernel's own code takes of the memory differs a little.
    assert rmem[2] == pytest.approx(min(own, maximum), rel=0.01)
    assert wmem[2] == pytest.approx(min(SEND_BUFFER_BYTES, maximum), rel=0.01)


def test_options_of_tcp_are_on_and_cubic_is_the_default(boot: Boot, each_kernel: Kernel) -> None:
    names = ("window_scaling", "sack", "timestamps", "moderate_rcvbuf", "adv_win_scale")
    files = " ".join(f"/proc/sys/net/ipv4/tcp_{name}" for name in names)
    said = boot(each_kernel, f"cat {files} /proc/sys/net/ipv4/tcp_congestion_control")
    assert said.split() == ["1"] * 5 + ["cubic"]


def window_share(
    out: Path, *, kernel: str, which: str, buffer_bytes: int, frames: bool = False
) -> float:
    """Return which share of a buffer was in flight on a path that wants more."""
    lines = [
        (ROOT_NAMESPACE, "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms"),
        (
            ROOT_NAMESPACE,
            f"tc qdisc add dev s1-eth1 parent 1: tbf rate 200mbit burst 65536 limit {BDP_BYTES}",
        ),
    ]
    for host in ("h1", "h2"):
        for name, low, middle in (("rmem", 4096, 131072), ("wmem", 4096, 16384)):
            size = buffer_bytes if name == which else PLENTY
            lines.append((host, f"sysctl -w net.ipv4.tcp_{name}='{low} {middle} {size}'"))
        if frames:
            lines.append((host, f"ip link set dev {host}-eth0 gso_max_segs 1"))
    case = Case(
        kernel=kernel,
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(Switch(name="s1"),),
            links=(Link(a="h2", b="s1"), Link(a="h1", b="s1")),
        ),
        setup=tuple(Command(node=node, line=line) for node, line in lines),
        # How much iperf3 has in flight differs with its version, since 3.16 has threads.
        flows=(Transfer(name="bulk", source="h1", target="h2", time_s=3.0),),
        probes=(Tcp(name="tcp", of=("bulk",), every_s=1.0),),
        memory_bytes=1 << 30,
    )
    rows = run_case(case, name="case", out=out).series("tcp").to_pylist()
    received = {row["time_s"]: row["bytes_received"] for row in rows if row["end"] == "receiver"}
    steady_bps = 8 * (received[2.0] - received[1.0])
    # The path itself must not be what limits.
    assert steady_bps < 0.9 * RATE_BPS
    return float(steady_bps * RTT_S / 8 / buffer_bytes)


# The rate is near what the buffers let through; `test_socket_buffers` has rates far above.
# With segmentation offload a packet carries up to 64 KB behind one head; without, each frame has
# a head and a buffer of its own, as it has with network cards that do not put frames together.
@pytest.mark.parametrize(
    ("kernel", "which", "frames", "share"),
    [
        ("6.1", "rmem", False, 0.50),
        ("6.1", "rmem", True, 0.50),
        ("6.12", "rmem", False, 0.765),
        ("6.12", "rmem", True, 0.625),
        ("7.2", "rmem", False, 0.78),
        ("7.2", "rmem", True, 0.635),
        ("6.1", "wmem", False, 0.76),
        # Before 6.3 room for headers is of 1 KB where the kernel has tunnels (MAX_HEADER).
        ("6.1", "wmem", True, 0.417),
        ("6.12", "wmem", False, 0.76),
        ("6.12", "wmem", True, 0.50),
        ("7.2", "wmem", False, 0.76),
        ("7.2", "wmem", True, 0.42),
    ],
)
def test_how_much_of_a_buffer_is_data(
    tmp_path: Path, kernel: str, which: str, frames: bool, share: float
) -> None:
    found = window_share(
        tmp_path, kernel=kernel, which=which, buffer_bytes=BDP_BYTES, frames=frames
    )
    assert found == pytest.approx(share, rel=0.06)
