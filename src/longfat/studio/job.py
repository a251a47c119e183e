"""A job: cases of a study that run in their own thread, and their progress."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longfat.analysis.verdict import evaluate
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution import Batch, RunObserver, run_batches
from longfat.execution.compile import expected_virtual_s
from longfat.output.report.files import write_report
from longfat.studio.error_responses import problem_of
from longfat.studio.tables import claims_json, measured_json, published_json
from longfat.studio.urls import report_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.analysis.verdict import Verdict
    from longfat.execution import Progress, RunId
    from longfat.execution.runs import Run
    from longfat.studio.disk import DiskLimit
    from longfat.studio.plan import Plan
    from longfat.studio.stores import Stores
    from longfat.studio.turns import Member

_LOG = logging.getLogger(__name__)


class _Cancelled(Exception):  # noqa: N818  a request, not an error
    """The user has cancelled the job."""


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The progress of a case, over all of its seeds."""

    title: str
    state: str
    expected_s: dict[int, float]
    virtual_s: dict[int, float] = field(default_factory=dict)
    runs: dict[int, Run] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        return len(self.runs) == len(self.expected_s)

    def in_order(self) -> list[Run]:
        """Return the runs in order of their seeds."""
        return [self.runs[seed] for seed in sorted(self.runs)]


class Job(RunObserver):
    """Cases that run; `start` starts it, `cancel` stops it early, `join` waits.

    Args:
        number: its id.
        plan: the study and the cases to run.
        drawing: a lock held while figures are drawn, which is not thread-safe.
        on_change: called with `number` whenever its state has changed, from other threads.
        disk: the limit of the folder that takes the runs: no further run starts above it.
        stores: the result cache.
        member: the member of a class in the queue for machines: then the cases run one after
            the other, in one machine at a time. None without a class.

    Attributes:
        has_machine: it has a machine; not used without `member`.
    """

    def __init__(
        self,
        number: str,
        plan: Plan,
        *,
        drawing: threading.Lock,
        on_change: Callable[[str], None],
        disk: DiskLimit,
        stores: Stores,
        member: Member | None = None,
    ) -> None:
        self._member = member
        self._waits: str | None = None
        self.has_machine = False
        self.number = number
        self.plan = plan
        self._drawing = drawing
        self._disk = disk
        self._stores = stores
        self._full = ""
        self._on_change = on_change
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"job-{number}", daemon=True)
        self._state = "running"
        self._problem: dict[str, Any] | None = None
        self._report: str | None = None
        names = [name for name in plan.study.cases if name in plan.chosen or name in plan.known]
        self._tallies = {name: self._new_tally(name) for name in names}
        self._tables: dict[str, Any] = {}
        self._judge()

    def _new_tally(self, name: str) -> _Tally:
        title = self.plan.study.cases[name].title
        if name in self.plan.known:
            runs = {run.seed: run for run in self.plan.known[name]}
            times_s = {seed: run.virtual_s for seed, run in runs.items()}
            return _Tally(
                title=title, state="known", expected_s=times_s, virtual_s=dict(times_s), runs=runs
            )
        cases = self.plan.chosen[name].seeded()
        return _Tally(
            title=title,
            state="waiting",
            expected_s={case.seed: expected_virtual_s(case) for case in cases},
        )

    @property
    def is_running(self) -> bool:
        """Return whether it is still running."""
        with self._lock:
            return self._state == "running"

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def cancel(self) -> None:
        """Stop it early: its machines end within a second."""
        self._cancelled.set()

    def join(self, *, timeout_s: float) -> None:
        """Wait until it has ended."""
        self._thread.join(timeout_s)

    def info(self) -> dict[str, Any]:
        """Return its state as `JobInfo` of the page's `api/types.ts`."""
        with self._lock:
            return {
                "id": self.number,
                "name": self.plan.study.name,
                "lab": self.plan.lab,
                "state": self._state,
                "waits": self._waits,
                "cases": [self._case_info(name, one) for name, one in self._tallies.items()],
                **self._tables,
                "problem": self._problem,
                "report": self._report,
                "folder": self.plan.place,
            }

    def _case_info(self, name: str, tally: _Tally) -> dict[str, Any]:
        return {
            "name": name,
            "title": tally.title,
            "state": tally.state,
            "virtual_s": round(sum(tally.virtual_s.values()), 3),
            "expected_s": round(sum(tally.expected_s.values()), 3),
            "seeds": len(tally.expected_s),
            "seeds_done": len(tally.runs),
            "runs": [f"{self.plan.place}/{run.folder.name}" for run in tally.in_order()],
        }

    # In the job's thread, and the runner's.

    def _run(self) -> None:
        try:
            plan = self.plan
            batch = Batch(cases=plan.chosen, out=plan.folder, study=plan.study.name)
            self._take_turn()
            outcome = run_batches(
                [batch],
                jobs=None if self._member is None else 1,
                cache=self._stores.results,
                stop=self._cancelled,
                observer=self,
            )
            self.has_machine = False
            self._stores.trim()
            if self._full:
                raise InputError(f"it was ended, since {self._full}")
            if outcome.failures:
                raise outcome.failures[0].error
            if self._cancelled.is_set():
                raise _Cancelled
            with self._drawing:
                write_report(self._verdict(), self.plan.folder)
            self._end("done", report=report_url(self.plan.place))
        except _Cancelled:
            self._end("cancelled")
        except LongfatError as error:
            problem = problem_of(error)
            below = problem["message"].replace(str(self.plan.folder), self.plan.place)
            self._end("failed", problem={**problem, "message": below})
        except OSError as error:  # the folder is gone, or the disk is full
            reason = error.strerror or type(error).__name__
            words = f"{self.plan.place}: cannot be written to: {reason}"
            self._end("failed", problem=problem_of(InputError(words)))
        except Exception as error:
            _LOG.exception("job %s", self.plan.study.name)
            words = f"internal error ({type(error).__name__}): {error}"
            self._end("failed", problem=problem_of(MachineError(words)))

    def _take_turn(self) -> None:
        """Wait until a machine is available."""
        if self._member is None:
            return

        def begin() -> None:
            self.has_machine = True

        if not self._member.wait(
            f"job {self.number}", begin=begin, cancelled=self._cancelled, on_wait=self._note_wait
        ):
            raise _Cancelled

    def _note_wait(self, words: str | None) -> None:
        self._waits = words
        self._on_change(self.number)

    def progress(self, piece: RunId, progress: Progress) -> None:
        """Record the progress of a case with one of its seeds."""
        with self._lock:
            tally = self._tallies[piece.name]
            tally.state = "running"
            tally.virtual_s[piece.seed] = progress.virtual_s
        self._on_change(self.number)

    def cached(self, piece: RunId, run: Run) -> None:
        """Record a cached run: to the page it is done."""
        self.done(piece, run)

    def done(self, piece: RunId, run: Run) -> None:
        """Record a finished run; check the disk limit."""
        if problem := self._disk.problem():
            self._full = problem
            self._cancelled.set()
        with self._lock:
            tally = self._tallies[piece.name]
            tally.runs[piece.seed] = run
            tally.virtual_s[piece.seed] = tally.expected_s[piece.seed] = run.virtual_s
            tally.state = "done" if tally.whole else "running"
        if tally.whole:
            self._judge()
        self._on_change(self.number)

    def failed(self, piece: RunId, error: LongfatError) -> None:
        """Record a failed run."""
        del error
        with self._lock:
            self._tallies[piece.name].state = "failed"

    def _verdict(self) -> Verdict:
        """Return the verdict over the completed cases."""
        with self._lock:
            runs = {name: one.in_order() for name, one in self._tallies.items() if one.whole}
        return evaluate(self.plan.study, runs)

    def _judge(self) -> None:
        verdict = self._verdict()
        tables = {
            "claims": claims_json(verdict),
            "published": published_json(verdict),
            "measured": measured_json(verdict),
        }
        with self._lock:
            self._tables = tables

    def _end(
        self, state: str, *, problem: dict[str, Any] | None = None, report: str | None = None
    ) -> None:
        with self._lock:
            for tally in self._tallies.values():
                if tally.state == "running":
                    tally.state = "waiting"
            self._state, self._problem, self._report = state, problem, report
            self.has_machine = False
        self._on_change(self.number)
