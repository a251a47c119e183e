"""The programs, as a result depends on them."""

from __future__ import annotations

from longfat.execution import tools


def test_all_code_that_decides_a_result_is_found() -> None:
    missing = [pattern for pattern in tools.DECIDING if not list(tools.PACKAGE.glob(pattern))]
    assert missing == []
