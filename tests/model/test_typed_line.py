"""Typed lines are read as a shell reads them, and `sudo` in front of them changes nothing."""

from __future__ import annotations

import pytest

from longfat.model.typed_line import NotUnderstoodError, plain_words, without_sudo
from longfat.study.reachability import may_change_routing


@pytest.mark.parametrize(
    "before",
    ["sudo ", " /usr/bin/sudo -E ", "sudo -nE -u root -- ", "sudo --preserve-env --user=root "],
)
def test_sudo_in_front_changes_nothing(before: str) -> None:
    line = "tc qdisc del dev s1-eth2 root"
    assert without_sudo(before + line) == line
    assert plain_words(before + line) == line.split()
    assert not may_change_routing(before + line)


@pytest.mark.parametrize(
    "line", ["sudoku -x", "sudo", "sudo -E", "sudo -u nobody id", "sudo -i tc", "tc sudo x", ""]
)
def test_other_lines_are_left_alone(line: str) -> None:
    assert without_sudo(line) == line


def test_a_line_that_needs_a_shell_is_not_read() -> None:
    with pytest.raises(NotUnderstoodError):
        plain_words("sudo tc qdisc show | grep red")
