"""The `drawing` field: annotations of the drawing of a network.

Like `layout` it decides no result and is no part of a case, so notes, groups and colours
change no digest and no cached result. Pixels count as in `layout`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import REQUIRED, declare, fields_of, read_fields
from longfat.model.kinds import Names, OneOf, Text
from longfat.study.layout import read_place

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.study.node import Node

COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "grey")
"""The page has one of each name for its light and one for its dark theme."""

MOST_NOTES = 200
LONGEST_NOTE = 2000

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
    if len(notes) > MOST_NOTES:
        raise notes[MOST_NOTES].error(f"more than {MOST_NOTES} notes")
    return Drawing(
        colours=colours,
        groups=tuple(_read_group(one, names) for one in groups),
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
    if len(text) > LONGEST_NOTE:
        raise fields["text"].error(f"a note has at most {LONGEST_NOTE} characters")
    return Note(text=text, at=read_place(fields["at"]), **read_fields(Note, fields))


def _no_node(name: str, names: Collection[str]) -> str:
    return f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
