"""The page's types say what the server declares."""

from __future__ import annotations

from tools import web_fields
from tools.web_types import FILE, typescript


def test_types_are_as_the_server_declares_them() -> None:
    assert FILE.read_text(encoding="utf-8") == typescript(), "run: python -m tools.web_types"


def test_the_pages_tests_have_the_declared_fields_of_links() -> None:
    text = web_fields.FILE.read_text(encoding="utf-8")
    assert text == web_fields.typescript(), "run: python -m tools.web_types"


def test_fields_have_their_units_and_aliases_their_names() -> None:
    text = typescript()
    assert "  /** The propagation delay in seconds. */\n" in text
    assert "  state: ClockState;\n" in text
    assert '  | { do: "step"; by_s: number }\n' in text
    assert "export interface ClockEvent extends Clock {\n" in text
