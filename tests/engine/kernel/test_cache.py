from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.common.checksum import write_sums
from longfat.common.folder_store import cache_root
from longfat.engine.kernel import cache
from longfat.engine.kernel.manifest import Kernel
from longfat.errors import HostError

Plant = Callable[..., Kernel]

# Stands for a build: takes the lock, builds if nobody has, and tells what it did.
_BUILDER = """
import pathlib, sys, time
from longfat.engine.kernel import cache
digest, mark = sys.argv[1], pathlib.Path(sys.argv[2])
with cache.lock(digest, on_wait=lambda: print("waits", flush=True)):
    if mark.exists():
        print("found", flush=True)
    else:
        print("builds", flush=True)
        time.sleep(float(sys.argv[3]))
        mark.touch()
"""


def _start_builder(digest: str, mark: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _BUILDER, digest, str(mark), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_the_environment_names_the_cache(empty_cache: Path) -> None:
    assert cache_root() == empty_cache
    assert cache.kernels() == []


def test_a_relative_cache_is_where_we_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGFAT_CACHE", "here")
    assert cache_root() == tmp_path / "here"


def test_kernels_are_listed_old_to_new(plant: Plant) -> None:
    for number, release in enumerate(["6.12.1", "6.1.10", "6.1.9"]):
        plant(release, digest=f"{number}" * 64)
    assert [kernel.release for kernel in cache.kernels()] == ["6.1.9", "6.1.10", "6.12.1"]


def test_folders_without_a_manifest_are_no_kernels(plant: Plant) -> None:
    kernel = plant("6.1.9", digest="a" * 64)
    (kernel.folder.parent / ("b" * 64)).mkdir()
    (kernel.folder.parent / ".building-c").mkdir()
    assert cache.kernels() == [kernel]
    assert cache.get("a" * 64) == kernel
    assert cache.get("b" * 64) is None


def test_a_kernel_takes_the_place_of_what_is_none(plant: Plant, empty_cache: Path) -> None:
    (empty_cache / "kernels" / ("a" * 64) / "odd").mkdir(parents=True)
    kernel = plant("6.1.9", digest="a" * 64)
    assert cache.get("a" * 64) == kernel


def test_a_damaged_kernel_is_none_and_is_replaced(plant: Plant) -> None:
    kernel = plant("6.1.9", digest="a" * 64)
    kernel.binary.write_bytes(b"kernel")
    write_sums(kernel.folder)
    assert cache.get("a" * 64) == kernel
    kernel.binary.write_bytes(b"changed")
    assert cache.get("a" * 64) is None
    assert plant("6.1.9", digest="a" * 64) == kernel
    assert cache.get("a" * 64) == kernel


@pytest.mark.usefixtures("empty_cache")
def test_what_a_kill_left_is_removed() -> None:
    leftovers = [cache.kernels_folder() / f".{name}-b2b2b2-0" for name in ("build", "removal")]
    for leftover in leftovers:
        leftover.mkdir(parents=True)
        (leftover / "linux").touch()
    with cache.building("a" * 64):
        assert not any(leftover.exists() for leftover in leftovers)


def test_a_build_that_left_nothing_is_an_error(empty_cache: Path) -> None:
    empty_cache.mkdir()
    with pytest.raises(HostError, match="left no kernel"):
        cache.put(empty_cache, digest="a" * 64)


def test_remove(plant: Plant) -> None:
    kernel, other = plant("6.1.9", digest="a" * 64), plant("6.1.9", digest="b" * 64)
    cache.remove(kernel)
    cache.remove(kernel)
    assert cache.kernels() == [other]
    assert os.listdir(other.folder.parent) == [other.digest]
    with pytest.raises(HostError, match="no longer"):
        cache.manifest_of(kernel)


def test_two_processes_build_once(empty_cache: Path, tmp_path: Path) -> None:
    mark = tmp_path / "built"
    builders = [_start_builder("a" * 64, mark, 0.3) for _ in range(2)]
    said = sorted(builder.communicate(timeout=30)[0].split() for builder in builders)
    assert said == [["builds"], ["waits", "found"]]
    assert [path.name for path in (empty_cache / "kernels").iterdir()] == [".lock"]


def test_different_kernels_do_not_wait_for_each_other(empty_cache: Path) -> None:
    with (
        cache.lock("a" * 64, on_wait=lambda: pytest.fail("waited")),
        cache.lock("b" * 64, on_wait=lambda: pytest.fail("waited")),
    ):
        assert empty_cache.exists()


@pytest.mark.usefixtures("empty_cache")
def test_threads_of_one_process_wait_too() -> None:
    waited = threading.Event()

    def second() -> None:
        with cache.lock("a" * 64, on_wait=waited.set):
            pass

    thread = threading.Thread(target=second)
    with cache.lock("a" * 64, on_wait=lambda: pytest.fail("waited")):
        thread.start()
        assert waited.wait(10)
        assert thread.is_alive()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.usefixtures("empty_cache")
def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    first = _start_builder("a" * 64, tmp_path / "built", 60)
    assert first.stdout is not None
    assert first.stdout.readline() == "builds\n"
    second = _start_builder("a" * 64, tmp_path / "built", 0)
    assert second.stdout is not None
    assert second.stdout.readline() == "waits\n"
    first.send_signal(signal.SIGKILL)
    first.communicate()
    begin_s = time.monotonic()
    assert second.communicate(timeout=30)[0] == "builds\n"
    assert time.monotonic() - begin_s < 10


def test_a_cache_that_cannot_be_written_is_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "file"))
    with (
        pytest.raises(HostError, match="cannot write"),
        cache.lock("a" * 64, on_wait=lambda: None),
    ):
        pass
