"""Run one case: compile, boot, wait, measure, keep.

`run_case` is a pure function of its case, the kernel's binary and the
tools; where the run is stored and how its progress is shown do not influence it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from longfat.common.extras import need
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.images import images_shown
from longfat.engine.init import (
    GUEST_PLACE,
    JOB_PLACE,
    guest_folder,
    init_program,
    write_job,
)
from longfat.engine.kernel.cache import check_clocks
from longfat.engine.machine import Machine, RunOutput, reserve_cpu
from longfat.errors import InputError, MachineError
from longfat.execution.compile import (
    compile_job,
    expected_virtual_s,
    limit_virtual_s,
)
from longfat.execution.guest_outcome import read_outcome
from longfat.execution.hints import failure_of
from longfat.execution.runs import staged_run
from longfat.execution.runs.space import disk_full, is_full
from longfat.execution.tools import Toolbox
from longfat.model.case import NOWHERE
from longfat.model.packages import SHOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from longfat.engine.kernel import Kernel
    from longfat.engine.machine import Pace, Quota
    from longfat.execution.runs import Run
    from longfat.model.case import Case, CasePlaces
    from longfat.model.parameter import ParameterValue


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a case.

    Attributes:
        name: the case's name.
        virtual_s: virtual time since boot, in seconds.
        expected_s: its expected total virtual time, in seconds.
    """

    name: str
    virtual_s: float
    expected_s: float


def run_case(
    case: Case,
    *,
    name: str,
    out: Path,
    study: str = "",
    parameters: Mapping[str, ParameterValue] = MappingProxyType({}),
    places: CasePlaces = NOWHERE,
    toolbox: Toolbox | None = None,
    kernel: Kernel | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_start: Callable[[Path], None] = lambda _: None,
    pace: Pace | None = None,
    quota: Quota | None = None,
) -> Run:
    """Run a case and store its results.

    Args:
        case: what to run.
        name: the name of the run in its folder and in messages.
        out: the folder that will contain the run's folder.
        study: the name of its study, for the run's manifest; empty if it is of none.
        parameters: of a case of a grid, the values of its parameters, likewise.
        places: where the case's parts were written, for messages.
        toolbox: the toolset and the host's programs, if they have been examined already.
        kernel: the built kernel to run; found by `case.kernel`, if None.
        on_progress: called a few times a second.
        on_start: called once, before the machine boots, with the folder that is filled
            with what the guest leaves.
        pace: how fast virtual time may pass; as fast as it can, if None.
        quota: resource limits of its machine; those of our environment, if None.

    Returns:
        The run; its folder appears whole, and replaces an earlier one. Flows that failed are
        in it: `Run.unexpected` are those that should not have.

    Raises:
        InputError: a command of the case failed.
        HostError: the host lacks a tool, the kernel, or a library that decodes probes.
        MachineError: the machine failed.
    """
    if case.probes:
        need("series")
    kernel = kernel or kernels.find(case.kernel)
    check_clocks(case.wrong_clocks, kernel)
    toolbox = toolbox or Toolbox()
    tools = toolbox.of(case, places=places)
    images = images_shown(case.network.roots.values())
    installed = toolbox.packages(case, places=places.packages)
    packages = {} if installed is None else {SHOWN: installed.folder}
    toolset = toolbox.toolset
    expected_s = expected_virtual_s(case)
    job = compile_job(case)
    with staged_run(out, name=name, case=case, study=study, parameters=parameters) as staged:
        on_start(staged.folder)
        try:
            with (
                reserve_cpu() as cpu,
                guest_folder(toolset=toolset) as program,
                scratch_folder() as folder,
                closing(RunOutput(staged.folder, job["output"], quota=quota)) as output,
                Machine(
                    kernel,
                    init_program(),
                    folder=staged.folder,
                    shown={
                        GUEST_PLACE: program,
                        JOB_PLACE: write_job(job, inside=folder),
                        **images,
                        **packages,
                    },
                    toolset=toolset,
                    output=output,
                    cpu=cpu,
                    seed=case.seed,
                    memory_bytes=case.memory_bytes,
                    quota=quota,
                ) as machine,
            ):
                try:
                    wall_s = machine.wait(
                        limit_s=limit_virtual_s(case),
                        on_progress=lambda now_s: on_progress(Progress(name, now_s, expected_s)),
                        pace=pace,
                    )
                except MachineError as error:
                    # A kernel that cannot write its console aborts.
                    if is_full(staged.folder):
                        raise disk_full(out) from error
                    raise
                outcome = read_outcome(staged.folder, case)
                if outcome is None:
                    tail = machine.console_tail()
                    raise MachineError(f"the guest ended without a report{tail}")
                if outcome.failed is not None:
                    raise failure_of(case, outcome.failed, places)
                return staged.publish(
                    kernel=kernel,
                    tools=tools,
                    report=outcome.report(case),
                    wall_s=wall_s,
                    peak_bytes=machine.peak_bytes,
                    sandbox=machine.sandbox,
                )
        except MachineError as error:
            raise MachineError(f"case {name!r}: {error}") from error
        except InputError as error:
            raise InputError(f"case {name!r}: {error.message}", place=error.place) from error
