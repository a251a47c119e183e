"""Labs for the page: their titles, and their texts as HTML whose steps can be run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypedDict

from markupsafe import Markup
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.model.network import ROOT_NAMESPACE
from longfat.output.report.text import page_text, place_network
from longfat.studio.http import query_languages
from longfat.studio.threads import run_in_threadpool
from longfat.study import read_heading, read_study
from longfat.study.labs import (
    OTHER_LABS,
    Labs,
    StudyFolder,
    all_courses,
    course_of,
    sorted_by_course,
)
from longfat.study.text import ANY, ENGLISH, LanguageChoice, StudyText, language_of, read_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from starlette.requests import Request
    from starlette.responses import Response


EXERCISES = "Exercises of your class"
"""The course of labs with exercises that specify none."""


class TextLanguage(TypedDict):
    """A language in which a lab's text is available.

    Attributes:
        code: such as `ru`.
        label: its name in that language.
    """

    code: str
    label: str


class LabEntry(TypedDict):
    """A lab in the list of labs.

    Attributes:
        name: its name.
        course: the course's id, by which labs are grouped; the list is in the courses' order.
        course_title: the course's title.
        course_about: the course's description; empty if it has none.
        title: the lab's title.
        language: the code of the language that the title is in.
        languages: the languages in which its text is available.
        has_exercises: it is a lab of the class, with exercises.
    """

    name: str
    course: str
    course_title: str
    course_about: str
    title: str
    language: str
    languages: list[TextLanguage]
    has_exercises: bool


class WrittenLab(TypedDict):
    """A lab's text in one language.

    Attributes:
        name: the lab's name.
        title: its title.
        language: the code of the language that it is in.
        html: cleaned HTML; a code block that is a step is `<pre data-step="h1 h2">`, with nodes
            separated by spaces.
    """

    name: str
    title: str
    language: str
    html: str


class LabText(WrittenLab):
    """A lab's text for the page.

    Attributes:
        languages: the languages in which it is available.
        has_exercises: it is a lab of the class, with exercises.
    """

    languages: list[TextLanguage]
    has_exercises: bool


class LabCatalog:
    """The labs. They do not change while the server runs, so each is read once.

    Args:
        labs: the labs.
        with_exercises: the names of those that have exercises.
    """

    def __init__(self, labs: Labs | None = None, *, with_exercises: Collection[str] = ()) -> None:
        self._labs = labs or Labs()
        self._with_exercises = frozenset(with_exercises)
        self._titles = cache(self._read_titles)
        self._written = cache(self._read_written)

    def entries(self, language: LanguageChoice = ANY) -> list[LabEntry]:
        """Return them in the order of their courses.

        Args:
            language: the language of their titles.
        """
        found: list[LabEntry] = []
        courses = all_courses()
        titled = self._titles()
        order = sorted_by_course([course for course, _ in titled.values()], courses)
        for name, (of, titles) in titled.items():
            course = course_of(of, courses)
            code = language.choose(titles, of=name) or ENGLISH
            found.append(
                {
                    "name": name,
                    "course": course.id,
                    "course_title": course.title(language),
                    "course_about": course.description(language),
                    "title": titles[code],
                    "language": code,
                    "languages": _languages(titles),
                    "has_exercises": name in self._with_exercises,
                }
            )
        return sorted(found, key=lambda one: (not one["has_exercises"], order.index(one["course"])))

    def text(self, name: str, language: LanguageChoice) -> LabText:
        """Return a lab's text.

        The canvas shows the network, so the text does not.

        Args:
            name: the lab.
            language: the language of the text.

        Raises:
            InputError: there is no such lab.
        """
        there = self._labs.find(name).text_files
        return {
            **self._written(name, language.choose(there, of=name) or ENGLISH),
            "languages": _languages(there),
            "has_exercises": name in self._with_exercises,
        }

    def _read_titles(self) -> dict[str, tuple[str, dict[str, str]]]:
        """Return each lab's course, and its title in each language of its texts."""
        found = {}
        for lab in self._labs.all():
            heading = read_heading(lab.folder)
            texts = read_texts(lab.folder)
            titles = {code: text.title(heading.title) for code, text in texts.items()}
            other = EXERCISES if lab.name in self._with_exercises else OTHER_LABS
            found[lab.name] = (heading.course or other, {ENGLISH: heading.title} | titles)
        return found

    def _read_written(self, name: str, language: str) -> WrittenLab:
        """Return a lab's text in one of its languages."""
        return _written(self._labs.find(name), LanguageChoice(wanted=(language,)))


def _written(lab: StudyFolder, choice: LanguageChoice) -> WrittenLab:
    study = read_study(lab.folder, language=choice)
    written = study.text or StudyText(markdown="")
    title = written.title(study.title)
    nodes = {ROOT_NAMESPACE}
    for planned in study.cases.values():
        nodes |= {host.name for host in planned.case.network.hosts}
        nodes |= {switch.name for switch in planned.case.network.switches}
    language = language_of(written.language)
    text = page_text(written.markdown, title=title, language=language, steps_at=nodes)
    # A column of names has no title, which a heading must have.
    html = place_network(text.html, Markup("")).replace("<th></th>", Markup("<td></td>"))
    return {"name": lab.name, "title": title, "language": written.language, "html": html}


def _languages(codes: Iterable[str]) -> list[TextLanguage]:
    return [{"code": code, "label": language_of(code).name} for code in codes]


def lab_routes(catalog: LabCatalog) -> list[BaseRoute]:
    """Return the routes of labs."""

    async def labs(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(catalog.entries, query_languages(request)))

    async def lab(request: Request) -> Response:
        name, language = request.path_params["name"], query_languages(request)
        return JSONResponse(await run_in_threadpool(catalog.text, name, language))

    return [
        Route("/api/labs", labs, methods=["GET"]),
        Route("/api/labs/{name}", lab, methods=["GET"]),
    ]
