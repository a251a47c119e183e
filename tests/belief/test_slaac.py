"""What the kernel makes of a router's advertisement, and how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from longfat.engine.kernel import Kernel
from longfat.guest import slaac

Boot = Callable[..., str]

# A host and a router with default settings; the advertisement leaves 4 s after the link is up,
# when both link-local addresses can be used.
SCRIPT = """\
for n in h r; do ip netns add $n; done
ip link add e0 netns h address 02:00:00:00:00:01 type veth peer name e0 netns r
ip netns exec r sysctl -qw net.ipv6.conf.all.forwarding=1
for n in h r; do ip -n $n link set e0 up; done
for name in accept_ra autoconf addr_gen_mode use_tempaddr; do
    ip netns exec h cat /proc/sys/net/ipv6/conf/e0/$name
done
sleep 4
ip -n h -6 -o addr show dev e0 | grep -o "inet6 [^ ]*"
ip netns exec r ip -6 -o addr show dev e0 | grep -o "inet6 [^ ]*" | cut -d" " -f2
ip netns exec r python3 /run/out/slaac.py advertise e0 2001:db8:1::/64
sleep 0.1
ip -n h -6 -o addr show dev e0 scope global | grep -o "inet6.*mngtmpaddr"
ip -n h -6 route show default | cut -d" " -f1-7
ip -n h neigh show dev e0 | grep -o "router STALE"
sleep 0.8
ip -n h -6 -o addr show dev e0 scope global tentative | wc -l
sleep 1.2
ip -n h -6 -o addr show dev e0 scope global tentative | wc -l
"""


def test_the_kernel_forms_an_eui64_address(
    boot: Boot, each_kernel: Kernel, run_folder: Path
) -> None:
    (run_folder / "slaac.py").write_text(Path(slaac.__file__).read_text())
    lines = boot(each_kernel, SCRIPT).splitlines()
    # Advertisements are accepted, addresses formed by EUI-64, and none are temporary (RFC 8981).
    assert lines[:4] == ["1", "1", "0", "0"]
    assert lines[4] == "inet6 fe80::ff:fe00:1/64"
    router = lines[5].removesuffix("/64")
    assert lines[6] == "inet6 2001:db8:1::ff:fe00:1/64 scope global tentative dynamic mngtmpaddr"
    assert lines[7] == f"default via {router} dev e0 proto ra"
    # The advertisement has the router's link-layer address, so nobody has to ask for it.
    assert lines[8] == "router STALE"
    # Detection of duplicates waits up to a second before it asks, and a second for an answer.
    assert lines[9:] == ["1", "0"]
