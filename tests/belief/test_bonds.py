"""What a bond sees of a link that an event sets down, and how long LACP takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longfat.engine.kernel import Kernel

Boot = Callable[..., str]

# Two hosts with two wires, bonded at both ends; MODE and more come in.
BOND = """\
set -e
for n in 1 2; do
    ip netns add h$n
    ip -n h$n link set lo up
done
for e in e1 e2; do ip -n h1 link add $e type veth peer name $e netns h2; done
for n in 1 2; do
    ip -n h$n link add b0 type bond mode {mode} miimon 100
    for e in e1 e2; do ip -n h$n link set $e master b0; done
    ip -n h$n addr add 10.9.0.$n/24 dev b0
    ip -n h$n link set b0 up
done
"""

# A wire is cut at one end: the other end's carrier and active slave, at once and 200 ms later; the
# own active slave; and both once more when the wire is there again.
CUT = """
active() { ip netns exec h$1 cat /sys/class/net/b0/bonding/active_slave; }
see() { echo $(ip netns exec h$1 cat /sys/class/net/e1/carrier) $(active $1); }
sleep 2
ip -n h1 link set e1 down
see 2
sleep 0.2
see 2
active 1
ip -n h1 link set e1 up
sleep 0.2
see 2
"""

ENSLAVE = """
ip -n h1 link add x1 type dummy
ip -n h1 link set x1 up
ip -n h1 link set x1 master b0 || echo refused
ip -n h1 link set x1 down
ip -n h1 link set x1 master b0 && echo taken
"""

LACP = """
sleep 3
ip netns exec h1 grep -E 'Number of ports|port state' /proc/net/bonding/b0
"""


def test_a_bond_leaves_a_link_whose_other_end_is_down(boot: Boot, each_kernel: Kernel) -> None:
    text = boot(each_kernel, BOND.format(mode="active-backup") + CUT)
    # The carrier is gone at once, and the bond sees it when it looks next; the link that comes up
    # again waits.
    assert text.splitlines() == ["0 e1", "0 e2", "e2", "1 e2"]


def test_an_interface_that_is_up_is_no_slave(boot: Boot, each_kernel: Kernel) -> None:
    lines = boot(each_kernel, BOND.format(mode="balance-xor") + ENSLAVE).splitlines()
    assert "taken" in lines
    assert "refused" in lines


@pytest.mark.slow
def test_lacp_has_both_links_within_3_s(boot: Boot, each_kernel: Kernel) -> None:
    text = boot(each_kernel, BOND.format(mode="802.3ad") + LACP)
    assert "Number of ports: 2" in text
    # Active, aggregating, in sync, collecting and distributing (IEEE 802.1AX, 6.4.2.3).
    assert text.count("port state: 61") == 4, text
