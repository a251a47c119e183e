"""What scripts look for on a computer: files, variables, cgroups, modules, tracing, old tools."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import run_command
from tests.kernels import KERNELS, MAIN_KERNEL
from tests.live.exec.command import run

# Lines of a shell, the first line that each prints, and its exit status.
LINES = [
    ("ping -c 1 127.0.0.1 | grep -c time=", "1", 0),
    ("ping -c 1 localhost | grep -c time=", "1", 0),
    ("echo $SHELL $USER $LOGNAME $HOME", "/longfat/bin/bash root root /root", 0),
    ("cat /etc/hostname", "longfat", 0),
    ("grep -x 'iface lo inet loopback' /etc/network/interfaces", "iface lo inet loopback", 0),
    (
        "echo 'iface x inet manual' >>/etc/network/interfaces; tail -n 1 /etc/network/interfaces",
        "iface x inet manual",
        0,
    ),
    ("echo 'nameserver 10.0.0.1' >>/etc/resolv.conf", "", 0),
    ("sysctl -p", "", 0),
    ("python -c 'print(3)'", "3", 0),
    ("command -v ip tc ping | sort | uniq | head -n 1", "/longfat/bin/ip", 0),
    # A person's Python, with a person's packages.
    ("python3 -c 'import os; print(os.__file__.split(\"/\")[1])'", "usr", 0),
    ("grep CONFIG_TCP_CONG_BBR /boot/config-$(uname -r)", "CONFIG_TCP_CONG_BBR=y", 0),
    ("zcat /proc/config.gz | grep CONFIG_TCP_CONG_BBR", "CONFIG_TCP_CONG_BBR=y", 0),
    ("grep -c 'cgroup /sys/fs/cgroup ' /proc/mounts", "1", 0),
    ("cat /sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000", 0),
    ("cat /sys/fs/cgroup/unified/cgroup.controllers", "pids", 0),
    # As Mininet does it.
    ("cgcreate -g cpu,cpuacct,cpuset:/h1", "", 0),
    ("cgset -r cpu.cfs_quota_us=50000 /h1", "", 0),
    ("cgget -r cpu.cfs_quota_us /h1 | tail -n 2", "cpu.cfs_quota_us: 50000", 0),
    ("cgset -r cpuset.cpus=0 h1; cgget -nvr cpuset.cpus h1; cgget -n -v -r cpuset.cpus h1", "0", 0),
    ("cgexec -g cpu,cpuset:h1 cat /proc/self/cgroup | grep -o 'cpu.*'", "cpu,cpuacct:/h1", 0),
    ("cgclassify -g cpu,cpuacct:/h1 $$; grep -o 'cpu.*' /proc/$$/cgroup", "cpu,cpuacct:/h1", 0),
    ("cgdelete -r cpu,cpuacct,cpuset:/h1; ls -d /sys/fs/cgroup/*/h1 2>/dev/null", "", 2),
    ("cgdelete cpu:/h1", "cgdelete: no such file or directory: /sys/fs/cgroup/cpu,cpuacct/h1", 1),
    ("cgexec -g cpu:/none true", "cgexec: there is no group /sys/fs/cgroup/cpu,cpuacct/none", 1),
    ("cgcreate -g pids:/x; cgset -r pids.max=7 x; cgget -nr pids.max x", "pids.max: 7", 0),
    ("cgcreate", "usage: cgcreate [-a uid:gid] [-t uid:gid] -g controllers:path ...", 1),
    ("lsmod | head -n 1", "Module                  Size  Used by", 0),
    ("lsmod | grep -c '^tcp_bbr '", "1", 0),
    ("modprobe tcp_bbr; modprobe -a sch_netem sch-htb; modprobe -q 8021q", "", 0),
    ("modprobe --show-depends tcp_bbr", "builtin tcp_bbr", 0),
    ("rmmod tcp_bbr", "rmmod: FATAL: Module tcp_bbr is builtin.", 1),
    ("modprobe -q none", "", 1),
    ("modinfo tcp_bbr", "name:           tcp_bbr", 0),
    ("xterm -e true", "xterm: a machine has no display. In a shell of longfat, open another "
     "terminal with", 1),
    ("command -v plot_iperf.sh", "/run/bin/plot_iperf.sh", 0),
    ("command -v plot_q.sh", "/run/bin/plot_q.sh", 0),
    ("ls -d /sys/kernel/tracing/events/tcp/tcp_probe", "/sys/kernel/tracing/events/tcp/tcp_probe",
     0),
    ("cd /sys/kernel/debug/tracing/events; ls -d qdisc/qdisc_dequeue", "qdisc/qdisc_dequeue", 0),
    ("cat /sys/kernel/tracing/trace_clock | grep -o '.virtual.'", "[virtual]", 0),
]  # fmt: skip

BULK = "iperf3 -s -1 >/dev/null & sleep 0.1; iperf3 -c 127.0.0.1 -b 20M -t 2"


def _exec(kernel: str, script: str) -> str:
    arguments = ("longfat", "exec", "--kernel", kernel, "--memory", "512MB", "sh")
    done = run_command(*arguments, given=script.encode(), cwd="/")
    return str(done.stdout, "utf-8")


@pytest.mark.parametrize("kernel", KERNELS)
def test_scripts_find_what_they_look_for(kernel: str) -> None:
    script = "".join(
        f"({line}) >/tmp/output 2>&1; echo = $?; head -n 1 /tmp/output\n" for line, _, _ in LINES
    )
    expected = "".join(
        f"= {status}\n{text}\n" if text else f"= {status}\n" for _, text, status in LINES
    )
    assert _exec(kernel, script) == expected


@pytest.mark.parametrize("name", ["matplotlibrc", "groff", "java-17-openjdk", "locale.alias"])
def test_programs_of_the_host_have_their_settings(name: str) -> None:
    """Such as matplotlib, by which scripts draw: without its settings it cannot be imported."""
    if not Path("/etc", name).exists():
        pytest.skip(f"/etc/{name} is not installed")
    assert run("test", "-s", f"/etc/{name}").returncode == 0


def test_a_module_that_is_not_built_in_is_reported() -> None:
    done = run("modprobe", "no_such")
    assert done.returncode == 1
    assert re.fullmatch(
        r"modprobe: FATAL: Module no_such is not built into the kernel 6\.1\.\d+ of this machine\n",
        done.stderr.decode(),
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_events_are_traced_at_virtual_times_and_change_nothing(kernel: str) -> None:
    trace = f"""
cd /sys/kernel/debug/tracing
echo 1 >events/tcp/tcp_probe/enable; echo 1 >events/qdisc/qdisc_dequeue/enable
{BULK}
echo 0 >events/enable; grep -v '^#' trace | head -n 100000
"""
    traced = _exec(kernel, trace)
    plain = _exec(kernel, f"cd /\n{BULK}\n")
    assert traced == _exec(kernel, trace)
    printed, _, events = traced.partition("iperf Done.\n")
    assert printed == plain.partition("iperf Done.\n")[0]
    times = [float(time) for time in re.findall(r" (\d+\.\d{6}): tcp_probe: ", events)]
    assert times == sorted(times)
    assert len({time for time in times if time % 0.01 > 1e-6}) > len(times) / 2  # not in ticks
    assert 2 < times[0] < times[-1] < 5
    assert "snd_cwnd=" in events


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_older_file_of_windows_is_written(kernel: str) -> None:
    script = f"""
modprobe tcp_probe port=5201 full=1
cat /proc/net/tcpprobe >/tmp/windows & probe=$!
{BULK} >/dev/null
kill $probe; cat /tmp/windows
"""
    lines = [line.split() for line in _exec(kernel, script).splitlines()]
    assert len(lines) > 100
    assert {len(line) for line in lines} == {11}
    assert any(line[2] == "127.0.0.1:5201" for line in lines)
    times = [float(line[0]) for line in lines]
    assert times == sorted(times)
    assert times[-1] > 2
    windows = [int(line[6]) for line in lines if line[2] == "127.0.0.1:5201"]
    assert windows[0] == 10
    assert all(window >= 1 for window in windows)


# What a host may lack, beside the host's own: the same output, but for counters of bytes in words.
SUBSTITUTES = """
bin={bin}
ip link add v0 type veth peer name v1
$bin/ifconfig v0 10.3.0.1 netmask 255.255.255.0 mtu 1400; $bin/ifconfig v1 up
$bin/ifconfig v0 inet6 add fc00::1/64; $bin/ifconfig v0 hw ether 02:00:00:00:00:07
/usr/sbin/ip -br addr show v0 | cut -c-60; cat /sys/class/net/v0/address
# The kernel keeps IPv6 addresses in no order.
$bin/ifconfig v0 | sed 's/ ([^)]* .*B)$//' | sort
$bin/route add default gw 10.3.0.2; $bin/route add -host 10.5.0.1 v0
$bin/route add -net 10.4.0.0 netmask 255.255.0.0 gw 10.3.0.3 dev v0
$bin/route -n; $bin/route del default; $bin/route del -net 10.4.0.0/16; ip route
$bin/brctl addbr br0; $bin/brctl addif br0 v1; $bin/brctl stp br0 on; $bin/brctl setfd br0 2.5
ip -d link show br0 | grep -o 'forward_delay [0-9]*'
$bin/brctl show; $bin/brctl delif br0 v1; $bin/brctl delbr br0; echo $?
$bin/ifconfig v0 0; $bin/ifconfig v0 down; ip -br -4 addr show v0
"""


def test_substitutes_do_what_the_hosts_own_tools_do() -> None:
    ours = "/run/longfat/guest/longfat/guest/substitutes"
    expected = _exec(MAIN_KERNEL, SUBSTITUTES.format(bin="/usr/sbin"))
    if "forward_delay 250" not in expected or "netmask" not in expected:
        pytest.skip("net-tools or bridge-utils is not installed")
    assert _exec(MAIN_KERNEL, SUBSTITUTES.format(bin=ours)) == expected


def test_vlans_by_their_older_tool() -> None:
    script = """
ip link add v0 type veth peer name v1
/run/longfat/guest/longfat/guest/substitutes/vconfig add v0 7; ip -br link show v0.7 | cut -c-8
/run/longfat/guest/longfat/guest/substitutes/vconfig rem v0.7; ip -br link show v0.7 2>&1
/run/longfat/guest/longfat/guest/substitutes/vconfig rem v1 2>&1
"""
    assert _exec(MAIN_KERNEL, script).splitlines() == [
        "v0.7@v0 ",
        'Device "v0.7" does not exist.',
        "vconfig: v1 is no VLAN",
    ]
