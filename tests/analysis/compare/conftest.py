"""Made-up runs: a real one with other numbers, seeds, cases or kernels."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from longfat.execution.runs import Run, load_run
from tests.paths import TESTS

SEEDED = TESTS / "data" / "runs" / "seeded"


@pytest.fixture(scope="session")
def lossy() -> Run:
    return load_run(SEEDED / "lossy-seed1")


@pytest.fixture
def made(lossy: Run) -> Callable[..., list[Run]]:
    """Make runs of one case: a run for each value that a metric is given."""

    def make(
        metrics: Mapping[str, Sequence[float | None]],
        *,
        name: str = "lossy",
        first: int = 1,
        case: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> list[Run]:
        count = max(len(values) for values in metrics.values())
        runs = []
        for index in range(count):
            there = {key: values[index] for key, values in metrics.items()}
            found = {key: float(value) for key, value in there.items() if value is not None}
            seed = first + index
            changed = dataclasses.replace(lossy.case, seed=seed, **(case or {}))
            runs.append(
                dataclasses.replace(
                    lossy,
                    **{"name": name, "digest": f"{seed} {sorted(found.items())}", **fields},
                    seed=seed,
                    case=changed,
                    case_digest=changed.digest,
                    metrics=found,
                )
            )
        return runs

    return make
