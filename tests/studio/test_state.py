"""The token of the last time opens the studio once more, where that is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import HostError
from longfat.studio.state import VARIABLE, WorkspaceState, workspace_id


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspaceState:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    return WorkspaceState(tmp_path)


def test_the_token_stays_and_is_nobody_elses(state: WorkspaceState) -> None:
    with state:
        token = state.token(anew=False)
        assert state.token(anew=False) == token
        file = state.folder / "token"
        assert file.stat().st_mode & 0o777 == 0o600
        assert state.folder.stat().st_mode & 0o777 == 0o700
        assert state.token(anew=True) != token


def test_a_token_that_others_could_read_is_drawn_anew(state: WorkspaceState) -> None:
    with state:
        token = state.token(anew=False)
        (state.folder / "token").chmod(0o644)
        assert state.token(anew=False) != token


def test_a_link_in_its_place_is_not_followed(state: WorkspaceState, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x" * 43)
    (tmp_path / "x").chmod(0o600)
    with state:
        (state.folder / "token").symlink_to(tmp_path / "x")
        assert state.token(anew=False) != "x" * 43
        assert (tmp_path / "x").read_text() == "x" * 43


def test_each_workspace_has_its_own(tmp_path: Path) -> None:
    assert workspace_id(tmp_path) != workspace_id(tmp_path / "other")


def test_a_second_studio_of_a_workspace_is_told_of_the_first(
    state: WorkspaceState, tmp_path: Path
) -> None:
    with state:
        state.note_running(url="http://127.0.0.1:1/?token=x", port=1)
        with (
            pytest.raises(HostError, match=r"is already running: http://127.0.0.1:1/\?token=x"),
            WorkspaceState(tmp_path),
        ):
            pass
    with WorkspaceState(tmp_path) as again:
        assert again.last_port == 1
