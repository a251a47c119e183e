"""Sessions are found by their names, by their own user only, and not when they are dead."""

from __future__ import annotations

import socket
import stat
from pathlib import Path

import pytest

from longfat.errors import SurroundingsError
from longfat.live.shell.meeting import connect, published, session_names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Longer than a socket's path may be.
    runtime = tmp_path / ("long-" * 30)
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return runtime / "longfat"


def test_a_session_is_found_as_long_as_it_lives(folder: Path) -> None:
    assert session_names() == []
    with published("lab08") as (listener, name):
        assert name == "lab08"
        assert session_names() == ["lab08"]
        listener.accept()[0].close()  # whoever looked
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / "lab08.sock").stat().st_mode) == 0o600
        connection = connect("lab08")
        assert connection is not None
        with connection, listener.accept()[0] as other:
            connection.sendall(b"x")
            assert other.recv(1) == b"x"
    assert session_names() == []
    assert connect("lab08") is None


def test_a_name_that_is_taken_gets_a_number() -> None:
    with published("lab08") as (_, first), published("lab08") as (_, second):
        assert (first, second) == ("lab08", "lab08-2")
        assert session_names() == ["lab08", "lab08-2"]


@pytest.mark.parametrize(
    ("wanted", "called"),
    [("a b/../c", "a-b-..-c"), ("\u00fc", "session"), ("x" * 99, "x" * 40), ("../..", "session")],
)
def test_any_name_gives_a_file_in_the_folder(folder: Path, wanted: str, called: str) -> None:
    with published(wanted) as (_, name):
        assert name == called
        assert [path.name for path in folder.iterdir()] == [f"{called}.sock"]


def test_the_socket_of_a_killed_holder_is_swept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert session_names() == []
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind("dead.sock")
    assert connect("dead") is None
    assert connect("../longfat/dead") is None
    assert session_names() == []
    assert list(folder.iterdir()) == []


def test_a_folder_that_others_can_use_is_refused(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)
    with pytest.raises(SurroundingsError, match="others than you can use"):
        session_names()


def test_a_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    folder.symlink_to(tmp_path)
    with pytest.raises(SurroundingsError, match="cannot be used"):
        session_names()
