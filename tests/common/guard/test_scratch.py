from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from longfat.common.guard import remove_tree, scratch_folder


def test_it_is_there_as_long_as_the_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "sub").mkdir()
        (folder / "sub" / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_does_not_outlive_us(tmp_path: Path, number: int) -> None:
    script = (
        "from longfat.common.guard import scratch_folder\n"
        "with scratch_folder() as folder:\n"
        "    (folder / 'file').write_text('x')\n"
        "    print('there', flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"there\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        process.wait()
        end_s = time.monotonic() + 10
        while list(tmp_path.iterdir()) and time.monotonic() < end_s:
            time.sleep(0.01)
        assert list(tmp_path.iterdir()) == []


def test_a_killed_remover_is_replaced_before_a_removal(tmp_path: Path) -> None:
    # The remover dies, and then we do while we remove: somebody must be left to go on.
    script = (
        "import os, signal\n"
        "from longfat.common.guard import _scratch, scratch_folder\n"
        "_scratch.remove_tree = lambda folder: os.kill(os.getpid(), signal.SIGKILL)\n"
        "with scratch_folder() as folder:\n"
        "    (folder / 'file').write_text('x')\n"
        "    remover = _scratch._remover._process\n"
        "    remover.kill()\n"
        "    remover.wait()\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    end_s = time.monotonic() + 10
    while list(tmp_path.iterdir()) and time.monotonic() < end_s:
        time.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def _remover() -> int:
    """Return the process that removes what we leave."""
    end_s = time.monotonic() + 10
    while True:
        entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]
        found = [int(entry.name) for entry in entries if _is_our_remover(entry)]
        if len(found) == 1:
            return found[0]
        assert time.monotonic() < end_s, f"removers: {found}"
        time.sleep(0.01)


def _is_our_remover(entry: Path) -> bool:
    try:
        parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        return parent == os.getpid() and b"guard/remover.py" in (entry / "cmdline").read_bytes()
    except (OSError, IndexError):  # it has ended meanwhile
        return False


def test_a_killed_remover_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder():
        first = _remover()
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        with scratch_folder():
            assert _remover() != first
    assert list(tmp_path.iterdir()) == []


_KILLED_AT_ONCE = """
import os, signal
from longfat.common.guard import remove_tree, scratch_folder
from tests.common.guard.test_scratch import _remover
with scratch_folder() as folder:
    (folder / "file").write_text("x")
    for number in (signal.SIGSTOP, signal.SIGKILL):
        os.kill(_remover(), number)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_one_sweeps_where_all_were_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _KILLED_AT_ONCE], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert (left / "file").exists()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as one, scratch_folder() as other:
        assert set(tmp_path.iterdir()) == {one, other}


def test_what_is_not_ours_is_not_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("x")
    (tmp_path / "longfat-scratch-link").symlink_to(mine)
    (tmp_path / "longfat-scratch-file").write_text("x")
    open_to_all = tmp_path / "longfat-scratch-open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (tmp_path / "longfat-other").mkdir()
    before = sorted(tmp_path.iterdir())
    with scratch_folder():
        pass
    assert sorted(tmp_path.iterdir()) == before
    assert (mine / "precious").exists()


# ------------------------------------------------------- what a guest may leave in a folder


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "precious").write_text("x")
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "link").symlink_to(mine)
    (folder / "sub" / "link").symlink_to(mine)
    (folder / "sub" / "dangling").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe")
    assert remove_tree(folder)
    assert not folder.exists()
    (tmp_path / "link").symlink_to(mine)
    assert remove_tree(tmp_path / "link")
    assert list(tmp_path.iterdir()) == [mine]
    assert (mine / "precious").read_text() == "x"


def test_folders_that_nobody_may_read_are_removed(tmp_path: Path) -> None:
    # Root may read them anyway, so this is done as somebody who may not.
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "folder = Path(sys.argv[1])\n"
        "for path in (folder / 'a' / 'b' / 'c', folder / 'd'):\n"
        "    path.mkdir(parents=True)\n"
        "    (path / 'file').write_text('x')\n"
        "for name in ('a/b/c', 'a/b', 'a', 'd', '.'):\n"
        "    (folder / name).chmod(0)\n"
        "assert not os.access(folder / 'a', os.R_OK)\n"
        "from longfat.common.guard import remove_tree\n"
        "assert remove_tree(folder, within_s=5)\n"
    )
    # In a user namespace without capabilities, root is an ordinary user.
    bare = ("bwrap", "--unshare-user", "--cap-drop", "ALL", "--dev-bind", "/", "/", "--")
    subprocess.run([*bare, sys.executable, "-c", script, str(tmp_path / "folder")], check=True)
    assert list(tmp_path.iterdir()) == []


def test_folders_beyond_the_length_of_any_path_are_removed(tmp_path: Path) -> None:
    deep = tmp_path / "folder"
    deep.mkdir()
    place = os.open(deep, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    assert remove_tree(deep, within_s=60)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_removed_while_somebody_still_writes_there(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    script = "for n in $(seq 300); do mkdir -p a/b && echo > a/b/$n; done 2> /dev/null"
    with subprocess.Popen(["sh", "-c", script], cwd=folder):
        while not (folder / "a" / "b" / "1").exists():
            time.sleep(0.001)
        assert remove_tree(folder)
        assert not folder.exists()
