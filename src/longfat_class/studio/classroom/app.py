"""The entry point of a class's studio: dispatches requests to the students' applications.

Every student's application has its own access check for that student's credentials. So a mistake
here can at most lock somebody out: a request without the right ones is rejected there.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from longfat.engine.sandbox.view import is_visible
from longfat.errors import InputError
from longfat.studio.app import STATIC, make_app
from longfat.studio.labs import LabCatalog
from longfat.studio.machine_queue import MachineQueue, Member
from longfat.studio.state import workspace_id
from longfat.study.labs import Labs
from longfat_class.analysis import seed_of
from longfat_class.studio.assignments.exercise_sheet import Submitter
from longfat_class.studio.assignments.extension import ExerciseExtension
from longfat_class.studio.classroom.teacher import is_teachers, teachers_app

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from longfat.studio.auth import Keys
    from longfat.studio.credentials import Credentials
    from longfat_class.studio.assignments.assignment import Assignment
    from longfat_class.studio.classroom.limits import Limits
    from longfat_class.study.roster import Entry

TEACHER = ""
"""The teacher's name among the members: never a student's folder."""

_STUDENTS, _TEACHERS = "class", "teacher"
_FOLDER = re.compile(r"[A-Za-z0-9_][\w.-]{0,63}", re.ASCII)
_MAX_STUDENTS = 500


@dataclass(slots=True, kw_only=True)
class Student:
    """A student of the class.

    Attributes:
        folder: the student's folder, which is the key in the roster.
        name: the name; that of the folder if the roster has none.
        app: the student's application.
        seen_s: when they were last seen, in seconds since 1970; 0 if never.
    """

    folder: str
    name: str
    app: Starlette
    seen_s: float = 0.0


def check_students(roster: Mapping[str, Entry], *, root: Path) -> None:
    """Check that each student of a roster can have a folder of their own.

    Args:
        roster: the roster.
        root: the folder of all their folders.

    Raises:
        InputError: there are none or too many, a name is not valid for a folder, two differ
            only in case, a folder is a link or a file, or would be visible to machines.
    """
    if not 0 < len(roster) <= _MAX_STUDENTS:
        raise InputError(f"the roster has {len(roster)} students; 1 to {_MAX_STUDENTS} can be")
    seen: dict[str, str] = {}
    for folder in roster:
        if not _FOLDER.fullmatch(folder):
            raise InputError(
                f"the folder {folder!r}: use ASCII letters, digits, and . _ - between them,  "
                "such as alice"
            )
        if (other := seen.setdefault(folder.lower(), folder)) != folder:
            raise InputError(f"the folders {other!r} and {folder!r} differ in capitals only")
        place = root / folder
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise InputError(f"{place}: must be a folder, not a link")
    if is_visible(root):
        raise InputError(
            f"{root}: machines can read this folder, so students would see each other's "
            "files: specify another --workspace"
        )


class ClassApp:
    """The application of a class.

    Args:
        root: the folder of the students' folders; missing ones are created.
        roster: the students, by their folders.
        credentials: the credentials of each student, and the teacher's.
        keys: makes the keys of an owner and a workspace, with the name of their cookie:
            the teacher may open a student's link in the same browser.
        url: makes the link of a token.
        limits: the limits of the class.
        assignments: the labs with exercises.
        static: the folder of the built page.
        state: the folder of the drafts; None to keep them in memory.

    Raises:
        InputError: as `check_students`, or a folder cannot be made.
    """

    def __init__(
        self,
        *,
        root: Path,
        roster: Mapping[str, Entry],
        credentials: Credentials,
        keys: Callable[[str, str, str], Keys],
        url: Callable[[str], str],
        limits: Limits,
        assignments: Sequence[Assignment] = (),
        static: Path = STATIC,
        state: Path | None = None,
    ) -> None:
        check_students(roster, root=root)
        self._limits = limits
        self._queue = MachineQueue(machines=limits.at_once, max_per_member=int(limits.each))
        labs = Labs(tuple(one.given for one in assignments))
        catalog = LabCatalog(labs, with_exercises=[one.name for one in assignments])
        self.students: dict[str, Student] = {}
        self._credentials = credentials
        self._url = url
        self._cookie = keys("", "", _STUDENTS).cookie
        for folder, entry in roster.items():
            place = root / folder
            drafts = None if state is None else state / "students" / folder
            try:
                for path in (place, drafts):
                    if path is not None:
                        path.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(f"{place}: cannot be created: {error.strerror}") from None
            seed = seed_of(folder) if entry.seed is None else entry.seed
            student = Student(
                folder=folder,
                name=entry.name or folder,
                app=make_app(
                    workspace=place,
                    keys=keys(folder, workspace_id(place), _STUDENTS),
                    static=static,
                    drafts=drafts,
                    member=Member(queue=self._queue, name=folder),
                    catalog=catalog,
                    extension=ExerciseExtension(
                        assignments,
                        submitter=Submitter(name=entry.name or folder, folder=folder, seed=seed),
                        counts=None if state is None else state / "checks" / f"{folder}.json",
                    ),
                    most_bytes=limits.disk,
                    caches=None if state is None else state / "caches" / folder,
                ),
            )
            self.students[folder] = student
        self._teacher = teachers_app(
            summary=self.summary,
            renew_link=credentials.renew_link,
            keys=keys(TEACHER, workspace_id(root), _TEACHERS),
            static=static,
        )
        self._outer = Starlette(lifespan=self._lifespan)

    def stop(self) -> None:
        """Stop all that runs; from any thread."""
        for student in self.students.values():
            student.app.state.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the application of its sender."""
        if scope["type"] == "lifespan":
            await self._outer(scope, receive, send)
            return
        await self._app_of(scope)(scope, receive, send)

    def link_of(self, folder: str) -> str:
        """Return the link of a student.

        Args:
            folder: the student's folder.
        """
        return self._url(self._credentials.tokens.token_of(folder))

    def _app_of(self, scope: Scope) -> ASGIApp:
        """Return the application of the student whose credentials it has, or else the teacher's."""
        if is_teachers(scope["path"]):
            return self._teacher
        for owner in self._owners(scope):
            if (student := self.students.get(owner)) is not None:
                student.seen_s = time.time()
                return student.app
        return self._teacher

    def _owners(self, scope: Scope) -> Iterator[str]:
        """Return whose credentials a request has: by a link first, then by a program's token."""
        headers = Headers(scope=scope)
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"))
        tokens = [value for name, value in query if name == "token"]
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            tokens.append(sent.strip())
        for token in tokens:
            if (owner := self._credentials.tokens.owner_of(token)) is not None:
                yield owner
        session = cookie_parser(headers.get("cookie", "")).get(self._cookie, "")
        if (owner := self._credentials.sessions.owner_of(session)) is not None:
            yield owner

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        del app
        apps = [student.app for student in self.students.values()]
        running = [app.router.lifespan_context(app) for app in apps]
        async with contextlib.AsyncExitStack() as stack:
            for one in running:
                await one.__aenter__()
            stack.push_async_callback(_end_all, running)
            yield
            self.stop()

    def summary(self) -> dict[str, Any]:
        """Return the state of all students."""
        return {
            "limits": self._limits.words(),
            "students": [self._about(student) for student in self.students.values()],
        }

    def _about(self, student: Student) -> dict[str, Any]:
        machines, waiting = self._queue.state(student.folder)
        return {
            "folder": student.folder,
            "name": student.name,
            "url": self.link_of(student.folder),
            "seen_s": student.seen_s,
            "machines": machines,
            "waiting": waiting,
            "progress": [one.summary() for one in student.app.state.progress.all()],
        }


async def _end_all(running: Sequence[AbstractAsyncContextManager[object]]) -> None:
    """End the applications at the same time: each may wait for its machines."""
    ends = (one.__aexit__(None, None, None) for one in running)
    await asyncio.gather(*ends, return_exceptions=True)
