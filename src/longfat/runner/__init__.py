"""The runner: one case, the cases of a study, or the cases of many studies side by side."""

from longfat.runner.many import Batch, run_batches, run_cases
from longfat.runner.one import Progress, run_case
from longfat.runner.outcome import Audience, Failure, Outcome
from longfat.runner.pool import Pool
from longfat.runner.work import Listener, Piece, Work, Workplace

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
