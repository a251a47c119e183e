"""Which files of the host a command of `longfat exec` can read and write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.live.folders import folder_inside, hidden_arguments, read_bind, share_folder
from tests.live.exec.command import run


def test_what_it_writes_is_gone_and_the_rest_is_read_only() -> None:
    name = f"longfat-test-{os.getpid()}"
    places = ("/etc", "/var", "/home", "/root", "/opt", "/tmp", "/var/tmp")
    line = f"for d in {' '.join(places)}; do echo x > $d/{name} && cat $d/{name}; done"
    done = run("sh", "-c", f"{line}; touch /usr/{name}")
    assert done.stdout == b"x\n" * len(places)
    assert b"Read-only file system" in done.stderr
    assert not [place for place in places if os.path.exists(f"{place}/{name}")]


def test_it_runs_where_we_are_if_it_sees_that(tmp_path: Path) -> None:
    assert run("pwd", cwd="/usr/share").stdout == b"/usr/share\n"
    assert run("pwd", cwd="/tmp").stdout == b"/\n"
    assert run("--cwd", "/etc", "pwd", cwd="/tmp").stdout == b"/etc\n"
    (tmp_path / "sub").mkdir()
    done = run("--bind", "..:/srv/work", "pwd", cwd=tmp_path / "sub")
    assert done.stdout == b"/srv/work/sub\n"


def test_a_folder_that_is_bound_can_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("from outside")
    done = run("--bind", ".:rw", "sh", "-c", "cat there; echo from inside > made", cwd=tmp_path)
    assert (done.stdout, done.returncode) == (b"from outside", 0)
    assert (tmp_path / "made").read_text() == "from inside\n"


def test_where_folders_are_seen(tmp_path: Path) -> None:
    shown = [read_bind(text) for text in (f"{tmp_path}:/mnt", f"{tmp_path}:rw", f"{tmp_path}")]
    assert [(one.place, one.path, one.is_writable) for one in shown] == [
        ("/mnt", tmp_path, False),
        (str(tmp_path), tmp_path, True),
        (str(tmp_path), tmp_path, False),
    ]
    (tmp_path / "deep").mkdir()
    inner = [share_folder("/mnt", tmp_path), share_folder("/srv", tmp_path / "deep")]
    assert folder_inside(tmp_path / "deep" / "er", inner) == "/srv/er"
    assert folder_inside(tmp_path / "other", inner) == "/mnt/other"
    assert folder_inside(Path("/tmp/elsewhere"), inner) == "/"
    assert folder_inside(Path("/usr/lib"), inner) == "/usr/lib"
    assert folder_inside(Path("/home/somebody"), inner) == "/"
    with pytest.raises(InputError, match="write DIR, DIR:PLACE"):
        read_bind(f"{tmp_path}:")


def test_words_that_name_hidden_files(tmp_path: Path) -> None:
    for name in ("script.py", "plain"):
        (tmp_path / name).touch()
    words = ["python3", "script.py", "plain", "./plain", "/usr/bin/env", "no.py", "a" * 300 + "."]
    assert hidden_arguments(words, here=tmp_path, shared=[]) == ["script.py", "./plain"]
    shown = [share_folder("/mnt", tmp_path)]
    assert hidden_arguments(words, here=tmp_path, shared=shown) == []
    assert hidden_arguments(["/etc/hosts"], here=tmp_path, shared=[]) == []


def test_what_a_command_does_not_see_is_said(tmp_path: Path) -> None:
    (tmp_path / "script.sh").write_text("echo ran")
    done = run("sh", "script.sh", cwd=tmp_path)
    assert done.returncode != 0
    assert "the machine does not see script.sh; show it its folder: --bind ." in str(done.stderr)
    done = run("--bind", ".", "sh", "script.sh", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ran\n", b"")


def test_a_folder_is_read_only_unless_said_otherwise(tmp_path: Path) -> None:
    script = "touch made 2>/dev/null && echo wrote"
    assert run("--bind", ".", "sh", "-c", script, cwd=tmp_path).stdout == b""
    assert run("--bind", ".:/mnt:rw", "sh", "-c", script, cwd=tmp_path).stdout == b"wrote\n"
    assert (tmp_path / "made").exists()


def test_a_users_files_are_not_seen() -> None:
    folders = "/home /root /run /var/lib /opt /srv /mnt /proc/1/root"
    done = run("sh", "-c", f"find {folders} -type f 2>/dev/null; cat /etc/shadow /etc/hostname")
    # Programs of longfat, and the package with what it imports.
    own = ("/run/longfat/", "/run/compat/", "/run/bin/", "/opt/longfat/")
    assert [line for line in done.stdout.decode().splitlines() if not line.startswith(own)] == [
        "longfat"  # the machine's own name
    ]
