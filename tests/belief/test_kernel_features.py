"""What the kernels can do beside plain networks: a packet passes each kind of tunnel and device."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longfat.engine import kernel as kernels
from longfat.engine.kernel import Kernel

Boot = Callable[..., str]

# Two hosts on one wire, 10.0.0.1 and .2; what is tried gets 10.9.0.1 and .2.
HOSTS = """\
set -e
for n in 1 2; do
    ip netns add h$n
    ip -n h$n link set lo up
done
ip -n h1 link add e1 type veth peer name e1 netns h2
for n in 1 2; do
    ip -n h$n addr add 10.0.0.$n/24 dev e1
    ip -n h$n link set e1 up
done
ip -n h1 link show | grep -c mtu  # lo and e1, and no device that nobody asked for
"""

TUNNEL = """
for n in 1 2; do
    other=$((3 - n))
    ip -n h$n {add}
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
"""

LOCAL = "local 10.0.0.$n remote 10.0.0.$other"

WIREGUARD = """
mkdir -p /tmp/wg
for n in 1 2; do
    wg genkey > /tmp/wg/$n
    wg pubkey < /tmp/wg/$n > /tmp/wg/$n.pub
done
for n in 1 2; do
    other=$((3 - n))
    ip -n h$n link add inner type wireguard
    ip netns exec h$n wg set inner listen-port 5000 private-key /tmp/wg/$n \
        peer $(cat /tmp/wg/$other.pub) allowed-ips 10.9.0.$other/32 endpoint 10.0.0.$other:5000
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
"""

MACSEC = """
for n in 1 2; do
    other=$((3 - n))
    ip -n h$n link set e1 address 02:00:00:00:00:0$n
    ip -n h$n link add link e1 inner type macsec port 1 encrypt on
    ip -n h$n macsec add inner tx sa 0 pn 1 on key 0$n 0000000000000000000000000000000$n
    ip -n h$n macsec add inner rx address 02:00:00:00:00:0$other port 1
    ip -n h$n macsec add inner rx address 02:00:00:00:00:0$other port 1 sa 0 pn 1 on \
        key 0$other 0000000000000000000000000000000$other
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
"""

# A security association for each direction, and a device whose packets they are for.
IPSEC = """
for n in 1 2; do
    other=$((3 - n))
    for way in "1 2" "2 1"; do
        set -- $way
        ip -n h$n xfrm state add src 10.0.0.$1 dst 10.0.0.$2 proto esp spi 0x$1 mode tunnel \\
            if_id 7 {algorithms}
    done
    ip -n h$n xfrm policy add dst 10.9.0.$other dir out if_id 7 \\
        tmpl src 10.0.0.$n dst 10.0.0.$other proto esp mode tunnel
    ip -n h$n xfrm policy add src 10.9.0.$other dir in if_id 7 \\
        tmpl src 10.0.0.$other dst 10.0.0.$n proto esp mode tunnel
    ip -n h$n link add inner type xfrm dev e1 if_id 7
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
"""
KEY = "0x000102030405060708090a0b0c0d0e0f"

L2TP = """
for n in 1 2; do
    other=$((3 - n))
    ip -n h$n l2tp add tunnel tunnel_id $n peer_tunnel_id $other encap udp local 10.0.0.$n \
        remote 10.0.0.$other udp_sport 5000 udp_dport 5000
    ip -n h$n l2tp add session name inner tunnel_id $n session_id $n peer_session_id $other
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
"""

# A second wire; the first one is then cut.
BOND = """
ip -n h1 link add e2 type veth peer name e2 netns h2
for n in 1 2; do
    ip -n h$n link add inner type bond mode active-backup miimon 10
    for e in e1 e2; do ip -n h$n link set $e down; ip -n h$n link set $e master inner; done
    ip -n h$n addr add 10.9.0.$n/24 dev inner
    ip -n h$n link set inner up
done
sleep 1
ip -n h1 link set e1 down
sleep 1
"""

MPLS = """
for n in 1 2; do
    ip netns exec h$n sysctl -qw net.mpls.platform_labels=200 net.mpls.conf.e1.input=1
    ip -n h$n addr add 10.9.0.$n/32 dev lo
    ip -n h$n -f mpls route add 10$n dev lo
    other=$((3 - n))
    ip -n h$n route add 10.9.0.$other/32 encap mpls 10$other via 10.0.0.$other src 10.9.0.$n
done
"""

# h2 is reached under another address, and sees the sender under another one.
NAT = """
ip -n h1 route add 10.9.0.0/24 dev e1
ip -n h2 addr add 10.9.0.9/32 dev e1
ip netns exec h1 nft -f - <<RULES
table ip nat {
    chain out { type nat hook output priority -100; ip daddr 10.9.0.2 dnat to 10.0.0.2; }
    chain after { type nat hook postrouting priority 100; ip daddr 10.0.0.2 masquerade; }
}
RULES
"""

VRF = """
for n in 1 2; do
    ip -n h$n link add inner type vrf table 10
    ip -n h$n link set inner up
    ip -n h$n link set e1 master inner
    ip -n h$n addr add 10.9.0.$n/24 dev e1
done
"""


def tunnel(text: str) -> str:
    return TUNNEL.replace("{add}", text)


def ipsec(algorithms: str) -> str:
    return IPSEC.replace("{algorithms}", algorithms)


FEATURES = {
    "ipip": (tunnel(f"link add inner type ipip {LOCAL}"), ""),
    "gre": (tunnel(f"link add inner type gre {LOCAL} key 7"), ""),
    "gretap": (tunnel(f"link add inner type gretap {LOCAL}"), ""),
    "ipvlan": (tunnel("link add link e1 name inner type ipvlan mode l2"), ""),
    "vxlan": (tunnel(f"link add inner type vxlan id 7 {LOCAL} dstport 4789"), ""),
    "geneve": (tunnel("link add inner type geneve id 7 remote 10.0.0.$other"), ""),
    "wireguard": (WIREGUARD, ""),
    "macsec": (MACSEC, ""),
    "ipsec-gcm": (ipsec(f"aead 'rfc4106(gcm(aes))' {KEY}10111213 128"), ""),
    "ipsec-cbc": (ipsec(f"enc 'cbc(aes)' {KEY} auth 'hmac(sha256)' {KEY}"), ""),
    "l2tp": (L2TP, ""),
    "bond": (BOND, ""),
    "mpls": (MPLS, ""),
    "nftables-nat": (NAT, ""),
    "vrf": (VRF, "ip vrf exec inner"),
}


@pytest.mark.parametrize("name", FEATURES)
def test_a_packet_passes(boot: Boot, each_kernel: Kernel, name: str) -> None:
    lines, prefix = FEATURES[name]
    ping = f"ip netns exec h1 {prefix} ping -c 3 -i 0.2 -W 2 10.9.0.2"
    # WireGuard shakes no hands in a machine's first second.
    said = boot(each_kernel, f"{HOSTS}{lines}\nsleep 1\n{ping}")
    assert said.startswith("2\n"), said
    assert "3 packets transmitted, 3 received" in said, said


# A program of two instructions, `r0 = CODE; exit`, as each hook takes it.
BPF = """
import ctypes, os, struct, sys
SYSCALL = 321
libc = ctypes.CDLL(None, use_errno=True)

def bpf(command, attribute):
    buffer = ctypes.create_string_buffer(attribute, len(attribute))
    found = libc.syscall(SYSCALL, command, buffer, len(attribute))
    if found < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found

def load(kind, code, attach=0):
    lines = struct.pack("<BBhi", 0xB7, 0, 0, code) + struct.pack("<BBhi", 0x95, 0, 0, 0)
    lines = ctypes.create_string_buffer(lines, len(lines))
    words = ctypes.create_string_buffer(b"GPL")
    places = ctypes.addressof(lines), ctypes.addressof(words)
    head = struct.pack("<IIQQIIQI", kind, 2, *places, 0, 0, 0, 0)
    return bpf(5, head + bytes(4) + bytes(16) + struct.pack("<II", 0, attach))

def pin(program, path):
    name = ctypes.create_string_buffer(path.encode())
    bpf(6, struct.pack("<QII", ctypes.addressof(name), program, 0))
"""

TC_PROGRAM = f"""
mkdir -p /sys/fs/bpf
mount -t bpf none /sys/fs/bpf
cat > /tmp/p.py <<'X'
{BPF}
pin(load(3, 2), "/sys/fs/bpf/drop")  # BPF_PROG_TYPE_SCHED_CLS, TC_ACT_SHOT
X
python3 /tmp/p.py
ip netns exec h1 ping -c 1 -W 1 10.0.0.2 | grep received
nsenter --net=/run/netns/h1 tc qdisc add dev e1 clsact
nsenter --net=/run/netns/h1 tc filter add dev e1 egress bpf da object-pinned /sys/fs/bpf/drop
ip netns exec h1 ping -c 1 -W 1 10.0.0.2 | grep received || true
"""

CGROUP_PROGRAM = f"""
mkdir -p /tmp/cg
mount -t cgroup2 none /tmp/cg
mkdir /tmp/cg/closed
cat > /tmp/p.py <<'X'
{BPF}
import socket
program = load(9, 0, 2)  # BPF_PROG_TYPE_CGROUP_SOCK, refused; BPF_CGROUP_INET_SOCK_CREATE
group = os.open("/tmp/cg/closed", os.O_RDONLY)
bpf(8, struct.pack("<IIII", group, program, 2, 0))
socket.socket().close()
with open("/tmp/cg/closed/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
try:
    socket.socket()
except PermissionError:
    print("no socket in the group")
X
python3 /tmp/p.py
"""


def test_tc_runs_an_ebpf_program(boot: Boot, each_kernel: Kernel) -> None:
    said = boot(each_kernel, HOSTS + TC_PROGRAM)
    assert "1 packets transmitted, 1 received" in said, said
    assert "1 packets transmitted, 0 received" in said, said


def test_a_cgroup_runs_an_ebpf_program(boot: Boot, each_kernel: Kernel) -> None:
    assert "no socket in the group" in boot(each_kernel, CGROUP_PROGRAM)


# Mininet limits a host's CPU by the quota of a group. Ten periods of 100 ms, each of them

QUOTA = """
mkdir -p /tmp/cg
mount -t cgroup2 none /tmp/cg
echo +cpu > /tmp/cg/cgroup.subtree_control
mkdir /tmp/cg/half
echo '50000 100000' > /tmp/cg/half/cpu.max
cat /tmp/cg/half/cpu.max
"""


def test_groups_take_a_quota_of_cpu_time(boot: Boot, each_kernel: Kernel) -> None:
    assert "50000 100000" in boot(each_kernel, QUOTA)


# The AE bit of a SYN is the lowest of the 13th byte (RFC 9768, section 3.1.1).
ACCECN = """
for n in 1 2; do ip netns exec h$n sysctl -qw net.ipv4.tcp_ecn=3; done
sleep 2
ip netns exec h2 tcpdump -Z root -n -i e1 -c 1 -w /tmp/syn.pcap 'tcp[tcpflags] & tcp-syn != 0' \
    2> /dev/null &
sleep 1
ip netns exec h2 iperf3 -s -1 > /dev/null &
sleep 1
ip netns exec h1 iperf3 -c 10.0.0.2 -t 1 -b 1M > /dev/null
sleep 1
python3 -c "print('flags', open('/tmp/syn.pcap', 'rb').read()[24 + 16 + 14 + 20 + 12:][:2].hex())"
"""


@pytest.mark.slow
def test_7_2_offers_accurate_ecn(boot: Boot) -> None:
    said = boot(kernels.find("7.2"), HOSTS + ACCECN)
    # Ten words of header, then AE; CWR, ECE and SYN.
    assert "flags a1c2" in said, said


@pytest.mark.slow
def test_7_2_has_dualpi2(boot: Boot) -> None:
    lines = (
        "ip netns exec h1 tc qdisc add dev e1 root dualpi2; ip netns exec h1 tc qdisc show dev e1"
    )
    ping = "ip netns exec h1 ping -c 1 -W 1 10.0.0.2"
    said = boot(kernels.find("7.2"), f"{HOSTS}{lines}\n{ping}")
    assert "qdisc dualpi2" in said, said
    assert "1 received" in said, said


# A process that reads the clock over and over uses CPU time, 256 ns a reading, and counts how often
# it could in a second.
SPINNING = """
mkdir -p /tmp/cg
mount -t cgroup -o cpu,cpuacct none /tmp/cg
mkdir /tmp/cg/tenth
echo 100000 > /tmp/cg/tenth/cpu.cfs_period_us
echo 10000 > /tmp/cg/tenth/cpu.cfs_quota_us
echo $$ > /tmp/cg/tenth/tasks
cat > /tmp/spin.py <<'X'
import time
start, number = time.monotonic(), 0
while time.monotonic() - start < 1:
    number += 1
print(number)
X
chrt -r 10 python3 /tmp/spin.py
chrt -o 0 python3 /tmp/spin.py
"""


def test_a_quota_limits_what_uses_cpu_time_under_the_ordinary_scheduler(
    boot: Boot, each_kernel: Kernel
) -> None:
    real_time, ordinary = map(int, boot(each_kernel, SPINNING).split())
    assert real_time > 3_000_000
    assert ordinary < real_time / 5
