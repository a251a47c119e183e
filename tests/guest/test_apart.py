"""Lines of strangers, and what they try against the programs that measure."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.execution.case_runner import run_case
from longfat.execution.runs import Run
from longfat.study.read import read_study
from tests.kernels import KERNELS

STUDY = """\
title: A path that is measured
kernel: "{kernel}"
memory: 256MB
network:
  hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}
  switches: [s1]
  links: [[h1, s1], [h2, s1, {{rate: 10mbit, delay: 10ms, queue: 100KB}}]]
flows:
  rtt: {{ping: h1 -> h2, count: 3, interval: 200ms}}
  bulk: {{iperf3: h1 -> h2, time: 1s, after: rtt}}
files:
  /opt/fake/iperf3:
    executable: yes
    text: |
      #!/bin/sh
      echo '{{"end": {{"sum_received": {{"bits_per_second": 9e9}}}}}}'
setup:
{lines}
"""

CHEATS = (
    "mount --bind /opt/fake/iperf3 /usr/bin/iperf3",
    "mount -t tmpfs none /usr/bin; mount -t hostfs none /usr -o /opt",
    "cp /opt/fake/iperf3 /usr/local/bin/; cp /opt/fake/iperf3 /usr/local/sbin/",
    "mv /usr/bin/iperf3 /usr/bin/iperf4; ln -sf /opt/fake/iperf3 /usr/bin/iperf3",
    "echo /opt/fake/x.so > /etc/ld.so.preload; echo PATH=/opt/fake >> /etc/environment",
    "unshare -m mount --bind /opt/fake/iperf3 /usr/bin/iperf3",
    "unshare -Urm mount --bind /opt/fake/iperf3 /usr/bin/iperf3",
    "nsenter -t 1 -m mount --bind /opt/fake/iperf3 /usr/bin/iperf3",
    "(sleep 3; for f in $(find / -name 'rtt.txt*' -o -name 'bulk*'); do echo x > $f; done) &",
    "(sleep 3; r=root; for p in /proc/[0-9]*; do rm -rf $p/$r/run/output/raw; done) &",
    "(sleep 3; for p in /proc/[0-9]*; do for f in $p/fd/*; do echo x > $f; done; done) &",
    "(sleep 2.3; pkill ping; pkill -9 iperf3; kill -9 -1) &",
    "echo '|/opt/fake/iperf3' > /proc/sys/kernel/core_pattern; sh -c 'kill -SEGV $$'",
    "echo /opt/fake/iperf3 > /proc/sys/kernel/modprobe; ip link add x type none",
    "date -s 2030-01-01; python3 -c 'import time; time.clock_settime(0, 9e9)'",
    "mount -o remount,rw /proc/sys; sysctl -w kernel.sched_rt_runtime_us=1",
    "umount /run /dev /tmp; umount -l /run; mount -t proc none /mnt; echo x > /mnt/1/oom_adj",
    "echo N > /sys/module/host_boundary/parameters/enabled; mount -o remount,rw /sys",
    "echo o > /proc/sysrq-trigger; reboot -f; poweroff -f",
    "mknod /tmp/mem c 1 1; dd if=/dev/zero of=/tmp/mem bs=1M count=1; cat /proc/kcore",
    "mknod /dev/host_line c 10 126; for n in $(seq 0 127); do mknod /tmp/n$n c 10 $n;"
    " head -c 99 /dev/zero > /tmp/n$n; done",
    "ip netns exec h2 true; ip -all netns del; ls /run/netns/h1 && false",
    "python3 -c 'import ctypes; assert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0' && kill -9 1",
    "kill -9 1; kill -STOP 1; pkill -9 python3; pkill -9 iperf3",
    "python3 -c 'import os; os.unshare(0x20000)'; insmod /opt/fake/iperf3; swapoff -a",
    'cd /; mkdir /tmp/c; chroot /tmp/c true; python3 -c \'import os; os.chroot("/tmp/c");'
    ' [os.chdir("..") for n in range(99)]; os.chroot("."); open("/run/output/x", "w")\'',
)


def play(folder: Path, line: str, *, kernel: str = "6.1") -> Run:
    """Run the study with a line at root and at h1, which may fail."""
    typed = json.dumps(f"({line}) > /dev/null 2>&1 || true")
    lines = f"  - root: {typed}\n  - h1: {typed}\n"
    (folder / "study.yaml").write_text(STUDY.format(kernel=kernel, lines=lines))
    (planned,) = read_study(folder / "study.yaml").cases.values()
    case = dataclasses.replace(planned.case, untrusted=True)
    return run_case(case, out=folder, name="it", study="it", parameters={})


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return play(tmp_path_factory.mktemp("honest"), "true")


@pytest.mark.slow
@pytest.mark.parametrize("line", CHEATS)
def test_no_line_changes_what_is_measured(tmp_path: Path, honest: Run, line: str) -> None:
    run = play(tmp_path, line)
    assert run.metrics.keys() == honest.metrics.keys()
    for name, value in honest.metrics.items():
        assert run.metrics[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name


@pytest.mark.parametrize("kernel", KERNELS)
def test_lines_do_what_they_do_elsewhere(tmp_path: Path, kernel: str) -> None:
    line = (
        "set -e; tc qdisc show; ip link; ip addr; ss -t; sysctl -w net.ipv4.tcp_ecn=1;"
        " test $(cat /proc/sys/net/ipv4/tcp_ecn) = 1; echo x > /tmp/x; cat /dev/null /tmp/x;"
        " python3 -c 'import socket; socket.socket(2, 3, 1)'; cat /opt/fake/iperf3;"
        " ip link add v type veth peer name w; ip link del v; sudo true; ls /sys/class/net/lo;"
        " (sleep 1000 & echo $! > /tmp/pid); kill $(cat /tmp/pid); chown nobody /tmp/x;"
        " setpriv --reuid 65534 --clear-groups true; chrt -r 1 true; : > /tmp/done"
    )
    shown = json.dumps(f"({line}) 2>&1; test -e /tmp/done && rm /tmp/done")
    study = STUDY.format(kernel=kernel, lines=f"  - root: {shown}\n  - h1: {shown}\n")
    (tmp_path / "study.yaml").write_text(study)
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    for untrusted in (False, True):
        case = dataclasses.replace(planned.case, untrusted=untrusted)
        name = f"untrusted{untrusted}"
        run = run_case(case, out=tmp_path, name=name, study="it", parameters={})
        assert run.metrics["rtt.received"] == 3


def test_a_line_that_may_not_says_so(tmp_path: Path) -> None:
    study = STUDY.format(kernel="6.1", lines='  - h1: "mount -t tmpfs none /mnt"\n')
    (tmp_path / "study.yaml").write_text(study)
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    case = dataclasses.replace(planned.case, untrusted=True)
    with pytest.raises(InputError, match=r"must be superuser|permission denied"):
        run_case(case, out=tmp_path, name="it", study="it", parameters={})


PROGRAM = """\
  own:
    program: h1 -> h2
    run: /opt/fake/iperf3; {line}
    serve: "echo served; sleep 100"
    ready: output served
    metrics: {{said: {{regex: '([0-9]+)', unit: mbit}}}}
    after: bulk
"""


@pytest.mark.parametrize(
    "line",
    [
        "mount --bind /opt/fake/iperf3 /usr/bin/iperf3; test $? -ne 0",
        "test ! -e /run/output; for p in /proc/[0-9]*; do rm -rf $p/root/run/output; done",
        "kill -9 1; test $(cat /proc/1/comm) != init; ! date -s 2030-01-01 > /dev/null",
    ],
)
def test_a_strangers_program_runs_apart(tmp_path: Path, honest: Run, line: str) -> None:
    # It can start the student's files, which programs that measure do not see.
    flow = PROGRAM.format(line=line)
    study = STUDY.format(kernel="6.1", lines="  - h1: 'true'").replace(
        "files:\n", f"{flow}files:\n"
    )
    (tmp_path / "study.yaml").write_text(study)
    (planned,) = read_study(tmp_path / "study.yaml").cases.values()
    case = dataclasses.replace(planned.case, untrusted=True, untrusted_flows=("own",))
    run = run_case(case, out=tmp_path, name="it", study="it", parameters={})
    assert run.metrics["own.said_bps"] == 9e6
    for name, value in honest.metrics.items():
        assert run.metrics[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name
