"""What the code believes of links that follow traces, as our kernel patch has them."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pytest

from longfat.engine.kernel import Kernel
from longfat.live import Network
from longfat.model.trace import Row, Trace, parse_trace
from longfat.model.traced_links import CONTROL

# A program that sleeps until a time reads the clock now and then, which takes 256 ns.
EXACT_NS = 3_000

BEGIN_NS = 5 * 10**9

SENDER = """
import socket, sys, time
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.connect(("10.0.0.2", 9))
for number, line in enumerate(open("/tmp/plan")):
    at_ns, size = map(int, line.split())
    time.sleep(max(0, at_ns - time.monotonic_ns()) / 1e9)
    print(time.monotonic_ns())
    out.send(number.to_bytes(4, "big") + bytes(size - 4))
"""

RECEIVER = """
import socket, struct, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
sock.bind(("", 9))
sock.settimeout(20)
boot_ns = time.time_ns() - time.monotonic_ns()
print("ready", flush=True)
try:
    while True:
        data, more, *_ = sock.recvmsg(4, 64)
        seconds, nanoseconds = struct.unpack("qq", more[0][2])
        print(int.from_bytes(data, "big"), seconds * 10**9 + nanoseconds - boot_ns)
except TimeoutError:
    pass
"""


class Packet(NamedTuple):
    """A packet: when it is sent, in nanoseconds since boot, and its payload in bytes."""

    at_ns: int
    payload: int

    @property
    def ip_bytes(self) -> int:
        return self.payload + 28


class Played(NamedTuple):
    """What came of it: when each packet was really sent, and when it arrived, by its number."""

    sent: list[Packet]
    arrived: dict[int, int]


Play = Callable[..., Played]


@pytest.fixture
def play(each_kernel: Kernel) -> Iterator[Play]:
    """Send packets over a link that follows a trace."""
    with Network(kernel=each_kernel.series) as net:

        def played(text: str, packets: Sequence[Packet], *, queue: str = "") -> Played:
            h1, h2 = net.host("h1", "10.0.0.1/8"), net.host("h2", "10.0.0.2/8")
            net.link(h1, h2)
            h1.run("ping -c 1 10.0.0.2", check=True)  # the neighbours are known from here on
            h1.run("tc qdisc add dev h1-eth0 root handle 1: trace", check=True)
            if queue:
                h1.run(f"tc qdisc add dev h1-eth0 parent 1:1 handle 2: {queue}", check=True)
            h1.write_file("/tmp/trace", text.encode())
            h1.write_file(
                "/tmp/plan", "".join(f"{x.at_ns} {x.payload}\n" for x in packets).encode()
            )
            h1.run(f"echo h1-eth0 1 /tmp/trace {BEGIN_NS} > {CONTROL}", check=True)
            h2.write_file("/tmp/receiver", RECEIVER.encode())
            h1.write_file("/tmp/sender", SENDER.encode())
            receiver = h2.spawn("exec python3 /tmp/receiver")
            times = h1.run("python3 /tmp/sender", check=True).stdout.split()
            receiver.wait()
            said = receiver.stdout.splitlines()[1:]
            return Played(
                [Packet(int(ns), x.payload) for ns, x in zip(times, packets, strict=True)],
                {int(a): int(b) for a, b in (line.split() for line in said)},
            )

        yield played


def mahimahi(moments_ms: Sequence[int], packets: Sequence[Packet]) -> dict[int, int]:
    """Return when each packet leaves mm-link, by its own rules (src/frontend/link_queue.cc)."""
    waiting: deque[tuple[int, int]] = deque()
    coming = deque(enumerate(packets))
    left: list[int] = []  # number and bytes of the packet in transit
    gone: dict[int, int] = {}
    base_ms, index = 0, 0
    while len(gone) < len(packets):
        at_ns = BEGIN_NS + (base_ms + moments_ms[index]) * 10**6
        while coming and coming[0][1].at_ns < at_ns:
            number, packet = coming.popleft()
            waiting.append((number, packet.ip_bytes + 4))
        budget = 1504
        while budget > 0 and (left or waiting):
            left = left or list(waiting.popleft())
            used = min(budget, left[1])
            budget, left[1] = budget - used, left[1] - used
            if left[1] == 0:
                gone[left[0]] = at_ns
                left = []
        index += 1
        if index == len(moments_ms):
            base_ms, index = base_ms + moments_ms[-1], 0
    return gone


def some_packets(draws: random.Random, count: int, within_ns: int) -> list[Packet]:
    """Return packets of all sizes, none of them at a whole millisecond."""
    times = sorted(draws.randrange(within_ns) for _ in range(count))
    return [
        Packet(
            BEGIN_NS + at_ns // 10**6 * 10**6 + 50_000 + number % 800 * 1_000,
            draws.randint(4, 1472),
        )
        for number, at_ns in enumerate(times)
    ]


def test_opportunities_are_used_as_by_mahimahi(play: Play) -> None:
    draws = random.Random(3)
    moments = sorted(draws.randrange(1, 400) for _ in range(150))
    packets = sorted(some_packets(draws, 300, 900 * 10**6))
    text = "".join(f"{ms}\n" for ms in moments).encode()
    sent, arrived = play(parse_trace(text).text(repeats=True), packets)
    expected = mahimahi(moments, sent)
    assert arrived.keys() == expected.keys()
    late = {number: arrived[number] - expected[number] for number in expected}
    assert all(0 <= ns < EXACT_NS for ns in late.values()), late


def test_a_trace_that_is_played_once_ends(play: Play) -> None:
    packets = [Packet(BEGIN_NS + (10 * n + 5) * 10**6, 1472) for n in range(10)]
    _, arrived = play(parse_trace(b"20\n30\n40\n").text(repeats=False), packets)
    assert list(arrived) == [0, 1, 2]


def fluid(rows: Sequence[Row], packets: Sequence[Packet]) -> dict[int, float]:
    """Return when each packet has been sent and has travelled, by the integral of the rate."""
    free, last, found = 0.0, 0.0, {}
    times = [BEGIN_NS + row.at_ns for row in rows] + [float("inf")]
    for number, packet in enumerate(packets):
        now = max(float(packet.at_ns), free)
        left = (packet.ip_bytes + 14) * 1e9
        while True:
            at = max(i for i, begin in enumerate(times) if begin <= now)
            sent = rows[at].value * (times[at + 1] - now) if rows[at].value else 0.0
            if sent >= left:
                break
            left, now = left - sent, times[at + 1]
        free = now + left / rows[at].value
        last = max(last, free + rows[at].delay_ns)
        found[number] = last
    return found


def test_rates_hold_within_packets_and_delays_keep_the_order(play: Play) -> None:
    draws = random.Random(5)
    rows = [
        Row(step * 7_300_000, draws.choice([0, 20_000, 125_000, 1_250_000]), draws.randrange(10**7))
        for step in range(60)
    ]
    rows.append(Row(60 * 7_300_000, 1_250_000, 0))
    trace = Trace(is_rates=True, rows=tuple(rows), end_ns=10**9)
    packets = sorted(some_packets(draws, 60, 400 * 10**6))
    sent, arrived = play(trace.text(repeats=False), packets)
    expected = fluid(rows, sent)
    assert arrived.keys() == expected.keys()
    late = {number: arrived[number] - expected[number] for number in expected}
    assert all(-EXACT_NS < ns < EXACT_NS for ns in late.values()), {
        n: ns for n, ns in late.items() if abs(ns) >= EXACT_NS
    }


def test_losses_are_those_of_the_moment(play: Play) -> None:
    rows = (Row(0, 10**9, 0, 0), Row(10**8, 10**9, 0, 2**32 - 1), Row(2 * 10**8, 10**9, 0, 2**31))
    trace = Trace(is_rates=True, rows=rows, end_ns=10**9)
    packets = [Packet(BEGIN_NS + n * 10**6 + 500_000, 100) for n in range(1000)]
    _, arrived = play(trace.text(repeats=False), packets)
    assert [n for n in arrived if n < 200] == list(range(100))
    assert sum(n >= 200 for n in arrived) == pytest.approx(400, abs=60)


def test_another_discipline_can_be_its_queue(play: Play) -> None:
    rows = (Row(0, 125_000, 0, 0),)
    trace = Trace(is_rates=True, rows=rows, end_ns=10**9)
    packets = [Packet(BEGIN_NS + 10**6 + n * 10_000, 1000) for n in range(100)]
    _, arrived = play(trace.text(repeats=True), packets, queue="pfifo limit 10")
    # One is on its way, and ten wait.
    assert list(arrived) == list(range(11))


def test_a_process_without_cap_net_admin_begins_no_trace(each_kernel: Kernel) -> None:
    drop = "setpriv --bounding-set -net_admin --inh-caps -net_admin"
    with Network(kernel=each_kernel.series) as net:
        h1, h2 = net.host("h1", "10.0.0.1/8"), net.host("h2", "10.0.0.2/8")
        net.link(h1, h2)
        h1.run("tc qdisc add dev h1-eth0 root handle 1: trace; echo rates repeat 0 10 > /tmp/t")
        h1.run("echo h1-eth0 1 /tmp/t > /tmp/command")
        begin = f"dd if=/tmp/command of={CONTROL}"
        done = h1.run(f"{drop} {begin}", check=False)
        assert "Operation not permitted" in done.stderr
        # The table has no row, which is the next to be looked at.
        assert "Invalid argument" in h1.run(begin, check=False).stderr


def test_a_table_without_rates_delays_and_holds_nothing_up(play: Play) -> None:
    trace = parse_trace(b"time_s,delay_ms\n0,10\n1,10\n")
    packets = [Packet(BEGIN_NS + 10**6 + n * 100_000, 1400) for n in range(50)]
    sent, arrived = play(trace.text(repeats=True), packets)
    late = [arrived[number] - packet.at_ns - 10**7 for number, packet in enumerate(sent)]
    assert all(0 <= ns < EXACT_NS for ns in late), late
