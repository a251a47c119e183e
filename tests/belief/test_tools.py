"""What the code believes of ping, ip, tc and iperf3."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.traffic import Iperf3, Ping

Boot = Callable[..., str]
MakeCase = Callable[..., Case]

TWO_HOSTS = """
ip link add near type veth peer name far
ip netns add x
ip link set far netns x
ip addr add 10.0.0.1/8 dev near
ip link set near up
ip -n x addr add 10.0.0.2/8 dev far
ip -n x link set far up
"""


@pytest.mark.parametrize("each_kernel", ["6.1"], indirect=True)
def test_ping_floods_in_the_first_second(boot: Boot, each_kernel: Kernel) -> None:
    # The reason why no traffic starts before 2 s. On 6.12 and 7.2 it does not, and not any more.
    year = int(re.findall(r"iputils (\d{4})", boot(each_kernel, "ping -V"))[0])
    early = boot(each_kernel, f"{TWO_HOSTS} ping -c 3 10.0.0.2 | grep time")
    late = boot(each_kernel, f"{TWO_HOSTS} sleep 2; ping -c 3 10.0.0.2 | grep time")
    assert int(re.findall(r"time (\d+)ms", late)[0]) >= 2000
    assert (int(re.findall(r"time (\d+)ms", early)[0]) < 2000) is (year < 2024)


def test_a_batch_of_ip_stops_at_the_first_bad_line(boot: Boot, kernel: Kernel) -> None:
    lines = r"link add p type dummy\nlink set nonesuch up\nlink add q type dummy\n"
    said = boot(kernel, f"printf '{lines}' | ip -batch - ; echo status $?; ip -br link")
    assert "status 1" in said
    assert re.search(r"^p ", said, re.MULTILINE)
    assert not re.search(r"^q ", said, re.MULTILINE)


def test_netem_drops_whole_gso_packets(boot: Boot, kernel: Kernel) -> None:
    # As in the source labs: with segmentation offload on, one loss is up to 45 segments.
    said = boot(
        kernel,
        f"""{TWO_HOSTS} sleep 2
        sysctl -qw net.ipv4.tcp_wmem='10240 87380 16777216'
        tc qdisc add dev near root netem delay 5ms loss 0.5%
        ip netns exec x iperf3 -s -1 > /dev/null &
        sleep 1
        iperf3 -c 10.0.0.2 -t 2 -J | grep '"retransmits"' | tail -1
        tc -s qdisc show dev near""",
    )
    lost = int(re.findall(r"dropped (\d+)", said)[0])
    again = int(re.findall(r'"retransmits":\s*(\d+)', said)[0])
    assert lost >= 1
    assert again > 4 * lost


def shaped(make_case: MakeCase, flow: Iperf3, **fields: Any) -> Case:
    case = make_case(
        flow,
        root=(
            "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms",
            "tc qdisc add dev s1-eth2 parent 1: handle 2:"
            " tbf rate 10gbit burst 5000000 limit 25000000",
        ),
        **fields,
    )
    buffers = tuple(
        Command(node=host, line=f"sysctl -w net.ipv4.tcp_{which}mem='10240 87380 16777216'")
        for host in ("h1", "h2")
        for which in "rw"
    )
    return dataclasses.replace(case, setup=case.setup + buffers, memory_bytes=2 << 30)


@pytest.mark.parametrize(
    ("version", "low_bps", "high_bps"), [("6.1", 3.0e9, 3.5e9), ("6.12", 4.2e9, 5.2e9)]
)
def test_how_much_of_a_buffer_is_window(
    tmp_path: Path, make_case: MakeCase, version: str, low_bps: float, high_bps: float
) -> None:
    # Kernels before 6.6 use half of a buffer; later ones scale by the packets' real overhead.
    flow = Iperf3(name="bulk", source="h1", target="h2", time_s=4.0)
    run = run_case(shaped(make_case, flow, kernel=version), name="case", out=tmp_path)
    steady = [row.bps for row in flow.report(run.raw).streams[0]][1:]
    assert low_bps < min(steady)
    assert max(steady) < high_bps


def test_the_interpreter_of_the_guest_runs_from_the_host(
    tmp_path: Path, make_case: MakeCase
) -> None:
    case = make_case(
        root=("test $(id -u) = 0", "test -w /tmp", "! touch /usr/x", "sysctl kernel.ostype")
    )
    assert run_case(case, name="case", out=tmp_path).virtual_s < 1
    assert case.setup[0].node == ROOT_NAMESPACE


def test_ping_spins_through_the_last_jiffy_before_a_request(
    tmp_path: Path, make_case: MakeCase
) -> None:
    # Where nothing is on its way any more and the next request is due within 10 ms, iputils'
    # ping does not wait: it asks for replies and yields, over and over (main_loop in
    # ping_common.c). In virtual time each round reads the clock, which is all that lets it pass.
    def wall_s(interval_s: float) -> float:
        flow = Ping(name="rtt", source="h1", target="h2", count=20, interval_s=interval_s)
        case = make_case(flow, root=("tc qdisc add dev s1-eth2 root netem delay 40ms",))
        return run_case(case, name=f"{interval_s:g}", out=tmp_path).wall_s

    calm_s = max(wall_s(0.03), wall_s(0.055), wall_s(0.2))
    assert wall_s(0.05) > 3 * calm_s
