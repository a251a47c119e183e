"""What one host of a machine must not take from another, though they share one kernel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import InputError
from longfat.execution import run_case
from longfat.live import Network
from longfat.model.case import Case, Command
from longfat.model.traffic import Ping
from tests.command import run_command

EACH_CONTROL = """\
for name in $(cat /proc/sys/net/ipv4/tcp_available_congestion_control); do \
sysctl -w net.ipv4.tcp_congestion_control=$name || exit 1; done\
"""

# So many that a computer with the usual limits would be full.
NEIGHBOURS = """\
for a in $(seq 5); do for b in $(seq 250); do \
echo neigh add 10.1.$a.$b lladdr 00:00:00:00:00:0a dev h1-eth0 nud reachable; done; done \
| ip -batch -\
"""

# Connections that are closed while nobody takes what they sent; the kernel counts them anew
# every 100 ms.
ORPHANS = """\
import socket, time
listener = socket.create_server(("127.0.0.1", 7), backlog=2000)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2000)
for number in range(1000):
    client = socket.create_connection(("127.0.0.1", 7))
    client.send(bytes(10_000))
    client.close()
    if number == 600:
        time.sleep(0.3)
print(open("/proc/net/sockstat").read().split(" orphan ")[1].split()[0])
"""


@pytest.fixture
def net(each_kernel: Kernel) -> Iterator[Network]:
    with Network(kernel=each_kernel.series, memory="1GB") as made:
        h1, h2 = made.host("h1"), made.host("h2")
        made.link(h1, h2)
        made.sleep(1)  # a new link takes a moment until it is up
        yield made


def test_a_host_may_have_any_congestion_control(net: Network) -> None:
    said = net["h1"].run(EACH_CONTROL).stdout
    names = [line.split(" = ")[1] for line in said.splitlines()]
    assert {"cubic", "reno", "bbr", "dctcp", "htcp", "vegas", "westwood"} <= set(names)
    # It is what the host's sockets then have, and not what others' do.
    net["h1"].sysctl("net.ipv4.tcp_congestion_control", "dctcp")
    script = "import socket; print(socket.socket().getsockopt(6, 13, 16))"  # TCP_CONGESTION
    assert "dctcp" in net["h1"].run(f"python3 -c '{script}'").stdout
    assert "cubic" in net["h2"].run(f"python3 -c '{script}'").stdout


def test_a_case_may_too(
    make_case: Callable[..., Case], each_kernel: Kernel, tmp_path: Path
) -> None:
    case = make_case(Ping(name="p", source="h1", target="h2", count=1), kernel=each_kernel.series)
    lines = (Command(node="h1", line=EACH_CONTROL),)
    run_case(_with(case, lines), name="all", out=tmp_path, kernel=each_kernel)
    wrong = (Command(node="h1", line="sysctl -w net.ipv4.tcp_congestion_control=porridge"),)
    with pytest.raises(InputError, match="porridge"):
        run_case(_with(case, wrong), name="wrong", out=tmp_path, kernel=each_kernel)


def test_a_namespace_of_exec_may_too(each_kernel: Kernel) -> None:
    script = f"ip netns add a; ip netns exec a sh -c '{EACH_CONTROL}'"
    command = ("longfat", "exec", "--kernel", each_kernel.series, "--", "sh", "-c", script)
    ended = run_command(*command, given="")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "vegas" in ended.stdout


def test_neighbours_of_one_host_leave_room_for_anothers(net: Network) -> None:
    net["h1"].run(NEIGHBOURS)
    assert net["h2"].run("ping -c 1 -W 1 10.0.0.1").returncode == 0


def test_closed_sockets_of_one_host_leave_room_for_anothers(net: Network) -> None:
    net["h1"].write_file("/tmp/orphans.py", ORPHANS)
    assert net["h1"].run("python3 /tmp/orphans.py").stdout == "1000\n"


def test_the_memory_of_sockets_is_half_of_the_machines(net: Network) -> None:
    pages = int(net.run("getconf _PHYS_PAGES").stdout)
    for name in ("tcp_mem", "udp_mem"):
        most = int(net.run(f"sysctl -n net.ipv4.{name}").stdout.split()[2])
        assert most == pages // 2


def _with(case: Case, setup: tuple[Command, ...]) -> Case:
    return dataclasses.replace(case, setup=setup)
