"""What the code believes of where a host ends, with our kernel patch and as Linux has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Queue
from longfat.model.traffic import Transfer

Boot = Callable[..., str]

LINUX = "echo N > /sys/module/host_boundary/parameters/enabled"
"""Leaves packets charged as Linux does."""

# Two hosts at a bridge, which know each other's addresses, so that no packet is ARP's.
NETWORK = """\
set -e
ip -batch - <<END
netns add h1
netns add h2
link add s1 type bridge
link set s1 up
link add s1-eth1 type veth peer name h1-eth0 address 00:00:00:00:00:01 netns h1
link add s1-eth2 type veth peer name h2-eth0 address 00:00:00:00:00:02 netns h2
link set s1-eth1 master s1 up
link set s1-eth2 master s1 up
END
for n in 1 2; do
    ip -n h$n -batch - <<END
addr add 10.0.0.$n/8 dev h$n-eth0
link set h$n-eth0 up
link set lo up
neigh add 10.0.0.$((3 - n)) lladdr 00:00:00:00:00:0$((3 - n)) dev h$n-eth0
END
done
sleep 3 # until IPv6 has said what it says of itself
"""

# What is charged to a UDP socket after each packet, and when it could be sent.
SEND = """
import fcntl, json, socket, struct, termios, time
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
if PACED:
    sender.setsockopt(socket.SOL_SOCKET, 47, 125000)  # SO_MAX_PACING_RATE, bytes/s
start, charged = time.monotonic(), []
for _ in range(50):
    sender.sendto(bytes(1000), ("10.0.0.2", 9))
    count = fcntl.ioctl(sender, termios.TIOCOUTQ, bytes(4))
    charged.append(struct.unpack("i", count)[0])
print(json.dumps({"charged": max(charged), "took_s": time.monotonic() - start}))
"""


@pytest.fixture
def send(boot: Boot, each_kernel: Kernel) -> Callable[..., dict[str, Any]]:
    """Send 50 UDP packets of 1000 bytes through a queue of 1 Mbit/s, from a small send buffer."""

    def sent(*setup: str, paced: bool = False) -> dict[str, Any]:
        script = SEND.replace("PACED", str(paced))
        lines = "\n".join(setup)
        said = boot(each_kernel, f"{NETWORK}{lines}\nip netns exec h1 python3 -I -S -c '{script}'")
        result: dict[str, Any] = json.loads(said.splitlines()[-1])
        return result

    return sent


TBF = "root tbf rate 1mbit burst 2000 limit 1000000"


def test_what_waits_in_a_switch_is_not_charged_to_a_udp_socket(
    send: Callable[..., dict[str, Any]],
) -> None:
    sent = send(f"tc qdisc add dev s1-eth2 {TBF}")
    assert sent["charged"] == 0
    assert sent["took_s"] < 0.001


def test_linux_charges_it(send: Callable[..., dict[str, Any]]) -> None:
    sent = send(f"tc qdisc add dev s1-eth2 {TBF}", LINUX)
    assert sent["charged"] > 4096
    assert sent["took_s"] > 0.3


def test_what_waits_in_the_hosts_own_qdisc_is_charged(
    send: Callable[..., dict[str, Any]],
) -> None:
    sent = send(f"ip netns exec h1 tc qdisc add dev h1-eth0 {TBF}")
    assert sent["charged"] > 4096
    assert sent["took_s"] > 0.3


def test_fq_paces_at_the_host_and_charges(send: Callable[..., dict[str, Any]]) -> None:
    sent = send("ip netns exec h1 tc qdisc add dev h1-eth0 root fq", paced=True)
    assert sent["charged"] > 4096
    assert sent["took_s"] > 0.2


def test_fq_in_a_switch_does_not_know_the_senders_pace(
    send: Callable[..., dict[str, Any]],
) -> None:
    fq = "tc qdisc add dev s1-eth2 root fq"
    assert send(fq, paced=True)["took_s"] < 0.001
    assert send(fq, LINUX, paced=True)["took_s"] > 0.2


def test_an_interface_with_gro_is_a_boundary_too(send: Callable[..., dict[str, Any]]) -> None:
    # Its packets come by NAPI and not by netif_rx().
    gro = "ethtool -K s1-eth1 gro on rx-udp-gro-forwarding on"
    assert send(gro, f"tc qdisc add dev s1-eth2 {TBF}")["charged"] == 0
    assert send(gro, f"tc qdisc add dev s1-eth2 {TBF}", LINUX)["charged"] > 4096


ECHO = """
ip netns exec h1 ping -q -c 600 -l 600 -W 60 10.0.0.2 | grep received
"""


@pytest.mark.parametrize(
    ("setup", "minimum", "maximum"), [("", 600, 600), (LINUX, 0, 400)], ids=["ours", "linux"]
)
def test_hosts_do_not_share_the_account_of_ping_replies(
    boot: Boot, each_kernel: Kernel, setup: str, minimum: int, maximum: int
) -> None:
    # All hosts reply by one socket; so what waited anywhere of one's would silence all.
    queue = "tc qdisc add dev s1-eth1 root tbf rate 10mbit burst 2000 limit 1000000"
    said = boot(each_kernel, f"{NETWORK}{queue}\n{setup}\n{ECHO}")
    received = int(said.split(" received")[0].split()[-1])
    assert minimum <= received <= maximum


TIMESTAMPS = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
# SO_TIMESTAMPING: TX_SOFTWARE | SOFTWARE | OPT_TSONLY
sender.setsockopt(socket.SOL_SOCKET, 37, 1 << 1 | 1 << 4 | 1 << 11)
sender.sendto(bytes(100), ("10.0.0.2", 9))
sender.setblocking(False)
count = 0
while True:
    try:
        sender.recvmsg(100, 1000, socket.MSG_ERRQUEUE)
    except BlockingIOError:
        break
    count += 1
print(count)
"""


@pytest.mark.parametrize(("setup", "count"), [("true", 1), (LINUX, 2)], ids=["ours", "linux"])
def test_a_packet_is_stamped_where_it_leaves_its_host(
    boot: Boot, each_kernel: Kernel, setup: str, count: int
) -> None:
    # Linux stamps it for its sender in the switch once more.
    said = boot(
        each_kernel,
        f"{NETWORK}{setup}\nip netns exec h1 python3 -I -S -c '{TIMESTAMPS}'",
    )
    assert said.split()[-1] == str(count)


FULL_QUEUE = (
    "tc qdisc add dev s1-eth1 root handle 1: htb default 1",
    "tc class add dev s1-eth1 parent 1: classid 1:1 htb rate 100mbit",
    "tc qdisc add dev s1-eth1 parent 1:1 bfifo limit 3000000",
    "tc qdisc add dev s2-eth1 root netem delay 20ms limit 100000",
)


@pytest.mark.parametrize(
    ("shared_kernel", "first", "least_bytes", "most_bytes"),
    [
        (False, (), 2_900_000, 3_000_000),
        (False, (LINUX,), 0, 300_000),
        (True, (), 0, 300_000),
    ],
    ids=["computers", "linux", "shared-kernel"],
)
def test_tcp_fills_a_queue_behind_a_switch(
    each_kernel: Kernel,
    tmp_path: Path,
    *,
    shared_kernel: bool,
    first: tuple[str, ...],
    least_bytes: float,
    most_bytes: float,
) -> None:
    case = Case(
        kernel=each_kernel.series,
        network=Network(
            hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2)),
            switches=(Switch(name="s1"), Switch(name="s2")),
            links=(Link(a="s1", b="s2"), Link(a="h1", b="s1"), Link(a="h2", b="s2")),
            shared_kernel=shared_kernel,
        ),
        setup=tuple(Command(node=ROOT_NAMESPACE, line=line) for line in (*first, *FULL_QUEUE)),
        flows=(Transfer(name="bulk", source="h1", target="h2", time_s=4.0, congestion="reno"),),
        probes=(Queue(name="queue", of=("s1-eth1",)),),
    )
    metrics = run_case(case, name="boundary", out=tmp_path, kernel=each_kernel).metrics
    assert least_bytes <= metrics["queue.peak_bytes"] <= most_bytes
