"""The `layout` and `drawing` fields: positions of a network's nodes, and annotations.

Neither decides a result or is part of a case, so notes, groups and colours change no digest and
no cached result. Pixels count from the drawing's upper left corner, to the right and down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import REQUIRED, declare, fields_of, read_fields
from longfat.model.kinds import Names, OneOf, Text

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.study.node import Node

MAX_PX = 1_000_000
"""The largest coordinate of a node, in pixels."""

_NUMBER = re.compile(r"-?[0-9]{1,16}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?")
_PLACE = "a place as two numbers of pixels (such as [120, 80])"


def read_layout(node: Node, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Read the positions of nodes.

    Args:
        node: the value of `layout`: a mapping of nodes to pairs of numbers.
        names: the nodes that there are, in any case.

    Returns:
        Places in pixels, to the right and down; of some nodes or all.

    Raises:
        InputError: there is no such node, or its place is none.
    """
    places = {}
    for key, value in node.items("a mapping of nodes to places (such as {h1: [120, 80]})"):
        if key.text not in names:
            raise InputError(
                f"there is no node {key.text!r}{nearest(key.text, names)} "
                f"(there are: {listed(names)})",
                place=key.place,
            )
        places[key.text] = read_place(value)
    return places


def read_place(node: Node) -> tuple[float, float]:
    """Read two numbers of pixels, to the right and down.

    Raises:
        InputError: it is something else.
    """
    pair = node.sequence(_PLACE)
    if len(pair) != 2:
        raise node.error(f"found {len(pair)} values, expected {_PLACE}")
    x, y = (_pixels(number) for number in pair)
    return x, y


def _pixels(node: Node) -> float:
    text = node.line("a number of pixels")
    if not _NUMBER.fullmatch(text):
        raise node.expected("a number of pixels")
    value = float(text)
    if abs(value) > MAX_PX:
        raise node.error(f"{text} is outside of what is allowed: -{MAX_PX} to {MAX_PX}")
    return value


COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "grey")
"""The page has one of each name for its light and one for its dark theme."""

MAX_NOTES = 200
MAX_NOTE_LENGTH = 2000

_COLOUR = OneOf(what="a colour", options=COLOURS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text beside the network.

    Attributes:
        text: its text, of one or more lines.
        at: its upper left corner, in pixels.
        colour: one of `COLOURS`; the page's own, if empty.
    """

    text: str
    at: tuple[float, float]
    colour: str = declare(_COLOUR, default="", label="Colour", help="the note's colour")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A frame around nodes.

    Attributes:
        name: the caption of the frame.
        nodes: the nodes in it.
        colour: one of `COLOURS`; the page's own, if empty.
    """

    name: str = declare(
        Text(what="a group's name", example="Site A"),
        default="",
        label="Name",
        help="the caption of the frame",
    )
    nodes: tuple[str, ...] = declare(
        Names(what="nodes (such as [h1, s1])"),
        default=REQUIRED,
        label="Nodes",
        help="the nodes in the frame",
    )
    colour: str = declare(_COLOUR, default="", label="Colour", help="the frame's colour")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """The annotations of the drawing.

    Attributes:
        colours: colours of nodes, by name.
        groups: the frames, the first at the back.
        notes: the texts.
    """

    colours: Mapping[str, str] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    notes: tuple[Note, ...] = ()

    def of_nodes(self, names: Collection[str]) -> Drawing:
        """Return what of it speaks of some nodes only: groups without the others, and all notes."""
        groups = (
            replace(group, nodes=tuple(name for name in group.nodes if name in names))
            for group in self.groups
        )
        return Drawing(
            colours={name: colour for name, colour in self.colours.items() if name in names},
            groups=tuple(group for group in groups if group.nodes),
            notes=self.notes,
        )

    @property
    def summary(self) -> str:
        """What there is, in a few words, such as "2 notes and a group"; empty for nothing."""
        counts = {"note": len(self.notes), "group": len(self.groups)}
        words = [
            f"{count} {word}s" if count > 1 else f"a {word}"
            for word, count in counts.items()
            if count
        ]
        words += ["colours"] if self.colours else []
        return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def read_drawing_field(node: Node, names: Collection[str]) -> Drawing:
    """Read what a drawing shows beside the network.

    Args:
        node: the value of `drawing`.
        names: the nodes that there are, in any case.

    Raises:
        InputError: a value is wrong, or there is no such node.
    """
    fields = node.fields("a drawing", allowed=("colours", "groups", "notes"))
    colours = {}
    if "colours" in fields:
        for key, value in fields["colours"].items("colours by node (such as {h1: blue})"):
            if key.text not in names:
                raise InputError(_no_node(key.text, names), place=key.place)
            colours[key.text] = _COLOUR.read(value)
    groups = fields["groups"].sequence("a list of groups") if "groups" in fields else []
    notes = fields["notes"].sequence("a list of notes") if "notes" in fields else []
    if len(notes) > MAX_NOTES:
        raise notes[MAX_NOTES].error(f"more than {MAX_NOTES} notes")
    return Drawing(
        colours=colours,
        groups=tuple(_read_group(group, names) for group in groups),
        notes=tuple(map(_read_note, notes)),
    )


def _read_group(node: Node, names: Collection[str]) -> Group:
    fields = node.fields("a group, as {name: ..., nodes: [...]}", allowed=fields_of(Group))
    if "nodes" not in fields:
        raise node.error("the group has no nodes: write nodes: [h1, s1]")
    group = Group(**read_fields(Group, fields))
    for name in group.nodes:
        if name not in names:
            raise fields["nodes"].error(_no_node(name, names))
    return group


def _read_note(node: Node) -> Note:
    fields = node.fields(
        "a note, as {text: ..., at: [X, Y]}", allowed=("text", "at", *fields_of(Note))
    )
    for key in ("text", "at"):
        if key not in fields:
            raise node.error(f"the note has no {key}: write {{text: ..., at: [120, 80]}}")
    text = fields["text"].text("a note's text")
    if len(text) > MAX_NOTE_LENGTH:
        raise fields["text"].error(f"a note has at most {MAX_NOTE_LENGTH} characters")
    return Note(text=text, at=read_place(fields["at"]), **read_fields(Note, fields))


def _no_node(name: str, names: Collection[str]) -> str:
    return f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
