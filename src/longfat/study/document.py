"""A YAML file as nodes with their places.

The first of the three layers of reading a study: this one handles YAML and no
studies. PyYAML's parser (libyaml) gives events with line and column; they are built
into a small tree here, rather than by a constructor, because

* the text that the user typed is kept: `kernel: 6.10` is not the float 6.1;
* a message can point at the key or value it speaks of;
* nothing in a file can call for a Python object, and limits on size, depth and
  on what aliases expand to hold before memory is spent.

YAML is read without tags, merge keys and Unicode's line separators.
`longfat.study.node` reads values out of the tree.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import yaml
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from longfat.errors import InputError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_FILE_BYTES = 256 * 1024
MAX_NESTING = 16
MAX_NODES = 20_000
"""How many values a file may hold, counting what an alias repeats each time.

Every 64 characters of a text count as one more.
"""

# Tab and newline apart, control characters belong neither in names nor in commands;
# half a surrogate pair ("\ud800" in quotes) cannot be written to a file.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")

# YAML 1.2, 5.1: all but the characters of `c-printable`.
_NOT_ALLOWED = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# Characters that YAML 1.1 reads as line breaks, and 1.2 as parts of a line.
_DOUBTFUL_BREAK = re.compile("[\x85\u2028\u2029]")

_COLON_HINT = (
    "; a text that holds a colon and a space, such as a tc line with 'handle 1: netem', "
    "must be quoted, or in a block of lines below `|`"
)
_KEY_HINT = "; is the line indented as those above it, and does it have a key and a colon?"
_TAB_HINT = "; lines are indented with spaces, not tabs"
_BRACES_HINT = "; a text with ${...} must be quoted, and a grid's expression is written $<...>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A position in the file: line and column, counted from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A text.

    Attributes:
        mark: where it starts.
        text: its content.
        plain: it was written without quotes.
        text_column: the column of its first character if the text is verbatim in the file,
            on one line; else None.
        block: where its first line starts if it is a block of lines (`|`); else None.
    """

    mark: Mark
    text: str
    plain: bool = True
    text_column: int | None = None
    block: Mark | None = None
    weight: int = 1
    depth: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """Values in order."""

    mark: Mark
    items: tuple[Raw, ...]
    weight: int = 1
    depth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """Pairs of key and value, in the file's order, with keys that differ."""

    mark: Mark
    pairs: tuple[tuple[Raw, Raw], ...]
    weight: int = 1
    depth: int = 1


Raw = Scalar | Sequence | Mapping


def label(raw: Raw) -> str:
    """Return a key as a field path writes it: `h1`, or `[h1, h3]`."""
    match raw:
        case Scalar():
            return raw.text
        case Sequence():
            return "[" + ", ".join(label(item) for item in raw.items) + "]"
        case Mapping():
            return "{...}"


def find_document(path: Path, name: str) -> Path:
    """Return the file itself, or the file of that name in a folder.

    Raises:
        InputError: the path cannot be read.
    """
    try:
        return path / name if path.is_dir() else path
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def read_document(path: Path) -> Raw:
    """Read a YAML file.

    Args:
        path: the file.

    Returns:
        Its one document.

    Raises:
        InputError: as `read_content` and `parse_document`.
    """
    return parse_document(read_content(path), file=str(path))


def read_content(path: Path) -> bytes:
    """Read the bytes of a YAML file, and one more than the largest may have.

    Raises:
        InputError: the file is missing or unreadable.
    """
    try:
        if not path.is_file():
            found = "it is not a regular file" if path.exists() else "there is no such file"
            raise InputError(f"{path}: {found}")
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}") from None


def is_blank(data: bytes) -> bool:
    """Return whether YAML is empty but for comments."""
    return all(line.strip()[:1] in (b"", b"#") for line in data.splitlines())


def is_binary(data: bytes) -> bool:
    """Return whether data is no text of any 8-bit encoding, such as a picture or a program."""
    return b"\0" in data and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decode_text(data: bytes, *, file: str) -> str:
    """Return a file's content as text, without a byte order mark.

    Args:
        data: the content.
        file: the file's name, for errors.

    Raises:
        InputError: it is not UTF-8; the place is that of the first wrong byte.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1
        raise InputError(
            f"the file is not UTF-8: byte 0x{data[error.start]:02x}",
            place=Place(file, line, column),
        ) from None


def parse_document(data: bytes, *, file: str, most_nodes: int = MAX_NODES) -> Raw:
    """Read YAML.

    Args:
        data: the file's bytes.
        file: the file as the user named it, for messages.
        most_nodes: how many values it may hold, counted as for `MAX_NODES`; how
            many bytes grows with it.

    Returns:
        Its one document.

    Raises:
        InputError: as `read_document`.
    """
    start = Place(file, 1, 1)
    if len(data) > MAX_FILE_BYTES * most_nodes // MAX_NODES:
        raise InputError(
            f"the file is larger than {MAX_FILE_BYTES // 1024} KB, too large for a study",
            place=start,
        )
    text = decode_text(data, file=file)
    if doubtful := _DOUBTFUL_BREAK.search(text):
        code = f"U+{ord(doubtful[0]):04X}"
        message = f"the file holds the line separator {code}; break lines by newlines alone"
        raise InputError(message, place=_place_of(doubtful.start(), text=text, file=file))
    builder = _Builder(text=text, file=file, most_nodes=most_nodes)
    try:
        for event in _events(text):
            builder.take(event)
    except YAMLError as error:
        raise _yaml_error(error, text=text, file=file) from None
    if builder.root is None:
        raise InputError("the file is empty: a study needs at least a title", place=start)
    return builder.root


def without_part(text: str, *, line: int) -> str | None:
    """Return a text without the part that a line belongs to: a key at its margin, and all below.

    Args:
        text: the text.
        line: the line, counted from 1.

    Returns:
        The text with blank lines in that part's place, so that all others keep their numbers;
        None if the part is all there is.
    """
    lines = text.split("\n")
    starts = [index for index, one in enumerate(lines) if one and one[0] not in " \t#-]}"]
    begin = max((index for index in starts if index < line), default=None)
    if begin is None or len(starts) < 2:
        return None
    end = min((index for index in starts if index >= line), default=len(lines))
    return "\n".join([*lines[:begin], *[""] * (end - begin), *lines[end:]])


def _events(text: str) -> Iterator[Any]:
    # The C library: a parser in Python makes this take five times as long.
    return iter(yaml.parse(text, Loader=yaml.CSafeLoader))


def _place_of(index: int, *, text: str, file: str) -> Place:
    """Return the place of a character, by its index."""
    return Place(file, text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index))


def _yaml_error(error: YAMLError, *, text: str, file: str) -> InputError:
    if not isinstance(error, MarkedYAMLError):
        # The reader's error, whose position counts bytes.
        found = _NOT_ALLOWED.search(text)
        return InputError(
            "the file holds a character that YAML does not allow",
            place=_place_of(found.start() if found else 0, text=text, file=file),
        )
    problem = ", ".join(str(part) for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    lines = text.split("\n")
    number, column = (mark.line, mark.column) if mark else (0, 0)
    if number >= len(lines):  # the end of the file
        number, column = len(lines) - 1, len(lines[-1])
    here = lines[number][column:]
    problem = problem.replace("found character that", f"found character {here[:1]!r} that")
    if "${" in lines[number]:
        hint = _BRACES_HINT
    elif "mapping values are not allowed" in problem or here.startswith(":"):
        hint = _COLON_HINT
    elif "did not find expected key" in problem:
        hint = _KEY_HINT
    elif here.startswith("\t"):
        hint = _TAB_HINT
    else:
        hint = ""
    place = Place(file, number + 1, column + 1)
    return InputError(f"not YAML: {problem}{hint}", place=place)


def _stand_in(key: Raw, value: Raw) -> Raw:
    # A missing value has the place of the next token; that of its key is more useful.
    if isinstance(value, Scalar) and value.plain and not value.text:
        return replace(value, mark=key.mark, text_column=None)
    return value


def _block(written: str, mark: Mark) -> Mark:
    """Return where the first line of a literal block starts, which may be an empty one."""
    lines = [line for line in written.split("\n")[1:] if line.strip()]
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines), default=0)
    return Mark(line=mark.line + 1, column=indent + 1)


class _Builder:
    """Builds the tree from events, without recursion."""

    def __init__(self, *, text: str, file: str, most_nodes: int) -> None:
        self.root: Raw | None = None
        self._text = text
        self._file = file
        self._open: list[_Open] = []
        self._anchors: dict[str, Raw | None] = {}
        self._nodes = 0
        self._most_nodes = most_nodes

    def take(self, event: Any) -> None:
        mark = Mark(line=event.start_mark.line + 1, column=event.start_mark.column + 1)
        if getattr(event, "tag", None) is not None:
            raise self._error("tags, such as !!python/object, have no use in a study", mark)
        match event:
            case DocumentStartEvent() if self.root is not None:
                raise self._error("a study file holds one document, and here a second starts", mark)
            case MappingStartEvent() | SequenceStartEvent():
                self._check_depth(1, mark)
                if event.anchor is not None:
                    self._anchors[event.anchor] = None
                is_mapping = isinstance(event, MappingStartEvent)
                self._open.append(_Open(mark, event.anchor, is_mapping, []))
            case MappingEndEvent() | SequenceEndEvent():
                self._close()
            case ScalarEvent():
                self._add(self._scalar(event, mark), event.anchor, mark)
            case AliasEvent():
                self._add(self._alias(event.anchor, mark), None, mark)

    def _scalar(self, event: Any, mark: Mark) -> Scalar:
        if bad := _UNPRINTABLE.search(event.value):
            raise self._error(f"a text holds the control character U+{ord(bad[0]):04X}", mark)
        start, end = event.start_mark, event.end_mark
        written = self._text[start.index : end.index]
        column = None
        if event.style in ("", "'", '"'):
            offset = len(event.style)
            unanchored = event.anchor is None and start.line == end.line
            if unanchored and written[offset : offset + len(event.value)] == event.value:
                column = mark.column + offset
        return Scalar(
            mark=mark,
            text=event.value,
            plain=not event.style,
            text_column=column,
            block=_block(written, mark) if event.style == "|" else None,
            weight=1 + len(event.value) // 64,
        )

    def _alias(self, anchor: str, mark: Mark) -> Raw:
        if anchor not in self._anchors:
            raise self._error(f"the alias *{anchor} refers to nothing: there is no &{anchor}", mark)
        target = self._anchors[anchor]
        if target is None:
            raise self._error(f"the alias *{anchor} is inside its own anchor", mark)
        self._check_depth(target.depth, mark)
        if isinstance(target, Scalar):
            return replace(target, mark=mark, text_column=None, block=None)
        return replace(target, mark=mark)

    def _check_depth(self, depth: int, mark: Mark) -> None:
        if len(self._open) + depth > MAX_NESTING:
            raise self._error(f"nested more than {MAX_NESTING} deep", mark)

    def _add(self, raw: Raw, anchor: str | None, mark: Mark) -> None:
        self._nodes += raw.weight
        if self._nodes > self._most_nodes:
            message = f"more than {self._most_nodes} values, counting what aliases repeat"
            raise self._error(message, mark)
        if anchor is not None:
            self._anchors[anchor] = raw
        if self._open:
            self._open[-1].children.append(raw)
        else:
            self.root = raw

    def _close(self) -> None:
        opened = self._open.pop()
        children = opened.children
        # What the children weigh was counted with them; only the node itself is new.
        weight = 1 + sum(child.weight for child in children)
        depth = 1 + max((child.depth for child in children), default=0)
        self._nodes -= weight - 1
        raw: Raw
        if opened.is_mapping:
            pairs = tuple(
                (key, _stand_in(key, value))
                for key, value in zip(children[::2], children[1::2], strict=True)
            )
            self._check_keys(pairs)
            raw = Mapping(mark=opened.mark, pairs=pairs, weight=weight, depth=depth)
        else:
            items = tuple(children)
            raw = Sequence(mark=opened.mark, items=items, weight=weight, depth=depth)
        self._add(raw, opened.anchor, opened.mark)

    def _check_keys(self, pairs: tuple[tuple[Raw, Raw], ...]) -> None:
        seen: dict[str, Mark] = {}
        for key, _ in pairs:
            name = label(key)
            if isinstance(key, Mapping):
                raise self._error("a mapping cannot be a key; keys are names", key.mark)
            if name == "<<":
                raise self._error(
                    "merge keys (<<) are not used here; cases extend the common fields", key.mark
                )
            if name in seen:
                raise self._error(
                    f"{name!r} is written twice here, first in line {seen[name].line}", key.mark
                )
            seen[name] = key.mark

    def _error(self, message: str, mark: Mark) -> InputError:
        return InputError(message, place=Place(self._file, mark.line, mark.column))


@dataclass(frozen=True, slots=True)
class _Open:
    """A sequence or mapping whose end is still to come."""

    mark: Mark
    anchor: str | None
    is_mapping: bool
    children: list[Raw]
