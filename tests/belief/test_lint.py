"""What tc, sysctl and kernels make of the lines that `longfat.model.lint` warns of."""

from __future__ import annotations

from collections.abc import Callable

from longfat.engine.kernel import Kernel
from longfat.model.lint.sysctl_names import OF_HOSTS, OF_MACHINE
from longfat.model.lint.sysctls import CONGESTION_CONTROLS

Boot = Callable[..., str]

# The words behind `tc qdisc add dev dum0 root`, and a part of what `tc qdisc show` prints, or of
# what is printed in place of making the qdisc.
LINES = [
    ("netem loss 0.1", "loss 0.1%"),
    ("netem loss 10", "loss 10%"),
    ("netem loss 200", 'Illegal "loss percent"'),
    ("netem loss 5 %", 'What is "%"'),
    ("netem delay 20", "delay 19us"),  # ticks of 64 ns
    ("netem delay 20 ms", 'What is "ms"'),
    ("netem delay 1min", 'Illegal "latency"'),
    ("netem rate 10gbps", "rate 80Gbit"),
    ("netem rate 100kbps", "rate 800Kbit"),
    ("netem rate 10Mbps", "rate 80Mbit"),
    ("netem rate 10mb", 'Illegal "rate"'),
    ("netem rate 1Mbit/s", 'Illegal "rate"'),
    ("netem rate 100", "rate 96bit"),  # whole bytes per second
    ("netem limit 10kb", "limit 10240"),
    ("netem delay 1ms", "limit 1000"),
    ("netem reorder 25%", "reordering not possible"),
    ("netem delay 10ms gap 5", "gap specified without reorder"),
    ("netem delay 10ms distribution normal", "no latency and jitter"),
    ("tbf rate 10mbit burst 32kbit latency 50ms", "burst 4Kb lat 50ms"),
    ("tbf rate 10mbit burst 32kbit latency 50", "lat 50us"),
    ("tbf rate 10mbit latency 50ms", '"burst" parameter is mandatory'),
    ("tbf rate 10mbit burst 10kb", 'either "limit" or "latency" is required'),
    ("tbf rate 10mbit burst 10kb limit 9k latency 1ms", "is not allowed"),
    ("tbf rate 10mbit burst 10kb limit 9k peakrate 20mbit", '"mtu" must also be specified'),
    ("tbf rate 10mbit burst 10kb limit 9k peakrate 5mbit mtu 1600", "noqueue"),
    ("pfifo limit 100kb", "limit 102400p"),
    ("bfifo limit 100kbit", "limit 12800b"),
    ("red limit 400k min 90k max 30k avpkt 1000 burst 155 bandwidth 10mbit", "probability"),
    ("red limit 400k min 30k max 90k avpkt 1000 burst 10 bandwidth 10mbit", "burst 10 is too"),
    ("red limit 60k min 30k max 90k avpkt 1000 burst 55 bandwidth 10mbit", "limit 60Kb"),
    ("fq_codel target 5", "target 4us"),
    ("cake bandwidth 10mbps rtt 200", "bandwidth 80Mbit"),
]


def outputs(boot: Boot, kernel: Kernel, lines: list[str]) -> list[str]:
    """Return what each line prints."""
    script = ["ip link add dum0 type dummy", "ip link set dum0 up"]
    for number, line in enumerate(lines):
        script += [f"echo '=== {number}'", f"( {line} ) 2>&1"]
    text = boot(kernel, "\n".join(script))
    return [part.partition("\n")[2] for part in text.split("=== ")[1:]]


def test_numbers(boot: Boot, each_kernel: Kernel) -> None:
    root = "tc qdisc {} dev dum0 root"
    said = outputs(
        boot,
        each_kernel,
        [
            f"{root.format('add')} {words}; {root.format('show').replace(' root', '')};"
            f" {root.format('del')} 2>/dev/null; true"
            for words, _ in LINES
        ],
    )
    wrong = [
        (words, text)
        for (words, part), text in zip(LINES, said, strict=True)
        if part not in text.replace("61440b", "60Kb")
    ]
    assert not wrong


def test_a_second_root(boot: Boot, each_kernel: Kernel) -> None:
    """One of another kind replaces all, in silence; others are refused."""
    add = "tc qdisc add dev dum0 root"
    show = "tc qdisc show dev dum0"
    said = outputs(
        boot,
        each_kernel,
        [
            f"{add} handle 1: htb default 10",
            f"{add} netem delay 1ms",
            show,
            f"{add} netem delay 2ms",
            f"{add} handle 5: tbf rate 1mbit burst 10kb latency 50ms",
            show,
            "tc qdisc change dev dum0 root netem loss 1%",
            show,
            "tc qdisc add dev dum0 parent 1:1 pfifo limit 5",
            "tc qdisc del dev dum0 root; tc qdisc change dev dum0 root netem delay 1ms",
        ],
    )
    assert said[:2] == ["", ""]
    assert "netem" in said[2]
    assert "htb" not in said[2]
    assert "Exclusivity flag on" in said[3]
    assert "NLM_F_REPLACE needed" in said[4]
    assert "delay 1ms" in said[5]
    assert "loss 1%" in said[7]
    assert "delay" not in said[7]
    assert "Failed to find specified qdisc" in said[8]
    assert said[9]


def test_what_a_change_of_netem_keeps(boot: Boot, each_kernel: Kernel) -> None:
    root = "tc qdisc {} dev dum0 root"
    said = outputs(
        boot,
        each_kernel,
        [
            f"{root.format('add')} netem delay 1ms loss 3% rate 10mbit corrupt 2% reorder 5%",
            f"{root.format('change')} netem delay 2ms; tc qdisc show dev dum0",
        ],
    )
    assert all(part in said[1] for part in ("delay 2ms", "rate 10Mbit", "corrupt 2%", "reorder"))
    assert "loss" not in said[1]


def test_the_limit_of_a_tbf_goes_with_its_queue(boot: Boot, each_kernel: Kernel) -> None:
    said = outputs(
        boot,
        each_kernel,
        [
            "tc qdisc add dev dum0 root handle 1: tbf rate 10mbit burst 10kb limit 250000",
            "tc qdisc add dev dum0 parent 1:1 netem delay 20ms; tc qdisc show dev dum0",
        ],
    )
    assert "bfifo" not in said[1]
    assert "limit 1000 delay 20ms" in said[1]


def test_the_length_of_a_queue_is_read_when_it_is_made(boot: Boot, each_kernel: Kernel) -> None:
    said = outputs(
        boot,
        each_kernel,
        [
            "ip link set dev dum0 txqueuelen 5; tc qdisc add dev dum0 root pfifo",
            "ip link set dev dum0 txqueuelen 9; tc qdisc show dev dum0",
        ],
    )
    assert "limit 5p" in said[1]


def test_htb(boot: Boot, each_kernel: Kernel) -> None:
    add = "tc class add dev dum0 parent 1: classid 1:{} htb rate {}"
    said = outputs(
        boot,
        each_kernel,
        [
            "tc qdisc add dev dum0 root handle 1: htb default 10",
            add.format(1, "1gbit"),
            add.format(2, "50kbit"),
            add.format(3, "10mbit"),
            "tc -d class show dev dum0",
            "tc qdisc add dev dum0 parent 1:9 pfifo",
            "dmesg",
        ],
    )
    quanta = {line.split()[2]: line for line in said[4].splitlines() if line.startswith("class")}
    assert "quantum 200000 " in quanta["1:1"]
    assert "quantum 1000 " in quanta["1:2"]
    assert "quantum 125000 " in quanta["1:3"]
    assert "ceil 10Mbit" in quanta["1:3"]
    assert "class not found" in said[5]
    assert "quantum of class 10001 is big" in said[1] + said[6]
    assert "quantum of class 10002 is small" in said[2] + said[6]


def test_sysctl(boot: Boot, each_kernel: Kernel) -> None:
    name = "net.ipv4.tcp_rmem"
    said = outputs(
        boot,
        each_kernel,
        [
            f"sysctl -w {name}='4096 131072 6291456'",
            f"sysctl -qw {name}=8192; cat /proc/sys/net/ipv4/tcp_rmem",
            f"sysctl -qw {name}='4096 100000'; cat /proc/sys/net/ipv4/tcp_rmem",
            f"sysctl -qw {name}=5000 87380 7000000 2>/dev/null; cat /proc/sys/net/ipv4/tcp_rmem",
            f"sysctl -qw {name}='1 2 3 4'",
            f"sysctl -qw {name}='4096 131072 2147483648'",
            f"sysctl -qw {name}='6000000 131072 4096'; cat /proc/sys/net/ipv4/tcp_rmem",
            "sysctl -qw net.ipv4.tcp_congestion_control=BBR",
            "cat /proc/sys/net/ipv4/tcp_available_congestion_control",
            "ip route add 10.9.0.0/16 via 10.0.2.254",
        ],
    )
    assert said[1].split() == ["8192", "131072", "6291456"]
    assert said[2].split() == ["4096", "100000", "6291456"]
    assert said[3].split() == ["5000", "100000", "6291456"]
    assert "Invalid argument" in said[4]
    assert "Invalid argument" in said[5]
    assert said[6].split() == ["6000000", "131072", "4096"]
    assert "No such file" in said[7]
    assert set(said[8].split()) >= CONGESTION_CONTROLS
    assert "unreachable" in said[9] or "invalid gateway" in said[9]


def test_names_of_sysctls(boot: Boot, each_kernel: Kernel) -> None:
    listing = "cd /proc/sys; ls -d net/core/* net/ipv4/* net/ipv6/*"
    said = outputs(
        boot,
        each_kernel,
        [listing, f"ip netns add h1; ip netns exec h1 sh -c '{listing}'"],
    )
    root, host = ({line.replace("/", ".") for line in text.split()} for text in said)
    folders = {f"net.{name}" for name in ("ipv4.conf", "ipv4.neigh", "ipv4.route", "ipv6.conf")} | {
        f"net.ipv6.{name}" for name in ("neigh", "icmp", "route")
    }
    assert root - folders <= OF_HOSTS | OF_MACHINE
    assert (root - host) & OF_HOSTS <= {"net.core.tstamp_allow_data", "net.core.optmem_max"}


def test_the_smaller_mtu_drops(boot: Boot, each_kernel: Kernel) -> None:
    """An end of a veth pair drops what is above its own MTU, without a message."""
    setup = (
        "ip netns add h1; ip link add v0 type veth peer name v1 netns h1;"
        " ip addr add 10.0.0.1/24 dev v0; ip link set v0 up mtu 9000;"
        " ip -n h1 addr add 10.0.0.2/24 dev v1; ip -n h1 link set v1 up"
    )
    said = outputs(
        boot,
        each_kernel,
        [setup, "ping -c 1 -W 1 -s 1472 10.0.0.2", "ping -c 1 -W 1 -s 3000 10.0.0.2"],
    )
    assert "1 received" in said[1]
    assert "0 received" in said[2]
    assert "Frag" not in said[2]
