"""The memory: the same bytes come back under any name, and nothing damaged or half does."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.errors import InputError, MachineError
from longfat.execution.cache import ResultCache, result_cache_root
from longfat.execution.cache.store import MAX_DAMAGED
from longfat.execution.runs import Run, load_run
from longfat.execution.runs.run import damage
from longfat.model.case import Case
from longfat.model.metric import Unit
from longfat.model.parameter import ParameterValue
from tests.execution.runs.test_runs import keep

MakeCase = Callable[..., Case]
SETTINGS = {"rtt": ParameterValue(text="10ms", number=0.01, unit=Unit.SECONDS)}


@pytest.fixture
def run(tmp_path: Path, make_case: MakeCase, kernel: Kernel) -> Run:
    return keep(tmp_path / "first", make_case(), kernel)


def get(cache: ResultCache, key: str, out: Path) -> Run | None:
    return cache.get(key, out=out, name="again", study="other", parameters=SETTINGS)


def test_the_folder_is_named_by_the_environment(memory_root_named: Path) -> None:
    assert result_cache_root() == memory_root_named


@pytest.fixture
def memory_root_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


def test_a_result_comes_back_under_another_name(tmp_path: Path, run: Run) -> None:
    cache = ResultCache()
    assert get(cache, run.key, tmp_path / "second") is None
    cache.put(run)
    assert cache.has(run.key)
    again = get(cache, run.key, tmp_path / "second")
    assert again is not None
    assert again.folder == tmp_path / "second" / "again-seed1"
    assert (again.name, again.study, again.parameters) == ("again", "other", SETTINGS)
    assert load_run(again.folder) == again
    assert replace(again, name=run.name, study="", parameters={}, folder=run.folder) == run
    assert sorted(os.listdir(again.folder)) == sorted(os.listdir(run.folder))
    # The same files, which take their space once; but each has a manifest of its own.
    assert (again.raw / "a.txt").samefile(run.raw / "a.txt")
    assert load_run(run.folder) == run
    assert [path for path in cache.root.rglob(".*") if path.suffix == ".partial"] == []


def test_a_recall_leaves_alone_what_is_there(tmp_path: Path, run: Run) -> None:
    cache = ResultCache()
    cache.put(run)
    first = get(cache, run.key, tmp_path / "second")
    assert first is not None
    number = first.folder.stat().st_ino
    assert get(cache, run.key, tmp_path / "second") == first
    assert first.folder.stat().st_ino == number
    (first.folder / "manifest.json").write_text("{}")
    assert get(cache, run.key, tmp_path / "second") == first
    assert load_run(first.folder) == first


def test_a_file_that_was_edited_is_not_taken(tmp_path: Path, run: Run) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    cache.put(run)
    (run.raw / "a.txt").write_text("y")  # the memory's own file, by its other name
    assert get(cache, run.key, tmp_path / "second") is None
    place = cache.place(run.key)
    (aside,) = (cache.root / ".damaged").iterdir()
    assert messages == [
        f"the cached result {run.key[:12]} is damaged; it was moved to {aside} and is not"
        f" used: {place}: raw/a.txt: its bytes have changed"
    ]
    assert cache.unreadable() == [aside]
    assert not cache.has(run.key)
    assert not (tmp_path / "second").exists()
    assert list(cache.entries()) == []


def test_a_file_that_was_only_touched_is_taken(tmp_path: Path, run: Run) -> None:
    cache = ResultCache(report=pytest.fail)
    cache.put(run)
    os.utime(run.raw / "a.txt", (1, 1))
    assert get(cache, run.key, tmp_path / "second") is not None


def test_a_missing_file_and_a_broken_note_are_no_results(tmp_path: Path, run: Run) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    cache.put(run)
    (cache.place(run.key) / "raw" / "a.txt").unlink()
    assert get(cache, run.key, tmp_path / "second") is None
    cache.put(run)
    (cache.place(run.key) / ".cached.json").write_text("{")
    assert get(cache, run.key, tmp_path / "second") is None
    cache.put(run)
    (cache.place(run.key) / "manifest.json").write_text("{}")
    assert get(cache, run.key, tmp_path / "second") is None
    assert len(messages) == 3
    assert "raw/a.txt: it is missing" in messages[0]
    assert f"{cache.place(run.key)}/.cached.json: not JSON" in messages[1]
    assert f"{cache.place(run.key)}/manifest.json: its format is null" in messages[2]
    assert not cache.has(run.key)


def test_other_bytes_under_one_key_are_an_error(
    tmp_path: Path, run: Run, make_case: MakeCase, kernel: Kernel
) -> None:
    cache = ResultCache()
    cache.put(run)
    cache.put(keep(tmp_path / "same", make_case(), kernel, wall_s=9))
    other = keep(tmp_path / "other", make_case(), kernel, text="y")
    with pytest.raises(MachineError, match=r"gave other bytes .* raw/a\.txt differ"):
        cache.put(other)
    assert not damage(load_run(cache.place(run.key)))


def test_a_damaged_result_is_found_out_by_the_next_run(
    tmp_path: Path, run: Run, make_case: MakeCase, kernel: Kernel
) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    cache.put(run)
    (run.raw / "a.txt").write_text("y")
    same = keep(tmp_path / "same", make_case(), kernel)
    cache.put(same)
    assert len(messages) == 1
    assert get(cache, run.key, tmp_path / "second") is not None
    with pytest.raises(InputError, match=r"raw/a\.txt: its bytes have changed"):
        ResultCache(tmp_path / "other").put(run)


def test_a_result_without_a_manifest_is_replaced(tmp_path: Path, run: Run) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    cache.put(run)
    (cache.place(run.key) / "manifest.json").unlink()
    cache.put(run)
    assert len(messages) == 1
    assert get(cache, run.key, tmp_path / "second") is not None


def test_swapped_results_are_found(
    tmp_path: Path, run: Run, make_case: MakeCase, kernel: Kernel
) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    other = keep(tmp_path / "other", make_case(seed=2), kernel)
    for one in (run, other):
        cache.put(one)
    places = cache.place(run.key), cache.place(other.key)
    places[0].rename(tmp_path / "aside")
    places[1].rename(places[0])
    (tmp_path / "aside").rename(places[1])
    assert get(cache, run.key, tmp_path / "second") is None
    assert get(cache, other.key, tmp_path / "second") is None
    assert all("key: it belongs to another result" in one for one in messages)


def test_bytes_that_kept_size_and_time_are_found(tmp_path: Path, run: Run) -> None:
    messages: list[str] = []
    cache = ResultCache(report=messages.append)
    cache.put(run)
    path = cache.place(run.key) / "raw" / "a.txt"
    about = path.stat()
    path.write_text("y")
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert not cache.check(run.key)
    assert "raw/a.txt: its bytes have changed" in messages[0]
    assert get(cache, run.key, tmp_path / "second") is None


def test_few_damaged_results_are_kept(run: Run, tmp_path: Path) -> None:
    cache = ResultCache()
    for count in range(MAX_DAMAGED + 3):
        cache.put(run)
        (cache.place(run.key) / "manifest.json").write_text(str(count))
        assert get(cache, run.key, tmp_path / "second") is None
    kept = cache.unreadable()
    assert len(kept) == MAX_DAMAGED
    assert (kept[-1] / "manifest.json").read_text() == str(MAX_DAMAGED + 2)
    for one in kept:
        cache.clear(one)
    assert cache.unreadable() == []


@pytest.fixture
def other_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder in another file system than `tmp_path`."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        if Path(name).stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("there is no second file system here")
        yield Path(name)


def test_on_another_disk_files_are_copied(tmp_path: Path, run: Run, other_disk: Path) -> None:
    cache = ResultCache(other_disk / "memory", report=pytest.fail)
    cache.put(run)
    again = get(cache, run.key, tmp_path / "second")
    assert again is not None
    assert (again.raw / "a.txt").stat().st_nlink == 1
    assert (again.raw / "a.txt").read_text() == "x"
    # A copy that was edited is another file than the memory's, and is replaced.
    (again.raw / "a.txt").write_text("edited")
    assert get(cache, run.key, tmp_path / "second") == again
    assert (again.raw / "a.txt").read_text() == "x"


def test_threads_that_remember_one_result_agree(run: Run) -> None:
    errors: list[BaseException] = []

    def put() -> None:
        try:
            for _ in range(5):
                ResultCache().put(run)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=put) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [entry.key for entry in ResultCache().entries()] == [run.key]
    assert list(result_cache_root().glob(".*")) == []


COME_AND_GO = """
import sys
from pathlib import Path
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run

cache, run = ResultCache(), load_run(Path(sys.argv[1]))
while True:
    cache.put(run)
    cache.get(run.key, out=Path(sys.argv[2]), name="again", study="", parameters={})
    cache.remove(run.key)
"""


def test_kills_leave_results_whole_or_absent(tmp_path: Path, run: Run) -> None:
    moments = random.Random(3)
    messages: list[str] = []
    second = tmp_path / "second" / "again-seed1"
    command = [sys.executable, "-c", COME_AND_GO, str(run.folder), str(second.parent)]
    for _ in range(4):
        shutil.rmtree(second, ignore_errors=True)
        pair = [subprocess.Popen(command) for _ in range(2)]
        while not second.exists():
            assert any(process.poll() is None for process in pair)
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.1))
        for process in pair:
            process.kill()
            # By our kill, and not by an error before.
            assert process.wait() == -signal.SIGKILL
        # What is seen is whole; a result that is not there is simply cached again.
        cache = ResultCache(report=messages.append)
        for entry in cache.entries():
            assert get(cache, entry.key, tmp_path / "third") is not None
        if second.exists():
            assert not damage(load_run(second))
        cache.put(run)
        assert get(cache, run.key, tmp_path / "third") is not None
    assert messages == []
    for left in result_cache_root().glob(".*"):
        os.utime(left, (1, 1))
    cache = ResultCache()
    cache.remove(run.key)
    cache.put(run)
    assert list(result_cache_root().glob(".*")) == []


FULL = """
import sys
from pathlib import Path
from longfat.errors import LongfatError
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run

root, folder = Path(sys.argv[1]), Path(sys.argv[2])
cache = ResultCache(root)
try:
    cache.put(load_run(folder))
except LongfatError as error:
    print(type(error).__name__, error)
print(cache.has(load_run(folder).key), sorted(path.name for path in root.rglob("*")))
"""


def on_small_disk(command: list[str], *, disk: Path, size: str, cwd: Path | None = None) -> str:
    """Run a command that finds a disk of a size at a place; return what it printed."""
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare(1) here")
    mount = f'mount -t tmpfs -o size={size} none "$0" && exec "$@"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, str(disk), *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )
    if "unshare:" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no disk can be mounted here: {done.stderr}")
    return done.stdout + done.stderr


def test_a_full_disk_is_told_and_leaves_nothing_half(
    tmp_path: Path, make_case: MakeCase, kernel: Kernel
) -> None:
    run = keep(tmp_path / "first", make_case(), kernel, text="x" * 200_000)
    root = tmp_path / "disk"
    root.mkdir()
    words = on_small_disk(
        [sys.executable, "-c", FULL, str(root), str(run.folder)], disk=root, size="128k"
    )
    messages, _, left = words.strip().rpartition("\n")
    assert messages.startswith(f"HostError {root}: the disk or your quota is full")
    assert "longfat runs gc" in messages
    assert left == f"False ['{run.key[:2]}']"


def test_a_folder_that_cannot_be_written(tmp_path: Path, run: Run) -> None:
    cache = ResultCache()
    cache.put(run)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        get(cache, run.key, tmp_path / "file")
