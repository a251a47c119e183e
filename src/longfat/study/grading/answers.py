"""A student's answers: a YAML file of names and quantities, each with its unit.

throughput: 38.2 mbit
bdp: 500 KB
shift:                  # not answered
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from longfat.errors import InputError, Place
from longfat.model.metric import Unit
from longfat.model.units import Literal, parse_literal
from longfat.study.document import is_blank, parse_document, read_content
from longfat.study.node import Node

_FORM = "a number with its unit, such as 38.2 mbit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a student wrote for a question.

    Attributes:
        text: as it was typed.
        place: where.
        quantity: its value; None if it is none.
        problem: why it is none.
    """

    text: str
    place: Place
    quantity: Literal | None = None
    problem: str = ""


def read_answers(path: Path) -> dict[str, Answer]:
    """Read a file of answers.

    An answer that cannot be read costs its own points only, so it is returned with what is
    wrong about it. Questions without an answer are left out.

    Args:
        path: the file.

    Raises:
        InputError: it cannot be read, or is no mapping of names.
    """
    return parse_answers(read_content(path), file=str(path))


def parse_answers(data: bytes, *, file: str) -> dict[str, Answer]:
    """Return the answers of a file's content; as `read_answers`.

    Args:
        data: the content.
        file: what to call the file in messages.

    Raises:
        InputError: it is no mapping of names.
    """
    if is_blank(data):
        return {}
    root = Node(raw=parse_document(data, file=file), file=file)
    found = {}
    for name, node in root.named("answers by the names of the questions").items():
        if not node.is_null:
            found[name] = _answer(node)
    return found


def _answer(node: Node) -> Answer:
    text = ""
    try:
        text = node.line(_FORM)
        return Answer(text=text, place=node.place, quantity=_quantity(text))
    except InputError as error:
        return Answer(text=text, place=node.place, problem=error.message)


def _quantity(text: str) -> Literal:
    compact = text.replace(",", "") if "." in text else text
    if "," in compact:
        raise InputError(f"{text!r}: write a point before decimals, and no other marks: 38.2 mbit")
    return parse_literal(compact)


def of_kind(answer: Literal, unit: Unit) -> float | None:
    """Return the value of an answer as one of a unit's kind, in the base unit.

    Args:
        answer: the answer.
        unit: the kind of the key.

    Returns:
        The value; None if the answer is of another kind. A plain 0 is of every kind.
    """
    if answer.unit is unit or answer.value == 0:
        return answer.value
    if {answer.unit, unit} == {Unit.COUNT, Unit.FRACTION}:
        return answer.value
    return None
