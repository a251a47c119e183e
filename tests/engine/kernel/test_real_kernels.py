"""What holds for every kernel that set-up has built: they are what machines boot."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel, find, fits, manifest_of
from longfat.engine.kernel.locate import local_series
from tests.kernels import KERNELS

# Prints what depends on the seed, and powers the machine off.
_INIT = """#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /run
echo "release $(uname -r)"
echo "random $(od -An -tx1 -N16 /dev/urandom)"
echo "congestion $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)"
echo "pid_max $(cat /proc/sys/kernel/pid_max)"
ip netns add h1 && ip link add v1 type veth peer name v2 && ip link set v2 netns h1 &&
  ip netns exec h1 ip link set v2 up && ip link set v1 up &&
  echo "link $(cat /sys/class/net/v1/address)"
for qdisc in "netem delay 1ms" "tbf rate 1gbit burst 1m limit 1m" fq_codel cake fq pie htb hfsc \\
    "red limit 1m avpkt 1000 bandwidth 1gbit" sfq codel drr prio \\
    "choke limit 1000 bandwidth 1gbit" hhf sfb qfq "ets bands 4"; do
  tc qdisc replace dev v1 root $qdisc || echo "refused $qdisc"
done
mkdir /run/u /run/w /run/m
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/u,workdir=/run/w /run/m &&
  echo hosts > /run/m/hosts && echo "overlay $(cat /run/m/hosts)"
echo "uptime $(cat /proc/uptime)"
poweroff -f
"""


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    return find(request.param)


def _boot(kernel: Kernel, folder: Path, *, seed: int) -> str:
    init = folder / "init.sh"
    init.write_text(_INIT)
    init.chmod(0o755)
    command = [
        *(str(kernel.binary), "mem=256M", "rootfstype=hostfs", "rootflags=/", "ro"),
        *("root=/dev/root", f"init={init}", "time-travel=inf-cpu"),
        *("time-travel-start=1700000000000000000", "con=null", "con0=fd:0,fd:1", "quiet"),
        *(f"uml_dir={folder}", *kernel.boot_arguments),
    ]
    env = {**os.environ, "LD_PRELOAD": str(kernel.folder / "entropy.so"), "LONGFAT_SEED": str(seed)}
    answer = subprocess.run(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
    return answer.stdout


def test_it_is_whole(kernel: Kernel) -> None:
    assert hashlib.sha256(kernel.binary.read_bytes()).hexdigest() == kernel.binary_sha256
    assert os.access(kernel.binary, os.X_OK)
    assert (kernel.folder / "entropy.so").is_file()
    assert (kernel.folder / "config").is_file()
    assert kernel.folder.name == kernel.digest
    assert fits(kernel)


def test_its_manifest_is_sound(kernel: Kernel) -> None:
    about = manifest_of(kernel)
    assert about.release.startswith(f"{about.series}.")
    assert about.refused_answers == ()
    assert {answer.partition("=")[0] for answer in about.unknown_answers} <= {
        "CONFIG_BASE_FULL",  # until 6.10
        "CONFIG_CRYPTO_MANAGER_DISABLE_TESTS",  # until 6.16; later kernels ask the other way round
        "CONFIG_NET_SCH_DUALPI2",  # from 6.17
        "CONFIG_TRACEFS_AUTOMOUNT_DEPRECATED",  # from 6.17; earlier kernels always do
        "CONFIG_RANDOM_TRUST_CPU",  # until 6.1; later kernels always do
    }
    assert about.shims[0] == "entropy.c"


def test_its_clock_can_be_found_from_outside(kernel: Kernel) -> None:
    answer = subprocess.run(["nm", kernel.binary], capture_output=True, text=True, check=True)
    symbols = {line.split()[-1]: line.split()[0] for line in answer.stdout.splitlines()}
    assert int(symbols["time_travel_time"], 16) > 0
    header = subprocess.run(
        ["readelf", "-h", kernel.binary], capture_output=True, text=True, check=True
    )
    # Not relocated: the symbol's value is its address in every process.
    assert "EXEC (Executable file)" in header.stdout


def test_its_binary_names_no_folder_of_its_build(kernel: Kernel) -> None:
    content = kernel.binary.read_bytes()
    assert b"/.build-" not in content
    assert str(kernel.folder.parent).encode() not in content


def test_its_source_is_on_this_host(kernel: Kernel) -> None:
    if not (found := local_series()):
        pytest.skip("the kernels were built on another host")
    assert kernel.series in found


def test_it_boots_with_all_that_a_network_needs(kernel: Kernel, tmp_path: Path) -> None:
    said = _boot(kernel, tmp_path, seed=1)
    lines = dict(line.partition(" ")[::2] for line in said.splitlines() if line)
    assert lines["release"] == kernel.release
    assert lines["pid_max"] == "32768"
    assert {"cubic", "reno", "bbr", "dctcp", "htcp"} <= set(lines["congestion"].split())
    assert "refused" not in lines, said
    assert "link" in lines, said
    assert lines["overlay"] == "hosts"


def test_the_seed_decides_all_that_is_random(kernel: Kernel, tmp_path: Path) -> None:
    one, again, other = (_boot(kernel, tmp_path, seed=seed) for seed in (1, 1, 2))
    assert "random" in one
    assert one == again
    assert one != other


def test_without_a_seed_it_does_not_boot(kernel: Kernel) -> None:
    env = {key: value for key, value in os.environ.items() if key != "LONGFAT_SEED"}
    env["LD_PRELOAD"] = str(kernel.folder / "entropy.so")
    answer = subprocess.run(
        [kernel.binary, "--version"], env=env, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 126
    assert "refusing to be random" in answer.stderr
