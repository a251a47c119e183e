"""The tables of fields in the documentation say what is declared."""

from __future__ import annotations

from tests.paths import REPOSITORY
from tools.reference import TABLES, renewed


def test_tables_are_as_the_fields_are_declared() -> None:
    names = ("docs/study-format.md", "docs/class.md")
    pages = "".join((REPOSITORY / name).read_text(encoding="utf-8") for name in names)
    assert all(f"<!-- fields: {name} -->" in pages for name in TABLES)
    assert renewed(pages) == pages, "write them anew: python -m tools.reference"


def test_the_calls_of_a_session_are_those_that_there_are() -> None:
    page = (REPOSITORY / "docs/session.md").read_text(encoding="utf-8")
    assert "<!-- calls -->" in page
    assert renewed(page) == page, "write them anew: python -m tools.reference"
