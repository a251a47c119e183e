"""Points with reasons: one submission against an instructor's file."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.errors import LongfatError
from longfat_class.analysis.counted import ADDED
from longfat_class.analysis.judge import Judge
from longfat_class.analysis.oddities import oddities
from longfat_class.analysis.play import Player
from longfat_class.analysis.redaction import redaction_for
from longfat_class.analysis.scores import Graded, Score
from longfat_class.analysis.submission import Handed, Submission, take_in
from longfat_class.study.model import (
    ELAPSED,
    KEY_PREFIX,
    Exercise,
    Grading,
    PartKind,
    is_believed,
)
from longfat_class.study.read import REPORT_FLOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.execution.runs import Run

_MAX_FAILURE_LENGTH = 1_000


def grade(
    submission: Submission,
    grading: Grading,
    *,
    player: Player,
    exercises: Sequence[str] = (),
) -> Graded:
    """Grade a submission.

    Args:
        submission: the submission.
        grading: the instructor's file.
        player: runs what has to be run.
        exercises: the names of the exercises to grade; all, if there are none.

    Returns:
        The points; with `failure`, if the submission could not be graded. That need not be its
        author's fault, and costs no other submission.

    Raises:
        LongfatError: the instructor's study failed.
    """
    chosen = [one for one in grading.exercises if not exercises or one.name in exercises]
    with scratch_folder() as scratch:
        runs = player.key(
            grading, _keys(chosen), seed=submission.seed, out=scratch / "runs" / "key"
        )
        key = {f"{KEY_PREFIX}{case}": run.metrics for case, run in runs.items()}
        try:
            began_s = time.monotonic()
            handed = {
                part: _played(
                    submission,
                    grading,
                    part,
                    spent_s=time.monotonic() - began_s,
                    player=player,
                    scratch=scratch,
                )
                for part in needed_parts(chosen, grading)
            }
            results = {**_results(handed.values()), **key}
            judge = Judge(grading, handed, results, submission.is_solution)
            scores = tuple(map(judge.score, chosen))
            findings = tuple(dict.fromkeys(judge.findings()))
            odd = tuple(dict.fromkeys(oddities(handed.values(), grading)))
        except Exception as error:  # whatever it is
            return _not_graded(submission, grading, chosen, error)
    late_s = _late_s(submission.submitted, grading.deadline)
    redaction = redaction_for(submission, grading)
    return Graded(
        submission=submission,
        grading=grading,
        scores=tuple(replace(score, redaction=redaction) for score in scores),
        redaction=redaction,
        findings=findings,
        problems=tuple(_problems(handed.values())),
        oddities=odd,
        digests={one.part.name: one.digest for one in handed.values() if one.digest},
        late_s=late_s,
        late_share=grading.late.share(late_s) if grading.late and late_s else 0.0,
    )


def _played(
    submission: Submission,
    grading: Grading,
    part: str,
    *,
    spent_s: float,
    player: Player,
    scratch: Path,
) -> Handed:
    limits = grading.limits.after(spent_s)
    if limits.time_s <= 0:
        problem = "it was not run: the submission's other parts took all of its time"
        return Handed(part=grading.parts[part], problem=problem)
    grading = replace(grading, limits=limits)
    folder = scratch / "files" / part
    folder.mkdir(parents=True)
    taken = take_in(submission, grading.parts[part], grading, folder, player.scripts)
    return player.play(taken, limits=grading.limits, out=scratch / "runs" / part)


def _not_graded(
    submission: Submission, grading: Grading, exercises: Iterable[Exercise], error: Exception
) -> Graded:
    failure = str(error)
    if not isinstance(error, LongfatError):
        frames = traceback.extract_tb(error.__traceback__)
        at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
        failure = f"an error in longfat ({at}): {type(error).__name__}: {error}"
    failure = failure[:_MAX_FAILURE_LENGTH]
    return Graded(
        submission=submission,
        grading=grading,
        scores=tuple(
            Score(exercise=one, points=0.0, reasons=("it could not be graded",))
            for one in exercises
        ),
        failure=failure,
    )


def needed_parts(exercises: Sequence[Exercise], grading: Grading) -> list[str]:
    """Return the parts that exercises need: their own, and those whose cases they name.

    Args:
        exercises: the exercises.
        grading: the instructor's file.
    """
    named = {case for one in exercises for case in one.named if not case.startswith(KEY_PREFIX)}
    own = {one.part for one in exercises}
    studies = {p.name for p in grading.parts.values() if p.kind is PartKind.STUDY}
    if named - set(grading.parts):
        own |= studies
    return [name for name in grading.parts if name in own | named]


def _keys(exercises: Iterable[Exercise]) -> list[str]:
    named = {case for one in exercises for case in one.named if case.startswith(KEY_PREFIX)}
    return sorted(case.removeprefix(KEY_PREFIX) for case in named)


def _results(parts: Iterable[Handed]) -> dict[str, Mapping[str, float]]:
    """Return what the cases and reports of a submission measured."""
    found: dict[str, Mapping[str, float]] = {}
    for handed in parts:
        for played in handed.cases:
            # What has the prefix of the key, or another part's name, is not the student's to give.
            if played.run is not None and not played.name.startswith(KEY_PREFIX):
                found.setdefault(played.name, _measured(played.run))
        if handed.reports:
            found[handed.part.name] = dict(_report_metrics(handed))
    return found


def _measured(run: Run) -> Mapping[str, float]:
    """Return what a run measured, without what programs of the student's say."""
    theirs = run.case.untrusted_flows
    measured = {
        name: value
        for name, value in run.metrics.items()
        if is_believed(name, untrusted_flows=theirs) and not name.startswith(ADDED)
    }
    for flow in theirs:
        times = run.flow_times[flow]
        measured[f"{flow}.{ELAPSED}"] = times.end_s - times.start_s
    return measured


def _report_metrics(handed: Handed) -> Iterator[tuple[str, float]]:
    for name, report in handed.reports.items():
        flow = name if len(handed.reports) > 1 else REPORT_FLOW
        rows = [row for stream in report.streams for row in stream if not row.omitted]
        sent = [row for row in rows if row.sender] or rows
        length_s = max(row.end_s for row in sent) - min(row.start_s for row in sent)
        if length_s > 0:
            yield f"{flow}.sender_bps", 8 * sum(row.bytes for row in sent) / length_s
        yield f"{flow}.sent_bytes", float(sum(row.bytes for row in sent))
        if report.receiver_bps is not None:
            yield f"{flow}.receiver_bps", report.receiver_bps
        again = [row.retransmits for row in rows if row.retransmits is not None]
        if again:
            yield f"{flow}.retransmits", float(sum(again))
        windows = [row.cwnd_bytes for row in rows if row.cwnd_bytes is not None]
        if windows:
            yield f"{flow}.max_cwnd_bytes", float(max(windows))


def _problems(parts: Iterable[Handed]) -> Iterator[str]:
    for handed in parts:
        if handed.problem:
            yield f"{handed.part.name}: {handed.problem}"
        for words in handed.unused:
            yield f"{handed.part.name}: {words}"
        for played in handed.cases:
            if played.problem:
                yield f"{handed.part.name}, {played.name}: {played.problem}"


def _late_s(submitted: datetime | None, deadline: datetime | None) -> float:
    if submitted is None or deadline is None:
        return 0.0
    return max(0.0, (submitted - deadline).total_seconds())
