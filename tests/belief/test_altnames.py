"""What takes an interface's alternative name, which may be longer than 15 characters, and what not.

`longfat.model.network.devices` relies on it.
"""

from __future__ import annotations

from collections.abc import Callable

from longfat.engine.kernel import Kernel

FULL = "frankfurt-core-router-1-eth0"

SCRIPT = f"""
ip netns add a
ip netns add b
ip link add fra-eth0 netns a type veth peer name b-eth0 netns b
ip -n a link property add dev fra-eth0 altname {FULL}
ip link add bridge type bridge
ip link property add dev bridge altname distribution-switch-floor-3
ip link add port type veth peer name port2
at="ip netns exec a"
try() {{ what=$1; shift; "$@" > /dev/null 2>&1 && echo "$what yes" || echo "$what no"; }}
try ip ip -n a addr add 10.0.0.1/8 dev {FULL}
try up ip -n a link set {FULL} up
ip -n b addr add 10.0.0.2/8 dev b-eth0; ip -n b link set b-eth0 up
try route ip -n a route add 10.9.0.0/16 dev {FULL}
try master ip link set port master distribution-switch-floor-3
try tc $at tc qdisc add dev {FULL} root netem delay 1ms
try ethtool $at ethtool -K {FULL} tso off
try sysctl $at sysctl -n net.ipv4.conf.{FULL}.forwarding
try sys $at test -e /sys/class/net/{FULL}
try tcpdump $at timeout 2 tcpdump -i {FULL} -c 1
ip netns exec b iperf3 -s -1 -D; sleep 1
try iperf3 $at sh -c 'iperf3 -c 10.0.0.2 -t 1 --bind-dev {FULL} | grep receiver'
try ping $at ping -c 1 -I {FULL} 10.0.0.2
try short $at ping -c 1 -I fra-eth0 10.0.0.2
"""


def test_ip_takes_alternative_names_and_most_others_do_not(
    boot: Callable[..., str], each_kernel: Kernel
) -> None:
    said = dict(line.split() for line in boot(each_kernel, SCRIPT).splitlines())
    takes = {what for what, answer in said.items() if answer == "yes"}
    assert takes == {"ip", "up", "route", "master", "ethtool", "short"}
    assert set(said) - takes == {"tc", "sysctl", "sys", "tcpdump", "iperf3", "ping"}
