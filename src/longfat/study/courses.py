"""Courses: which labs belong together, in which order, and what they are called in each language.

`labs/courses.yaml` declares them once; a study's field `course` names one by its key. A plug-in's
folder of labs may have such a file, too. A lab whose course is not declared is listed under the
name that it gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from longfat.study.document import read_document
from longfat.study.labs import OTHER_LABS, lab_places
from longfat.study.node import Node
from longfat.study.text import ENGLISH, LANGUAGES, LanguageChoice

if TYPE_CHECKING:
    from pathlib import Path

COURSES_FILE = "courses.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A course.

    Attributes:
        id: what studies call it.
        titles: its title, by languages; English among them.
        about: what it is about, likewise; empty if not given.
    """

    id: str
    titles: Mapping[str, str]
    about: Mapping[str, str] = field(default_factory=dict)

    def title(self, language: LanguageChoice) -> str:
        """Return its title in the language that is preferred, or else in English."""
        return _chosen(self.titles, language)

    def description(self, language: LanguageChoice) -> str:
        """Return what it is about, likewise; empty if not given."""
        return _chosen(self.about, language)


def all_courses() -> Mapping[str, Course]:
    """Return the courses by their ids, in the order in which they are listed.

    Raises:
        InputError: a file of courses is wrong.
        HostError: the installation is incomplete, or a plug-in cannot be loaded.
    """
    found: dict[str, Course] = {}
    for place in lab_places():
        if (file := place / COURSES_FILE).is_file():
            found |= _read(file)
    return found


def course_of(name: str, courses: Mapping[str, Course]) -> Course:
    """Return the course that a study names; one with that name only, if it is not declared."""
    name = name or OTHER_LABS
    return courses.get(name) or Course(id=name, titles={ENGLISH: name})


def sorted_by_course(names: Sequence[str], courses: Mapping[str, Course]) -> list[str]:
    """Return the courses that are named, each once: the declared ones first, in their order."""
    known = [one for one in courses if one in names]
    others = sorted({one or OTHER_LABS for one in names} - set(known))
    return known + others


@cache
def _read(file: Path) -> dict[str, Course]:
    root = Node(raw=read_document(file), file=str(file))
    found = {}
    for key, node in root.named("courses by their ids").items():
        fields = node.fields("a course's title and what it is about", allowed=("title", "about"))
        if "title" not in fields:
            raise node.error("the course has no title")
        texts = {name: _texts(fields[name]) for name in fields}
        if ENGLISH not in texts["title"]:
            raise fields["title"].error(f"the title is not there in English: {ENGLISH}")
        found[key] = Course(id=key, titles=texts["title"], about=texts.get("about", {}))
    return found


def _texts(node: Node) -> dict[str, str]:
    fields = node.fields("a text by its languages", allowed=tuple(LANGUAGES))
    return {code: text.line("a line of text") for code, text in fields.items()}


def _chosen(texts: Mapping[str, str], language: LanguageChoice) -> str:
    code = LanguageChoice(wanted=language.wanted).choose(texts, of="a course")
    return "" if code is None else texts[code]
