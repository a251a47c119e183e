"""Routers that translate addresses: what passes, who can meet, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.live import Network
from longfat.model.network import build_batches, follow_back, trace_route
from longfat.model.network.nat import NATS
from tests.study.messages import error, read

STUDY = """\
title: Two homes
network:
  hosts:
    a: {{address: 192.168.1.2/24, routes: {{default: 192.168.1.1}}}}
    ra: {{forwards: yes, nat: {nat}, routes: {{default: 203.0.113.1}}}}
    s: 203.0.113.1/24
  switches: [net]
  links:
    - [a, ra, {{addresses: {{ra: 192.168.1.1/24}}}}]
    - [ra, net, {{addresses: {{ra: 203.0.113.11/24}}}}]
    - [s, net]
flows:
  {flow}
"""


@pytest.mark.parametrize("nat", NATS)
def test_a_study_follows_an_answer_through_the_translation(tmp_path: Path, nat: str) -> None:
    text = STUDY.format(nat=nat, flow="rtt: {ping: a -> s}")
    network = read(text, tmp_path).cases["default"].case.network
    assert network.outside_interface(network.hosts[1]) == "ra-eth1"
    assert [hop for _, hop in trace_route(network, "a", "s")] == ["a-eth0", "ra-eth1", "net-eth2"]
    assert [hop for _, hop in follow_back(network, "a", "s")] == ["s-eth0", "net-eth1", "ra-eth0"]
    typed = [b.lines[0] for b in build_batches(network) if b.lines[0].startswith("nft")]
    assert typed[2].startswith("nft add rule ip nat out oifname ra-eth1 masquerade")


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("a -> s", "s -> a", "13:15: flows.rtt.ping", "s has no route to 192.168.1.2"),
        ("nat: home", "nat: house", "5:30: network.hosts.ra.nat", "'house' is no kind of address"),
        ("forwards: yes, ", "", "5:15: network.hosts.ra.nat", "it forwards nothing"),
        (
            "default: 203.0.113.1}",
            "10.0.0.0/8: 203.0.113.1}",
            "5:30: network.hosts.ra.nat",
            "outside",
        ),
    ],
)
def test_what_cannot_be_is_reported(
    tmp_path: Path, old: str, new: str, place: str, words: str
) -> None:
    text = STUDY.format(nat="home", flow="rtt: {ping: a -> s}").replace(old, new)
    where, said = error(text, tmp_path)
    assert words in said
    assert where == place


def test_nothing_comes_in_that_was_not_asked_for(tmp_path: Path) -> None:
    text = STUDY.format(nat="home", flow="rtt: {ping: s -> a}")
    routed = text.replace(
        "s: 203.0.113.1/24", "s: {address: 203.0.113.1/24, routes: {192.168.1.0/24: 203.0.113.11}}"
    )
    _, said = error(routed, tmp_path)
    assert "ra translates addresses, and lets in only replies" in said


# Tells each who asks how it looks from outside.
RENDEZVOUS = """
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", int(__import__("sys").argv[1])))
while True:
    data, peer = sock.recvfrom(100)
    sock.sendto(f"{peer[0]} {peer[1]}".encode(), peer)
"""

# Asks two servers, then waits for the other's address, and sends to it until somebody answers.
PEER = """
import pathlib, socket, sys, time
me, other = sys.argv[1:]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", 4000))
sock.settimeout(0.2)
seen = []
for port in 7000, 7001:
    sock.sendto(b"?", ("203.0.113.1", port))
    seen.append(sock.recv(100).decode())
print("seen", *seen, flush=True)
pathlib.Path(f"/tmp/{me}").write_text(seen[0])
while not pathlib.Path(f"/tmp/{other}").exists():
    time.sleep(0.05)
address, port = pathlib.Path(f"/tmp/{other}").read_text().split()
for _ in range(20):
    sock.sendto(b"hello", (address, int(port)))
    try:
        data, peer = sock.recvfrom(100)
    except TimeoutError:
        continue
    if data == b"hello":
        sock.sendto(b"hello", peer)
        print("met", flush=True)
        break
else:
    print("alone", flush=True)
"""

Meet = Callable[[str, str], list[str]]


@pytest.fixture
def meet(kernel: Kernel) -> Iterator[Meet]:
    """Let two hosts behind routers look for each other; return what each of them prints."""
    with Network(kernel=kernel.series) as net:

        def tried(first: str, second: str) -> list[str]:
            server = net.host("s", "203.0.113.1/24")
            net.switch("net")
            net.link(server, "net")
            hosts = []
            for number, nat in enumerate((first, second), start=1):
                inside = f"192.168.{number}"
                host = net.host(f"h{number}", f"{inside}.2/24", gateway=f"{inside}.1")
                router = net.router(f"r{number}", gateway="203.0.113.1", nat=nat)
                net.link(host, router, addresses=(None, f"{inside}.1/24"))
                net.link(router, "net", addresses=(f"203.0.113.1{number}/24", None), delay="5ms")
                hosts.append(host)
            server.write_file("/tmp/rendezvous", RENDEZVOUS)
            server.write_file("/tmp/peer", PEER)
            for port in (7000, 7001):
                server.spawn(f"exec python3 /tmp/rendezvous {port}")
            peers = [
                host.spawn(f"exec python3 /tmp/peer h{at} h{3 - at}")
                for at, host in enumerate(hosts, start=1)
            ]
            for peer in peers:
                peer.wait()
            return [peer.stdout + peer.stderr for peer in peers]

        yield tried


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "met"),
    [
        ("home", "home", True),
        ("home", "cgnat", True),
        ("symmetric", "home", False),
        ("symmetric", "symmetric", False),
    ],
)
def test_who_can_meet_behind_which_translation(
    meet: Meet, first: str, second: str, met: bool
) -> None:
    for nat, said in zip((first, second), meet(first, second), strict=True):
        seen = re.search(r"seen (\S+) (\d+) (\S+) (\d+)", said)
        assert seen, said
        assert seen[1] == seen[3]
        assert seen[1].startswith("203.0.113.1")
        # The same port to all, or another one for each.
        assert (seen[2] == seen[4] == "4000") == (nat != "symmetric")
        assert ("met" in said) == met, said


def test_a_company_lets_out_little(kernel: Kernel) -> None:
    with Network(kernel=kernel.series) as net:
        server = net.host("s", "203.0.113.1/24")
        host = net.host("a", "10.1.0.2/24", gateway="10.1.0.1")
        router = net.router("gw", gateway="203.0.113.1", nat="corporate")
        net.link(host, router, addresses=(None, "10.1.0.1/24"))
        net.link(router, server, addresses=("203.0.113.11/24", None))
        for port in (80, 8080):
            server.spawn(f"exec python3 -m http.server {port}")
        assert host.run("ping -c 1 203.0.113.1").returncode == 0
        get = (
            'python3 -c "import urllib.request as u; '
            "u.urlopen('http://203.0.113.1:{}', timeout=5)\""
        )
        assert host.run(get.format(80)).returncode == 0
        assert "timed out" in host.run(get.format(8080)).stderr
