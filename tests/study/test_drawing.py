"""Notes, groups and colours: read with their places, and no part of a case."""

from __future__ import annotations

import pytest

from longfat.errors import InputError
from longfat.study.drawing import Group, Note
from longfat.study.read import parse_study

PLAIN = """title: t
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {bulk: {iperf3: h1 -> h2}}
"""
DRAWN = (
    PLAIN
    + """drawing:
  colours: {h1: blue}
  groups:
    - {name: Site A, nodes: [h1, h2], colour: green}
  notes:
    - text: |
        the
        bottleneck
      at: [10, -20.5]
"""
)


def test_it_is_read() -> None:
    drawing = parse_study(DRAWN, name="t").drawing
    assert drawing.colours == {"h1": "blue"}
    assert drawing.groups == (Group(name="Site A", nodes=("h1", "h2"), colour="green"),)
    assert drawing.notes == (Note(text="the\nbottleneck\n", at=(10, -20.5)),)


def test_it_changes_no_digest() -> None:
    digests = [parse_study(text, name="t").cases["default"].case.digest for text in (PLAIN, DRAWN)]
    assert digests[0] == digests[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("h1: blue", "h1: blu", "'blu' is not a colour"),
        ("h1: blue", "h9: blue", "there is no node 'h9'"),
        ("[h1, h2], c", "[h1, h9], c", "there is no node 'h9'"),
        ("nodes: [h1, h2], ", "", "the group has no nodes"),
        ("[10, -20.5]", "[10]", "found 1 values"),
        ("      at: [10, -20.5]\n", "", "the note has no at"),
    ],
)
def test_mistakes_have_places(old: str, new: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        parse_study(DRAWN.replace(old, new), name="t")
    place = raised.value.place
    assert place is not None
    assert place.line >= 4
    assert place.field.startswith("drawing.") or place.field == "drawing"
