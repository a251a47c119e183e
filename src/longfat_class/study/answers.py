"""A student's answers: a YAML file of names and quantities, each with its unit.

throughput: 38.2 mbit
bdp: 500 KB
shift:                  # not answered
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from longfat.errors import InputError, Place
from longfat.model.metric import Unit
from longfat.model.units import Literal, parse_literal
from longfat.study.document import MAX_FILE_BYTES, is_blank, parse_document, read_content
from longfat.study.node import Node

_FORM = "a number with its unit, such as 38.2 mbit"
_NAMED = re.compile(r"""\s*(?P<quote>["']?)(?P<name>[^\W\d][\w.-]*)(?P=quote)\s*:(?:\s|$)""")
_WORD = re.compile(r"""\s*["']?([^\W\d][\w.-]*)""")
# What may stand at a line's beginning in YAML, and names nothing.
_OF_YAML = ("---", "...", "%")
_MAX_LINES = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a student wrote for a question.

    Attributes:
        text: as it was typed; empty if there is no answer yet.
        place: where.
        quantity: its value; None if it is none.
        problem: why it is none.
    """

    text: str
    place: Place
    quantity: Literal | None = None
    problem: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether nothing was written."""
        return not self.text and not self.problem


def read_answers(path: Path) -> dict[str, Answer]:
    """Read a file of answers.

    A mistake costs the question that it is about, and no other: so the answer is returned with
    what is wrong about it. Where the file as a whole is not YAML, or has a name twice, it is
    read line by line.

    Args:
        path: the file.

    Returns:
        The answers by the questions' names, blank ones among them.

    Raises:
        InputError: the file cannot be read, or has no line with an answer.
    """
    return parse_answers(read_content(path), file=str(path))


def parse_answers(data: bytes, *, file: str) -> dict[str, Answer]:
    """Return the answers of a file's content; as `read_answers`.

    Args:
        data: the content.
        file: what to call the file in messages.

    Raises:
        InputError: it is not YAML, and has no line with an answer.
    """
    if is_blank(data):
        return {}
    try:
        root = Node(raw=parse_document(data, file=file), file=file)
        named = root.named("answers by the names of the questions")
    except InputError:
        answers = _by_line(data, file=file)
        if not any(one.text for one in answers.values()):
            raise
        return answers
    return {name: _answer(node) for name, node in named.items()}


def _answer(node: Node) -> Answer:
    text = ""
    try:
        if not node.is_null:
            text = node.line(_FORM)
        return Answer(text=text, place=node.place, quantity=_quantity(text) if text else None)
    except InputError as error:
        return _wrong(error.message, text=text, place=node.place)


def _wrong(problem: str, *, text: str = "", place: Place) -> Answer:
    return Answer(text=text, place=place, problem=f"line {place.line}: {problem}")


def _by_line(data: bytes, *, file: str) -> dict[str, Answer]:
    """Return the answers of a file that is not YAML as a whole; none if it is no text of lines."""
    lines = data.decode("utf-8-sig", errors="replace").split("\n")
    if len(data) > MAX_FILE_BYTES or len(lines) > _MAX_LINES:
        return {}
    answers: dict[str, Answer] = {}
    last = ""
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip()[0] == "#" or line.startswith(_OF_YAML):
            continue
        place = Place(file, number, 1)
        if (named := _NAMED.match(line)) is None:
            continues, word = line[0].isspace(), _WORD.match(line)
            name = last if continues else word[1] if word else ""
            if name and (continues or name not in answers or answers[name].is_blank):
                problem = f"an answer is one line: a name, a colon, a blank, as in {name}: 3 mbit"
                answers[name] = _wrong(problem, place=place)
            continue
        last = named["name"]
        answer = _of_line(line.strip(), last, place=place)
        before = answers.get(last)
        if before is None or before.is_blank:
            answers[last] = answer
        elif not answer.is_blank:
            problem = f"{last} is answered in line {before.place.line} already: keep one of the two"
            answers[last] = _wrong(problem, place=place)
    return answers


def _of_line(line: str, name: str, *, place: Place) -> Answer:
    try:
        root = Node(raw=parse_document(line.encode(), file=place.file), file=place.file)
        (node,) = root.named("an answer").values()
    except (InputError, ValueError) as error:
        problem = error.message if isinstance(error, InputError) else "this is no answer"
        return _wrong(f"{problem}; write it as {name}: 38.2 mbit", place=place)
    answer = _answer(node)
    if answer.problem:
        return _wrong(answer.problem.partition(": ")[2], text=answer.text, place=place)
    return replace(answer, place=place)


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
