"""Kinds of lists: of whole numbers, of texts, of names; and a name, which may be in a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from longfat.errors import InputError
from longfat.model.kinds.kind import Kind, Source, WrongKindError
from longfat.model.kinds.numbers import Integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Integers(Kind[tuple[int, ...]]):
    """One whole number or several.

    Attributes:
        each: one of them.
        what: what is needed, for messages.
    """

    form: ClassVar[str] = "list"
    each: Integer
    what: str

    def parse(self, text: str) -> tuple[int, ...]:
        return (self.each.parse(text),)

    def read(self, source: Source) -> tuple[int, ...]:
        sources = source.sequence(self.what) if source.is_sequence else [source]
        if not sources:
            raise source.expected(self.what)
        return tuple(self.each.read(one) for one in sources)

    def of(self, value: object) -> tuple[int, ...]:
        values = value if isinstance(value, (list, tuple)) else (value,)
        if not values:
            raise InputError(f"{value!r} is not {self.what}")
        return tuple(self.each.of(one) for one in values)

    def text(self, value: tuple[int, ...]) -> str:
        texts = [self.each.text(one) for one in value]
        return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"

    def plain(self, value: tuple[int, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    @property
    def limits(self) -> str:
        return self.each.limits

    def schema(self) -> dict[str, Any]:
        each = self.each.schema()
        return {"anyOf": [each, {"type": "array", "items": each, "minItems": 1}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts(Kind[tuple[str, ...]]):
    """A list of texts, kept as they were typed.

    Attributes:
        what: what is needed, for messages, with an example.
        each: what one of them is.
        problem: returns the index of one that is wrong, and why; None, if none is.
    """

    form: ClassVar[str] = "list"
    what: str
    each: str
    problem: Callable[[tuple[str, ...]], tuple[int, str] | None] = lambda _: None

    def parse(self, text: str) -> tuple[str, ...]:
        raise WrongKindError(f"{text!r} is not {self.what}")

    def read(self, source: Source) -> tuple[str, ...]:
        sources = source.sequence(self.what)
        texts = tuple(one.line(self.each) for one in sources)
        if found := self.problem(texts):
            index, reason = found
            raise (sources[index] if sources else source).error(reason)
        return texts

    def of(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InputError(f"{value!r} is not {self.what}")
        texts = tuple(map(str, value))
        if found := self.problem(texts):
            raise InputError(found[1])
        return texts

    def text(self, value: tuple[str, ...]) -> str:
        return "[" + ", ".join(value) + "]"

    def plain(self, value: tuple[str, ...]) -> object:
        return list(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": ["string", "number"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names(Kind[tuple[str, ...]]):
    """One name or several, each of them once.

    Attributes:
        what: what is needed, for messages, with an example.
    """

    what: str

    def parse(self, text: str) -> tuple[str, ...]:
        return (text,)

    def read(self, source: Source) -> tuple[str, ...]:
        sources = source.sequence(self.what) if source.is_sequence else [source]
        if not sources:
            raise source.expected(self.what)
        names = tuple(one.line(self.what) for one in sources)
        if len(set(names)) < len(names):
            raise source.error("here is a name written twice")
        return names

    def of(self, value: object) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else Texts.of(_TEXTS, value)

    def text(self, value: tuple[str, ...]) -> str:
        return value[0] if len(value) == 1 else "[" + ", ".join(value) + "]"

    def plain(self, value: tuple[str, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> dict[str, Any]:
        name: dict[str, Any] = {"type": "string"}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Kind[str]):
    """One name; a list with one name in it will do.

    Attributes:
        what: what is needed, for messages, with an example.
    """

    what: str

    def parse(self, text: str) -> str:
        return text

    def read(self, source: Source) -> str:
        names = Names(what=self.what).read(source)
        if len(names) > 1:
            raise source.expected(self.what)
        return names[0]

    def text(self, value: str) -> str:
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


_TEXTS = Texts(what="a list of names", each="a name")
