"""The token of the last time opens the studio once more, where that is safe."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.errors import HostError
from longfat.studio.state import MIN_TOKEN, VARIABLE, WorkspaceState, workspace_id


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspaceState:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    return WorkspaceState(tmp_path)


TOKEN = "t" * MIN_TOKEN


def test_the_token_stays_and_is_nobody_elses(state: WorkspaceState) -> None:
    with state:
        assert state.token() is None
        state.keep_token(TOKEN)
        assert state.token() == TOKEN
        file = state.folder / "token"
        assert file.stat().st_mode & 0o777 == 0o600
        assert state.folder.stat().st_mode & 0o777 == 0o700
        state.forget_token()
        assert state.token() is None


def test_a_token_that_others_could_read_is_not_used(state: WorkspaceState) -> None:
    with state:
        state.keep_token(TOKEN)
        (state.folder / "token").chmod(0o644)
        assert state.token() is None


def test_a_link_in_its_place_is_not_followed(state: WorkspaceState, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x" * 43)
    (tmp_path / "x").chmod(0o600)
    with state:
        (state.folder / "token").symlink_to(tmp_path / "x")
        assert state.token() is None
        state.keep_token(TOKEN)
        assert state.token() == TOKEN
        assert (tmp_path / "x").read_text() == "x" * 43


def test_the_proof_s_secret_stays_and_a_damaged_one_is_replaced(state: WorkspaceState) -> None:
    with state:
        secret = state.proof_secret()
        file = state.folder / "proof-secret"
        assert len(secret) == 32
        assert state.proof_secret() == secret
        assert file.stat().st_mode & 0o777 == 0o600
        for damaged in ("", "x", secret.hex()[:-2], secret.hex() + "00", "\u00e9" * 64):
            file.write_text(damaged)
            assert state.proof_secret() not in (secret, damaged.encode())
        secret = state.proof_secret()
        file.chmod(0o644)  # others may have read it
        assert state.proof_secret() != secret


def test_each_workspace_has_its_own(tmp_path: Path) -> None:
    assert workspace_id(tmp_path) != workspace_id(tmp_path / "other")


def test_a_second_studio_of_a_workspace_is_informed_of_the_first(
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
