"""What client.py promises, tested over a real TCP in virtual time.

    pytest examples/resilient

Minutes of silence, waits and retransmissions take seconds of wall time, and
each run gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import longfat

HERE = Path(__file__).parent
PYTHON = "python3"  # the one that the machine sees, not that of our virtual environment
SIZE_BYTES = 3_000_000
CONTENT = (bytes(range(251)) * (SIZE_BYTES // 251 + 1))[:SIZE_BYTES]


def serve(network: longfat.Network) -> longfat.Process:
    """Build client -- server over a link of 8 Mbit/s, and start the server."""
    client, server = network.host("client"), network.host("server")
    network.link(client, server, rate="8mbit", delay="20ms")
    for name in ("client.py", "server.py"):
        network.write_file(f"/tmp/{name}", (HERE / name).read_bytes())
    network.write_file("/tmp/content", CONTENT)
    return start_server(network)


def start_server(network: longfat.Network) -> longfat.Process:
    """Start the server, and wait until it listens."""
    process = network["server"].spawn([PYTHON, "/tmp/server.py", "/tmp/content"])
    process.expect("ready", timeout="5s")
    return process


def start_fetching(network: longfat.Network) -> longfat.Process:
    """Start the client."""
    return network["client"].spawn([PYTHON, "/tmp/client.py", "server", "/tmp/got"])


def check_got_all(network: longfat.Network) -> None:
    """Check that what the client wrote is what the server has."""
    assert network.read_file("/tmp/got") == CONTENT


def test_a_quiet_network_needs_one_connection(network: longfat.Network) -> None:
    serve(network)
    done = start_fetching(network).complete(timeout="60s")
    assert done.stdout == f"done: {SIZE_BYTES} bytes, 1 connections\n"
    assert 3.0 < done.took_s < 4.0  # 24 Mbit at 8 Mbit/s
    check_got_all(network)


def test_a_short_cut_is_bridged_by_tcp(network: longfat.Network) -> None:
    serve(network)
    fetching = start_fetching(network)
    network.sleep(1)
    (link,) = network.links
    link.down()
    network.sleep(10)
    link.up()
    assert fetching.complete(timeout="60s").stdout.endswith("1 connections\n")
    check_got_all(network)


def test_after_30_s_of_silence_it_connects_anew(network: longfat.Network) -> None:
    serve(network)
    fetching = start_fetching(network)
    network.sleep(1)
    (link,) = network.links
    link.down()
    began_s = network.clock.now
    fetching.expect("lost the connection", timeout="2min")
    assert network.clock.now - began_s == pytest.approx(30, abs=0.5)
    network.sleep(300)  # all its tries fail meanwhile, and its waits grow
    link.up()
    done = fetching.complete(timeout="10min")
    assert done.returncode == 0
    assert "gave up" not in done.stdout
    check_got_all(network)


def test_it_goes_on_where_it_stopped_when_the_server_restarts(network: longfat.Network) -> None:
    server = serve(network)
    fetching = start_fetching(network)
    network.sleep(1)
    server.kill()
    fetching.expect("lost the connection", timeout="1min")
    had = int(fetching.stdout.split(" bytes")[0].rpartition(" ")[2])
    assert 0 < had < SIZE_BYTES
    start_server(network)
    assert fetching.complete(timeout="10min").stdout.endswith("bytes, 2 connections\n")
    check_got_all(network)


@pytest.mark.longfat(seeds=3)
def test_it_gets_through_a_lossy_path(network: longfat.Network) -> None:
    serve(network)
    (link,) = network.links
    link.change(loss="5%")
    assert start_fetching(network).complete(timeout="30min").returncode == 0
    check_got_all(network)
