"""A job: cases of a study that run in their own thread, its plan, and its progress.

A page may run the cases of a study one by one. Claims and report need all of them, so runs of
an earlier job count as long as they are of exactly the same case and kernel: running them
again would give the same bytes.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypedDict

from longfat.analysis.verdict import evaluate
from longfat.common.decoding import Range
from longfat.common.suggest import listed, nearest
from longfat.engine import kernel as kernels
from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution import Batch, RunObserver, run_batches
from longfat.execution.compile import expected_virtual_s
from longfat.output.report.files import write_report
from longfat.studio.documents import document_beside
from longfat.studio.formats import folder_name
from longfat.studio.http import RUNS, Languages, Name, Names, problem_of, report_url
from longfat.studio.saved_runs import load_saved
from longfat.studio.threads import STUDIO_LIMITS
from longfat.studio.views import claims_json, measured_json, published_json
from longfat.study.expand import MAX_SEED, MAX_SEEDS
from longfat.study.read import STUDY_FILE, parse_study
from longfat.study.text import LanguageChoice, StudyText, read_text, text_file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from longfat.analysis.verdict import Verdict
    from longfat.execution import Progress, RunId
    from longfat.execution.runs import Run
    from longfat.studio.disk import DiskLimit, Stores
    from longfat.studio.http import Problem
    from longfat.studio.machine_queue import Member
    from longfat.studio.views import ClaimRow, Table
    from longfat.studio.workspace import Workspace
    from longfat.study import Planned, Study


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A request to run cases of a study.

    Attributes:
        name: the study's name.
        text: its text.
        lab: its lab, or None.
        path: its file below the workspace, or None.
        cases: the names of the cases to run; all, if empty.
        seeds: how many seeds each is run with; None for the study's own number.
        languages: for the lab's text in the report, the preferred first.
    """

    name: Name
    text: str
    lab: Name | None = None
    path: str | None = None
    cases: Names = ()
    seeds: Annotated[int, Range(minimum=1, maximum=MAX_SEEDS)] | None = None
    languages: Languages = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan of a job.

    Attributes:
        study: the study.
        lab: its lab, or None.
        chosen: the cases to run, by name.
        known: the existing runs of other cases, by the cases' names.
        place: the folder of the runs, below the workspace.
        folder: the same as a whole path.
        texts: the files to write beside the runs, to identify their study later: the study,
            its text and the translations, by the files' names.
    """

    study: Study
    lab: str | None
    chosen: Mapping[str, Planned]
    known: Mapping[str, tuple[Run, ...]]
    place: str
    folder: Path
    texts: Mapping[str, str]

    def keep_texts(self, workspace: Workspace) -> None:
        """Write the texts; no other job may run in that folder at the same time.

        Raises:
            InputError: they cannot be written.
        """
        for name, text in self.texts.items():
            workspace.write(f"{self.place}/{name}", text.encode())


def make_plan(requested: JobRequest, *, workspace: Workspace) -> Plan:
    """Return the plan of a job; its folder is created.

    Args:
        requested: the request.
        workspace: the folder whose `runs` takes the runs.

    Raises:
        InputError: the study is invalid, there is no such case or lab, or
            the folder cannot be created.
    """
    beside = document_beside(workspace, path=requested.path, lab=requested.lab)
    study = parse_study(requested.text, name=requested.name, beside=beside, limits=STUDIO_LIMITS)
    files = {} if requested.lab is None else workspace.labs.find(requested.lab).text_files
    code = LanguageChoice(wanted=requested.languages).choose(
        files, of=requested.lab or requested.name
    )
    texts = {code: read_text(file) for code, file in files.items()}
    text = None if code is None else StudyText(markdown=texts[code], language=code)
    name = folder_name(requested.lab or requested.name)
    study = replace(study, name=name, file=Path(requested.lab or requested.name), text=text)
    chosen = _chosen(study, names=requested.cases, seeds=requested.seeds)
    place = f"{RUNS}/{name}"
    folder = workspace.folder(place, make=True)
    every = _chosen(study, names=(), seeds=requested.seeds)
    others = {name: planned for name, planned in every.items() if name not in chosen}
    return Plan(
        study=study,
        lab=requested.lab,
        chosen=chosen,
        known=_known(others, workspace=workspace, place=place),
        place=place,
        folder=folder,
        texts={STUDY_FILE: requested.text} | {text_file_name(one): texts[one] for one in texts},
    )


def _chosen(study: Study, *, names: Sequence[str], seeds: int | None) -> dict[str, Planned]:
    for name in names:
        if name not in study.cases:
            raise InputError(
                f"there is no case {name!r}{nearest(name, study.cases)} "
                f"(there are: {listed(study.cases)})"
            )
    found = {}
    for name, planned in study.cases.items():
        if names and name not in names:
            continue
        count = planned.seeds if seeds is None else seeds
        if planned.case.seed + count - 1 > MAX_SEED:
            raise InputError(
                f"{count} seeds from {planned.case.seed} on pass the largest seed, {MAX_SEED}"
            )
        found[name] = replace(planned, seeds=count)
    return found


def _known(
    cases: Mapping[str, Planned], *, workspace: Workspace, place: str
) -> dict[str, tuple[Run, ...]]:
    found = {}
    for name, planned in cases.items():
        with contextlib.suppress(LongfatError):
            kernel = kernels.find(planned.case.kernel)
            runs = [
                load_saved(workspace, f"{place}/{name}-seed{case.seed}")
                for case in planned.seeded()
            ]
            wanted = [case.digest for case in planned.seeded()]
            same_kernel = all(run.kernel.get("digest") == kernel.digest for run in runs)
            if same_kernel and [run.case_digest for run in runs] == wanted:
                found[name] = tuple(runs)
    return found


CaseState: TypeAlias = Literal["waiting", "running", "done", "failed", "known"]
"""The state of a case in a job."""

JobState: TypeAlias = Literal["running", "done", "failed", "cancelled"]
"""The state of a job."""

_LOG = logging.getLogger(__name__)


class JobCase(TypedDict):
    """A case of a job, over all of its seeds.

    Attributes:
        name: its name.
        title: its title.
        state: its state; `known` if its runs existed before.
        virtual_s: how much virtual time has passed.
        expected_s: about how much virtual time all runs take.
        seeds: with how many seeds it is run.
        seeds_done: how many of these runs have ended.
        runs: the run directories below the workspace, one for each seed that is done.
    """

    name: str
    title: str
    state: CaseState
    virtual_s: float
    expected_s: float
    seeds: int
    seeds_done: int
    runs: list[str]


class JobResults(TypedDict):
    """The results of a job, as far as they are known.

    Attributes:
        claims: the claims.
        published: published and measured values; null if the study has none.
        measured: the metrics of the other cases; null if there are none.
    """

    claims: list[ClaimRow]
    published: Table | None
    measured: Table | None


class JobInfo(JobResults):
    """A job.

    Attributes:
        id: its number.
        name: the study's name.
        lab: its lab; null if it is none.
        state: its state.
        waits: what it is waiting for before it can begin; null if it is not queued.
        cases: its cases.
        problem: the error, with its position in the text; null without one.
        report: the path of the report's page for GET, once it exists.
        folder: the folder of the runs, below the workspace.
    """

    id: str
    name: str
    lab: str | None
    state: JobState
    waits: str | None
    cases: list[JobCase]
    problem: Problem | None
    report: str | None
    folder: str


class _Cancelled(Exception):  # noqa: N818  a request, not an error
    """The user has cancelled the job."""


@dataclass(slots=True, kw_only=True)
class _Tally:
    """The progress of a case, over all of its seeds."""

    title: str
    state: CaseState
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
        self._state: JobState = "running"
        self._problem: Problem | None = None
        self._report: str | None = None
        names = [name for name in plan.study.cases if name in plan.chosen or name in plan.known]
        self._tallies = {name: self._new_tally(name) for name in names}
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

    def info(self) -> JobInfo:
        """Return its state."""
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

    def _case_info(self, name: str, tally: _Tally) -> JobCase:
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
        tables: JobResults = {
            "claims": claims_json(verdict),
            "published": published_json(verdict),
            "measured": measured_json(verdict),
        }
        with self._lock:
            self._tables = tables

    def _end(
        self, state: JobState, *, problem: Problem | None = None, report: str | None = None
    ) -> None:
        with self._lock:
            for tally in self._tallies.values():
                if tally.state == "running":
                    tally.state = "waiting"
            self._state, self._problem, self._report = state, problem, report
            self.has_machine = False
        self._on_change(self.number)
