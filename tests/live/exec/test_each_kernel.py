"""What a script relies on, on every kernel: links that are up, and iperf3 after an interruption."""

from __future__ import annotations

import re

import pytest

from tests.command import run_command
from tests.kernels import KERNELS

_FIRST_PACKETS = {
    "veth": """
ip netns add a; ip netns add b
ip link add va netns a type veth peer name vb netns b
ip -n a addr add 10.9.0.1/24 dev va; ip -n b addr add 10.9.0.2/24 dev vb
ip -n a link set va up; ip -n b link set vb up
ip netns exec a ping -c 1 10.9.0.2
""",
    "bridge, the port last": """
ip netns add b
ip link add va type veth peer name vb netns b
ip link add br0 type bridge; ip addr add 10.9.0.1/24 dev br0; ip link set br0 up
ip -n b addr add 10.9.0.2/24 dev vb; ip -n b link set vb up
ip link set va up; ip link set va master br0
ping -c 1 10.9.0.2
""",
    "vlan": """
ip netns add b
ip link add va type veth peer name vb netns b
ip link add link va name va.5 type vlan id 5
ip -n b link add link vb name vb.5 type vlan id 5
ip addr add 10.9.0.1/24 dev va.5; ip -n b addr add 10.9.0.2/24 dev vb.5
ip link set va up; ip link set va.5 up; ip -n b link set vb up; ip -n b link set vb.5 up
ping -c 1 10.9.0.2
""",
    # Its multicast group is joined by another thread of the kernel, see docs/limits.md.
    "IPv6 without detection of duplicates": """
ip netns add b
ip link add va type veth peer name vb netns b
ip addr add fc00::1/64 dev va nodad; ip -n b addr add fc00::2/64 dev vb nodad
ip link set va up; ip -n b link set vb up; sleep 0.001
ping -c 1 fc00::2
""",
    "down and up": """
ip netns add b
ip link add va type veth peer name vb netns b
ip addr add 10.9.0.1/24 dev va; ip -n b addr add 10.9.0.2/24 dev vb
ip link set va up; ip -n b link set vb up; ip link set va down; ip link set va up
ping -c 1 10.9.0.2
""",
}


def _exec(kernel: str, script: str) -> str:
    arguments = ("longfat", "exec", "--kernel", kernel, "--memory", "512MB", "sh")
    done = run_command(*arguments, given=script.encode(), cwd="/")
    return str(done.stdout, "utf-8")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("script", _FIRST_PACKETS.values(), ids=_FIRST_PACKETS)
def test_first_packet_after_link_up_arrives(kernel: str, script: str) -> None:
    printed = _exec(kernel, script)
    rtt = re.search(r"time[=<]([0-9.]+) ms", printed)
    assert rtt, printed
    assert float(rtt[1]) < 1


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("signal", ["INT", "TERM", "KILL"])
def test_iperf3_server_goes_on_after_an_interrupted_client(kernel: str, signal: str) -> None:
    options = ("", "-P 3", "-u", "-R", "--bidir", "-l 1 -b 1M")
    script = "ip link set lo up\niperf3 -s >/dev/null 2>&1 &\nsleep 1\n" + "".join(
        f"timeout -s {signal} 2 iperf3 -c 127.0.0.1 -b 10M -t 100 {option} >/dev/null 2>&1\n"
        "timeout 20 iperf3 -c 127.0.0.1 -b 10M -t 1 | tail -n 1\n"
        for option in options
    )
    assert _exec(kernel, script).splitlines() == ["iperf Done."] * len(options)


@pytest.mark.parametrize("kernel", KERNELS)
def test_iperf3_client_ends_with_an_interrupted_server(kernel: str) -> None:
    script = """
ip link set lo up
timeout -s INT 3 iperf3 -s >/dev/null 2>&1 &
sleep 1
timeout 20 iperf3 -c 127.0.0.1 -b 10M -t 100 2>&1 | tail -n 1
timeout -s INT 20 iperf3 -s -1 >/dev/null 2>&1 &
sleep 1
timeout 20 iperf3 -c 127.0.0.1 -b 10M -t 1 | tail -n 1
"""
    server_ends, passes = _exec(kernel, script).splitlines()
    assert "terminated" in server_ends
    assert passes == "iperf Done."
