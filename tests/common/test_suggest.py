"""The nearest of known names."""

from __future__ import annotations

import pytest

from longfat.common.suggest import nearest


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("lab8", ["lab07", "lab08", "lab18"], "lab08"),
        ("listn", ["listen", "write"], "listen"),
        ("cubik", ["bbr", "cubic"], "cubic"),
    ],
)
def test_the_nearest_name_and_of_equal_ones_the_first(
    name: str, known: list[str], found: str
) -> None:
    assert nearest(name, known) == f"; did you mean {found!r}?"


def test_nothing_is_near() -> None:
    assert nearest("xyz", ["cubic", "bbr"]) == ""
    assert nearest("xyz", []) == ""
