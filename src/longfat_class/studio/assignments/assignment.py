"""A lab that an instructor gives to students in the studio.

Of the instructor's file a page gets only what is listed here. Hidden exercises are left out
except for their points: their titles alone would reveal what is checked. They are not run
before the lab is graded, so no response depends on them.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.engine.sandbox.view import is_visible
from longfat.errors import InputError
from longfat.study import STUDY_FILE
from longfat.study.labs import StudyFolder, all_labs
from longfat.study.read import read_study
from longfat_class.study import read_grading
from longfat_class.study.read import STUDENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from longfat_class.studio.assignments.events import ExerciseInfo, PublicLab
    from longfat_class.study import Exercise, Grading

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A lab with exercises.

    Attributes:
        name: its name: that of the lab's folder.
        given: what students get: the text, the study, and the parts to fill in.
        grading: the instructor's file.
    """

    name: str
    given: StudyFolder
    grading: Grading

    @property
    def open_exercises(self) -> tuple[Exercise, ...]:
        """The exercises that students may check themselves."""
        return tuple(one for one in self.grading.exercises if not one.hidden)

    def chosen(self, names: Sequence[str]) -> tuple[Exercise, ...]:
        """Return exercises that students may check.

        Args:
            names: their names; all, if there are none.

        Raises:
            InputError: there is no such exercise, or it is hidden, with the same message.
        """
        known = {one.name: one for one in self.open_exercises}
        for name in names:
            if name not in known:
                raise InputError(f"there is no exercise {name!r} (there are: {listed(known)})")
        if not known:
            raise InputError("this lab has no exercise that can be checked before it is graded")
        return tuple(known[name] for name in dict.fromkeys(names or known))

    def question_digest(self, exercise: Exercise) -> str:
        """Return a digest of a question with its key, which no page may get: it could be guessed.

        Args:
            exercise: the question.
        """
        parts = (exercise.answer, exercise.unit, exercise.tolerance, exercise.checks)
        text = f"{parts} {self.grading.study.source_sha256}"
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> PublicLab:
        """Return the public part of the lab."""
        hidden = [one for one in self.grading.exercises if one.hidden]
        deadline = self.grading.deadline
        return {
            "lab": self.name,
            "deadline": None if deadline is None else deadline.isoformat(timespec="minutes"),
            "points": self.grading.points,
            "hidden_points": sum(one.points for one in hidden),
            "exercises": [_about(one) for one in self.open_exercises],
        }


def _about(exercise: Exercise) -> ExerciseInfo:
    return {
        "name": exercise.name,
        "title": exercise.shown,
        "part": exercise.part,
        "points": exercise.points,
        "is_question": exercise.term is not None,
        "unit": exercise.unit,
        "hint_count": len(exercise.hints),
    }


def read_assignment(lab: Path) -> Assignment:
    """Read a lab that `longfat labs new` has made.

    Args:
        lab: its folder.

    Raises:
        InputError: it is not such a lab, is invalid, or would be visible to machines.
    """
    lab = lab.resolve()
    grading = read_grading(lab)
    given = lab / STUDENT
    if not (given / STUDY_FILE).is_file():
        raise InputError(
            f"{given}: the studio opens a lab's {STUDY_FILE}, and this folder has none: "
            "put the network there that students begin with"
        )
    read_study(given)
    if not _NAME.fullmatch(lab.name):
        raise InputError(f"{lab}: the folder's name may contain ASCII letters, digits, and . _ -")
    if is_visible(lab):
        raise InputError(f"{lab}: machines can read this folder, which has the answer key: move it")
    return Assignment(
        name=lab.name, given=StudyFolder(name=lab.name, folder=given), grading=grading
    )


def read_assignments(labs: Iterable[Path], *, workspace: Path) -> tuple[Assignment, ...]:
    """Read labs that are given to students together.

    Args:
        labs: their folders.
        workspace: the folder that students' files lie in.

    Raises:
        InputError: as `read_assignment`; or two have the same name, one has that of a lab that
            comes with longfat, or lies where students could read it.
    """
    found = [read_assignment(lab) for lab in labs]
    taken = {lab.name for lab in all_labs()}
    for one in found:
        if one.name in taken:
            raise InputError(f"{one.name}: another lab has this name: rename its folder")
        taken.add(one.name)
        if one.grading.folder.is_relative_to(workspace.resolve()):
            raise InputError(
                f"{one.grading.folder}: it is in the workspace, where the page could read the "
                "answer key: specify another folder with --workspace"
            )
    return tuple(found)
