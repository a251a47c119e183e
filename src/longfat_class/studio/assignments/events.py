"""A lab's exercises as the page has them, and the events when they change.

The events are sent on the WebSocket of progress.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

PartKindName: TypeAlias = Literal["study", "setup", "network", "answers", "iperf3"]
"""What a part of a submission is."""

CheckState: TypeAlias = Literal["waiting", "running", "done", "failed", "cancelled"]
"""The state of a check: it waits for a machine, runs, or has ended."""


class ExerciseFile(TypedDict):
    """A file of a part.

    Attributes:
        file: below the folder of the lab.
        text: its text; null if it is not edited as text.
        size_bytes: its size; null if it does not exist yet.
        problem: why it cannot be shown.
        is_canvas: the canvas shows it: it is the lab's study.
        version: to be sent with what is saved; null if it does not exist yet.
    """

    file: str
    text: str | None
    size_bytes: int | None
    problem: str
    is_canvas: bool
    version: str | None


class ExerciseAnswer(TypedDict):
    """The answer to a question.

    Attributes:
        name: the question.
        text: the answer; empty for none.
        version: to be sent with what is saved; null for no answer.
    """

    name: str
    text: str
    version: str | None


class ExercisePart(TypedDict):
    """A part of a submission.

    Attributes:
        name: its name.
        kind: what it is.
        files: its files.
        answers: the answers that exist, or are required, if it is a part of answers.
    """

    name: str
    kind: PartKindName
    files: list[ExerciseFile]
    answers: list[ExerciseAnswer]


class ExerciseInfo(TypedDict):
    """An exercise.

    Attributes:
        name: its name.
        title: its title.
        part: the part that it is in.
        points: the points that it can give.
        is_question: whether an answer is asked for.
        unit: of a question: the unit that an answer may be in; empty for a plain number.
        hint_count: how many hints there are.
    """

    name: str
    title: str
    part: str
    points: float
    is_question: bool
    unit: str
    hint_count: int


class CheckCountInfo(TypedDict):
    """The checks of an exercise, as the server counts them.

    Attributes:
        checks: how often it was checked.
        wrong: of a question: wrong answers since the last right one.
        wait_s: how long the next check has to wait.
    """

    checks: int
    wrong: int
    wait_s: float


class ExerciseCheck(TypedDict):
    """A check of a lab's exercises.

    Attributes:
        number: counts the checks of a workspace.
        state: its state.
        exercises: the exercises that are checked.
        waits: what it is waiting for; null if it is not queued.
        problem: why it failed.
        counts: as of `Exercises`.
    """

    number: int
    state: CheckState
    exercises: list[str]
    waits: str | None
    problem: str
    counts: dict[str, CheckCountInfo]


class PublicLab(TypedDict):
    """What students may know of a lab with exercises.

    Attributes:
        lab: its name.
        deadline: the deadline; null for none.
        points: the points that all exercises can give.
        hidden_points: how many of these are of hidden exercises.
        exercises: the exercises, without hidden ones.
    """

    lab: str
    deadline: str | None
    points: float
    hidden_points: float
    exercises: list[ExerciseInfo]


class Exercises(PublicLab):
    """The exercises of a lab, with a student's files.

    Attributes:
        student: whose they are.
        seed: the student's seed.
        folder: the student's files, below the workspace.
        parts: the parts of the submission.
        digests: digests of the files that each exercise depends on.
        check: the last check; null if there was none since the server started.
        counts: the exercises that were checked.
    """

    student: str
    seed: int
    folder: str
    parts: list[ExercisePart]
    digests: dict[str, str]
    check: ExerciseCheck | None
    counts: dict[str, CheckCountInfo]


class SavedInput(TypedDict):
    """A part or an answer that was saved.

    Attributes:
        version: its new version; null for no answer.
        digests: as of `Exercises`.
    """

    version: str | None
    digests: dict[str, str]


class PartEvent(SavedInput):
    """A file of a part was saved.

    Attributes:
        page: the page that did it.
        lab: the lab.
        file: the file.
        text: its text.
    """

    event: Literal["part"]
    page: str
    lab: str
    file: str
    text: str


class AnswerSavedEvent(SavedInput):
    """An answer was saved.

    Attributes:
        page: the page that did it.
        lab: the lab.
        question: the question.
        text: the answer.
    """

    event: Literal["answer"]
    page: str
    lab: str
    question: str
    text: str


class CheckEvent(TypedDict):
    """A check has begun or changed.

    Attributes:
        lab: the lab.
        check: the check.
    """

    event: Literal["check"]
    lab: str
    check: ExerciseCheck


ExerciseEvent: TypeAlias = PartEvent | AnswerSavedEvent | CheckEvent
"""An event of exercises."""
