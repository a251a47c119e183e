"""The runner: one case, the cases of a study, or the cases of many studies in parallel."""

from longfat.execution.batch_runner import run_batches, run_cases
from longfat.execution.case_runner import Progress, run_case
from longfat.execution.executor import (
    Batch,
    Executor,
    Failure,
    Outcome,
    RunId,
    RunObserver,
    RunTask,
)
from longfat.execution.pool import Pool

__all__ = [
    "Batch",
    "Executor",
    "Failure",
    "Outcome",
    "Pool",
    "Progress",
    "RunId",
    "RunObserver",
    "RunTask",
    "run_batches",
    "run_case",
    "run_cases",
]
