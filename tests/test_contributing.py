"""CONTRIBUTING.md names files that exist, and its lists are whole."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.paths import REPOSITORY

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
_PLACEHOLDERS = re.compile(r"\b(TOOL|PROBE|COMMAND|NAME)\b")


def test_files_that_are_named_exist() -> None:
    named = re.findall(r"`((?:src|docs|kernel|tools|web|labs|tests|examples)/[\w./-]+)`", PAGE)
    paths = [path for path in named if not _PLACEHOLDERS.search(path)]
    assert len(paths) > 30
    assert [path for path in paths if not (REPOSITORY / path).exists()] == []


def _files_with(word: str) -> set[str]:
    """Return the files of the package and of the guest that know a word."""
    command = ("git", "grep", "-lwI", "-e", word, "--", "src", "kernel")
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("word", "heading"),
    [
        ("reorder", "A property of links"),
        ("rx_coalescing_s", "A property of hosts"),
        ("transfer_ends", "A flow tool"),
        ("rx_drops", "A probe"),
    ],
)
def test_a_list_is_whole(word: str, heading: str) -> None:
    """Nothing outside of the list knows what one that is there brought with it."""
    section = PAGE.split(f"### {heading}\n")[1].split("\n### ")[0]
    named = [
        _PLACEHOLDERS.sub("[a-z0-9_]+", path) for path in re.findall(r"`(src/[\w./]+)`", section)
    ]
    own = ("src/longfat/guest/transfer",)  # what the tool itself runs in a machine
    strangers = [
        path
        for path in _files_with(word)
        if not any(re.fullmatch(pattern, path) for pattern in named) and not path.startswith(own)
    ]
    assert strangers == []
