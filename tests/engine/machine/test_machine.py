from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import HostError, MachineError
from tests.conftest import idle_machine, processes_running, started_machine

Boot = Callable[..., str]


def test_it_boots_and_runs_commands(boot: Boot, each_kernel: Kernel) -> None:
    assert boot(each_kernel, "uname -r; id -u; date -u +%s").split() == [
        each_kernel.release,
        "0",
        "1700000000",
    ]


def test_the_host_does_not_leak_in(
    boot: Boot, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LF_TEST_LEAK", "leaked")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert "leaked" not in boot(kernel, "env; cat /proc/1/environ /proc/cmdline")


def test_virtual_time_costs_no_wall_time(boot: Boot, kernel: Kernel) -> None:
    started_s = time.monotonic()
    uptime = boot(kernel, "sleep 900; cat /proc/uptime").split()[0]
    assert 900 <= float(uptime) < 901
    assert time.monotonic() - started_s < 90


def test_the_seed_decides_all_randomness(boot: Boot, kernel: Kernel) -> None:
    script = "cat /proc/sys/kernel/random/uuid; head -c 64 /dev/urandom | od -A n -t x1"
    assert boot(kernel, script, seed=5) == boot(kernel, script, seed=5)
    assert boot(kernel, script, seed=5) != boot(kernel, script, seed=6)


def test_a_guests_root_cannot_harm_the_host(boot: Boot, kernel: Kernel) -> None:
    with tempfile.TemporaryDirectory(prefix="longfat-victim-") as name:
        precious = Path(name) / "victim"
        precious.write_text("precious")
        Path(name).chmod(0o755)
        before = precious.stat()
        # Shown read-only, so that there is something in the guest's sight to be harmed.
        folder, victim = "/run/shown", "/run/shown/victim"
        again = "/run/again/tmp/longfat/shown"
        said = boot(
            kernel,
            f"""
            mkdir /run/shown && mount -t hostfs none /run/shown -o /tmp/longfat/shown
            cat {victim} && echo =seen
            mount -o remount,rw / && echo =remounted
            echo x > {victim} || echo =refused
            rm -f {victim} || echo =refused
            touch {folder}/new || echo =refused
            mkdir /run/again && mount -t hostfs none /run/again -o / && echo =mounted
            echo x > {again}/victim || echo =refused
            rm -f {again}/victim || echo =refused
            mv {again}/victim {again}/moved || echo =refused
            chmod 777 {again}/victim || echo =refused
            mkdir /run/bound && mount --bind {again} /run/bound && echo =bound
            mount -o remount,rw,bind /run/bound && echo =remounted
            echo x > /run/bound/victim || echo =refused
            ln {again}/victim /run/out/link && echo x > /run/out/link || echo =refused
            mknod /run/out/device b 7 0 || echo =refused
            """,
            shown={"shown": Path(name)},
        )
        assert "precious=seen" in said
        assert said.count("=remounted") == 2
        assert "=mounted" in said
        assert "=bound" in said
        assert said.count("=refused") == 10
        assert precious.read_text() == "precious"
        assert precious.stat().st_mtime_ns == before.st_mtime_ns
        assert os.listdir(name) == ["victim"]


def test_a_link_in_the_run_folder_leads_nowhere(boot: Boot, kernel: Kernel) -> None:
    with tempfile.TemporaryDirectory(prefix="longfat-victim-", dir="/var/tmp") as folder:
        boot(kernel, f"ln -s {folder}/made /run/out/way; echo x > /run/out/way")
        assert os.listdir(folder) == []


def test_the_kernel_process_is_alone_and_pinned(kernel: Kernel, run_folder: Path) -> None:
    with idle_machine(kernel, run_folder) as (pid, cpu):
        status = Path(f"/proc/{pid}/status").read_text()
        assert re.search(rf"^Cpus_allowed_list:\s+{cpu}$", status, re.MULTILINE)
        assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
        for namespace in ("net", "pid", "ipc", "mnt", "user"):
            here = os.readlink(f"/proc/self/ns/{namespace}")
            assert os.readlink(f"/proc/{pid}/ns/{namespace}") != here
    assert not Path(f"/proc/{pid}").exists()
    assert not run_folder.with_name("machine").exists()


def test_a_spinning_process_is_named(boot: Boot, each_kernel: Kernel) -> None:
    with pytest.raises(MachineError) as caught:
        boot(each_kernel, "sleep 3; sh -c 'while :; do :; done'", stall_cpu_s=2)
    message = str(caught.value)
    assert "virtual time stalls at 3.0" in message
    assert "`sh -c while :; do :; done` spins" in message


def test_a_machine_that_never_ends_is_ended(boot: Boot, kernel: Kernel) -> None:
    with pytest.raises(MachineError, match="has not ended after 100 s of virtual time"):
        boot(kernel, "while :; do sleep 1; done", limit_s=100)


def test_a_kernel_that_is_being_executed_is_not_taken_for_another(
    kernel: Kernel, tmp_path: Path
) -> None:
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        with started_machine(kernel, folder) as (machine, _):
            end_s = time.monotonic() + 30
            while machine.virtual_s() == 0:  # looked at as often as can be
                machine.check()
                assert time.monotonic() < end_s


def test_a_crash_shows_the_console(kernel: Kernel, run_folder: Path) -> None:
    with (
        started_machine(kernel, run_folder, ["/bin/false"]) as (machine, _),
        pytest.raises(MachineError, match=r"(?s)ended with status.*Attempted to kill init"),
    ):
        machine.wait(limit_s=100)


def test_the_folder_and_the_processes_go_with_the_context(
    own_kernels: Path, monkeypatch: pytest.MonkeyPatch, boot: Boot, run_folder: Path
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(own_kernels))
    from longfat.engine import kernel as kernels

    kernel = kernels.find("6.1")
    with pytest.raises(MachineError):
        boot(kernel, "sleep 1e9 & while :; do sleep 1; done", limit_s=100)
    assert not run_folder.with_name("machine").exists()
    assert processes_running(kernel.binary) == []


def test_without_bubblewrap_it_says_so(
    boot: Boot, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="apt-get install bubblewrap"):
        boot(kernel, "true")
