"""`longfat completion`: what Tab offers, asked of a real bash with its script."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import longfat
from tests.paths import REPOSITORY

PRESS_TAB = """\
{script}
COMP_WORDS=(longfat {words})
COMP_CWORD={last}
_longfat_completion {longfat}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a user's ~/.bashrc evaluates."""
    done = longfat("completion", "bash", cwd=tmp_path_factory.mktemp("completion"))
    assert done.returncode == 0, done.stderr
    return done.stdout


def offered(words: list[str], *, bash_script: str, cwd: Path) -> list[str]:
    """Return what bash offers when Tab is pressed behind the last word, which may be empty."""
    program = REPOSITORY / ".venv/bin/longfat"
    typed = " ".join(word or "''" for word in words)
    script = PRESS_TAB.format(script=bash_script, longfat=program, words=typed, last=len(words))
    done = subprocess.run(
        ["bash", "-c", script], cwd=cwd, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["rep"], ["reproduce"]),
        (["run", "lab2"], ["lab20", "lab21", "lab22", "lab23", "lab24", "lab25", "lab26"]),
        (["show", "lab08", "--language", "r"], ["ru"]),
        (["run", "m"], ["mine/", "my.yaml"]),
        (["run", "mine/"], ["mine/study"]),
        (["run", "workshop", "--case", ""], ["bare", "limited", "default", "tuned"]),
        (["run", "lab08", "nothing", "--case", "d"], ["default"]),
        (["show", "lab08x"], []),
        (["run", "pitfalls/nag"], ["pitfalls/nagle-delayed-ack"]),
        (["diagnose", "mine/"], ["mine/study/"]),
        (["kernel", "b"], ["build"]),
        (["run", "lab08", "--no-r"], ["--no-report"]),
    ],
)
def test_tab_offers(words: list[str], found: list[str], bash_script: str, tmp_path: Path) -> None:
    study = tmp_path / "mine/study"
    study.mkdir(parents=True)
    (study / "study.yaml").write_text("title: x\n")
    (tmp_path / "my.yaml").write_text("title: x\n")
    (tmp_path / "my.txt").write_text("")
    assert offered(words, bash_script=bash_script, cwd=tmp_path) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, tmp_path: Path) -> None:
    done = longfat("completion", shell, cwd=tmp_path)
    assert done.returncode == 0
    assert "_LONGFAT_COMPLETE" in done.stdout
