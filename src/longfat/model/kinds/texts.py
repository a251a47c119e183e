"""Kinds of texts: yes or no, one line, one of several words, lists, and images of hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.host_root import HostRoot
from longfat.model.kinds.kind import Kind, Source, WrongKindError
from longfat.model.kinds.numbers import Integer

_FLAGS = {"true": True, "True": True, "TRUE": True, "yes": True}
_FLAGS |= {"false": False, "False": False, "FALSE": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Kind[bool]):
    """Yes or no."""

    form: ClassVar[str] = "flag"
    what: str = "true or false"

    def parse(self, text: str) -> bool:
        if text not in _FLAGS:
            raise WrongKindError(f"{text!r} is not {self.what}")
        return _FLAGS[text]

    def of(self, value: object) -> bool:
        return value if isinstance(value, bool) else Kind.of(self, value)

    def text(self, value: bool) -> str:
        return "yes" if value else "no"

    @property
    def limits(self) -> str:
        return "yes or no"

    def schema(self) -> dict[str, Any]:
        return {"enum": [True, False, "yes", "no"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Kind[str]):
    """A text of one line.

    Attributes:
        what: its meaning, for messages, with an example.
        example: a good value.
        problem: returns why a text is not valid; None, if it is. It sees single blanks
            between words.
    """

    what: str
    example: str
    problem: Callable[[str], str | None] = lambda _: None

    def parse(self, text: str) -> str:
        words = " ".join(text.split())
        if reason := self.problem(words):
            raise InputError(reason)
        return words

    def text(self, value: str) -> str:
        return value

    def schema(self) -> dict[str, Any]:
        # The reader takes what was typed: a number without quotes is a text, too.
        return {"type": ["string", "number"], "examples": [self.example]}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Kind[str]):
    """One of a few words.

    Attributes:
        what: what the words are, for messages, such as "a colour".
        options: the words.
    """

    what: str
    options: tuple[str, ...]

    def parse(self, text: str) -> str:
        if text not in self.options:
            raise InputError(
                f"{text!r} is not {self.what}{nearest(text, self.options)} "
                f"(there are: {listed(self.options)})"
            )
        return text

    def text(self, value: str) -> str:
        return value

    @property
    def limits(self) -> str:
        return ", ".join(self.options)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Text):
    """A line that goes to a shell, or to another program, as it was typed."""

    def parse(self, text: str) -> str:
        line = text.strip()
        if "\n" in line or "\0" in line or not line:
            raise WrongKindError(f"{text!r} is not {self.what}")
        if reason := self.problem(line):
            raise InputError(reason)
        return line


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageName(Kind[HostRoot]):
    """The name of a file or folder that is an image; its contents are not checked here."""

    form: ClassVar[str] = "text"
    what: str = "an image's file or folder (such as server.tar)"
    example: str = "server.tar"

    def parse(self, text: str) -> HostRoot:
        name = text.strip()
        if not name or not name.isprintable():
            raise WrongKindError(f"{text!r} is not {self.what}")
        return HostRoot(image=name)

    def of(self, value: object) -> HostRoot:
        return value if isinstance(value, HostRoot) else Kind.of(self, value)

    def text(self, value: HostRoot) -> str:
        return value.image

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1, "examples": [self.example]}
