"""How often ping sends, against `longfat.model.flow_path.ping_intervals`."""

from __future__ import annotations

import re
from collections.abc import Callable

from longfat.engine.kernel import Kernel
from longfat.model.flow_path.ping_intervals import real_interval_s

SCRIPT = """
ip netns add a
ip link add a0 netns a type veth peer name b0
ip -n a addr add 10.0.0.1/8 dev a0; ip -n a link set a0 up
ip addr add 10.0.0.2/8 dev b0; ip link set b0 up
sleep 1
for delay in 0 3 40; do
    tc qdisc replace dev b0 root netem delay ${delay}ms
    ping -c 1 10.0.0.1 > /dev/null
    for interval in 1 5 10 15 20 100; do
        echo $delay $interval $(ping -c 20 -i 0.$(printf %03d $interval) 10.0.0.1 | grep loss)
    done
done
"""


def test_the_mean_interval(boot: Callable[..., str], each_kernel: Kernel) -> None:
    lines = boot(each_kernel, SCRIPT).splitlines()
    assert len(lines) == 18
    for line in lines:
        delay, interval = map(int, line.split()[:2])
        found = re.search(r"time (\d+)ms", line)
        assert found is not None
        mean_ms = int(found[1]) / 19  # from the first request to the last
        low_s, high_s = real_interval_s(interval / 1000, rtt_s=delay / 1000)
        assert 1000 * low_s - 0.5 <= mean_ms <= 1000 * high_s + 0.5, line
