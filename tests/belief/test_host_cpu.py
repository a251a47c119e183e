"""What the code believes of hosts whose CPUs take time, as our kernel patch has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import CpuCosts, Host, HostTiming, Link, LinkImpairments, Network, Switch
from longfat.model.probes import Queue, Rate, Tcp
from longfat.model.traffic import Iperf3, Ping

Boot = Callable[..., str]

CLOCK_STEP_S = 256e-9
"""The steps in which a machine's clock is read, and timers are served."""

SLOW_TIMERS = HostTiming(timer_latency_s=51.2e-6)
SLOW_CPU = HostTiming(
    timer_latency_s=51.2e-6,
    cpu=CpuCosts(syscall_s=300e-9, copy_s=80e-12, packet_s=436e-9, wakeup_s=1e-6),
)

# Each host delays what it sends by a timer of its own.
NETWORK = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
    switches=(),
    links=(
        Link(
            a="h1",
            b="h2",
            a_to_b=LinkImpairments(delay_s=200e-6),
            b_to_a=LinkImpairments(delay_s=200e-6),
        ),
    ),
)


def timed(network: Network, **timings: HostTiming) -> Network:
    """Return a network whose hosts have these timings."""
    hosts = tuple(replace(host, timing=timings.get(host.name)) for host in network.hosts)
    return replace(network, hosts=hosts)


@pytest.fixture
def rtts_s(each_kernel: Kernel, tmp_path: Path) -> Callable[[Network], list[float]]:
    """Ping h2 from h1, and return the RTTs but for the first, which waits for ARP."""

    def pinged(network: Network) -> list[float]:
        case = Case(
            kernel=each_kernel.series,
            network=network,
            flows=(Ping(name="ping", source="h1", target="h2", count=5),),
        )
        run = run_case(case, name="ping", out=tmp_path, kernel=each_kernel)
        said = (run.folder / "raw/ping.txt").read_text()
        return [float(number) / 1e3 for number in re.findall(r"time=([0-9.]+) ms", said)][1:]

    return pinged


@pytest.mark.parametrize(
    ("timings", "more_s"),
    [
        ({}, 0.0),
        ({"h1": SLOW_TIMERS}, 51.2e-6),
        ({"h2": SLOW_TIMERS}, 51.2e-6),
        ({"h1": SLOW_TIMERS, "h2": SLOW_TIMERS}, 102.4e-6),
        ({"h1": HostTiming(timer_latency_s=1e-3)}, 1e-3),
    ],
    ids=["none", "h1", "h2", "both", "a millisecond"],
)
def test_a_ping_takes_as_much_longer_as_timers_are_late(
    rtts_s: Callable[[Network], list[float]], timings: Mapping[str, HostTiming], more_s: float
) -> None:
    rtts = rtts_s(timed(NETWORK, **timings))
    assert len(rtts) == 4
    # Ping rounds down to microseconds.
    assert rtts == pytest.approx([400e-6 + more_s] * 4, abs=1e-6 + 4 * CLOCK_STEP_S)


def test_a_testbeds_latency_is_that_of_all_hosts_and_of_switches(
    rtts_s: Callable[[Network], list[float]],
) -> None:
    delay = LinkImpairments(delay_s=200e-6)
    switched = replace(
        NETWORK,
        switches=(Switch(name="s1"),),
        links=(Link(a="h1", b="s1", b_to_a=delay), Link(a="s1", b="h2", a_to_b=delay)),
        testbed=SLOW_TIMERS,
    )
    expected = 400e-6 + 2 * 51.2e-6
    assert rtts_s(switched) == pytest.approx([expected] * 4, abs=1e-6 + 4 * CLOCK_STEP_S)
    # A host with a timing of its own is another computer, and here it has no timers.
    other = timed(switched, h1=HostTiming(timer_latency_s=1e-3))
    assert rtts_s(other) == pytest.approx([expected] * 4, abs=1e-6 + 4 * CLOCK_STEP_S)


# As the traffic runs: in the order of waking, and without slack.
BY_TURNS = """
import ctypes, os
os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
ctypes.CDLL(None).prctl(29, 1)  # PR_SET_TIMERSLACK, in ns
"""

SLEEP = f"""{BY_TURNS}
import time
times = []
for _ in range(101):
    start = time.monotonic()
    time.sleep(0.001)
    times.append(time.monotonic() - start)
print(sorted(times)[50])
"""


@pytest.mark.parametrize("latency_ns", [0, 100_096])
def test_a_sleep_is_late(boot: Boot, each_kernel: Kernel, latency_ns: int) -> None:
    set_up = f"sysctl -qw net.host_cpu.timer_latency_ns={latency_ns}"
    took_s = float(boot(each_kernel, f"{set_up}\npython3 -I -S -c '{SLEEP}'"))
    assert took_s == pytest.approx(1e-3 + latency_ns / 1e9, abs=8 * CLOCK_STEP_S)


# How long work takes, in seconds; looking at the clock is a system call too.
WORK = """
import os, socket, time
def took(work, count):
    start = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    for _ in range(count):
        work()
    return (time.clock_gettime_ns(time.CLOCK_MONOTONIC) - start) / 1e9 / count
a, b = socket.socketpair()
data = bytes(50000)
print(took(os.getppid, 1000), took(lambda: (a.send(data), b.recv(50000)), 100))
"""


@pytest.mark.parametrize(
    ("setting", "call_s", "both_s"),
    [
        ("shared=0", 0.0, 0.0),
        ("syscall_ns=3000", 3e-6, 6e-6),
        ("copy_ps=100", 0.0, 10e-6),
        ("syscall_ns=3000 net.host_cpu.copy_ps=100 net.host_cpu.shared=1", 3e-6, 16e-6),
        ("wakeup_ns=5000", 0.0, 0.0),
    ],
)
def test_work_takes_what_it_costs(
    boot: Boot, each_kernel: Kernel, setting: str, call_s: float, both_s: float
) -> None:
    said = boot(each_kernel, f"sysctl -qw net.host_cpu.{setting}\npython3 -I -S -c '{WORK}'")
    call, both = map(float, said.split())
    assert call == pytest.approx(call_s, rel=0.01, abs=20e-9)
    assert both == pytest.approx(both_s, rel=0.01, abs=100e-9)


PING_PONG = f"""{BY_TURNS}
import os, time
there, back = os.pipe(), os.pipe()
if os.fork() == 0:
    for _ in range(101):
        os.write(back[1], os.read(there[0], 1))
    os._exit(0)
def pass_on():
    os.write(there[1], b"x")
    os.read(back[0], 1)
pass_on()
start = time.monotonic()
for _ in range(100):
    pass_on()
print((time.monotonic() - start) / 100)
"""


def test_a_process_that_is_woken_pays_for_it(boot: Boot, each_kernel: Kernel) -> None:
    said = boot(
        each_kernel, f"sysctl -qw net.host_cpu.wakeup_ns=5000\npython3 -I -S -c '{PING_PONG}'"
    )
    assert float(said) == pytest.approx(10e-6, rel=0.02)


PACKETS = """
set -e
for n in 1 2; do ip netns add h$n; done
ip link add h1-eth0 netns h1 address 00:00:00:00:00:01 type veth \
    peer name h2-eth0 netns h2 address 00:00:00:00:00:02
for n in 1 2; do
    ip -n h$n addr add 10.0.0.$n/8 dev h$n-eth0
    ip -n h$n link set h$n-eth0 up
    ip -n h$n neigh add 10.0.0.$((3 - n)) lladdr 00:00:00:00:00:0$((3 - n)) dev h$n-eth0
done
sleep 3 # until IPv6 has said what it says of itself
"""

SEND = """
import socket, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
start = time.monotonic()
for _ in range(100):
    sender.sendto(bytes(100), ("10.0.0.2", 9))
print((time.monotonic() - start) / 100)
"""


@pytest.mark.parametrize(("busy", "each_s"), [("h1", 4e-6), ("h2", 0.0)])
def test_a_packet_costs_its_sender_and_its_receiver(
    boot: Boot, each_kernel: Kernel, busy: str, each_s: float
) -> None:
    # Each packet is answered by "port unreachable" until that is limited: h1 pays for both.
    silent = "ip netns exec h2 sysctl -qw net.ipv4.icmp_ratelimit=1000000 net.ipv4.icmp_ratemask=8"
    setting = f"ip netns exec {busy} sysctl -qw net.host_cpu.packet_ns=4000"
    said = boot(
        each_kernel,
        f"{PACKETS}{silent}\n{setting}\nip netns exec h1 python3 -I -S -c '{SEND}'",
    )
    assert each_s <= float(said) <= 2.1 * each_s + 20e-9


def bbr(kernel: Kernel, *, network: Network, probes: bool, lines: Sequence[str]) -> Case:
    """Return a case of BBR through a bottleneck with a small buffer, and a ping beside it."""
    delay = "tc qdisc add dev h2-eth0 root netem delay 5ms"
    return Case(
        kernel=kernel.series,
        network=network,
        setup=tuple(Command(node="h2", line=line) for line in (delay, *lines)),
        flows=(
            Iperf3(name="bulk", source="h1", target="h2", time_s=1.0, congestion="bbr"),
            Ping(name="ping", source="h1", target="h2", count=10, interval_s=0.1),
        ),
        probes=(
            (
                Queue(name="queue", of=("s1-eth2",), every_s=0.001),
                Tcp(name="tcp", of=("bulk",), every_s=0.001),
                Rate(name="rate", of=("s1-eth2",), every_s=0.001),
            )
            if probes
            else ()
        ),
    )


SWITCHED = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
    switches=(Switch(name="s1"),),
    links=(
        Link(a="h1", b="s1"),
        Link(a="s1", b="h2", a_to_b=LinkImpairments(rate_bps=10**9, queue_bytes=200_000)),
    ),
)

NETWORKS = {
    "off": SWITCHED,
    "timers": timed(SWITCHED, h1=SLOW_TIMERS),
    "cpu": timed(SWITCHED, h1=SLOW_CPU, h2=SLOW_CPU),
    "testbed": replace(SWITCHED, testbed=SLOW_CPU),
}


@pytest.fixture
def outputs(each_kernel: Kernel, tmp_path: Path) -> Callable[..., tuple[bytes, bytes]]:
    """Run BBR and return what iperf3 and ping printed."""

    def played(
        network: Network, *, probes: bool = False, lines: Sequence[str] = ()
    ) -> tuple[bytes, bytes]:
        case = bbr(each_kernel, network=network, probes=probes, lines=lines)
        run = run_case(case, name="bbr", out=tmp_path, kernel=each_kernel)
        raw = run.folder / "raw"
        return (raw / "bulk.client.json").read_bytes(), (raw / "ping.txt").read_bytes()

    return played


def test_a_run_repeats_and_probes_cost_nothing(
    outputs: Callable[..., tuple[bytes, bytes]],
) -> None:
    off = outputs(NETWORKS["off"])
    for name in ("timers", "cpu", "testbed"):
        plain = outputs(NETWORKS[name])
        # A run that did not repeat would differ from this one as well.
        assert outputs(NETWORKS[name], probes=True) == plain, name
        assert plain != off, name


def test_what_is_set_to_nothing_changes_nothing(
    outputs: Callable[..., tuple[bytes, bytes]],
) -> None:
    def said(name: str) -> tuple[bytes, bytes]:
        return outputs(NETWORKS["off"], lines=[f"sysctl -qw {name}={n}" for n in (1, 0)])

    # A look-up that fails takes time, so the other name must be as easy to find.
    assert said("net.host_cpu.shared") == said("net.ipv4.ip_forward")
