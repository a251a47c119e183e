"""The runner: one case, the cases of a study, or the cases of many studies side by side."""

from longfat.execution.batch_runner import Batch, run_batches, run_cases
from longfat.execution.case_runner import Progress, run_case
from longfat.execution.executor import Listener, Piece, Work, Workplace
from longfat.execution.outcome import Audience, Failure, Outcome
from longfat.execution.pool import Pool

__all__ = [
    "Audience",
    "Batch",
    "Failure",
    "Listener",
    "Outcome",
    "Piece",
    "Pool",
    "Progress",
    "Work",
    "Workplace",
    "run_batches",
    "run_case",
    "run_cases",
]
