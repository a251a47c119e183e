"""Checking exercises: a student's files are run and graded as by `longfat grade`.

A check has its own thread and one machine at a time, for which it is queued where a class
shares a computer. The page gets points, reasons and explanations of mistakes: never the key,
and of an error in the instructor's own files only that there is one.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from longfat.engine.sandbox.quota import current_quota
from longfat.errors import HostError, LongfatError
from longfat.execution.tools import Toolbox
from longfat.studio.http import HttpError
from longfat.studio.progress import ExerciseProgress
from longfat_class.analysis import CHECKS, Player, grade

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.studio.machine_queue import Member
    from longfat.studio.progress import ProgressStore
    from longfat_class.analysis import Graded, Score
    from longfat_class.studio.assignments.check_counts import CheckCounts
    from longfat_class.studio.assignments.events import CheckCountInfo, CheckState, ExerciseCheck
    from longfat_class.studio.assignments.exercise_sheet import ExerciseSheet
    from longfat_class.study import Exercise

_JOIN_S = 30.0
_LOG = logging.getLogger(__name__)

_NOT_CHECKED = (
    "The check itself failed: the lab's own files are wrong, or the computer lacks something. "
    "Nothing was graded. Please inform your instructor, whose terminal shows details."
)


@dataclass(slots=True, kw_only=True)
class _Check:
    """A check of one lab's exercises, the last one that was requested.

    Attributes:
        number: counts the checks of the workspace.
        exercises: the exercises.
        state: `waiting` for a machine, `running`, or how it ended: `done`, `failed`, `cancelled`.
        waits: what it is waiting for.
        problem: why it failed.
        player: runs the cases.
        cancelled: set when the student cancels it.
    """

    number: int
    exercises: tuple[Exercise, ...]
    player: Player
    state: CheckState = "waiting"
    waits: str | None = None
    problem: str = ""
    cancelled: threading.Event
    thread: threading.Thread | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "running")

    def to_json(self, *, counts: dict[str, CheckCountInfo]) -> ExerciseCheck:
        return {
            "number": self.number,
            "state": self.state,
            "exercises": [one.name for one in self.exercises],
            "waits": self.waits,
            "problem": self.problem,
            "counts": counts,
        }


class Checks:
    """The checks of a workspace; from any thread.

    Args:
        sheets: the files of each lab, by its name.
        progress: stores the results.
        counts: how often each exercise was checked.
        member: the member of a class in the queue for machines; None without a class.
    """

    def __init__(
        self,
        sheets: Mapping[str, ExerciseSheet],
        *,
        progress: ProgressStore,
        counts: CheckCounts,
        member: Member | None = None,
    ) -> None:
        self._sheets = sheets
        self._counts = counts
        self._progress = progress
        self._member = member
        self._lock = threading.Lock()
        self._checks: dict[str, _Check] = {}
        self._numbers = itertools.count(1)
        self._closed = False
        if member is not None:
            member.queue.join(member.name, self._machines)

    def start(self, lab: str, names: Sequence[str]) -> ExerciseCheck:
        """Start checking exercises of a lab.

        Questions whose answers were checked already, or have to wait, are left out.

        Args:
            lab: its name.
            names: the exercises; empty for all that can be checked.

        Returns:
            The check.

        Raises:
            InputError: there is no such lab or exercise.
            HttpError: a check of this lab runs already, the workspace is full, or the next
                check of an answer is possible only later; then the status is 429.
        """
        sheet = self.sheet(lab)
        sheet.workspace.disk.check()
        exercises = sheet.assignment.chosen(names)
        player = Player(sheet.workspace.stores.results, Toolbox(), most=current_quota())
        check = _Check(
            number=next(self._numbers),
            exercises=exercises,
            player=player,
            cancelled=threading.Event(),
        )
        with self._lock:
            now = self._checks.get(lab)
            if self._closed or (now is not None and not now.is_over):
                raise HttpError(
                    f"exercises of {lab} are being checked already: wait for that, or cancel it",
                    status=HTTPStatus.CONFLICT,
                )
            known = {one.name: self._known(sheet, one) for one in exercises}
            check.exercises = tuple(
                one for one in exercises if known[one.name] is None and not self._wait_s(lab, one)
            )
            repeated = {name: result for name, result in known.items() if result is not None}
            if not check.exercises and not repeated:
                raise _too_early([(one, self._wait_s(lab, one)) for one in exercises])
            self._note(lab, repeated)
            if not check.exercises:
                check.exercises, check.state = exercises, "done"
            self._checks[lab] = check
        if check.is_over:
            self._send_check(lab, check)
            return self._info(lab, check)
        check.thread = threading.Thread(
            target=self._run, args=(lab, sheet, check), name=f"check-{lab}", daemon=True
        )
        check.thread.start()
        return self._info(lab, check)

    def cancel(self, lab: str) -> None:
        """End the check of a lab early, if there is one."""
        self.sheet(lab)
        with self._lock:
            check = self._checks.get(lab)
        if check is not None:
            check.cancelled.set()
            check.player.end()

    def info(self, lab: str) -> ExerciseCheck | None:
        """Return the last check of a lab; None if there was none since the server started."""
        with self._lock:
            check = self._checks.get(lab)
        return None if check is None else self._info(lab, check)

    def counts(self, lab: str) -> dict[str, CheckCountInfo]:
        """Return the counts of checks by exercise."""
        return {name: one.to_json() for name, one in self._counts.of_lab(lab).items()}

    def hint(self, lab: str, name: str) -> None:
        """Show one more hint for an exercise that was checked and did not get all points.

        Raises:
            InputError: there is no such exercise, or no hint available now.
        """
        (exercise,) = self.sheet(lab).assignment.chosen([name])
        with self._lock:
            now = self._progress.read(lab).exercises.get(name)
            if now is None or now.points >= exercise.points:
                raise HttpError(
                    f"{exercise.shown}: a hint is available after a check without full points",
                    status=HTTPStatus.CONFLICT,
                )
            given = len(now.hints)
            if given >= len(exercise.hints):
                raise HttpError(
                    f"{exercise.shown}: there are no more hints", status=HTTPStatus.CONFLICT
                )
            new = replace(now, hints=exercise.hints[: given + 1])
            self._progress.note_exercises(lab, {name: new})

    def sheet(self, lab: str) -> ExerciseSheet:
        """Return the files of a lab.

        Raises:
            HttpError: it has no exercises.
        """
        if lab not in self._sheets:
            raise HttpError(f"{lab[:80]}: no lab with exercises", status=HTTPStatus.NOT_FOUND)
        return self._sheets[lab]

    def stop(self) -> None:
        """Stop all of them, and start no more."""
        with self._lock:
            self._closed = True
            checks = list(self._checks.values())
        for check in checks:
            check.cancelled.set()
            check.player.end()

    def close(self) -> None:
        """Stop all of them, and wait until their machines have ended."""
        self.stop()
        with self._lock:
            threads = [one.thread for one in self._checks.values()]
        for thread in threads:
            if thread is not None:
                thread.join(_JOIN_S)

    def _machines(self) -> int:
        return sum(one.state == "running" for one in list(self._checks.values()))

    def _info(self, lab: str, check: _Check) -> ExerciseCheck:
        return check.to_json(counts=self.counts(lab))

    def _known(self, sheet: ExerciseSheet, exercise: Exercise) -> ExerciseProgress | None:
        """Return the result of an answer that was the last one to be checked."""
        if exercise.term is None:
            return None  # a check of runs costs time, and reveals no key
        count = self._counts.of(sheet.place, exercise.name)
        if count.result is None or count.key != sheet.assignment.question_digest(exercise):
            return None  # the instructor has corrected it
        return count.result if count.result.digest == sheet.digest(exercise) else None

    def _wait_s(self, lab: str, exercise: Exercise) -> float:
        return 0.0 if exercise.term is None else self._counts.of(lab, exercise.name).wait_s()

    def _note(self, lab: str, results: Mapping[str, ExerciseProgress]) -> None:
        """Store results for the pages, with the hints that were shown before."""
        known = self._progress.read(lab).exercises
        hints = {name: one.hints for name, one in known.items()}
        if results:
            noted = {name: replace(one, hints=hints.get(name, ())) for name, one in results.items()}
            self._progress.note_exercises(lab, noted)

    # In a check's thread.

    def _run(self, lab: str, sheet: ExerciseSheet, check: _Check) -> None:
        state: CheckState = "failed"
        problem = _NOT_CHECKED
        try:
            if self._take_turn(lab, check):
                digests = {one.name: sheet.digest(one) for one in check.exercises}
                graded = grade(
                    sheet.submission,
                    sheet.assignment.grading,
                    player=check.player,
                    exercises=[one.name for one in check.exercises],
                )
                sheet.workspace.stores.trim()
                if graded.failure:
                    raise HostError(graded.failure)
                self._log_hidden(lab, sheet, graded)
                if not check.cancelled.is_set():
                    self._keep(sheet, graded, digests)
                    state, problem = "done", ""
            if check.cancelled.is_set():
                state, problem = "cancelled", ""
        except LongfatError as error:
            # The message may quote the instructor's files.
            _LOG.error("check of %s for %s: %s", lab, sheet.submitter.name, error)
        except Exception:
            _LOG.exception("check of %s for %s", lab, sheet.submitter.name)
        finally:
            check.state, check.problem, check.waits = state, problem, None
            self._send_check(lab, check)

    def _log_hidden(self, lab: str, sheet: ExerciseSheet, graded: Graded) -> None:
        """Write to the terminal what of the reasons is not shown to the student."""
        for score in graded.scores:
            for reason in score.reasons:
                if score.redaction.apply(reason) != reason:
                    where = f"{lab} for {sheet.submitter.name}, {score.exercise.name}"
                    _LOG.warning("check of %s: %s", where, reason)

    def _take_turn(self, lab: str, check: _Check) -> bool:
        def begin() -> None:
            check.state = "running"

        def note(words: str | None) -> None:
            check.waits = words
            self._send_check(lab, check)

        if self._member is None:
            begin()
            note(None)
            return True
        return self._member.wait(
            f"check {lab}", begin=begin, cancelled=check.cancelled, on_wait=note
        )

    def _keep(self, sheet: ExerciseSheet, graded: Graded, digests: Mapping[str, str]) -> None:
        lab = sheet.place
        results = {
            score.exercise.name: ExerciseProgress(
                points=score.points,
                most=score.exercise.points,
                reasons=score.visible_reasons,
                explained=_explained(score),
                digest=digests[score.exercise.name],
            )
            for score in graded.scores
        }
        with self._lock:
            counts = {
                score.exercise.name: self._counts.of(lab, score.exercise.name).checked(
                    results[score.exercise.name],
                    compared=score.compared,
                    key=sheet.assignment.question_digest(score.exercise),
                )
                for score in graded.scores
            }
            # Counted first: what cannot be counted is not shown.
            self._counts.note(lab, counts)
            self._note(lab, results)

    def _send_check(self, lab: str, check: _Check) -> None:
        self._progress.pages.send({"event": "check", "lab": lab, "check": self._info(lab, check)})


def _too_early(waits: Sequence[tuple[Exercise, float]]) -> HttpError:
    """Return the error of a check whose questions all have to wait."""
    exercise, wait_s = min(waits, key=lambda one: one[1])
    return HttpError(
        f"{exercise.shown}: the next check of this answer is possible in {_duration(wait_s)}: "
        "after wrong answers each check has to wait longer",
        status=HTTPStatus.TOO_MANY_REQUESTS,
    )


def _duration(wait_s: float) -> str:
    minutes, seconds = divmod(math.ceil(wait_s), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _explained(score: Score) -> tuple[str, ...]:
    """Return the explanations of the mistakes that cost points."""
    checks = (CHECKS[name] for name in score.exercise.checks)
    return tuple(
        check.explanation
        for check in checks
        if any(reason.startswith(f"{check.title}: ") for reason in score.visible_reasons)
    )
