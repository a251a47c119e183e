from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from longfat.common import guard
from longfat.common.guard import Guarded
from longfat.errors import HostError


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def eventually(check: Callable[[], bool], *, within_s: float = 10) -> bool:
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s:
        if check():
            return True
        time.sleep(0.01)
    return check()


def test_the_status_is_the_commands() -> None:
    for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)):
        with Guarded(["sh", "-c", script]) as guarded:
            assert guarded.wait() == status
            assert guarded.wait() == status


def test_waiting_has_an_end() -> None:
    with Guarded(["sleep", "100"]) as guarded:
        assert guarded.wait(timeout_s=0.05) is None


def test_leaving_kills_all_and_removes_the_scratch_folder(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def told() -> bool:
        return (tmp_path / "pid").read_text().endswith("\n")

    script = f"setsid sleep 1000 & echo $! > {tmp_path}/pid; trap '' TERM; sleep 1000"
    with Guarded(["sh", "-c", script], scratch=scratch) as guarded:
        assert eventually(lambda: (tmp_path / "pid").exists() and told())
        orphan = int((tmp_path / "pid").read_text())
        assert alive(orphan)
    assert not alive(orphan)
    assert not alive(guarded.pid)
    assert not scratch.exists()


def test_what_the_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    script = f"setsid sleep 1000 & echo $! > {tmp_path}/pid"
    with Guarded(["sh", "-c", script]) as guarded:
        assert guarded.wait() == 0
        assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_killed_guard_takes_all_with_it(tmp_path: Path, which: str) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # No sandbox here that would end its processes: a build has none either.
    script = f"setsid sh -c 'while :; do echo x > {scratch}/$$; sleep 0.01; done' & sleep 1000"
    with Guarded(["sh", "-c", script], scratch=scratch) as guarded:
        assert eventually(lambda: bool(list(scratch.iterdir())))
        writer = int(next(scratch.iterdir()).name)
        second = parent_of(guarded.pid)
        os.kill(second if which == "second" else parent_of(second), signal.SIGKILL)
        assert guarded.wait(timeout_s=10) == 137
        # It is told when it is done.
        assert not alive(writer)
        assert not scratch.exists()


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_parent_and_a_guard_killed_at_once_leave_nothing(tmp_path: Path, which: str) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "import pathlib\n"
        "from longfat.common.guard import Guarded\n"
        f"with Guarded(['sleep', '1000'], scratch=pathlib.Path({str(scratch)!r})) as guarded:\n"
        "    print(guarded.pid, flush=True)\n"
        "    guarded.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        command = int(parent.stdout.readline())
        second = parent_of(command)
        victims = (parent.pid, second if which == "second" else parent_of(second))
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in victims:
                os.kill(pid, number)
    assert eventually(lambda: not alive(command))
    assert eventually(lambda: not scratch.exists())


def test_a_folder_that_was_moved_away_stays(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with Guarded(["true"], scratch=scratch) as guarded:
        assert guarded.wait() == 0
        scratch.rename(tmp_path / "kept")
    assert (tmp_path / "kept").is_dir()


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(HostError, match="cannot start /no/such/program"):
        Guarded(["/no/such/program"])


@pytest.mark.parametrize("moment_s", [0.0, 0.01, 0.03, 0.06, 0.1, 0.2])
def test_nothing_outlives_a_killed_parent(tmp_path: Path, moment_s: float) -> None:
    scratch = tmp_path / "scratch"
    code = f"""
import os, pathlib, sys
from longfat.common import guard
from longfat.common.guard import Guarded
scratch = pathlib.Path({str(scratch)!r})
print("go", flush=True)
scratch.mkdir()
with Guarded(["sh", "-c", "sleep 1000 & sleep 1000 # {tmp_path}"], scratch=scratch) as guarded:
    guarded.wait()
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        time.sleep(moment_s)
        os.kill(parent.pid, signal.SIGKILL)

    def left() -> bool:
        named = [
            entry
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and str(tmp_path).encode() in _command_line(entry)
        ]
        return bool(named)

    assert eventually(lambda: not left())
    if moment_s > 0.02:  # before that, the parent may have had no guard yet
        assert eventually(lambda: not scratch.exists())


def _command_line(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:
        return b""


def test_a_kernel_without_a_list_of_children_needs_a_search() -> None:
    folder = Path(guard.__file__).parent
    script = f"""
import os, signal, sys
sys.path.insert(0, {str(folder)!r})
import guardian
forked = []
for _ in range(3):
    forked.append(os.fork())
    if not forked[-1]:
        signal.pause()
lists = (guardian._search_children(os.getpid()), guardian._children())
print(all(sorted(found) == sorted(forked) for found in lists))
guardian._kill_descendants()
print(guardian._has_children())
"""
    command = [sys.executable, "-I", "-S", "-u", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.stdout.split() == ["True", "False"], done.stderr
