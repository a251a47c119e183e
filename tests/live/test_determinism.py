"""The same calls give the same bytes, whatever the host does meanwhile (law 1 of the design)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from longfat.live import Network
from tests.kernels import KERNELS
from tests.live.conftest import host, two_hosts

Pause = Callable[[], None]


@contextlib.contextmanager
def busy_host() -> Iterator[None]:
    """Burn every CPU of the host."""
    # `timeout` ends them also if we are ended before we can.
    spin = ["timeout", "120", sys.executable, "-c", "while True: pass"]
    with contextlib.ExitStack() as stack:
        for _ in range(2 * (os.cpu_count() or 1)):
            hog = stack.enter_context(subprocess.Popen(spin))
            stack.callback(hog.terminate)
        yield


def session(net: Network, pause: Pause) -> dict[str, Any]:
    """Use all there is, with pauses between all calls; return all that came of it."""
    two_hosts(net, rate="50mbit", delay="10ms", jitter="1ms", loss="1%", queue="200KB")
    h1, h2 = host(net, "h1"), host(net, "h2")
    seen: list[Any] = []

    def note(what: object) -> None:
        seen.append((net.session.now_ns, what))
        pause()

    note(h1.run("ping -c 5 -i 0.1 h2").stdout)
    note(h1.run("cat /proc/sys/kernel/random/uuid; date +%s.%N; head -c 32 /dev/urandom | xxd"))
    server = h2.spawn(["python3", "-c", ECHO])
    note(server.pid)
    note(h1.run(["python3", "-c", ASK], input="hello\n").stdout)
    server.terminate()
    note(server.wait())
    bulk = h1.start("iperf3", h2, time=3, parallel=2)
    note(None)
    with net.probe(queue="s1-eth2", tcp=["h1", "h2"], rate="h1-eth0", every="10ms") as series:
        net.sleep(1)
        note(hashlib.sha256(str(series.tcp.to_pylist()).encode()).hexdigest())
        net.links[1].change(rate="20mbit", loss="0.1%")
        net.sleep("500ms")
        pause()
    note(bulk.result().raw)
    for table in (series.queue, series.tcp, series.rate):
        note(hashlib.sha256(str(table.to_pylist()).encode()).hexdigest())
    with net.probe(capture=["h1-eth0", "s1-eth2"]) as caught:
        ticking = h1.spawn("for i in 1 2 3 4; do date +%N; sleep 0.25; done")
        note(list(ticking.lines()))
        note(h2.ping("h1", count=3, interval=0.2).raw)
    note({name: hashlib.sha256(data).hexdigest() for name, data in caught.captures.items()})
    net.links[1].down()
    note(h1.run("ping -c 2 -W 1 h2"))
    net.links[1].up()
    note(h1.run("ping -c 2 -W 1 h2"))
    h3 = net.host("h3")
    net.link("s1", h3)
    note(h3.run("ps ax; cat /proc/net/dev; ls -la /tmp /etc/hosts"))
    note(net.read_file("/etc/hosts"))
    note(net.record.text)
    return json.loads(json.dumps(seen, default=repr))  # type: ignore[no-any-return]


ECHO = """
import socket
server = socket.create_server(("", 7))
while True:
    peer = server.accept()[0]
    peer.sendall(peer.recv(100) + str(peer.getsockname()).encode())
    peer.close()
"""
ASK = """
import socket
peer = socket.create_connection(("h2", 7))
peer.sendall(input().encode())
print(peer.getsockname(), peer.makefile().read())
"""


def no_pause() -> None:
    """Go on at once."""


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_same_calls_give_the_same_bytes(kernel: str) -> None:
    def run(pause: Pause = no_pause, *, seed: int = 1, pace: float | None = None) -> dict[str, Any]:
        with Network(kernel=kernel, seed=seed, memory="512MB", pace=pace) as net:
            return session(net, pause)

    first = run()
    with busy_host():
        beside_hogs = run()
    assert beside_hogs == first
    moody = random.Random(time.time())
    paused = run(lambda: time.sleep(moody.random() * 0.1))
    assert paused == first
    assert run(pace=20) == first
    assert run(seed=2) != first


def test_networks_beside_each_other_do_not_know_of_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with contextlib.ExitStack() as stack:
        found = []
        for number in range(3):
            # Other descriptors are free each time, and the environment is another one.
            stack.enter_context(open("/dev/null"))
            monkeypatch.setenv(f"LF_TEST_{number}", "x" * 1000 * number)
            monkeypatch.setenv("LC_ALL", f"language_{number}")
            net = stack.enter_context(Network(kernel="6.1", memory="512MB"))
            found.append(session(net, no_pause))
    assert found[0] == found[1] == found[2]
