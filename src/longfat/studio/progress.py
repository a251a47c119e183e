"""The progress in each lab, stored in the workspace.

A file for each lab, `progress/LAB.json`. A page sends its changes, which are merged with those
of other pages. None of it is trusted: a grade comes from `longfat grade` only.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeAlias, TypedDict, cast

from starlette.routing import BaseRoute, Route, WebSocketRoute

from longfat.common.decoding import Decoder, Length, Range, parse_json
from longfat.errors import InputError
from longfat.studio.broadcast import Pages
from longfat.studio.http import JsonAnswer, PageName, query_text, read_request
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from longfat.studio.workspace import Workspace

FOLDER = "progress"
"""The folder of the workspace for the progress."""

MAX_ENTRIES = 400
"""The maximum number of steps, of claims and of answers of a lab."""

_MAX_KEY = 300
_MAX_LINES = 256
_MAX_ANSWER = 2000
_MAX_BYTES = 1 << 20
_MAX_CHANGES = 1 << 31

_Key: TypeAlias = Annotated[str, Length(minimum=1, maximum=_MAX_KEY)]
_Count: TypeAlias = Annotated[int, Range(minimum=0, maximum=MAX_ENTRIES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """The result of a step's commands.

    Attributes:
        good: the commands that exited with 0, by node and number, such as `h1 0`.
        status: the exit status of the last command; None before the first has ended.
        done: all of them exited with 0.
    """

    good: Annotated[tuple[_Key, ...], Length(maximum=_MAX_LINES)] = ()
    status: int | None = None
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerProgress:
    """The answer to a question.

    Attributes:
        text: the given answer.
        right: whether it was right; None if not marked.
        shown: the answer was shown.
    """

    text: Annotated[str, Length(maximum=_MAX_ANSWER)] = ""
    right: bool | None = None
    shown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExerciseProgress:
    """The result of an exercise's last check; written only by the server.

    Attributes:
        points: the points that it gave.
        most: the points that it can give.
        reasons: why not all of them.
        explained: explanations of the mistakes found.
        digest: digest of the answer and the files that were checked.
        hints: the hints that were shown on request.
    """

    points: float = 0.0
    most: float = 0.0
    reasons: tuple[str, ...] = ()
    explained: tuple[str, ...] = ()
    digest: str = ""
    hints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LabProgress:
    """The progress in a lab.

    Attributes:
        lab: its name.
        steps: the steps that were typed, by their keys.
        step_count: how many steps the text has; 0 if not reported yet.
        claims: the claims that were evaluated, and whether they held the last time.
        claim_count: how many claims the study has.
        answers: the questions that were answered, by their numbers or names.
        answer_count: how many questions there are.
        exercises: the exercises that were checked, by their names.
        checks: how often each was checked, as the server counts it.
        changed_s: when it changed, in seconds since 1970; 0 if there is none yet.
    """

    lab: str
    steps: dict[str, StepProgress] = field(default_factory=dict)
    step_count: int = 0
    claims: dict[str, bool] = field(default_factory=dict)
    claim_count: int = 0
    answers: dict[str, AnswerProgress] = field(default_factory=dict)
    answer_count: int = 0
    exercises: dict[str, ExerciseProgress] = field(default_factory=dict)
    checks: dict[str, int] = field(default_factory=dict)
    changed_s: float = 0.0

    def summary(self) -> ProgressSummary:
        """Return the counts."""
        return {
            "lab": self.lab,
            "steps": sum(one.done for one in self.steps.values()),
            "step_count": max(self.step_count, len(self.steps)),
            "claims": sum(self.claims.values()),
            "claim_count": max(self.claim_count, len(self.claims)),
            "answers": sum(one.right is True for one in self.answers.values()),
            "answer_count": max(self.answer_count, len(self.answers)),
            "points": sum(one.points for one in self.exercises.values()),
            "most_points": sum(one.most for one in self.exercises.values()),
            "checks": sum(self.checks.values()),
            "changed_s": self.changed_s,
        }


class ProgressSummary(TypedDict):
    """The progress in a lab in numbers.

    Attributes:
        lab: its name.
        steps: how many steps are done.
        step_count: how many there are.
        claims: how many claims held.
        claim_count: how many there are.
        answers: how many answers were right.
        answer_count: how many questions there are.
        points: the points of the exercises that were checked.
        most_points: the points that these can give.
        checks: how often exercises were checked.
        changed_s: when it changed, in seconds since 1970.
    """

    lab: str
    steps: int
    step_count: int
    claims: int
    claim_count: int
    answers: int
    answer_count: int
    points: float
    most_points: float
    checks: int
    changed_s: float


class ProgressChange(TypedDict, total=False):
    """Changes made on a page in a lab: entries to add, and new counts; as of `LabProgress`."""

    steps: dict[str, StepProgress]
    step_count: int
    claims: dict[str, bool]
    claim_count: int
    answers: dict[str, AnswerProgress]
    answer_count: int
    exercises: dict[str, ExerciseProgress]
    checks: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressRequest:
    """A page's changes of the progress in a lab; the entries as of `LabProgress`.

    Attributes:
        page: the page that does it.
        number: numbers the page's changes.
    """

    page: PageName = ""
    number: Annotated[int, Range(minimum=0, maximum=_MAX_CHANGES)] = 0
    steps: dict[_Key, StepProgress] = field(default_factory=dict)
    step_count: _Count | None = None
    claims: dict[_Key, bool] = field(default_factory=dict)
    claim_count: _Count | None = None
    answers: dict[_Key, AnswerProgress] = field(default_factory=dict)
    answer_count: _Count | None = None


class AllProgressEvent(TypedDict):
    """The first event: the progress in all labs that were started.

    Attributes:
        labs: by the labs' names.
    """

    event: Literal["hello"]
    labs: dict[str, LabProgress]


class ProgressChangedEvent(TypedDict):
    """The progress in a lab has changed.

    Attributes:
        page: the page that did it; empty for the server.
        lab: the lab.
        change: the change.
    """

    event: Literal["progress"]
    page: str
    lab: str
    change: ProgressChange


class ProgressForgottenEvent(TypedDict):
    """The progress in a lab was reset.

    Attributes:
        page: the page that did it.
        lab: the lab.
    """

    event: Literal["forgotten"]
    page: str
    lab: str


ProgressEvent: TypeAlias = AllProgressEvent | ProgressChangedEvent | ProgressForgottenEvent
"""An event of progress."""


_PROGRESS = Decoder(LabProgress)


class Counts(Protocol):
    """How often exercises were checked, as the server counts it."""

    def labs(self) -> list[str]:
        """Return the labs of which exercises were checked."""

    def checks(self, lab: str) -> dict[str, int]:
        """Return how often each exercise of a lab was checked, by its name."""


class NoCounts:
    """The counts of a studio without exercises."""

    def labs(self) -> list[str]:
        """Return no lab."""
        return []

    def checks(self, lab: str) -> dict[str, int]:
        """Return no exercise."""
        del lab
        return {}


class ProgressStore:
    """The progress in all labs of a workspace; from any thread.

    Args:
        workspace: the workspace.
        counts: how often exercises were checked; None for a studio without exercises.

    Attributes:
        pages: the pages that are notified of each change.
    """

    def __init__(self, workspace: Workspace, *, counts: Counts | None = None) -> None:
        self._workspace = workspace
        self._counts = counts or NoCounts()
        self._lock = threading.Lock()
        # By lab, kind and key: the page that changed an entry last, and its number for that.
        self._numbers: dict[tuple[str, str, str], tuple[str, int]] = {}
        # Products send events of their own, too.
        self.pages: Pages[Mapping[str, object]] = Pages()

    def read(self, lab: str) -> LabProgress:
        """Return the progress in a lab; an unreadable file counts as none.

        Raises:
            InputError: there is no such lab.
        """
        self._workspace.labs.find(lab)
        return self._read(lab)

    def change(self, lab: str, changes: ProgressRequest) -> LabProgress:
        """Merge a page's changes into the progress in a lab, and send them to the other pages.

        A page's requests may be processed in another order than it sent them, so it
        numbers them: an entry is not replaced by an earlier one of the same page.

        Raises:
            InputError: there is no such lab, the changes are invalid or too large, or they
                cannot be saved.
        """
        self._workspace.labs.find(lab)
        counted = {
            "step_count": changes.step_count,
            "claim_count": changes.claim_count,
            "answer_count": changes.answer_count,
        }
        return self._add(
            lab,
            {"steps": changes.steps, "claims": changes.claims, "answers": changes.answers},
            {name: count for name, count in counted.items() if count is not None},
            page=changes.page,
            number=changes.number,
        )

    def note_exercises(self, lab: str, exercises: Mapping[str, ExerciseProgress]) -> None:
        """Store the results of exercises, and send them to all pages.

        Raises:
            InputError: they cannot be saved.
        """
        self._add(lab, {"exercises": exercises, "checks": self._counts.checks(lab)}, {}, page="")

    def _add(
        self,
        lab: str,
        change: Mapping[str, Mapping[str, Any]],
        counts: Mapping[str, int],
        *,
        page: str,
        number: int = 0,
    ) -> LabProgress:
        """Add entries to the progress in a lab."""
        with self._lock:
            now = self._read(lab)
            change = {
                name: {
                    key: value
                    for key, value in new.items()
                    if not self._is_outdated((lab, name, key), page, number)
                }
                for name, new in change.items()
            }
            entries: dict[str, Any] = {
                name: getattr(now, name) | dict(new) for name, new in change.items()
            }
            for name, found in entries.items():
                if len(found) > MAX_ENTRIES:
                    raise InputError(
                        f"{name}: {len(found)} entries, and at most {MAX_ENTRIES} are allowed"
                    )
            new = replace(now, changed_s=time.time(), **(entries | dict(counts)))
            self._write(new)
            for name, made in change.items():
                self._numbers |= {(lab, name, key): (page, number) for key in made}
            # Only the changes: another page may have sent some meanwhile.
            changes = {name: entry for name, entry in change.items() if entry} | dict(counts)
            self.pages.send(
                {
                    "event": "progress",
                    "page": page,
                    "lab": lab,
                    "change": cast("ProgressChange", changes),
                }
            )
        return new

    def _is_outdated(self, entry: tuple[str, str, str], page: str, number: int) -> bool:
        """Return whether a page's later change of an entry was processed already."""
        last_page, last = self._numbers.get(entry, ("", 0))
        return last_page == page and last > number

    def forget(self, lab: str, *, page: str = "") -> LabProgress:
        """Reset the progress in a lab, in the other pages as well.

        Args:
            lab: its name.
            page: the page that does it.

        Raises:
            InputError: there is no such lab, or that cannot be saved.
        """
        self._workspace.labs.find(lab)
        with self._lock:
            self._write(empty := LabProgress(lab=lab, checks=self._counts.checks(lab)))
            self.pages.send({"event": "forgotten", "page": page, "lab": lab})
        return empty

    def all(self) -> list[LabProgress]:
        """Return the progress in all labs that were started, the most recent first."""
        names = set(self._counts.labs())
        with contextlib.suppress(InputError):
            files = self._workspace.folder(FOLDER).glob("*.json")
            names |= set(itertools.islice((one.stem for one in files), MAX_ENTRIES))
        begun = [one for one in map(self._read, sorted(names)) if one.changed_s or one.checks]
        return sorted(begun, key=lambda one: one.changed_s, reverse=True)

    def _read(self, lab: str) -> LabProgress:
        try:
            data = self._workspace.read(_path(lab), most_bytes=_MAX_BYTES)
            found: LabProgress = _PROGRESS.decode(
                parse_json(data, where=_path(lab)), where=_path(lab), error=InputError
            )
        except (InputError, ValueError):
            found = LabProgress(lab=lab)
        return replace(found, lab=lab, checks=self._counts.checks(lab))

    def _write(self, progress: LabProgress) -> None:
        self._workspace.folder(FOLDER, make=True)
        text = json.dumps(asdict(progress), indent=1, ensure_ascii=False)
        self._workspace.write(_path(progress.lab), text.encode())


def _path(lab: str) -> str:
    return f"{FOLDER}/{lab}.json"


def progress_routes(store: ProgressStore) -> list[BaseRoute]:
    """Return the routes of progress."""

    async def listed(request: Request) -> Response:
        del request
        return JsonAnswer([one.summary() for one in await run_in_threadpool(store.all)])

    async def show(request: Request) -> Response:
        found = await run_in_threadpool(store.read, request.path_params["name"])
        return JsonAnswer(found)

    async def change(request: Request) -> Response:
        changes = await read_request(request, ProgressRequest)
        found = await run_in_threadpool(store.change, request.path_params["name"], changes)
        return JsonAnswer(found)

    async def forget(request: Request) -> Response:
        lab, page = request.path_params["name"], query_text(request, "page") or ""
        found = await run_in_threadpool(lambda: store.forget(lab, page=page))
        return JsonAnswer(found)

    async def whole() -> AllProgressEvent:
        found = await run_in_threadpool(store.all)
        return {"event": "hello", "labs": {one.lab: one for one in found}}

    async def events(socket: WebSocket) -> None:
        await store.pages.serve(socket, whole)

    place = "/api/labs/{name}/progress"
    return [
        Route("/api/progress", listed, methods=["GET"]),
        Route(place, show, methods=["GET"]),
        Route(place, change, methods=["PUT"]),
        Route(place, forget, methods=["DELETE"]),
        WebSocketRoute("/ws/progress", events),
    ]
