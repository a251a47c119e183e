import pytest

from longfat.model.case import Command
from longfat.model.flow_path import (
    NotUnderstoodError,
    Shaping,
    qdisc_lines,
    queue_line,
    shaping,
    sysctl,
    sysctl_word,
)
from longfat.model.network.tc import Interface, QdiscLine

ROOT_NAMESPACE, DEV = "root", "s1-eth2"
NETEM = "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms"
TBF = "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 25000000"


def at_root(*lines: str) -> list[Command]:
    return [Command(node=ROOT_NAMESPACE, line=line) for line in lines]


def after(*lines: str) -> list[QdiscLine]:
    return qdisc_lines(Interface(name=DEV, node=ROOT_NAMESPACE), at_root(*lines))


@pytest.mark.parametrize(
    ("lines", "rate_bps", "delay_s"),
    [
        ([], None, 0.0),
        ([NETEM], None, 0.02),
        ([NETEM, TBF], 10e9, 0.02),
        ([NETEM, TBF, "tc qdisc del dev s1-eth2 root"], None, 0.0),
        ([NETEM, TBF, "tc qdisc del dev s1-eth2 parent 1:"], None, 0.02),
        ([NETEM, TBF, TBF.replace("add", "change").replace("10gbit", "1gbit")], 1e9, 0.02),
        # A changed netem drops what the line does not say again.
        ([NETEM, TBF, "tc qdisc change dev s1-eth2 root handle 1: netem loss 1%"], 10e9, 0.0),
        ([NETEM, TBF, "tc qdisc replace dev s1-eth2 root netem delay 5ms"], None, 0.005),
        (["tc qdisc add dev s1-eth2 root netem delay 10ms 1ms rate 50mbit"], 50e6, 0.01),
        ([NETEM, "tc -s qdisc show dev s1-eth2"], None, 0.02),
        ([NETEM, "/sbin/tc qdisc add dev s1-eth2 parent 1: handle 2: red limit 1"], None, 0.02),
        ([NETEM, "tc qdisc add dev s1-eth1 root cake bandwidth 1gbit"], None, 0.02),
        ([NETEM, "tc qdisc add dev s1-eth2 parent 1: cake bandwidth 50mbit rtt 9ms"], 50e6, 0.02),
        ([NETEM, "tc qdisc add dev s1-eth2 parent 1: cake bandwidth unlimited"], None, 0.02),
        ([NETEM, TBF, "tc qdisc add dev s1-eth2 parent 2:1 handle 3: fq limit 5"], 10e9, 0.02),
        ([NETEM, TBF, TBF.replace("parent 1:", "parent 2:").replace("10g", "2g")], 2e9, 0.02),
    ],
)
def test_shaping(lines: list[str], rate_bps: float | None, delay_s: float) -> None:
    found = shaping(after(*lines))
    assert (found.rate_bps, found.delay_s) == (rate_bps, delay_s)


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        ("loss 0.01%", 0.0001),
        ("loss random 2%", 0.02),
        ("delay 5ms loss 100%", 1.0),
        ("", 0.0),
        ("corrupt 4%", 0.04),
    ],
)
def test_loss(options: str, loss: float) -> None:
    found = shaping(after(f"tc qdisc add dev {DEV} root netem {options}"))
    assert found == Shaping(loss=loss, delay_s=found.delay_s)


RED = f"tc qdisc add dev {DEV} parent 2: handle 3: red limit 200000 avpkt 1000"
RED_MB = RED.replace("200000", "'2mb'")


@pytest.mark.parametrize(
    ("lines", "queue"),
    [
        ([], None),
        ([NETEM], None),
        ([NETEM, TBF], ("tbf", 25_000_000, TBF)),
        ([NETEM, TBF, RED], ("red", 200_000, RED)),
        ([NETEM, TBF, f"tc qdisc add dev {DEV} parent 2: pfifo limit 100"],
         ("pfifo", None, f"tc qdisc add dev {DEV} parent 2: pfifo limit 100")),
        ([NETEM, TBF, RED_MB], ("red", 2 << 20, RED_MB)),
    ],
)  # fmt: skip
def test_queue_line(lines: list[str], queue: tuple[str, int | None, str] | None) -> None:
    found = queue_line(after(*lines))
    assert (found and (found.kind, found.limit_bytes, found.line)) == queue


@pytest.mark.parametrize(
    "line",
    [
        "tc class add dev s1-eth2 parent 1: classid 1:1 htb rate 1gbit",
        "tc qdisc add dev s1-eth2 root htb default 1",
        "tc qdisc add dev s1-eth2 root tbf rate 10mbps burst 5000 limit 5000",
        "tc qdisc add dev s1-eth2 root netem delay 20000",
        "tc qdisc add dev s1-eth2 root netem delay",
        "tc qdisc add dev s1-eth2 root netem loss 1",
        "tc qdisc add dev s1-eth2 root netem loss state 1% 2%",
        "tc qdisc add dev s1-eth2 root netem loss gemodel 1% 25%",
        "for d in s1-eth2; do tc qdisc add dev $d root netem delay 1ms; done",
        "for i in 1 2; do tc qdisc add dev s1-eth$i root netem delay 1ms; done",
        "sudo -u nobody tc qdisc add dev s1-eth2 root netem delay 1ms",
        "tc qdisc add dev s1-eth2",
        "tc qdisc add dev s1-eth2 handle 1: netem delay 1ms",
        "tc qdisc frob dev s1-eth2 root netem",
        "tc qdisc add dev s1-eth2 root netem delay '1ms",
    ],
)
def test_other_forms_are_never_guessed_at(line: str) -> None:
    with pytest.raises(NotUnderstoodError, match="not understood"):
        shaping(after(line))


RMEM = "net.ipv4.tcp_rmem"


@pytest.mark.parametrize(
    ("lines", "numbers"),
    [
        ([], None),
        ([("h2", "sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'")], (10240, 87380, 16777216)),
        ([("h2", 'sysctl -q net.ipv4.tcp_rmem="1 2 3"'), ("h2", "sysctl net.ipv4.tcp_rmem")],
         (1, 2, 3)),
        ([("h2", "sysctl -w net/ipv4/tcp_rmem='1 2 3'"), ("h2", f"sysctl -w {RMEM}='4 5 6'")],
         (4, 5, 6)),
        ([("h1", f"sysctl -w {RMEM}='1 2 3'")], None),
        ([("h2", "sysctl -w net.ipv4.tcp_wmem='1 2 3'")], None),
    ],
)  # fmt: skip
def test_sysctl(lines: list[tuple[str, str]], numbers: tuple[int, ...] | None) -> None:
    setup = [Command(node=node, line=line) for node, line in lines]
    assert sysctl(setup, "h2", RMEM) == numbers


@pytest.mark.parametrize(
    ("node", "line"),
    [
        ("h2", "echo 1 2 3 > /proc/sys/net/ipv4/tcp_rmem"),
        ("h2", "sysctl -w net.ipv4.tcp_rmem=$X"),
        ("h2", "sysctl -w net.ipv4.tcp_rmem=large"),
        ("root", "ip netns exec h2 sysctl -w net.ipv4.tcp_rmem='1 2 3'"),
    ],
)
def test_other_ways_to_set_it_are_never_guessed_at(node: str, line: str) -> None:
    with pytest.raises(NotUnderstoodError):
        sysctl([Command(node=node, line=line)], "h2", RMEM)


def test_a_sysctl_that_is_a_word() -> None:
    name = "net.ipv4.tcp_congestion_control"
    setup = [Command(node="h2", line=f"sysctl -w {name}={cc}") for cc in ("bbr", "reno")]
    assert sysctl_word(setup, "h2", name) == "reno"
    assert sysctl_word(setup, "h1", name) is None
