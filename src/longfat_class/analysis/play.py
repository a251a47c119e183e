"""Running the cases of submissions: in sandboxes, within limits, each case once.

To each case probes are added (`watching`), so that checks use what the kernel counted and need
not trust what a tool reports.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.machine import Quota
from longfat.errors import HostError, InputError, LongfatError
from longfat.execution import run_batches
from longfat.execution.compile import expected_virtual_s
from longfat.execution.executor import Batch
from longfat.execution.pool import Pool
from longfat.execution.tools import Toolbox
from longfat.model.flow_path import NotUnderstoodError, bottleneck, idle_rtt
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.study.model import Planned
from longfat_class.analysis.counted import watched
from longfat_class.analysis.submission import Handed, Played, Scripts

if TYPE_CHECKING:
    from longfat.execution.cache import ResultCache
    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.model.traffic import Bulk
    from longfat_class.study.model import Grading, Limits

_OVERHEAD_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class Player:
    """Runs cases of submissions.

    Args:
        cache: the result cache; None to use none.
        toolbox: the host's tools.
        scripts: reads Mininet scripts.
        most: what a machine may take whatever a lab's limits are; None if they are all.
    """

    cache: ResultCache | None
    toolbox: Toolbox
    scripts: Scripts = field(default_factory=Scripts)
    most: Quota | None = None
    _running: set[threading.Event] = field(default_factory=set)
    _ended: threading.Event = field(default_factory=threading.Event)

    def end(self) -> None:
        """End what is running, in any thread, and start nothing more: the user interrupted it."""
        self._ended.set()
        for stop in tuple(self._running):
            stop.set()

    def play(self, handed: Handed, *, limits: Limits, out: Path) -> Handed:
        """Run the cases of a part.

        Args:
            handed: the part.
            limits: what it may take.
            out: the folder that takes the runs.

        Returns:
            The part with its runs; where a case did not run, with the reason.

        Raises:
            HostError: the host lacks the kernel, a tool, or room.
        """
        cases = {
            one.name: replace(one, case=replace(watched(one.case), untrusted=True))
            for one in handed.cases
        }
        problems = {name: _problem(one.case, limits) for name, one in cases.items()}
        good = {name: one for name, one in cases.items() if not problems[name]}
        runs, errors = self._run(
            {name: one.case for name, one in good.items()}, limits=limits, out=out
        )
        for name in good:
            if name not in runs:
                problems[name] = _words(errors[name], name) if name in errors else _too_long(limits)
        done: dict[str, Played] = {
            name: replace(one, run=runs.get(name), problem=problems[name])
            for name, one in cases.items()
        }
        return handed.ran(done)

    def key(
        self, grading: Grading, names: Iterable[str], *, seed: int, out: Path
    ) -> dict[str, Run]:
        """Run cases of the instructor's study.

        Args:
            grading: the instructor's file.
            names: the cases' names.
            seed: the seed of a student.
            out: the folder that takes the runs.

        Raises:
            LongfatError: a case failed.
        """
        cases = {name: replace(grading.study.cases[name].case, seed=seed) for name in names}
        runs, errors = self._run(cases, limits=None, out=out)
        for error in errors.values():
            if isinstance(error, InputError):
                raise InputError(f"the instructor's study, seed {seed}: {error}") from None
            raise error
        return runs

    def _run(
        self, cases: Mapping[str, Case], *, limits: Limits | None, out: Path
    ) -> tuple[dict[str, Run], dict[str, LongfatError]]:
        if not cases:
            return {}, {}
        planned = {name: Planned(case=case, title=name) for name, case in cases.items()}
        stop = threading.Event()
        self._running.add(stop)
        if self._ended.is_set():
            stop.set()
        quota, timer = None, None
        if limits is not None:
            quota = Quota(
                disk=limits.disk_bytes,
                files=limits.file_count,
                processes=limits.processes,
                memory=limits.memory_bytes,
                overhead=_OVERHEAD_BYTES,
                wall=limits.time_s,
            )
            if self.most is not None:
                quota = quota.within(self.most)
            timer = threading.Timer(limits.time_s, stop.set)
            timer.daemon = True
            timer.start()
        try:
            outcome = run_batches(
                [Batch(cases=planned, out=out)],
                executor=Pool(1, toolbox=self.toolbox, quota=quota),
                cache=self.cache,
                keep_going=True,
                stop=stop,
                toolbox=self.toolbox,
            )
        finally:
            self._running.discard(stop)
            if timer is not None:
                timer.cancel()
        errors = {failure.run_id.name: failure.error for failure in outcome.failures}
        for error in errors.values():
            if isinstance(error, HostError):
                raise error  # not the student's fault
        return {name: runs[0] for name, runs in outcome.runs[0].items()}, errors


def _problem(case: Case, limits: Limits) -> str:
    """Return why a case is not even begun; empty if it is."""
    virtual_s = expected_virtual_s(case)
    if virtual_s > limits.virtual_s:
        return (
            f"it would take {format_quantity(virtual_s, Unit.SECONDS)} of virtual time, and "
            f"{format_quantity(limits.virtual_s, Unit.SECONDS)} are allowed"
        )
    if case.memory_bytes > limits.memory_bytes:
        return (
            f"it needs a machine of {format_quantity(case.memory_bytes, Unit.BYTES)}, and "
            f"{format_quantity(limits.memory_bytes, Unit.BYTES)} are allowed"
        )
    for flow in case.bulk_flows:
        if _never_ends(case, flow):
            return (
                f"it was not run: nothing on the path of {flow.name} limits its rate or adds "
                "delay, and hosts are infinitely fast here"
            )
    return ""


def _never_ends(case: Case, flow: Bulk) -> bool:
    """Return whether a flow would be infinitely fast, which takes a machine for ever."""
    if flow.rate_bps is not None or flow.bytes is not None or flow.udp:
        return False
    try:
        rtt_s, _ = idle_rtt(case, replace(flow, after=None), {})
        return rtt_s <= 0 and bottleneck(case, flow) is None
    except NotUnderstoodError:
        return False


def _too_long(limits: Limits) -> str:
    return (
        "it was ended: the runs of this part took more than "
        f"{format_quantity(limits.time_s, Unit.SECONDS)}"
    )


def _words(error: LongfatError, name: str) -> str:
    """Return the message of an error, without hints for instructors."""
    text = str(error).partition("; LONGFAT_QUOTA")[0].partition("\n  hint")[0]
    return text.replace(f"case {name!r}: ", "", 1)
