"""What the lint says of lines and networks: for each rule a case that it warns of, and one not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longfat.model.lint import lint_line
from longfat.study.check import check_text
from tests.model.lint.network_check import HEAD, warnings

TBF = "tc qdisc replace dev r1-eth1 root handle 1: tbf rate {} burst {} limit {}"
ROOT = "tc qdisc add dev r1-eth1 root "
HTB = "tc qdisc add dev r1-eth1 root handle 1: htb default 10"
CLASS = "tc class add dev r1-eth1 parent 1: classid 1:10 htb "
BELOW = "tc qdisc add dev r1-eth1 parent 1:1 "
POLICE = "tc filter add dev r1-eth0 parent ffff: matchall action police rate 100mbit "
INGRESS = "tc qdisc add dev r1-eth0 ingress"

LINES = [
    # Rates.
    ("tc qdisc add dev x root netem rate 10gbps", "this is 80.0 Gbit/s: write `rate 10gbit`"),
    ("tc qdisc add dev x root netem rate 100kbps", "`rate 100kbit`, or `rate 800kbit` if that is"),
    ("tc qdisc add dev x root netem rate 10Mbps", "bytes per second, so this is 80.0 Mbit/s"),
    ("tc qdisc add dev x root netem rate 10mb", "refuses it: write `rate 10mbit`"),
    ("tc qdisc add dev x root netem rate 1Mbit/s", "refuses it: write `rate 1mbit`"),
    ("tc qdisc add dev x root netem rate 100", "as bit/s, and a full frame takes 121 s"),
    ("tc qdisc add dev x root netem rate 10 mbit", "refuses it: write `rate 10mbit`"),
    ("tc qdisc add dev x root netem rate 10mbit", None),
    ("tc qdisc add dev x root netem rate 10000000", None),
    ("tc class add dev x parent 1: classid 1:1 htb rate 10mbps", "80.0 Mbit/s"),
    ("tc class add dev x parent 1: classid 1:1 htb rate 10mbit ceil 1gbps", "`ceil 1gbit`"),
    ("tc qdisc add dev x root fq maxrate 100mbps", "write `maxrate 100mbit`"),
    ("tc qdisc add dev x root cake bandwidth 10mbps", "write `bandwidth 10mbit`"),
    # Times.
    ("tc qdisc add dev x root netem delay 20", "as microseconds: write `delay 20ms` for 20 ms"),
    ("tc qdisc add dev x root netem delay 20 ms", "refuses it: write `delay 20ms`"),
    ("tc qdisc add dev x root netem delay 20ms 5", "write `delay 20ms 5ms` for 5 ms"),
    ("tc qdisc add dev x root netem delay 20000", None),
    ("tc qdisc add dev x root netem delay 0", None),
    ("tc qdisc add dev x root netem delay 1min", "no unit of time 'min'"),
    ("tc qdisc add dev x root tbf rate 1mbit burst 2kb latency 50", "`latency 50ms`"),
    ("tc qdisc add dev x root fq_codel target 5", "`target 5ms`"),
    ("tc qdisc add dev x root fq_codel target 5ms interval 100ms", None),
    # Percentages.
    ("tc qdisc add dev x root netem loss 0.1", "0.1 %: write `loss 0.1%`, or `loss 10%`"),
    ("tc qdisc add dev x root netem delay 5ms loss 5 %", "refuses it: write `loss 5%`"),
    ("tc qdisc add dev x root netem loss 200", "no percentage"),
    ("tc qdisc add dev x root netem loss 10", None),
    ("tc qdisc add dev x root netem loss random 10% 25%", None),
    ("tc qdisc add dev x root netem loss gemodel 1 10", None),
    # Sizes and numbers of packets.
    ("tc qdisc add dev x root pfifo limit 100kb", "102,400 packets"),
    ("tc qdisc add dev x root netem limit 10kb", "10,240 packets"),
    ("tc qdisc add dev x root pfifo limit 100", None),
    ("tc qdisc add dev x root tbf rate 1mbit burst 10kbyte limit 10000", "unit of size 'kbyte'"),
    # What tc refuses.
    ("tc qdisc add dev x root netem reorder 25%", "refuses it without a delay"),
    ("tc qdisc add dev x root netem delay 10ms reorder 25%", None),
    ("tc qdisc add dev x root netem delay 10ms gap 5", "without `reorder`"),
    ("tc qdisc add dev x root netem delay 10ms reorder 100% gap 5", None),
    ("tc qdisc add dev x root netem delay 10ms distribution normal", "a delay and a jitter"),
    ("tc qdisc add dev x root netem delay 10ms 2ms distribution normal", None),
    ("tc qdisc add dev x root tbf rate 1mbit latency 50ms", "without `burst`"),
    ("tc qdisc add dev x root tbf rate 1mbit burst 10kb", "without `limit` or `latency`"),
    ("tc qdisc add dev x root tbf rate 1mbit burst 10kb latency 1ms limit 9k", "together"),
    ("tc qdisc add dev x root tbf rate 1mbit burst 5k limit 9k peakrate 2mbit", "without `mtu`"),
    (
        "tc qdisc add dev x root tbf rate 2mbit burst 5k limit 9k peakrate 1mbit mtu 1514",
        "not above the rate",
    ),
    ("tc qdisc add dev x root tbf rate 1mbit burst 32kbit latency 400ms", None),
    # RED.
    ("tc qdisc add dev x root red limit 400k min 90k max 30k avpkt 1000", "minimum above"),
    ("tc qdisc add dev x root red limit 400k min 30k max 90k avpkt 1000 burst 10", "`burst 52`"),
    ("tc qdisc add dev x root red limit 60k min 30k max 90k avpkt 1000 burst 55", "as a FIFO"),
    ("tc qdisc add dev x root red limit 400k avpkt 1000 probability 2", "`probability 0.02`"),
    ("tc qdisc add dev x root red limit 400k min 30k max 90k avpkt 1000 burst 55 ecn", None),
    # Lines as people type them.
    ("sudo tc qdisc add dev x root netem delay 20", "`delay 20ms`"),
    ("sudo -E /sbin/tc q a dev x root netem delay 20 # slow", "`delay 20ms`"),
    ("true && tc qdisc replace dev x root netem delay 20; true", "`delay 20ms`"),
    ("tc qdisc del dev x root 2>/dev/null\ntc qdisc add dev x root netem delay 20", "`delay 20ms`"),
    ("ip netns exec h1 tc qdisc add dev x root netem delay 20", "`delay 20ms`"),
    ("tc -n h1 qdisc add dev x root netem delay 20", "`delay 20ms`"),
    ("sh -c 'tc qdisc add dev x root netem delay 20'", "`delay 20ms`"),
    ("# tc qdisc add dev x root netem delay 20", None),
    ("echo 'tc qdisc add dev x root netem delay 20'", None),
    ("tc qdisc add dev x root netem delay $DELAY", None),
    ("for d in 1 2; do tc qdisc add dev x root netem delay 20; done", None),
    ("tc qdisc add dev x root netem delay 20  # lint: off", None),
    ("tc qdisc show dev x; tc qdisc del dev x root", None),
    # sysctl, whatever the network is.
    ("sysctl -w net.ipv4.tcp_rmem=6000000", "the minimum, is set"),
    ("sysctl -w net.ipv4.tcp_rmem=4096 87380 6291456", "without quotes only the first number"),
    ("sysctl -w net.ipv4.tcp_rmem='4096 131072'", "two numbers are set"),
    ("sysctl -w net.ipv4.tcp_rmem='1 2 3 4'", "more than three"),
    ("sysctl -w net.ipv4.tcp_wmem='6000000 131072 4096'", "`net.ipv4.tcp_wmem='4096 131072 6"),
    ("sysctl -w net.ipv4.tcp_wmem='4096 131072 99999999999'", "above 2147483647"),
    ("sysctl -w net/ipv4/tcp_wmem='4096 131072 6291456'", None),
    (
        "sysctl -w net.ipv4.tcp_conjestion_control=bbr",
        "nearest name is `net.ipv4.tcp_congestion_control`",
    ),
    (
        "sysctl -w net.core.tcp_rmem='1 2 3'",
        "no such sysctl; the nearest name is `net.ipv4.tcp_rmem`",
    ),
    ("sysctl -w net.ipv4.tcp_congestion_control=BBR", "`net.ipv4.tcp_congestion_control=bbr`"),
    ("sysctl -w net.ipv4.tcp_congestion_control=bbr", None),
    ("sysctl -w net.core.rmem_max=1000000", "only root can set"),
    ("sysctl net.ipv4.tcp_rmme", None),
    ("sysctl -w net.ipv4.conf.all.rp_filter=0 vm.swappiness=0 net.mine.own=1", None),
]


@pytest.mark.parametrize(("line", "part"), LINES)
def test_lines(line: str, part: str | None) -> None:
    texts = lint_line("h1", line)
    assert len(texts) == (part is not None), texts
    assert part is None or part in texts[0]


NETWORKS: list[tuple[list[str], str | None]] = [
    # Buckets and queues below a frame.
    ([TBF.format("10mbit", 1513, 100000)], "below a full-sized frame of 1,514"),
    ([TBF.format("10mbit", 1514, 100000)], None),
    ([TBF.format("10mbit", 1600, 1513)], "`tbf limit 1513`"),
    ([TBF.format("10mbit", "10kbit", 100000)], "`tbf burst 10kbit`: is 1,280 bytes"),
    ([TBF.format("10mbit", "10kb", 10000) + " peakrate 20mbit mtu 1000"], "`tbf mtu 1000`"),
    ([TBF.format("10mbit", "10kb", 10000) + " peakrate 20mbit mtu 1514"], None),
    ([TBF.format("10mbit", 1600, 100000), BELOW + "bfifo limit 100"], "write `pfifo limit 100`"),
    ([TBF.format("10mbit", 1600, 100000), BELOW + "bfifo limit 100000"], None),
    ([TBF.format("10mbit", 1000, 100000), "tc qdisc del dev r1-eth1 root"], None),
    (["h1: ip link set dev h1-eth0 mtu 900", "r1: ip link set dev r1-eth0 mtu 900"], None),
    # htb.
    ([HTB, CLASS + "rate 10mbit"], None),
    ([HTB.replace("10", "20"), CLASS + "rate 10mbit"], "no class 1:20 (the number is hexadecimal)"),
    ([HTB.replace(" default 10", ""), CLASS + "rate 10mbit"], "leave unshaped"),
    (
        [
            HTB.replace(" default 10", ""),
            CLASS + "rate 10mbit",
            "tc filter add dev r1-eth1 parent 1: protocol ip u32 match u32 0 0 flowid 1:10",
        ],
        None,
    ),
    (
        [
            HTB,
            CLASS + "rate 10mbit",
            CLASS.replace("1: classid 1:10", "1:10 classid 1:11") + "rate 10mbit",
        ],
        "has classes below it",
    ),
    ([HTB, CLASS + "rate 10mbit ceil 5mbit"], "so its rate is 5mbit"),
    (
        [
            HTB,
            CLASS.replace("1:10", "1:1") + "rate 10mbit",
            CLASS.replace("1: ", "1:1 ") + "rate 50mbit",
        ],
        "whatever its parent has",
    ),
    (
        [
            HTB,
            CLASS.replace("1:10", "1:1") + "rate 50mbit",
            CLASS.replace("1: ", "1:1 ") + "rate 10mbit",
        ],
        "write `ceil 50mbit`, or `ceil 10mbit` if that is meant",
    ),
    (
        [
            HTB,
            CLASS.replace("1:10", "1:1") + "rate 50mbit",
            CLASS.replace("1: ", "1:1 ") + "rate 10mbit ceil 50mbit",
        ],
        None,
    ),
    (
        [
            HTB,
            CLASS.replace("1:10", "1:1") + "rate 3gbit",
            CLASS.replace("1: ", "1:1 ") + "rate 1gbit ceil 3gbit",
            CLASS.replace("1: classid 1:10", "1:1 classid 1:20") + "rate 2gbit ceil 3gbit",
        ],
        "quantum of class is big",
    ),
    (
        [
            HTB + " r2q 2000",
            CLASS.replace("1:10", "1:1") + "rate 3gbit",
            CLASS.replace("1: ", "1:1 ") + "rate 1gbit ceil 3gbit",
            CLASS.replace("1: classid 1:10", "1:1 classid 1:20") + "rate 2gbit ceil 3gbit",
        ],
        None,
    ),
    # Policers.
    ([INGRESS, POLICE + "burst 1000 conform-exceed drop"], "below a full-sized packet of 1,500"),
    ([INGRESS, POLICE + "burst 500k mtu 1000 conform-exceed drop"], "`police mtu 1000`"),
    ([INGRESS, POLICE + "burst 500k conform-exceed drop"], None),
    (
        [INGRESS, POLICE + "burst 64k drop", "h2: tc qdisc add dev h2-eth0 root netem delay 20ms"],
        "rate x RTT is 244 KB",
    ),
    # netem.
    ([ROOT + "netem delay 10ms 30ms"], "33% of the delays are negative"),
    ([ROOT + "netem delay 30ms 10ms rate 10mbit"], None),
    ([ROOT + "netem delay 30ms 10ms"], "those of f overtake each other"),
    ([ROOT + "netem delay 30ms 10ms reorder 5%"], None),
    ([ROOT + "netem delay 30ms 3ms"], None),
    # ECN.
    (
        [
            "h1: sysctl -w net.ipv4.tcp_ecn=1",
            TBF.format("10mbit", 1600, 100000),
            BELOW + "codel",
        ],
        "write `codel ecn`",
    ),
    (
        [
            "h1: sysctl -w net.ipv4.tcp_ecn=1",
            TBF.format("10mbit", 1600, 100000),
            BELOW + "codel ecn",
        ],
        None,
    ),
    ([ROOT + "netem delay 10ms", "tc qdisc change dev r1-eth1 root netem loss 1%"], "is gone"),
    (
        [ROOT + "netem delay 10ms", "tc qdisc change dev r1-eth1 root netem delay 20ms loss 1%"],
        None,
    ),
    # A place that is taken, or is not there.
    ([ROOT + "netem delay 1ms", ROOT + "netem loss 1%"], "refuses a second root"),
    ([ROOT + "netem delay 1ms", ROOT + "tbf rate 1mbit burst 5k limit 9k"], "takes the place"),
    ([ROOT + "handle 1: netem delay 1ms", BELOW + "tbf rate 1mbit burst 5k limit 9k"], None),
    ([ROOT + "netem delay 1ms", "tc qdisc del dev r1-eth1 root", ROOT + "netem loss 1%"], None),
    (
        [ROOT + "netem delay 1ms", "tc qdisc del dev r1-eth1 root || true", ROOT + "netem loss 1%"],
        None,
    ),
    ([ROOT + "netem delay 1ms || true", ROOT + "netem loss 1%"], None),
    ([BELOW + "pfifo limit 5"], "has no qdisc 1:"),
    ([HTB, CLASS + "rate 1mbit", BELOW + "pfifo limit 5"], "has no such class"),
    (["tc qdisc change dev r1-eth1 root netem delay 5ms"], "no qdisc to change"),
    (["if true; then tc qdisc add dev r1-eth1 root handle 1: netem; fi", BELOW + "pfifo"], None),
    # Interfaces.
    (["tc qdisc add dev eth0 root netem delay 5ms"], "makes such an interface at r1"),
    (["h1: tc qdisc add dev r1-eth1 root netem delay 5ms"], "an interface of r1, not of h1"),
    (["root: tc qdisc add dev h1-eth0 root netem delay 5ms"], "an interface of h1, not of root"),
    (["root: ip netns exec h1 tc qdisc add dev h1-eth0 root netem delay 5ms"], None),
    (["ip link add d0 type dummy; tc qdisc add dev d0 root netem delay 5ms"], None),
    (["ip link set dev r1-eth0 name lan; ip link set dev lan up"], None),
    (
        [
            ROOT + "handle 1: netem limit 5000",
            "tc qdisc add dev r1-eth1 parent 3: handle 2: netem delay 1ms",
            "tc qdisc add dev r1-eth1 parent 2: handle 3: codel",
        ],
        "has no qdisc 3:",
    ),
    (["ip link set dev r1-eth2 up"], "write `dev r1-eth"),
    # ip.
    (["ip link set dev r1-eth1 mtu 9000"], "the MTU of r1-eth1 is 9000 and that of h2-eth0"),
    (["ip link set dev r1-eth1 mtu 9000", "h2: ip link set dev h2-eth0 mtu 9000"], None),
    (["h1: ip route add 10.9.0.0/16 via 10.0.2.254"], "in no network of h1 (10.0.1.0/24)"),
    (["h1: ip route add 10.9.0.0/16 via 10.0.1.254"], None),
    # Queues that need a rate.
    ([ROOT + "codel"], "no queue forms"),
    ([TBF.format("10mbit", 1600, 100000), BELOW + "codel"], None),
    ([TBF.format("1mbit", 1600, 100000), BELOW + "codel"], "one full-sized frame takes 12.1 ms"),
    ([TBF.format("1mbit", 1600, 100000), BELOW + "codel target 19ms"], None),
    # sysctls.
    (["root: sysctl -w net.ipv4.tcp_rmem='4096 131072 99999999'"], "at root there are no conn"),
    (["root: sysctl -w net.core.default_qdisc=fq"], "of interfaces that are made later"),
    (["root: sysctl -w net.core.rmem_max=50000000"], "may set by SO_RCVBUF"),
    (["root: sysctl -w net.ipv4.tcp_mem='4096 87380 16777216'"], "64.0 GB of a machine of 2.00"),
    (["root: sysctl -w net.ipv4.tcp_mem='10000 20000 30000'"], None),
]


@pytest.mark.parametrize(("lines", "part"), NETWORKS)
def test_networks(lines: list[str], part: str | None) -> None:
    texts = warnings(*lines)
    if part is None:
        assert texts == []
    else:
        assert any(part in text for text in texts), texts


DELAY = ROOT + "netem delay 200ms"


@pytest.mark.parametrize(
    ("lines", "fields", "part"),
    [
        # 100 Mbit/s for 200 ms are 1,652 frames, or 205 GSO packets of 12 KB.
        ([DELAY], {"first": "rate: 100mbit", "frames": "frames: yes"}, "`limit 4000`"),
        ([DELAY], {"first": "rate: 100mbit"}, None),
        ([DELAY + " limit 4000"], {"first": "rate: 100mbit", "frames": "frames: yes"}, None),
        (
            [DELAY],
            {"first": "rate: 100mbit", "frames": "frames: yes", "flow": "window: 200KB"},
            None,
        ),
        ([DELAY], {"first": "rate: 100mbit", "frames": "frames: yes", "flow": "rate: 1mbit"}, None),
        (
            [DELAY],
            {"first": "rate: 100mbit", "frames": "frames: yes", "flow": "bytes: 1MB", "time": ""},
            None,
        ),
        (
            [DELAY, "h1: fq-setup.sh"],
            {"first": "rate: 100mbit", "frames": "frames: yes"},
            None,
        ),
        (
            ["h1: tc qdisc add dev h1-eth0 root fq maxrate 20mbit", DELAY],
            {"frames": "frames: yes"},
            None,
        ),
        ([DELAY + " loss 1%"], {"first": "rate: 100mbit", "frames": "frames: yes"}, None),
        ([DELAY], {"frames": "frames: yes"}, None),
        ([DELAY + " rate 100mbit"], {"frames": "frames: yes"}, "1,652 on the way at 100 Mbit/s"),
        ([DELAY], {"first": "rate: 100mbit, qdisc: codel", "frames": "frames: yes"}, "limit"),
        # The round-trip time is above CoDel's interval, and cake's 100 ms.
        (
            [TBF.format("10mbit", 1600, 100000), BELOW + "codel"],
            {"first": "delay: 100ms"},
            "round-trip time is 200 ms",
        ),
        (
            [TBF.format("10mbit", 1600, 100000), BELOW + "codel interval 200ms target 10ms"],
            {"first": "delay: 100ms"},
            None,
        ),
        ([ROOT + "cake bandwidth 10mbit"], {"first": "delay: 100ms"}, "write `rtt 200ms`"),
        ([ROOT + "cake bandwidth 10mbit rtt 200ms"], {"first": "delay: 100ms"}, None),
        ([ROOT + "cake bandwidth 10mbit"], {"first": "delay: 20ms"}, None),
        # RED far below rate x RTT.
        (
            [
                TBF.format("100mbit", 10000, 2500000),
                BELOW + "red limit 1000000 min 3000 max 9000 avpkt 1000 burst 6",
            ],
            {"first": "delay: 20ms"},
            "rate x RTT of f is 500,000",
        ),
        (
            [
                TBF.format("100mbit", 10000, 2500000),
                BELOW + "red limit 1000000 min 100000 max 300000 avpkt 1000 burst 200",
            ],
            {"first": "delay: 20ms"},
            None,
        ),
        # What a link makes stands in the way.
        (
            ["h1: tc qdisc add dev h1-eth0 root netem delay 1ms"],
            {"first": "rate: 10mbit"},
            "of the link (wire), which are gone",
        ),
        (["h1: tc qdisc add dev h1-eth0 root netem delay 1ms"], {"first": "mtu: 1400"}, None),
        # A link's own words.
        ([], {"first": "rate: 10mbit, qdisc: fq_codel target 5"}, "`target 5ms`"),
        ([], {"first": "rate: 10mbit, qdisc: fq_codel target 5ms"}, None),
        # Windows.
        (
            ["h1: sysctl -w net.ipv4.tcp_window_scaling=0"],
            {"first": "rate: 100mbit, delay: 20ms"},
            "at most 13.1 Mbit/s",
        ),
        (
            ["h1: sysctl -w net.ipv4.tcp_window_scaling=0"],
            {"first": "rate: 10mbit, delay: 20ms"},
            None,
        ),
        (["root: sysctl -w net.core.rmem_max=50000000"], {"flow": "window: 200KB"}, None),
        # A kernel of somebody's own may have more.
        (["h1: sysctl -w net.ipv4.tcp_congestion_control=bbr3"], {"kernel": "6.4.0+bbr3"}, None),
        (["h1: sysctl -w net.ipv4.tcp_congestion_control=bbr3"], {}, "=bbr`"),
    ],
)
def test_paths(lines: list[str], fields: dict[str, str], part: str | None) -> None:
    texts = warnings(*lines, **fields)
    if part is None:
        assert texts == []
    else:
        assert any(part in text for text in texts), texts


def test_places() -> None:
    text = (
        HEAD.format(
            kernel="6.1",
            frames="",
            first="rate: 1mbit, qdisc: pie target 5",
            second="",
            flow="",
            time="time: 3s,",
        )
        + "  - h2: |\n      sysctl -w net.ipv4.tcp_rmem=5000000\n"
        "      tc qdisc add dev h2-eth0 root netem delay 5\n"
        "events:\n  - {at: 1s, h2: tc qdisc change dev h2-eth0 root netem delay 7}\n"
    )
    places = {
        (found.error.place.line, found.error.place.field, found.error.message.split(":")[0])
        for found in check_text(text, name="study.yaml").findings
        if found.error.place is not None
    }
    assert (10, "network.links[0]", "`target 5`") in places
    assert (16, "setup[0].h2", "`net.ipv4.tcp_rmem=5000000`") in places
    assert (17, "setup[0].h2", "`delay 5`") in places
    assert any(field == "events[0].h2" and what == "`delay 7`" for _, field, what in places)


_WORDS = st.sampled_from(
    (
        *("tc", "qdisc", "class", "filter", "add", "replace", "change", "del", "dev", "r1-eth1"),
        *(
            "root",
            "parent",
            "handle",
            "1:",
            "1:10",
            "classid",
            "htb",
            "tbf",
            "netem",
            "red",
            "rate",
        ),
        *(
            "burst",
            "limit",
            "delay",
            "loss",
            "10mbit",
            "20ms",
            "1%",
            "police",
            "sudo",
            "ip",
            "link",
        ),
        *("set", "mtu", "sysctl", "-w", "a=b", "net.ipv4.tcp_rmem=1 2 3", "&&", ";", "|", "'", '"'),
        *(
            "$x",
            "`",
            "(",
            ")",
            "\n",
            "#",
            "\\",
            "route",
            "via",
            "10.0.0.1",
            "default",
            "netns",
            "exec",
        ),
        *("codel", "target", "cake", "bandwidth", "prio", "1500", "-1", "1e99", "é", "2>&1", "||"),
    )
)


@given(line=st.lists(_WORDS | st.text(max_size=4), max_size=14).map(" ".join))
def test_any_line_can_be_read(line: str) -> None:
    lint_line("r1", line, devices={"r1-eth1": "r1"})


@given(lines=st.lists(st.lists(_WORDS, max_size=14).map(" ".join), min_size=1, max_size=3))
def test_any_set_up_can_be_read(lines: list[str]) -> None:
    from longfat.model.case import Case, Command
    from longfat.model.lint import lint_case
    from longfat.model.network import Host, Link, LinkImpairments, Network
    from longfat.model.traffic import Transfer

    shape = LinkImpairments(rate_bps=10**7, delay_s=0.02)
    network = Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="r1", address="10.0.0.2/8")),
        switches=(),
        links=(Link(a="h1", b="r1"), Link(a="r1", b="h1", a_to_b=shape, b_to_a=shape)),
    )
    case = Case(
        kernel="6.1",
        network=network,
        setup=tuple(Command(node="r1", line=line) for line in lines),
        flows=(Transfer(name="f", source="r1", target="h1", time_s=1.0),),
    )
    lint_case(case)
