"""Which typed lines go on until somebody ends them."""

import pytest

from longfat.studio.live.endless import goes_on_until_ended

NODES = ("h1", "h2", "s1")


@pytest.mark.parametrize(
    "line",
    [
        "ping 10.0.0.2",
        "ping -i0.2 10.0.0.2",
        "h1 ping h2",
        "at h1 ping h2",
        "iperf3 -s",
        "iperf3 --server -p 5202",
        "iperf3 -s -p 5201 | tee log",
        "sudo /usr/bin/iperf3 -s",
        "LD_PRELOAD=x.so iperf3 -s",
        "tcpdump -i h1-eth0",
        "watch -n 1 tc -s qdisc",
        "tail -f log",
        "nc -lk 5000",
        "python3 -m http.server 80",
        "vi notes",
        "sysctl -a; top",
    ],
)
def test_it_goes_on(line: str) -> None:
    assert goes_on_until_ended(line, nodes=NODES)


@pytest.mark.parametrize(
    "line",
    [
        "ping -c 5 10.0.0.2",
        "ping -c5 10.0.0.2",
        "ping 10.0.0.2 -w 3",
        "h1 ping -c 1 h2",
        "iperf3 -c 10.0.0.2 -t 20",
        "iperf3 -s -1",
        "iperf3 -s -D",
        "iperf3 -sD",
        "iperf3 -s &",
        "iperf3 -s & iperf3 -c 10.0.0.2",
        "tcpdump -i h1-eth0 -c 10",
        "tail log",
        "nc 10.0.0.2 5000",
        "python3 script.py",
        "sleep 10",
        "tc qdisc show",
        "",
        "echo 'not ended",
        "=",
        "at h1",
    ],
)
def test_it_ends(line: str) -> None:
    assert not goes_on_until_ended(line, nodes=NODES)
