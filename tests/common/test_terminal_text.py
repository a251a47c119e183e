"""What a terminal is shown of texts that others wrote."""

from __future__ import annotations

import io

import pytest
from rich.live import Live
from rich.text import Text

from longfat.common.terminal_console import TerminalConsole
from longfat.common.terminal_text import (
    ENCODING_ERRORS,
    TerminalStream,
    printable,
    printable_line,
)

CLIPBOARD = "\x1b]52;c;aGk=\x07"
ESCAPED = {
    CLIPBOARD: r"\x1b]52;c;aGk=\x07",
    "a\rb": r"a\rb",
    "\x9b2J": r"\x9b2J",
    "a\x85b\u2028c": r"a\x85b\u2028c",
    "\u202egnp.exe\u2069": r"\u202egnp.exe\u2069",
    "\ud800\udc80": r"\ud800\udc80",
    "\U000e0041": r"\U000e0041",
    "\x7f\x08\x00": r"\x7f\x08\x00",
}
LEFT = ["a\tb\n", "a\r\nb", "größer… 10\N{NO-BREAK SPACE}µs \N{WOMAN}\u200d\N{PERSONAL COMPUTER}"]


@pytest.mark.parametrize(("text", "shown"), ESCAPED.items())
def test_what_a_terminal_obeys_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == printable(printable(text)) == shown


@pytest.mark.parametrize("text", LEFT)
def test_the_rest_is_left(text: str) -> None:
    assert printable(text) == text


def test_one_line() -> None:
    assert printable_line(" a\n\tb\x1b ") == r"a b\x1b"


def test_a_stream_escapes_what_is_printed() -> None:
    inner = io.StringIO()
    stream = TerminalStream(inner)
    print("a\x1b[2J", file=stream)
    stream.writelines(["b\x9b", "\n"])
    assert inner.getvalue() == "a\\x1b[2J\nb\\x9b\n"


def test_a_console_escapes_texts_and_not_its_styles() -> None:
    stream = io.StringIO()
    console = TerminalConsole(file=TerminalStream(stream), force_terminal=True)
    console.print(Text(CLIPBOARD, style="bold link https://x.example/\x1b"))
    console.print("[bold]:smile: \x9b\x1b[2J")
    console.out("\u202e")
    with Live(Text("\x1b[5m"), console=console, screen=True):
        print("by print \x1b[6m")
    shown = stream.getvalue()
    assert "\x1b[1m\\x1b]52;c;aGk=" in shown  # rich leaves the bell out
    assert "[bold]:smile: \\x9b\\x1b[2J\n\\u202e\n" in shown
    assert "\\x1b[5m" in shown
    assert not set(shown) & set("\x07\x9b\u202e")
    assert not any(bad in shown for bad in ("\x1b]", "\x1b[2J", "\x1b[5m", "\x1b[6m"))


def test_what_an_encoding_lacks_is_escaped_as_in_json() -> None:
    text = "µ\N{GRINNING FACE}\udcff"
    assert text.encode("ascii", ENCODING_ERRORS) == b"\\u00b5\\ud83d\\ude00\xff"
