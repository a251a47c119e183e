"""A lease that ends early or late, because one host's clock is wrong.

    longfat kernel build 6.12+clock
    pytest examples/clocks

The clients compare the store's time of day with that of their own host. While all clocks are
right nobody notices.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import longfat

HERE = Path(__file__).parent

pytestmark = pytest.mark.longfat(kernel="6.12+clock")


def write(network: longfat.Network, *, clock: str) -> dict[str, tuple[float, float]]:
    """Let two clients ask for a lease, the first with a wrong clock.

    Returns:
        When each of them wrote, in seconds of virtual time; who never did is not in it.
    """
    store, first, second = (network.host(name) for name in ("store", "first", "second"))
    switch = network.switch("s1")
    for host in (store, first, second):
        network.link(host, switch, delay="5ms")
    for name in ("store.py", "client.py"):
        network.write_file(f"/tmp/{name}", (HERE / name).read_bytes())
    store.spawn("python3 /tmp/store.py 7000").expect("ready", timeout="5s")
    first.set_clock(offset=clock)
    clients = {}
    for host in (first, second):
        clients[host.name] = host.spawn(f"python3 /tmp/client.py {host.name} store 7000 30")
        network.sleep(0.5)
    found = {}
    for name, client in clients.items():
        words = client.complete(timeout="60s").stdout.split()
        if words[0] == "begins":
            found[name] = (float(words[1]), float(words[3]))
    return found


def overlap_s(times: dict[str, tuple[float, float]]) -> float:
    """Return for how long both wrote."""
    (begin, end), (other_begin, other_end) = times["first"], times["second"]
    return max(0.0, min(end, other_end) - max(begin, other_begin))


def test_with_right_clocks_one_writes_at_a_time(network: longfat.Network) -> None:
    assert overlap_s(write(network, clock="0s")) == 0


def test_a_clock_that_is_behind_lets_two_write(network: longfat.Network) -> None:
    times = write(network, clock="-5s")
    assert overlap_s(times) == pytest.approx(4.5, abs=0.6)  # it asks once a second


def test_a_clock_that_is_ahead_ends_the_lease_early(network: longfat.Network) -> None:
    begin, end = write(network, clock="4s")["first"]
    assert end - begin == pytest.approx(6, abs=0.2)


def test_a_clock_that_is_far_ahead_never_gets_a_lease(network: longfat.Network) -> None:
    assert "first" not in write(network, clock="11s")
