"""The machine's record of a script, written by `longfat.guest.mininet.run`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from longfat.common.decoding import Decoder, parse_json
from longfat.common.terminal_text import printable_line
from longfat.errors import InputError, Place

Scalar = str | bool | int | float | None
At = tuple[int, int]
"""A line and a column, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What ended a script before its end, and where."""

    text: str
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A host or a switch; `ip` and `gateway`, its default route, are as in the script."""

    name: str
    is_switch: bool
    ip: str | None
    gateway: str | None
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An end of a link; `ip` is beside its host's, and `shapes` is so of TCLink's."""

    node: str
    interface: str
    ip: str | None
    shapes: bool
    options: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link."""

    ends: tuple[End, End]
    at: At


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was typed, at a node or (None) at root.

    Attributes:
        node: the node.
        text: what was typed; empty where the script waits for what it had typed before.
        at: where.
        waits: the script waits for its end.
        number: by which `awaits` refers to it.
        at_s: when it was typed, in seconds that the script has slept.
        awaits: the number of the command that is waited for.
    """

    node: str | None
    text: str
    at: At
    waits: bool = True
    number: int = 0
    at_s: float = 0.0
    awaits: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a script made: the first of its networks, and whether one was started."""

    title: str
    networks: int
    is_started: bool
    error: Ended | None
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    commands: tuple[Typed, ...]
    warnings: tuple[tuple[str, str], ...]


_DECODER = Decoder(Record)
_MOST_TEXT = 300


def read_record(content: bytes, *, file: str) -> Record:
    """Return what a machine recorded; the script may have written it itself.

    Args:
        content: the record, JSON.
        file: the script, as the user named it.

    Raises:
        InputError: it is no record.
    """

    def error(text: str) -> InputError:
        return InputError(f"what was recorded of the script is damaged: {text}", place=at(file))

    return _DECODER.decode(
        parse_json(content, where="the record", error=error), where="the record", error=error
    )


def printable(text: str) -> str:
    """Return a text of the script's that a terminal can be shown, on one line."""
    text = printable_line(text)
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 3]}..."


def at(file: str, where: At = (1, 1)) -> Place:
    """Return a place in the script."""
    return Place(file, max(1, where[0]), max(1, where[1]))
