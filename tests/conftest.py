"""What many tests share: a real kernel, small networks, and a booted shell script."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from longfat.common.process import find_program
from longfat.engine import kernel as kernels
from longfat.engine import toolset as toolsets
from longfat.engine.kernel import Kernel
from longfat.engine.machine import Machine, reserve_cpu
from longfat.engine.toolset import Toolset
from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.traffic import Flow
from tests.caches import share_toolset
from tests.kernels import KERNELS, MAIN_KERNEL, OTHER_KERNELS
from tests.records import FOLDER as RECORDS
from tests.records import SLOW_TESTS, Records, plain_name

# PID 1 of `boot`. Perl is on every Debian and Ubuntu, and starts in a fifth of the time of mount
# for each file system and of Python, which could make the system calls as well.
INIT = """\
sub mounted {
    my ($source, $target, $type, $data, $flags) = @_;
    syscall(165, $source, $target, $type, $flags || 0, $data) == 0 or die "mount $target: $!";
}
$ENV{PATH} = "/longfat/bin:/usr/sbin:/usr/bin:/sbin:/bin";
# The newer system calls, which mount(8) uses from 2.39 on, do not take the options of hostfs.
$ENV{LIBMOUNT_FORCE_MOUNT2} = "always";
# MS_REMOUNT | MS_NOSUID | MS_RDONLY, as in `longfat.guest.mounts`.
mounted("", "/", "", "", 32 | 2 | 1);
mounted("proc", "/proc", "proc", "");
mounted("sysfs", "/sys", "sysfs", "");
mounted("tmpfs", "/run", "tmpfs", "");
symlink("/proc/self/fd/0", "/dev/stdin");
mkdir "/run/out";
mounted("none", "/run/out", "hostfs", "/tmp/longfat/run");
mounted("tmpfs", "/tmp", "tmpfs", "");
open(STDOUT, ">", "/run/out/out");
open(STDERR, ">&", STDOUT);
system("/bin/sh", "/run/out/script.sh");
syscall(169, 0xfee1dead, 672274793, 0x4321fedc, 0); # reboot(2): LINUX_REBOOT_CMD_POWER_OFF
"""


def write_init(folder: Path, script: str) -> list[str]:
    """Write a shell script into a run's folder, and return a PID 1 that runs it.

    What the script prints is in the folder's file `out`.
    """
    (folder / "init.pl").write_text(INIT)
    (folder / "script.sh").write_text(script)
    return ["/usr/bin/perl", "/tmp/longfat/run/init.pl"]


_MAX_ID_LENGTH = 100
_LAST_FAILED = "cache/lastfailed"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Records(RECORDS, repeats=getattr(config.option, "lf", False)))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Record tests that failed by the names that they have when they run alone.

    pytest-xdist adds `@GROUP` to those of a group. `--last-failed` would not know them, and
    `make test`, which repeats what failed, would pass them over.
    """
    cache = getattr(session.config, "cache", None)  # None by `-p no:cacheprovider`
    if hasattr(session.config, "workerinput") or cache is None:
        return
    failed = cache.get(_LAST_FAILED, {})
    cache.set(_LAST_FAILED, {plain_name(name): True for name in failed})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests of `SLOW_TESTS`, and those on another kernel than the main one, as slow."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        on_other = any(
            isinstance(value, str) and value in OTHER_KERNELS for value in parameters.values()
        )
        if on_other or item.nodeid.partition("[")[0] in SLOW_TESTS:
            item.add_marker(pytest.mark.slow)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning of a long text: some texts have millions of characters."""
    if isinstance(val, str | bytes) and len(val) > _MAX_ID_LENGTH:
        text = val if isinstance(val, str) else val.decode("latin-1")
        return f"{ascii(text[:_MAX_ID_LENGTH])[1:-1]}... ({len(text)})"
    return None


@pytest.fixture(scope="session", autouse=True)
def _no_memory_of_the_users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what wider fixtures run out of the cache and language of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path_factory.mktemp("memory")))
        yield


@pytest.fixture(scope="session")
def result_cache_roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give folders that do not exist yet."""
    # Not a `mktemp` for each: it lists all folders that the tests before have made.
    above = tmp_path_factory.mktemp("caches")
    return (above / str(number) / "results" for number in itertools.count())


@pytest.fixture(autouse=True)
def result_cache_root(result_cache_roots: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a result cache of its own; it is made when something is cached."""
    root = next(result_cache_roots)
    monkeypatch.setenv("LONGFAT_RESULT_CACHE", str(root))
    return root


@pytest.fixture(params=KERNELS)
def each_kernel(request: pytest.FixtureRequest) -> Kernel:
    return kernels.find(request.param)


@pytest.fixture
def kernel() -> Kernel:
    return kernels.find(MAIN_KERNEL)


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def own_folder(run_folder: Path) -> Path:
    """Return an empty folder beside a machine's, which the machine does not see."""
    folder = run_folder.with_name("machine")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


@pytest.fixture
def boot(run_folder: Path) -> Callable[..., str]:
    """Boot a kernel with a shell script as PID 1 and return what the script printed."""

    def boot_script(
        kernel: Kernel,
        script: str,
        *,
        seed: int = 1,
        limit_s: float = 1000,
        stall_cpu_s: float = 20,
        memory_bytes: int = 512 << 20,
        shown: Mapping[str, Path] = MappingProxyType({}),
    ) -> str:
        with (
            reserve_cpu() as cpu,
            Machine(
                kernel,
                write_init(run_folder, script),
                folder=own_folder(run_folder),
                shown=shown,
                writable={"run": run_folder},
                counted=(run_folder,),
                toolset=toolsets.find(),
                cpu=cpu,
                seed=seed,
                memory_bytes=memory_bytes,
                stall_cpu_s=stall_cpu_s,
            ) as machine,
        ):
            machine.wait(limit_s=limit_s)
            return (run_folder / "out").read_text()

    return boot_script


@pytest.fixture(scope="session")
def toolset() -> Toolset:
    """Return the toolset of machines."""
    return toolsets.find()


_WAITS = ("/usr/bin/tail", "-f", "/dev/null")  # the kernel adds a word of its own


@contextmanager
def started_machine(
    kernel: Kernel, run_folder: Path, program: Sequence[str] = _WAITS
) -> Iterator[tuple[Machine, int]]:
    """Start a machine, by default one that waits for nothing; yield it and its CPU."""
    with (
        reserve_cpu() as cpu,
        Machine(
            kernel,
            program,
            folder=own_folder(run_folder),
            shown={},
            writable={"run": run_folder},
            counted=(run_folder,),
            cpu=cpu,
            seed=1,
            memory_bytes=256 << 20,
        ) as machine,
    ):
        yield machine, cpu


@contextmanager
def idle_machine(kernel: Kernel, run_folder: Path) -> Iterator[tuple[int, int]]:
    """Run a machine that waits for nothing; yield its kernel's process and its CPU."""
    with started_machine(kernel, run_folder) as (machine, cpu):
        end_s = time.monotonic() + 30
        while (pid := find_program(machine._guarded.pid, kernel.binary)) is None:
            assert time.monotonic() < end_s
            time.sleep(0.02)
        yield pid, cpu


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Make a case of two hosts and a switch."""

    def make(
        *flows: Flow, root: tuple[str, ...] = (), seed: int = 1, kernel: str = MAIN_KERNEL
    ) -> Case:
        network = Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(Switch(name="s1"),),
            links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
        )
        setup = tuple(Command(node=ROOT_NAMESPACE, line=line) for line in root)
        return Case(
            kernel=kernel,
            network=network,
            setup=setup,
            flows=flows,
            seed=seed,
            memory_bytes=512 << 20,
        )

    return make


def processes_running(binary: Path) -> list[int]:
    """Return the processes that run this very file."""
    wanted = binary.stat()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = os.stat(entry / "exe")
            except OSError:
                continue
            if (stat.st_dev, stat.st_ino) == (wanted.st_dev, wanted.st_ino):
                found.append(int(entry.name))
    return found


@pytest.fixture
def own_kernels(tmp_path: Path) -> Path:
    """A cache with a copy of the main kernel: its processes can be told from other tests'."""
    found = kernels.find(MAIN_KERNEL)
    folder = tmp_path / "cache" / "kernels" / found.digest
    folder.mkdir(parents=True)
    for path in found.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
        (folder / path.name).chmod(path.stat().st_mode)
    share_toolset(tmp_path / "cache")
    return tmp_path / "cache"
