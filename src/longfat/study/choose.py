"""Which cases of a study to run, with what the command line puts in place of the study's."""

from __future__ import annotations

import dataclasses
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.study.expand import MAX_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.case import Case
    from longfat.model.network import HostTiming
    from longfat.study import Planned, Study


def check_names(studies: Sequence[Study], names: tuple[str, ...]) -> None:
    """Check that each name, or pattern such as `cubic-*`, is that of a case.

    Args:
        studies: the studies, any of which may have the case.
        names: the names and patterns.

    Raises:
        InputError: no study has such a case.
    """
    known = list(dict.fromkeys(name for study in studies for name in study.cases))
    for name in names:
        if not any(fnmatchcase(one, name) for one in known):
            files = ", ".join(str(study.file) for study in studies)
            raise InputError(
                f"{files}: no case {name!r} in it{nearest(name, known)}; its cases: {listed(known)}"
            )


def on_testbed(case: Case, testbed: HostTiming | None) -> Case:
    """Return a case whose hosts run on a computer of this timing."""
    if testbed is not None and not testbed.sysctl_values():
        testbed = None
    return dataclasses.replace(case, network=dataclasses.replace(case.network, testbed=testbed))


def with_shared_kernel(case: Case, shared_kernel: bool) -> Case:
    """Return a case whose hosts share a kernel, or do not."""
    network = dataclasses.replace(case.network, shared_kernel=shared_kernel)
    return dataclasses.replace(case, network=network)


def choose_cases(
    study: Study,
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernel: str | None,
    testbed: HostTiming | None = None,
    shared_kernel: bool | None = None,
) -> dict[str, Planned]:
    """Return the cases to run.

    Args:
        study: the study.
        names: the cases' names, or patterns such as `cubic-*`; all, if there are none.
        seed: the first seed, in place of the study's.
        seeds: the number of seeds, likewise.
        kernel: the kernel's version, likewise.
        testbed: the timing of the computer that runs the hosts, likewise.
        shared_kernel: whether all hosts share a kernel, likewise.

    Raises:
        InputError: the last seed would be too large.
    """
    chosen = {}
    for name, planned in study.cases.items():
        if names and not any(fnmatchcase(name, pattern) for pattern in names):
            continue
        case = planned.case
        if seed is not None:
            case = dataclasses.replace(case, seed=seed)
        if kernel is not None:
            case = dataclasses.replace(case, kernel=kernel)
        if testbed is not None:
            case = on_testbed(case, testbed)
        if shared_kernel is not None:
            case = with_shared_kernel(case, shared_kernel)
        count = planned.seeds if seeds is None else seeds
        if case.seed + count - 1 > MAX_SEED:
            raise InputError(f"{count} seeds from {case.seed} on pass the largest seed, {MAX_SEED}")
        chosen[name] = dataclasses.replace(planned, case=case, seeds=count)
    return chosen
