"""Readers for the fields of a `.mn` file, which may be invalid.

A field may be missing, empty, or a number in quotes; an unknown one is noted, and never an error.
"""

from __future__ import annotations

import re

from longfat.study.document import Scalar
from longfat.study.node import Node

_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{0,15})?([eE][+-]?[0-9]{1,2})?")


class Fields:
    """The fields of an object, and which of them were read.

    Args:
        node: the object.
        what: what it is, for messages.

    Raises:
        InputError: it is no object.
    """

    def __init__(self, node: Node, what: str) -> None:
        self.node = node
        self._values = {key.text: value for key, value in node.items(what)}
        self._read: set[str] = set()

    def get(self, name: str) -> Node | None:
        """Return the value of a field; None where it is missing or empty."""
        self._read.add(name)
        value = self._values.get(name)
        if value is None or value.is_null:
            return None
        if isinstance(value.raw, Scalar) and not value.raw.text.strip():
            return None
        return value

    def text(self, name: str) -> str | None:
        """Return the text of a field, without white space around it."""
        value = self.get(name)
        return None if value is None else value.text(f"the text of {name}").strip()

    def number(self, name: str) -> float | None:
        """Return a number, also one in quotes.

        Raises:
            InputError: it is none, or a negative one.
        """
        text = self.text(name)
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            raise self._values[name].expected(f"a number ({name})")
        return float(text)

    def items(self, name: str, what: str) -> list[Node]:
        """Return the values of a list; none where there is no such field."""
        value = self.get(name)
        return [] if value is None else value.sequence(what)

    def missing(self, *names: str) -> list[str]:
        """Return those of the names that are no fields."""
        return [name for name in names if name not in self._values]

    def unknown(self) -> list[str]:
        """Return the fields that were not read."""
        return [name for name in self._values if name not in self._read]
