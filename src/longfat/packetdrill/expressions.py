"""Arguments and results of system calls: numbers, constants, texts, lists and structures.

Constants and definitions are looked up while the text is read, so an expression is a plain
value with its place.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longfat.common.suggest import nearest
from longfat.errors import InputError
from longfat.packetdrill.scanner import BACK_QUOTED, INTEGER, STRING, WORD, Scanner, whole_number
from longfat.packetdrill.symbols import symbols

_MOST_DEPTH = 30
_NAMED = re.compile(r"([A-Za-z_]\w*)\s*(?=(?:\([^()]*\)\s*)?=(?!=))")
_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"0": b"\0"}
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.DOTALL)
_LARGEST = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Expression:
    """A value in a script.

    Attributes:
        offset: where in the text it begins.
        value: None for `...`, a number, bytes for a text, a tuple for a list, a mapping for
            a structure. A structure without names is a tuple in a mapping, by "".
    """

    offset: int
    value: Any

    def plain(self) -> Any:
        """Return it as JSON can hold it: bytes become `{"bytes": HEX}`."""
        if isinstance(self.value, bytes):
            return {"bytes": self.value.hex()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        if isinstance(self.value, dict):
            return {name: item.plain() for name, item in self.value.items()}
        return self.value


class ExpressionReader:
    """Reads expressions.

    Args:
        scanner: the text.
        defines: what words stand for, besides the constants.
    """

    def __init__(self, scanner: Scanner, *, defines: Mapping[str, str]) -> None:
        self._scanner = scanner
        self._defines = defines
        self._depth = 0

    def read(self) -> Expression:
        """Read an expression.

        Raises:
            InputError: there is none, or a word in it is not known.
        """
        first = self._term()
        while self._scanner.accept("|"):
            second = self._term()
            for side in (first, second):
                if not isinstance(side.value, int):
                    raise self._scanner.error("| joins numbers", at=side.offset)
            first = Expression(first.offset, first.value | second.value)
        return first

    def arguments(self) -> tuple[Expression, ...]:
        """Read `(expression, ...)`."""
        self._scanner.expect("(")
        return self._list(")")

    def _list(self, end: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        if self._scanner.accept(end):
            return ()
        while True:
            items.append(self.read())
            if self._scanner.accept(end):
                return tuple(items)
            if not self._scanner.accept(","):
                raise self._scanner.wrong(f"',' or {end!r}")

    def _term(self) -> Expression:
        scanner = self._scanner
        scanner.skip()
        start = scanner.offset
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            raise scanner.error(f"this is nested more than {_MOST_DEPTH} deep")
        try:
            if scanner.accept("..."):
                return Expression(start, None)
            if (number := scanner.take(INTEGER)) is not None:
                value = whole_number(number[0])
                if not -(2**63) <= value <= _LARGEST:
                    raise scanner.error("a number has at most 64 bits", at=start)
                return Expression(start, value)
            if scanner.peek(STRING) is not None:
                return Expression(start, self._text())
            if scanner.accept("["):
                return Expression(start, self._list("]"))
            if scanner.accept("{"):
                return Expression(start, self._structure())
            return Expression(start, self._word())
        finally:
            self._depth -= 1

    def _text(self) -> bytes:
        text = b""
        while (match := self._scanner.take(STRING)) is not None:
            text += unescape(match[1])
        self._scanner.accept("...")
        return text

    def _structure(self) -> dict[str, Expression]:
        scanner = self._scanner
        found: dict[str, Expression] = {}
        unnamed: list[Expression] = []
        start = scanner.offset
        if scanner.accept("}"):
            raise scanner.error("a structure has no fields", at=start)
        while True:
            scanner.skip()
            start = scanner.offset
            if (name := scanner.take(_NAMED)) is not None:
                if name[1] in found:
                    raise scanner.error(f"{name[1]} stands there twice", at=start)
                if scanner.accept("("):
                    found[f"{name[1]}()"] = self.read()
                    scanner.expect(")")
                scanner.expect("=")
                found[name[1]] = self.read()
            else:
                unnamed.append(self.read())
            if scanner.accept("}"):
                break
            if not scanner.accept(","):
                raise scanner.wrong("',' or '}'")
        if found and unnamed:
            raise scanner.error("this field has no name", at=unnamed[0].offset)
        return found or {"": Expression(start, tuple(unnamed))}

    def _word(self) -> Any:
        scanner = self._scanner
        start = scanner.offset
        word = scanner.need(WORD, "a value")[0]
        if word in ("htons", "inet_addr", "inet6_addr") and scanner.sees("("):
            return self._function(word, start)
        return self._look_up(word, start, depth=0)

    def _look_up(self, word: str, start: int, *, depth: int) -> Any:
        if word in self._defines and depth < _MOST_DEPTH:
            text = self._defines[word].strip()
            if INTEGER.fullmatch(text):
                return whole_number(text)
            if (match := STRING.fullmatch(text) or BACK_QUOTED.fullmatch(text)) is not None:
                return unescape(match[1])
            if WORD.fullmatch(text):
                return self._look_up(text, start, depth=depth + 1)
        known = symbols()
        if word not in known:
            near = nearest(word, [*known, *self._defines])
            hint = near or "; --define gives a word a value"
            raise self._scanner.error(f"{word} is no constant that is known{hint}", at=start)
        return known[word]

    def _function(self, name: str, start: int) -> Any:
        arguments = self.arguments()
        value = arguments[0].value if len(arguments) == 1 else None
        if name == "htons":
            if isinstance(value, int) and 0 <= value <= 65535:
                return value
            raise self._scanner.error("htons needs a port, 0 to 65535", at=start)
        version = 4 if name == "inet_addr" else 6
        try:
            assert isinstance(value, bytes)
            address = ipaddress.ip_address(value.decode())
            assert address.version == version
        except (AssertionError, ValueError):
            needed = '"192.0.2.1"' if version == 4 else '"2001:db8::1"'
            raise self._scanner.error(f"{name} needs an address, {needed}", at=start) from None
        if version == 4:
            return int.from_bytes(socket.inet_aton(str(address)), "little")
        return address.packed


def unescape(text: str) -> bytes:
    """Return a text's bytes, with what its backslashes stand for."""

    def put(match: re.Match[bytes]) -> bytes:
        word = match[1]
        return bytes([int(word[1:], 16)]) if len(word) == 3 else _ESCAPES.get(word, word)

    return _ESCAPE.sub(put, text.encode("utf-8", "surrogateescape"))


def wrong_kind(scanner: Scanner, found: Expression, needed: str) -> InputError:
    """Return the error that an expression is of another kind."""
    value = found.value
    words = {type(None): "...", bytes: "a text", tuple: "a list", dict: "a structure"}
    return scanner.error(
        f"found {words.get(type(value), str(value))}, expected {needed}", at=found.offset
    )
