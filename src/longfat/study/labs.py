"""Labs: the studies that come with longfat, found by name from anywhere.

A lab is a folder of `labs/` that holds a study file and, beside it, a text and its translations.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from longfat.common import resources
from longfat.common.plugins import entries, load
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.study import STUDY_FILE
from longfat.study.text import find_texts

OTHER_LABS = "Other labs"
"""The course of labs that name none."""

_LONGEST_NAME = 80  # in a message


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
    """Return the study that an argument names: a file, a folder, or the name of a lab.

    Args:
        argument: the argument of the command. A path that exists wins over a lab's name.

    Returns:
        The study file, or the folder that it is in; whether it can be read is
        not checked.

    Raises:
        InputError: there is no such path and no such lab.
        HostError: the installation is incomplete.
    """
    path = Path(argument)
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
    if len(argument) > _LONGEST_NAME:
        argument = f"{argument[:_LONGEST_NAME]}..."
    raise InputError(
        f"there is no file, folder or lab {argument!r}{nearest(argument, labs)} "
        f"(labs: {listed(labs)})"
    )


def _is_name(argument: str) -> bool:
    """Return whether it can be a lab's name: no path with a folder, and no name of a file."""
    return "/" not in argument and Path(argument).suffix not in (".yaml", ".yml")
