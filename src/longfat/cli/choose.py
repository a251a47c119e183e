"""Which cases of a study to run, with what the command line puts in place of the study's."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.study.expand import LARGEST_SEED

if TYPE_CHECKING:
    from longfat.study import Planned, Study


def choose_cases(
    study: Study,
    *,
    names: tuple[str, ...],
    seed: int | None,
    seeds: int | None,
    kernel: str | None,
) -> dict[str, Planned]:
    """Return the cases to run.

    Args:
        study: the study.
        names: the cases' names; all, if there are none.
        seed: the first seed, in place of the study's.
        seeds: the number of seeds, likewise.
        kernel: the kernel's version, likewise.

    Raises:
        InputError: the last seed would be too large.
    """
    chosen = {}
    for name, planned in study.cases.items():
        if names and name not in names:
            continue
        case = planned.case
        if seed is not None:
            case = dataclasses.replace(case, seed=seed)
        if kernel is not None:
            case = dataclasses.replace(case, kernel=kernel)
        count = planned.seeds if seeds is None else seeds
        if case.seed + count - 1 > LARGEST_SEED:
            raise InputError(
                f"{count} seeds from {case.seed} on pass the largest seed, {LARGEST_SEED}"
            )
        chosen[name] = dataclasses.replace(planned, case=case, seeds=count)
    return chosen
