"""The parts that a command line selects: each a study on a kernel, with a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution import Batch
from longfat.study.choose import choose_cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.network import HostTiming
    from longfat.study import Study


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A study that is to be run on one kernel.

    Attributes:
        study: the study.
        typed: how the user named it.
        kernel: the kernel in place of the study's own; None for its own.
        batch: the cases with the folder that takes their runs.
    """

    study: Study
    typed: str
    kernel: str | None
    batch: Batch


def make_parts(
    studies: Sequence[tuple[str, Study]],
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernels: tuple[str, ...],
    testbed: HostTiming | None,
    shared_kernel: bool | None = None,
    out: Path | None,
) -> list[Part]:
    """Return the parts that have cases to run; those of one study are adjacent.

    Args:
        studies: the studies with the arguments that named them.
        names: the names and patterns of the cases; all, if there are none.
        seed: the first seed, in place of the studies'.
        seeds: the number of seeds, likewise.
        kernels: the kernels, likewise; with several, each has a folder of its own.
        testbed: the timing of the computer that runs the hosts, likewise.
        shared_kernel: whether all hosts share a kernel, likewise.
        out: where runs go; `runs/STUDY`, if None.

    Raises:
        InputError: two studies would have one folder, or a seed is too large.
    """
    if twice := [kernel for kernel in kernels if kernels.count(kernel) > 1]:
        raise InputError(f"--kernel {twice[0]} is given twice")
    parts: list[Part] = []
    folders: dict[Path, Study] = {}
    for typed, study in studies:
        base = out if out is not None else Path("runs")
        folder = base if out is not None and len(studies) == 1 else base / study.name
        for kernel in kernels or (None,):
            cases = choose_cases(
                study,
                names=names,
                seed=seed,
                seeds=seeds,
                kernel=kernel,
                testbed=testbed,
                shared_kernel=shared_kernel,
            )
            if not cases:
                continue
            if (other := folders.setdefault(folder, study)) is not study:
                raise InputError(
                    f"{other.file} and {study.file} are both called {study.name!r}, so their runs "
                    "would go to one folder: run them one by one, with --out"
                )
            place = folder / kernel if kernel is not None and len(kernels) > 1 else folder
            batch = Batch(cases=cases, out=place, study=study.name)
            parts.append(Part(study=study, typed=typed, kernel=kernel, batch=batch))
    return parts


def label_of(part: Part, parts: Sequence[Part]) -> str:
    """Return the prefix of the names of a part's cases, if there are several parts."""
    words = []
    if len({id(one.study) for one in parts}) > 1:
        words.append(part.study.name)
    if len({one.kernel for one in parts}) > 1:
        words.append(str(part.kernel))
    return "".join(f"{word}/" for word in words)
