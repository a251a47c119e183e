"""The studies that come with longfat, found by name from anywhere.

They are labs, published experiments and pitfalls.

A lab is a folder of `labs/` that holds a study file and, beside it, a text and its translations.
A published experiment is a folder of `studies/reproduced/` that holds a study file with published
figures and their source, and a text on what is known of its set-up. A pitfall is a folder of
`studies/pitfalls/`: a network with a common mistake, its symptom, cause and cure.

`labs/courses.yaml` declares once which labs belong to a course, in which order, and what it is
called in each language; a study's field `course` names one by its key. A plug-in's folder of labs
may have such a file, too. A lab whose course is not declared is listed under the name that it
gives.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from longfat.common import resources
from longfat.common.plugins import entries, load
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.study import STUDY_FILE
from longfat.study.document import read_document
from longfat.study.node import Node
from longfat.study.text import ENGLISH, LANGUAGES, LanguageChoice, find_texts

COURSES_FILE = "courses.yaml"

PITFALLS = "pitfalls"
"""What the names of pitfalls begin with, in front of a slash."""

OTHER_LABS = "Other labs"
"""The course of labs that name none."""

_MAX_NAME = 80  # in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFolder:
    """A lab, or another study that comes with longfat.

    Attributes:
        name: its folder's name.
        folder: its folder.
    """

    name: str
    folder: Path

    @property
    def study_file(self) -> Path:
        """Return its study file."""
        return self.folder / STUDY_FILE

    @property
    def text_files(self) -> dict[str, Path]:
        """Return its text and the translations, as `find_texts` does."""
        return find_texts(self.folder)


def all_labs() -> tuple[StudyFolder, ...]:
    """Return the labs, by name: longfat's, and those of plug-ins.

    Raises:
        HostError: the installation is incomplete, or a plug-in cannot be loaded.
    """
    folders = sorted((folder for place in lab_places() for folder in place.iterdir()), key=_name_of)
    return tuple(
        StudyFolder(name=folder.name, folder=folder)
        for folder in folders
        if (folder / STUDY_FILE).is_file()
    )


def lab_places() -> list[Path]:
    """Return the folders that labs lie in: longfat's, and those of plug-ins.

    Raises:
        HostError: the installation is incomplete, or a plug-in cannot be loaded.
    """
    places = [resources.folder("labs")]
    for entry in entries("longfat.labs").values():
        file = getattr(load(entry), "__file__", None)
        places += [Path(file).parent] if file else []
    return places


def _name_of(folder: Path) -> str:
    return folder.name


@dataclass(frozen=True, slots=True)
class Labs:
    """The labs that there are in one place: longfat's, and others beside them.

    Attributes:
        others: the others.
    """

    others: tuple[StudyFolder, ...] = ()

    def all(self) -> tuple[StudyFolder, ...]:
        """Return all of them, the others first; raises as `all_labs`."""
        return (*self.others, *all_labs())

    def find(self, name: str) -> StudyFolder:
        """Return the lab of a name.

        Raises:
            InputError: there is none.
            HostError: the installation is incomplete.
        """
        labs = {lab.name: lab for lab in self.all()}
        if name not in labs:
            raise InputError(
                f"there is no lab {name!r}{nearest(name, labs)} (labs: {listed(labs)})"
            )
        return labs[name]


def find_lab(name: str) -> StudyFolder:
    """Return the lab of a name that comes with longfat; raises as `Labs.find`."""
    return Labs().find(name)


def find_study(argument: str) -> Path:
    """Return the study that an argument names: a file, a folder, a lab, or a pitfall.

    Args:
        argument: the argument of the command. A path that exists wins over a name. A pitfall's
            name is `pitfalls/NAME`.

    Returns:
        The study file, or the folder that it is in; whether it can be read is
        not checked.

    Raises:
        InputError: there is no such path and no such lab or pitfall.
        HostError: the installation is incomplete.
    """
    path = Path(argument)
    group, _, name = argument.partition("/")
    if group == PITFALLS and _is_name(name) and not os.path.lexists(path):
        return _find_pitfall(name).folder
    if not _is_name(argument):
        return path
    labs = {lab.name: lab for lab in all_labs()}
    if os.path.lexists(path):
        if argument in labs and path.is_dir() and not (path / STUDY_FILE).exists():
            raise InputError(
                f"the folder {argument} here holds no {STUDY_FILE}, and hides the lab of that "
                f"name: write {labs[argument].folder}, or run it from another folder"
            )
        return path
    if argument in labs:
        return labs[argument].folder
    if len(argument) > _MAX_NAME:
        argument = f"{argument[:_MAX_NAME]}..."
    raise InputError(
        f"there is no file, folder or lab {argument!r}{nearest(argument, labs)} "
        f"(labs: {listed(labs)})"
    )


# What a file of another kind is, and which command takes it.
_OTHER_FILES = {
    ".mn": "a drawing of MiniEdit: `longfat convert {0} study.yaml` makes a study of it,"
    " `longfat shell {0}` and `longfat studio {0}` open it",
    ".py": "a Python script: `longfat exec --bind . -- python3 {0}` runs one of Mininet as it is,"
    " `longfat convert {0} study.yaml` makes a study of it",
    ".pkt": "a packetdrill script: `longfat packetdrill {0}` runs it",
    ".json": "no study: `longfat plot --iperf {0}` draws a report of iperf3",
    **dict.fromkeys(
        (".pcap", ".pcapng", ".cap"), "a capture of packets: `longfat packets {0}` shows it"
    ),
}


def find_study_file(argument: str) -> Path:
    """Return the study file, or the folder that it is in, of a command that runs studies.

    Args:
        argument: the argument of the command, as of `find_study`.

    Raises:
        InputError: as `find_study`; or it is a file that another command takes.
        HostError: the installation is incomplete.
    """
    path = Path(argument)
    about = _OTHER_FILES.get(path.suffix.lower())
    if about is not None and not path.is_dir():
        raise InputError(f"{path}: {about.format(shlex.quote(argument))}")
    folder = find_study(argument)
    if folder.is_dir() and not (folder / STUDY_FILE).exists() and any(folder.glob("*.json")):
        files = f"{shlex.quote(str(folder))}/*.json"
        raise InputError(
            f"{folder}: there is no {STUDY_FILE} in this folder; `longfat plot --iperf {files}`"
            " draws reports of iperf3"
        )
    return folder


def _is_name(argument: str) -> bool:
    """Return whether it can be a lab's name: no path with a folder, and no name of a file."""
    return "/" not in argument and Path(argument).suffix not in (".yaml", ".yml")


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
    courses: dict[str, Course] = {}
    for place in lab_places():
        if (file := place / COURSES_FILE).is_file():
            courses |= _read_courses(file)
    return courses


def course_of(name: str, courses: Mapping[str, Course]) -> Course:
    """Return the course that a study names; one with that name only, if it is not declared."""
    name = name or OTHER_LABS
    return courses.get(name) or Course(id=name, titles={ENGLISH: name})


def sorted_by_course(names: Sequence[str], courses: Mapping[str, Course]) -> list[str]:
    """Return the courses that are named, each once: the declared ones first, in their order."""
    known = [name for name in courses if name in names]
    others = sorted({name or OTHER_LABS for name in names} - set(known))
    return known + others


@cache
def _read_courses(file: Path) -> dict[str, Course]:
    root = Node(raw=read_document(file), file=str(file))
    courses = {}
    for key, node in root.named("courses by their ids").items():
        fields = node.fields("a course's title and what it is about", allowed=("title", "about"))
        if "title" not in fields:
            raise node.error("the course has no title")
        texts = {name: _read_texts(fields[name]) for name in fields}
        if ENGLISH not in texts["title"]:
            raise fields["title"].error(f"the title is not there in English: {ENGLISH}")
        courses[key] = Course(id=key, titles=texts["title"], about=texts.get("about", {}))
    return courses


def _read_texts(node: Node) -> dict[str, str]:
    fields = node.fields("a text by its languages", allowed=tuple(LANGUAGES))
    return {code: text.line("a line of text") for code, text in fields.items()}


def _chosen(texts: Mapping[str, str], language: LanguageChoice) -> str:
    code = LanguageChoice(wanted=language.wanted).choose(texts, of="a course")
    return "" if code is None else texts[code]


def all_experiments() -> dict[str, StudyFolder]:
    """Return the published experiments by name, in the order of their names.

    Raises:
        HostError: the installation is incomplete.
    """
    return _studies_of("reproduced")


def all_pitfalls() -> dict[str, StudyFolder]:
    """Return the pitfalls by name, in the order of their names; raises as `all_experiments`."""
    return _studies_of(PITFALLS)


def _studies_of(group: str) -> dict[str, StudyFolder]:
    folders = sorted((resources.folder("studies") / group).iterdir())
    return {
        folder.name: StudyFolder(name=folder.name, folder=folder)
        for folder in folders
        if (folder / STUDY_FILE).is_file()
    }


def _find_pitfall(name: str) -> StudyFolder:
    pitfalls = all_pitfalls()
    if name not in pitfalls:
        raise InputError(
            f"there is no file, folder or pitfall {name!r}{nearest(name, pitfalls)} "
            f"(pitfalls: {listed(pitfalls)})"
        )
    return pitfalls[name]


def find_experiments(names: tuple[str, ...]) -> tuple[StudyFolder, ...]:
    """Return the experiments of these names, each once, in the order of the names.

    Raises:
        InputError: there is none of a name.
        HostError: the installation is incomplete.
    """
    known = all_experiments()
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no published experiment {name!r}{nearest(name, known)} "
                f"(there are: {listed(known)})"
            )
    return tuple(known[name] for name in dict.fromkeys(names))
