"""What a program that has taken the kernel's place can do to the host: nothing."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from longfat.common.process import descendants
from longfat.engine.kernel import Kernel
from longfat.engine.machine import Machine, Quota, current_sandbox, landlock_version, reserve_cpu
from longfat.engine.sandbox.sandbox import Sandbox
from longfat.engine.sandbox.syscalls import filter_program
from longfat.errors import MachineError
from tests.conftest import idle_machine, own_folder

_SOURCE = Path(__file__).with_name("hostile.c")

_BY_SIGNALS = {"signal_victim", "signal_thread"}
# What each sandbox does not hold, which docs/security.md says: Landlock knows no right to
# look at a file's attributes, and before version 6 none to send signals.
_NOT_HELD = {
    "namespaces": set[str](),
    "landlock": {"stat_secret"}
    | ({"signal_victim", "signal_thread"} if landlock_version() < 6 else set()),
}

# What the kernels need that run their guest by seccomp: a pair of sockets of their own, and
# filters, which can only forbid more.
_OF_SECCOMP_MODE = {"socket_pair", "by_seccomp"}

_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage")

# What no program needs a sandbox for: the host itself held these in the test below.
_FEWEST_WAYS_OUT = 60


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("hostile") / "linux"
    # Its clock is where longfat looks for a kernel's, which is never relocated.
    flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-format-truncation", "-no-pie"]
    subprocess.run(["gcc", *flags, "-o", str(program), str(_SOURCE)], check=True)
    return program


@pytest.fixture
def impostor(hostile: Path, each_kernel: Kernel, tmp_path: Path) -> Kernel:
    """A kernel whose binary is the hostile program."""
    folder = tmp_path / "kernel"
    folder.mkdir()
    for path in (*each_kernel.folder.glob("*.so"), each_kernel.launcher, hostile):
        shutil.copy(path, folder / path.name)
    return dataclasses.replace(each_kernel, folder=folder)


@dataclasses.dataclass(frozen=True)
class _Victim:
    """What of the host a machine must not reach."""

    folder: Path
    pid: int
    port: int

    def words(self) -> list[str]:
        return [f"folder={self.folder}", f"victim={self.pid}", f"port={self.port}"]


@pytest.fixture
def victim(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Victim]:
    monkeypatch.setenv("LF_HOSTILE_SECRET", "secret")
    folder = Path(f"/var/tmp/longfat-victim-{os.getpid()}")
    with ExitStack() as stack:
        folder.mkdir()
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o777)
        (folder / "secret").write_text("secret")
        (folder / "secret").chmod(0o666)
        listening = stack.enter_context(socket.socket(socket.AF_UNIX))
        listening.bind(str(folder / "socket"))
        listening.listen()
        datagrams = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        datagrams.bind(str(folder / "socket.datagrams"))
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{str(folder)[1:]}\0")
        abstract.listen()
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        sleeping = stack.enter_context(subprocess.Popen(["sleep", "1000"]))
        stack.callback(sleeping.kill)
        yield _Victim(folder, sleeping.pid, tcp.getsockname()[1])


def _play(
    kernel: Kernel, *words: str, run: Path, quota: Quota | None = None, limit_s: float = 1e6
) -> str:
    run.mkdir(exist_ok=True)
    if current_sandbox().name == "landlock":
        words = (f"run={run}", *words)  # it sees the host's paths
    with (
        reserve_cpu() as cpu,
        Machine(
            kernel,
            ("hostile", *words),
            folder=(folder := own_folder(run)),
            shown={},
            writable={"run": run},
            counted=(run,),
            cpu=cpu,
            seed=1,
            memory_bytes=64 << 20,
            # It never has a tick.
            stall_cpu_s=1000,
            quota=quota,
        ) as machine,
    ):
        machine.wait(limit_s=limit_s)
        return (folder / "console.log").read_text()


def _found(said: str) -> dict[str, bool]:
    lines = re.findall(r"^(out|held) (\w+)$", said, re.MULTILINE)
    return {name: word == "out" for word, name in lines}


def test_no_way_leads_out(
    sandbox: Sandbox, impostor: Kernel, victim: _Victim, run_folder: Path
) -> None:
    found = _found(_play(impostor, *victim.words(), "attempt", run=run_folder))
    assert len(found) >= 100
    needed = _OF_SECCOMP_MODE if impostor.runs_guest_by_seccomp else set()
    assert {name for name, out in found.items() if out} <= _NOT_HELD[sandbox.name] | needed
    assert sorted(os.listdir(victim.folder)) == ["secret", "socket", "socket.datagrams"]
    assert (victim.folder / "secret").read_text() == "secret"


def test_without_a_sandbox_most_ways_lead_out(
    hostile: Path, victim: _Victim, run_folder: Path
) -> None:
    words = [str(hostile), *victim.words(), f"run={run_folder}", "compare"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    found = _found(done.stdout)
    assert sum(found.values()) >= _FEWEST_WAYS_OUT


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "quota", "reason"),
    [
        ("disk", Quota(disk=30 << 20), r"has written .* MB, but its quota is 30"),
        ("sparse", Quota(disk=100 << 20), "has written"),
        ("files", Quota(files=1000), r"has files: .*, but its quota is 1000"),
        ("inodes", Quota(files=1000), r"has files: .*, but its quota is 1000"),
        ("forks", Quota(processes=100), r"has processes: .*, but its quota is 100"),
        ("memory", Quota(overhead=50 << 20), "holds beside its own memory"),
        ("wall", Quota(wall=1), r"has run 1\..* s, but its quota is 1"),
    ],
)
@pytest.mark.usefixtures("sandbox")
def test_what_it_takes_of_the_host_is_bounded(
    how: str, quota: Quota, reason: str, impostor: Kernel, run_folder: Path
) -> None:
    if (how, current_sandbox().name) == ("inodes", "landlock"):
        pytest.skip("there it has no file system of its own")
    with pytest.raises(MachineError, match=rf"the machine {reason}.*LONGFAT_QUOTA=[a-z]+="):
        _play(impostor, how, run=run_folder, quota=quota)
    assert not run_folder.with_name("machine").exists()


def test_each_layer_is_there(kernel: Kernel, run_folder: Path) -> None:
    with idle_machine(kernel, run_folder) as (pid, _):
        _check_layers([pid, *(one.pid for one in descendants(pid))])


def _check_layers(processes: list[int]) -> None:
    for process in processes:
        status = Path(f"/proc/{process}/status").read_text()
        assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
        assert re.search(r"^Seccomp:\s+2$", status, re.MULTILINE)
        assert set(re.findall(r"^Cap\w+:\s+(\w+)$", status, re.MULTILINE)) == {"0" * 16}
        limits = Path(f"/proc/{process}/limits").read_text()
        assert re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE)
        assert re.search(r"^Max file size +\d+ +\d+ ", limits, re.MULTILINE)


@pytest.mark.skipif(not _HUGE_PAGES.exists(), reason="the host's kernel has no huge pages")
def test_its_memory_is_in_huge_pages(kernel: Kernel, run_folder: Path) -> None:
    with idle_machine(kernel, run_folder) as (pid, _):
        mounts = Path(f"/proc/{pid}/mountinfo").read_text()
    *_, memory = re.findall(r"^.* /dev/shm .*$", mounts, re.MULTILINE)
    assert re.search(r"\bnosuid,nodev\b.* - tmpfs .*\bhuge=within_size\b", memory)


# --------------------------------------------------------------- confine, without bubblewrap


def _confine(kernel: Kernel, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(kernel.launcher), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env={})


def _allow(kernel: Kernel) -> list[str]:
    program = filter_program(runs_guest_by_seccomp=kernel.runs_guest_by_seccomp, sees_host=True)
    loader = "/lib64/ld-linux-x86-64.so.2"
    return ["--read", "/usr", "--execute", loader, "--filter", program.hex()]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--filter", "zz" * 8], "cannot use '--filter'"),
        (["--filter", "00" * 7], "cannot use '--filter'"),
        (["--filter", "00" * 8], "seccomp filter: Invalid argument"),
        (["--read", "/no/such"], "landlock /no/such: No such file or directory"),
        (["--limit", "as=lots"], "cannot use 'as=lots'"),
        (["--limit", "speed=1"], "cannot use 'speed=1'"),
        (["--limit", "a=1"], "cannot use 'a=1'"),
        (["--memory", "/no/such"], "cannot use '/no/such'"),
        (["--memory", "/no/such=all"], "cannot use '/no/such=all'"),
        (["--other", "x"], "cannot use '--other'"),
        (["--read"], "landlock --: No such file"),
        ([], "cannot use '--'"),
    ],
)
def test_what_cannot_be_confined_is_not_started(
    words: list[str], reason: str, kernel: Kernel
) -> None:
    done = _confine(kernel, *words, "--", "/usr/bin/echo", "started")
    assert (done.returncode, done.stdout) == (126, "")
    assert done.stderr.startswith(f"confine: {reason}")


def test_memory_that_cannot_be_mounted_is_done_without(kernel: Kernel) -> None:
    bwrap = ["bwrap", "--ro-bind", "/", "/", "--unshare-user", "--cap-drop", "ALL", "--"]
    words = ["--memory", "/dev/shm=1048576", "--execute", "/usr", *_allow(kernel)]
    command = [*bwrap, str(kernel.launcher), *words, "--", "/usr/bin/echo", "started"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("started\n", "")


def test_a_limit_that_is_lower_already_stays(kernel: Kernel) -> None:
    words = ["--limit", "nofile=64", "--read", "/proc", "--execute", "/usr", *_allow(kernel)]
    script = f"ulimit -n 32; exec {kernel.launcher} {' '.join(words)} -- /usr/bin/cat"
    said = subprocess.run(
        ["/bin/sh", "-c", f"{script} /proc/self/limits"], capture_output=True, text=True, check=True
    ).stdout
    assert re.search(r"^Max open files +32 +32 ", said, re.MULTILINE)
