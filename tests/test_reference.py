"""The tables of fields in the documentation say what is declared."""

from __future__ import annotations

from tests.paths import REPOSITORY
from tools.reference import TABLES, renewed


def test_tables_are_as_the_fields_are_declared() -> None:
    page = (REPOSITORY / "docs/study-format.md").read_text(encoding="utf-8")
    assert all(f"<!-- fields: {name} -->" in page for name in TABLES)
    assert renewed(page) == page, "write them anew: python -m tools.reference"
