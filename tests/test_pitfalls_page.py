"""The chapter of pitfalls is made from the studies' texts."""

from __future__ import annotations

from tools.pitfalls import PAGE, page


def test_the_page_is_as_the_studies_are() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew: python -m tools.pitfalls"
