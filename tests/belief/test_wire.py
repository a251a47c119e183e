"""What the qdisc `wire` does: packets take what they take by arithmetic, on any number of links.

The theory is store and forward of Ethernet frames: a link carries one after the other, each for
its length by the rate, and passes it on with its last byte.
"""

from __future__ import annotations

import json

import pytest

import longfat
from longfat.live import Network
from longfat.model.network.tc import RATE
from tests.kernels import KERNELS

FRAME_BYTES = 1514
MSS_BYTES, HEADER_BYTES = 1448, 66

# Sees packets of an IP protocol with payload, by the kernel's time stamps, which cost no time,
# until one for port 7. It waits without a time limit, for which it would read the clock.
TAP = """
import socket, struct, sys
tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
tap.setsockopt(socket.SOL_SOCKET, 33, 1 << 28)  # SO_RCVBUFFORCE
tap.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
tap.bind((sys.argv[1], 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("", 9))  # so that nobody refuses what comes
print("ready", flush=True)
times = []
while True:
    data, more, *_ = tap.recvmsg(64, 64)
    if data[12:14] == b"\\x08\\0" and data[23] == 17 and data[36:38] == b"\\0\\7":
        break
    is_data = data[12:14] == b"\\x08\\0" and data[16:18] > b"\\0\\x60"
    if is_data and data[23] == int(sys.argv[2]):
        seconds, nanoseconds = struct.unpack("qq", more[0][2])
        times.append(seconds * 10**9 + nanoseconds)
print(times[0], times[-1], len(times))
"""

SEND = """
import socket, sys, time
kind, count = sys.argv[1], int(sys.argv[2])
if kind == "tcp":
    sender = socket.create_connection(("10.0.0.2", 5000))
    time.sleep(1)
    sender.sendall(bytes(count))
    time.sleep(5)
else:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, 32, 1 << 30)  # SO_SNDBUFFORCE
    sender.connect(("10.0.0.2", 9))
    data = bytes(1472)
    for _ in range(count):
        sender.send(data)
    time.sleep(1)
end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end.sendto(b"", ("10.0.0.2", 7))
"""

RECEIVE = """
import socket
listener = socket.create_server(("", 5000))
print("ready", flush=True)
connection, _ = listener.accept()
while connection.recv(1 << 24):
    pass
"""


def chain(rates: list[str], *, kernel: str, frames: bool = False) -> Network:
    """Return two hosts with links of these rates between them, behind a link that takes no time."""
    net = longfat.Network(kernel=kernel, frames=frames)
    ends = net.host("h1", "10.0.0.1/8"), net.host("h2", "10.0.0.2/8")
    switches = [net.switch(f"s{number}").name for number in range(1, len(rates) + 1)]
    nodes = [*switches, ends[1].name]
    net.link(ends[0], nodes[0])
    for a, b, rate in zip(nodes, nodes[1:], rates, strict=False):
        net.link(a, b, rate=rate, queue="100MB")
    # IPv6 speaks of itself in between.
    net.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1", check=True)
    for host in ends:
        host.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
        host.sysctl("net.ipv4.tcp_rmem", "100000000 100000000 100000000")
        host.sysctl("net.ipv4.tcp_wmem", "100000000 100000000 100000000")
    ends[0].run("ping -c 2 10.0.0.2", check=True)
    ends[0].run("ip route change 10.0.0.0/8 dev h1-eth0 initcwnd 20000", check=True)
    for name, text in (("tap", TAP), ("send", SEND), ("receive", RECEIVE)):
        net.write_file(f"/tmp/{name}.py", text)
    return net


def took_ns(net: Network, kind: str, count: int) -> int:
    """Return the time from the first packet's start to the last one's end."""
    taps = []
    for host in (net["h1"], net["h2"]):
        protocol = 6 if kind == "tcp" else 17
        taps.append(host.spawn(f"python3 /tmp/tap.py {host.name}-eth0 {protocol}"))
        taps[-1].expect("ready")
    if kind == "tcp":
        net["h2"].spawn("python3 /tmp/receive.py").expect("ready")
    net["h1"].run(f"python3 /tmp/send.py {kind} {count}", check=True)
    for tap in taps:
        assert tap.wait() == 0
    (first, _, _), (_, last, _) = (map(int, tap.stdout.split()[1:]) for tap in taps)
    return last - first


def theory_ns(sizes: list[int], rates: list[str]) -> float:
    """Return when the last of frames that are sent at one time has passed all links."""
    left = [0.0] * len(rates)
    for size in sizes:
        at = 0.0
        for index, rate in enumerate(rates):
            left[index] = max(at, left[index]) + size * 8e9 / RATE.parse(rate)
            at = left[index]
    return left[-1]


PATHS = [
    ["1gbit"],
    ["10mbit", "10mbit"],
    ["1gbit"] * 5,
    ["100gbit"] * 3,
    ["1gbit", "10gbit", "1gbit"],
    ["10gbit", "1gbit"],
]


@pytest.mark.parametrize("rates", PATHS, ids="-".join)
@pytest.mark.parametrize("kernel", KERNELS)
def test_frames_take_their_length_by_the_rate(kernel: str, rates: list[str]) -> None:
    # While a frame of 100 Gbit/s is on its way, for 121 ns a link, the sender reads its clock.
    exact_ns = 512 if rates[0] == "100gbit" else 2 * len(rates)
    with chain(rates, kernel=kernel) as net:
        for count in (1, 100):
            theory = theory_ns([FRAME_BYTES] * count, rates)
            assert took_ns(net, "udp", count) == pytest.approx(theory, abs=exact_ns), count


@pytest.mark.parametrize("rates", PATHS, ids="-".join)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", [1_000, 10_000, 100_000, 10_000_000])
def test_packets_of_many_frames_take_as_long_as_these(
    kernel: str, size: int, rates: list[str]
) -> None:
    if rates[0] == "10mbit" and size > 1_000_000:
        pytest.skip("it would take 8 s")
    sizes = [MSS_BYTES + HEADER_BYTES] * (size // MSS_BYTES)
    if left := size % MSS_BYTES:
        sizes.append(left + HEADER_BYTES)
    with chain(rates, kernel=kernel) as net:
        # A program reads the clock, 256 ns, in each of a few system calls.
        assert took_ns(net, "tcp", size) == pytest.approx(
            theory_ns(sizes, rates), rel=1e-3, abs=1000
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_idle_time_gives_no_credit(kernel: str) -> None:
    with chain(["1gbit"], kernel=kernel) as net:
        first = took_ns(net, "tcp", 500_000)
        net.sleep(10)
        assert took_ns(net, "tcp", 500_000) == pytest.approx(first, rel=1e-3)
    assert first > 4_000_000


def test_a_queue_holds_what_its_limit_says_beside_the_packet_on_the_wire() -> None:
    with longfat.Network(kernel="6.1") as net:
        net.link(net.host("h1"), net.host("h2"), rate="1mbit", queue=f"{10 * FRAME_BYTES}B")
        net["h1"].run("ping -c 2 10.0.0.2", check=True)
        net.write_file("/tmp/send.py", SEND)
        before = counters(net)
        net["h1"].run("python3 /tmp/send.py udp 100", check=True)
        net.sleep(1)
        after = counters(net)
    assert after["drops"] - before["drops"] == 89


def test_tc_reads_and_prints_it() -> None:
    with longfat.Network(kernel="6.1") as net:
        net.link(net.host("h1"), net.host("h2"))
        h1 = net["h1"]
        line = "root handle 3: wire rate 1500kbit limit 30000b cut 9000b through"
        h1.run(f"tc qdisc add dev h1-eth0 {line}", check=True)
        shown = h1.run("tc qdisc show dev h1-eth0", check=True).stdout
        assert "qdisc wire 3: root refcnt " in shown
        assert shown.rstrip().endswith(" rate 1500Kbit limit 30000b cut 9000b through")
        (data,) = json.loads(h1.run("tc -j qdisc show dev h1-eth0", check=True).stdout)
        assert data["options"] == {"rate": 187500, "limit": 30000, "cut": 9000, "through": True}
        h1.run("tc qdisc change dev h1-eth0 root handle 3: wire rate 2gbit", check=True)
        shown = h1.run("tc qdisc show dev h1-eth0", check=True).stdout
        assert shown.rstrip().endswith(" rate 2Gbit limit 30000b")
        for wrong in ("wire rate", "wire rate 0", "wire rate 1mbit buckets 3"):
            done = h1.run(f"tc qdisc replace dev h1-eth0 root {wrong}")
            assert done.returncode != 0, wrong
            assert "wire" in done.stderr or "rate" in done.stderr


def test_another_discipline_can_be_its_queue() -> None:
    with longfat.Network(kernel="6.1") as net:
        net.link(net.host("h1"), net.host("h2"), rate="10mbit", qdisc="pfifo limit 5")
        net["h1"].run("ping -c 2 10.0.0.2", check=True)
        net.write_file("/tmp/send.py", SEND)
        before = counters(net)
        net["h1"].run("python3 /tmp/send.py udp 50", check=True)
        net.sleep(1)
        after = counters(net)
    assert after["drops"] - before["drops"] == 44


def counters(net: Network) -> dict[str, int]:
    """Return the counters of the discipline at the root of h1-eth0."""
    text = net["h1"].run("tc -s -j qdisc show dev h1-eth0", check=True).stdout
    (root,) = [qdisc for qdisc in json.loads(text) if qdisc.get("root")]
    return {"drops": int(root["drops"])}


def test_fq_paces_frames_at_its_rate() -> None:
    """A timer of fq has a slack of 10 us, and a frame of 970 Mbit/s takes 12.5."""
    with longfat.Network(kernel="6.1", frames=True) as net:
        net.link(net.host("h1"), net.host("h2"), qdisc="fq maxrate 970mbit")
        net["h1"].run("ping -c 2 10.0.0.2", check=True)
        net.write_file("/tmp/tap.py", TAP)
        net.write_file("/tmp/send.py", SEND)
        tap = net["h2"].spawn("python3 /tmp/tap.py h2-eth0 17")
        tap.expect("ready")
        net["h1"].run("python3 /tmp/send.py udp 90", check=True)  # fq's limit of a flow is 100
        assert tap.wait() == 0
        first, last, count = map(int, tap.stdout.split()[1:])
    assert count == 90
    # Its first quantum of ten packets is not paced.
    assert last - first == pytest.approx(80 * FRAME_BYTES * 8e9 / 970e6, rel=0.01)


@pytest.mark.parametrize("queue", ["cake", "cake bandwidth 50mbit", "cake split-gso ack-filter"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_cake_splits_packets_in_its_queue(kernel: str, queue: str) -> None:
    """What it leaves in a packet's control block must not be read as the time of its arrival."""
    with Network(kernel=kernel, seed=1) as net:
        h1, h2 = net.host("h1"), net.host("h2")
        net.link(h1, h2, rate="100mbit", delay="5ms", qdisc=queue)
        rate_bps = h1.start("transfer", h2, time=3).result()["receiver_bps"]
    expected_bps = 50e6 if "50mbit" in queue else 100e6
    assert 0.88 * expected_bps < rate_bps < 0.97 * expected_bps
