"""Booting the machine of a session: the guest's program, its job, and the host's folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.engine.init import GUEST_PLACE, JOB_PLACE, guest_folder, init_program, write_job
from longfat.engine.machine import HANDOVER, Machine, reserve_cpu
from longfat.engine.toolset import find as find_toolset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import ExitStack
    from pathlib import Path

    from longfat.engine.kernel import Kernel
    from longfat.engine.machine import Line
    from longfat.live.folders import SharedFolder


def boot(
    stack: ExitStack,
    kernel: Kernel,
    line: Line,
    *,
    folders: Sequence[SharedFolder],
    shown: Mapping[str, Path],
    modules: Sequence[str],
    environment: Mapping[str, str],
    shared_kernel: bool,
    seed: int,
    memory_bytes: int,
    stall_cpu_s: float,
) -> Machine:
    """Boot a machine whose agent takes orders.

    Args:
        stack: what ends the machine when it is closed.
        kernel: its kernel.
        line: the connection to its agent.
        folders: folders of the host that it sees in addition to the default ones.
        shown: further files and folders that it may read, by their names in the sandbox.
        modules: the modules of the guest's program that the agent needs in addition.
        environment: the environment of the agent's commands.
        shared_kernel: as for `longfat.live.session.Session`.
        seed: likewise.
        memory_bytes: likewise.
        stall_cpu_s: likewise.

    Returns:
        The machine, whose agent is about to report that it is ready.

    Raises:
        HostError: the host lacks what a sandbox needs.
        MachineError: the machine did not boot.
    """
    names = {f"bind{index}": folder for index, folder in enumerate(folders)}
    places = {
        folder.place: {"shown": f"{HANDOVER}/{name}", "writable": folder.is_writable}
        for name, folder in names.items()
    }
    job = {
        "serve": True,
        "modules": modules,
        "environment": environment,
        "folders": places,
        "shared_kernel": shared_kernel,
    }
    read_only = {name: folder.path for name, folder in names.items() if not folder.is_writable}
    toolset = find_toolset()
    scratch = stack.enter_context(scratch_folder())
    return stack.enter_context(
        Machine(
            kernel,
            init_program(),
            folder=scratch,
            shown={
                JOB_PLACE: write_job(job, inside=scratch),
                GUEST_PLACE: stack.enter_context(guest_folder(toolset=toolset)),
                **shown,
                **read_only,
            },
            writable={name: folder.path for name, folder in names.items() if folder.is_writable},
            counted=tuple(folder.path for folder in folders if folder.is_counted),
            places=tuple(places),
            toolset=toolset,
            cpu=stack.enter_context(reserve_cpu()),
            seed=seed,
            memory_bytes=memory_bytes,
            line=line,
            stall_cpu_s=stall_cpu_s,
        )
    )
