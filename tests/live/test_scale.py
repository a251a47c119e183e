"""A thousand hosts on one switch."""

from __future__ import annotations

import os
import time

import pytest

from longfat.common.process import descendants
from longfat.live import Network
from tests.live.conftest import host

HOSTS = 1000  # Linux gives a bridge 1023 ports


def memory_bytes(net: Network) -> int:
    """Return what the machine holds of the host's memory; what is shared counts in parts."""
    guard = net.session._machine._guarded.pid
    total = 0
    for pid in (guard, *(process.pid for process in descendants(guard))):
        with open(f"/proc/{pid}/smaps_rollup") as file:
            (kilobytes,) = (line.split()[1] for line in file if line.startswith("Pss:"))
        total += int(kilobytes) * 1024
    return total


@pytest.mark.slow
def test_a_thousand_hosts_are_up_and_reach_each_other() -> None:
    began_s = time.monotonic()
    with Network(kernel="6.1") as net:
        s1 = net.switch("s1")
        for number in range(1, HOSTS + 1):
            net.link(net.host(f"h{number}"), s1)
        net.build()
        up_s = time.monotonic() - began_s
        h1 = host(net, "h1")
        done = h1.run(f"ping -c 2 h{HOSTS}", check=True)
        assert "2 received" in done.stdout
        assert host(net, f"h{HOSTS}").run("ping -c 1 h500").returncode == 0
        net.sleep(10)  # what IPv6 has to say to a thousand neighbours
        assert h1.run("ping -c 2 h777", check=True).stdout.count("bytes from") == 2
        used = memory_bytes(net)
        load = os.getloadavg()[0]
        print(f"up in {up_s:.1f} s, {used / 2**20:.0f} MB; load average {load:.1f}")
        assert used < 1 << 30
        # The figure is 10 s; a busy host may take longer, and is no reason to fail.
        assert up_s < 40
